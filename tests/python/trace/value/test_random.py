"""Random number generators: their state changes from call to call as in plain Python."""

import random
import unittest

import slotrt


OWN = random.Random(4)


def drawn():
    items = list(range(8))
    random.shuffle(items)
    return items, OWN.choice("abcd"), random.random(), random.uniform(1, 2)


class States(unittest.TestCase):
    def test_generators_of_numbers(self):
        for fullgraph in (True, False):
            with self.subTest(fullgraph=fullgraph):
                results = []
                for function in (drawn, slotrt.compile(drawn, fullgraph=fullgraph)):
                    random.seed(3), OWN.seed(5)
                    results.append([function() for _ in range(12)] + [random.getstate(), OWN.getstate()])
                self.assertEqual(*results)

    def test_seeded_by_the_system(self):
        class Derived(random.Random):
            def __init__(self):
                super().__init__()

        def seeded_again():
            generator = random.Random(5)
            generator.seed()
            return generator.random()

        drawn_once = (lambda: random.Random().random(), lambda: Derived().random(), seeded_again)
        for function in drawn_once:
            compiled = slotrt.compile(function)
            self.assertEqual(len({compiled() for _ in range(4)}), 4)

    def test_only_the_first_trace_is_specialised(self):
        slotrt.reset()
        compiled = slotrt.compile(lambda: random.random() is None)
        for _ in range(12):
            compiled()
        self.assertEqual(slotrt.stats()["frames_skipped"], 0)


if __name__ == "__main__":
    unittest.main()
