"""Random number generators: their state changes from call to call as in plain Python."""

import copy
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

    def test_copied_after_a_seed(self):
        def copied():
            OWN.seed(6)
            try:
                return copy.copy(OWN).random(), OWN.__reduce_ex__(4)[0], OWN.random()
            except TypeError as error:
                return repr(error)

        compiled = slotrt.compile(copied)
        for _ in range(3):
            self.assertEqual(compiled(), copied())

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

    def test_integers(self):
        self.check(lambda: (random.randint(0, 9), random.randrange(3, 40, 2) + OWN.randint(0, 1), random.getrandbits(7)))
        self.check(lambda: random.randint(1, 6) * random.random() + random.getrandbits(60) + random.randint(0, 1 << 50))
        self.check(lambda: [random.randrange(number + 1) for number in range(6)])
        self.check(lambda: (random.getrandbits(0), random.getrandbits(70), random.randint(0, 1 << 70), random.randint(4, 4)), None)
        self.check(lambda: "high" if random.randint(0, 1) else "low")

    def test_what_the_library_picks_runs_as_a_whole(self):
        def picked():
            items = [1, 2, 3, 4]
            random.shuffle(items)
            return items, random.choice("abcd"), random.sample(range(9), 3), random.random()

        self.check(picked, None)
        self.check(lambda: (random.choice("abcd"), random.random(), random.random()), 1)

    def test_errors(self):
        def empty():
            try:
                return random.randint(3, 1)
            except ValueError as error:
                return str(error), random.random()

        self.check(empty, None)

    def test_methods_of_the_program(self):
        class Even(random.Random):
            def getrandbits(self, count):
                return super().getrandbits(count) & ~1

        results = []
        for compiled in (lambda function: function, slotrt.compile):
            drawing = Even(3)
            called = compiled(lambda: (drawing.randint(0, 9), drawing.random(), drawing.getrandbits(5)))
            results.append([called() for _ in range(8)] + [drawing.getstate()])
        self.assertEqual(*results)

        own = random.Random(4)
        own.getrandbits = lambda count: 1
        self.assertEqual(slotrt.compile(lambda: own.randint(0, 5))(), 1)

    def test_a_function_that_the_program_puts_in(self):
        compiled = slotrt.compile(lambda: random.randint(0, 9))
        compiled()
        before = random.Random._randbelow
        try:
            random.Random._randbelow = lambda self, end: 7
            self.assertEqual(compiled(), 7)
        finally:
            random.Random._randbelow = before
        self.assertIn(compiled(), range(10))

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
