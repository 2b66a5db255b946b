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


class Drawn(unittest.TestCase):
    """Numbers that are drawn one after the other are the ones that plain Python draws, without a break."""

    def check(self, function, breaks=0):
        results = []
        for called in (function, slotrt.compile(function)):
            slotrt.reset()
            random.seed(1), OWN.seed(2)
            results.append([called() for _ in range(12)] + [random.getstate(), OWN.getstate()])
        self.assertEqual(*results)
        if breaks is not None:
            self.assertEqual((slotrt.stats()["graph_breaks"], slotrt.stats()["frames_skipped"]), (breaks, 0))

    def test_numbers(self):
        self.check(lambda: (random.random() * 2, OWN.random() + 1, [random.random() for _ in range(5)]))
        self.check(lambda: random.uniform(1, 2) + OWN.random())

    def test_branches(self):
        self.check(lambda: "low" if random.random() < 0.5 else "high")

    def test_states_in_between(self):
        def seeded():
            first = random.random()
            random.seed(5)
            return first, random.random(), random.getrandbits(8)

        def put_back():
            first, state, second = random.random(), random.getstate(), random.random()
            random.setstate(state)
            return first, random.random() == second

        self.check(seeded)
        self.check(put_back, None)

    def test_numbers_that_must_be_known(self):
        self.check(lambda: {random.random(): 1}, None)
        self.check(lambda: int(random.random() * 3), None)

    def test_a_class_of_the_program(self):
        class Halved(random.Random):
            def random(self):
                return super().random() / 2

        results = []
        for compiled in (lambda function: function, slotrt.compile):
            drawing = Halved(3)
            called = compiled(lambda: (drawing.random(), drawing.uniform(0, 1), drawing.randint(0, 9)))
            results.append([called() for _ in range(8)] + [drawing.getstate()])
        self.assertEqual(*results)


if __name__ == "__main__":
    unittest.main()
