"""Iterators of C that the program holds and whose steps run code of the program: the steps are traced, in order, and the real ones advance."""

import itertools
import unittest

import slotrt

LOG = []


def add(*numbers):
    LOG.append(numbers)
    return sum(numbers)


def even(number):
    LOG.append(number)
    return number % 2 == 0


def listed(number):
    return [number]


def small(number):
    return number < 100


def twice(number):
    return number, number


def stop(number):
    if number == 4:
        raise StopIteration("four")
    return number


def fail(number):
    LOG.append(number)
    if number == 2:
        raise ValueError("two")
    return number * 10


class Count:
    """An iterator of Python code."""

    def __init__(self):
        self.at = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.at += 1
        LOG.append(("next", self.at))
        return self.at


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, number):
        self.factor += 1
        return number * self.factor

    def method(self, number):
        return number * self.factor


def shared():
    one = iter(range(20))
    return map(add, one, one)


def of_a_call():
    numbers = Count()
    return iter(lambda: next(numbers), 100)


MAKERS = {
    "map": lambda: map(add, [1, 2, 3, 4, 5, 6, 7, 8]),
    "map of two": lambda: map(add, iter(range(9)), itertools.count()),
    "map of one twice": shared,
    "map of Python": lambda: map(add, Count()),
    "map of map": lambda: map(str, map(add, range(9))),
    "map of C": lambda: map(divmod, range(9), itertools.repeat(3)),
    "map of lists": lambda: map(listed, range(9)),
    "map of a function made anew": lambda: map(lambda number: [number], range(9)),
    "map of an instance": lambda: map(Scale(2), range(9)),
    "map of a method": lambda: map(Scale(2).method, range(9)),
    "map of a class": lambda: map(complex, range(9)),
    "map that raises": lambda: map(fail, [1, 2, 3, 4, 5, 6, 7, 8]),
    "map to its end": lambda: map(add, [1]),
    "filter": lambda: filter(even, range(20)),
    "filter of nothing": lambda: filter(None, [0, 1, "", 2, [], 3, {}, 4, 5, 6, 7, 8]),
    "filterfalse": lambda: itertools.filterfalse(even, range(20)),
    "starmap": lambda: itertools.starmap(add, [(1, 2), (3,), (4, 5, 6), (7,), (8,), (9,), (10,)]),
    "compress": lambda: itertools.compress(Count(), [1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1]),
    "zip of map": lambda: zip(map(add, range(9)), "abcdefghi"),
    "zip of filter and map": lambda: zip(filter(even, range(20)), map(fail, range(3, 20))),
    "takewhile": lambda: itertools.takewhile(small, map(add, range(20))),
    "of a call": of_a_call,
}


def two(iterator):
    return next(iterator), iterator.__next__()


def until(iterator):
    taken = []
    for item in iterator:
        taken.append(item)
        if len(taken) == 2:
            break
    return taken


def caught(iterator):
    try:
        return next(iterator)
    except ValueError as error:
        return str(error), error.__context__


def twisted(iterator):
    first = next(iterator, "end")
    LOG.append("between")
    return first, list(itertools.islice(iterator, 1)), len(LOG)


# Nothing tells how many steps these have left.
ENDLESS = {"map of Python", "of a call"}

# The next iterator has another function.
MADE_ANEW = {"map of a function made anew"}

# An exception that leaves through C which the frame called, or that passes a handler, is a break of another kind.
OTHER_BREAKS = {("map that raises", twisted), ("map to its end", caught)}

STEPS = (lambda iterator: next(iterator), lambda iterator: next(iterator, "end"), two, until, caught, twisted)


def outcome(function, iterator):
    """What a call gives or raises."""
    try:
        return repr(function(iterator))
    except Exception as error:
        return type(error), str(error), repr(error.__context__)


def run(function, make):
    """Four calls on one iterator and two on another: what they give, what they leave in the log, and what is left after."""
    LOG.clear()
    results = []
    for count in (4, 2):
        iterator = make()
        results += [(outcome(function, iterator), list(LOG)) for _ in range(count)]
        results.append(outcome(lambda iterator: list(itertools.islice(iterator, 3)), iterator))
    return results


class Steps(unittest.TestCase):
    def compare(self, name, step, **options):
        expected = run(step, MAKERS[name])
        slotrt.reset()
        before = slotrt.stats()["graph_breaks"]
        self.assertEqual(run(slotrt.compile(step, **options), MAKERS[name]), expected, (name, step.__name__))
        return slotrt.stats()["graph_breaks"] - before

    def test_same(self):
        for name in MAKERS:
            for step in STEPS:
                self.compare(name, step)

    def test_one_piece(self):
        for name in MAKERS:
            for step in STEPS:
                if name in ENDLESS | MADE_ANEW or (name, step) in OTHER_BREAKS:
                    continue
                with self.subTest(name, step=step.__name__):
                    self.assertEqual(self.compare(name, step, fullgraph=True), 0)

    def test_one_trace(self):
        """A trace holds wherever the iterator stands, as long as what it gives is not looked at."""

        def step(iterator):
            return [next(iterator)]

        compiled = slotrt.compile(step, fullgraph=True)
        iterator = map(twice, [object() for _ in range(9)])
        taken = [compiled(iterator) for _ in range(9)]
        self.assertEqual(len({id(one) for ((one, _),) in taken}), 9)
        with self.assertRaises(StopIteration):
            compiled(iterator)

    def test_many_steps(self):
        """A loop over many steps is compiled once, whatever their number."""

        def step(iterator):
            total = 0
            for item in iterator:
                total += item
            return total

        compiled = slotrt.compile(step)
        self.assertEqual(compiled(map(add, range(100))), 5050 - 100)
        before = slotrt.stats()["frames_compiled"]
        for count in (60, 500, 77):
            self.assertEqual(compiled(map(add, range(count))), sum(range(count)))
        self.assertLessEqual(slotrt.stats()["frames_compiled"] - before, 1)

    def test_ends_that_the_program_raises(self):
        """What it says comes out of `next` and `__next__`, and out of `yield from` as its value."""

        def by_next(iterator):
            try:
                while True:
                    next(iterator)
            except StopIteration as error:
                return error.args

        def by_method(iterator):
            try:
                while True:
                    iterator.__next__()
            except StopIteration as error:
                return error.args

        def by_generator(iterator):
            def go_through():
                yield (yield from iterator)

            return list(go_through())

        makers = (
            lambda: map(stop, range(9)),
            lambda: itertools.filterfalse(stop, range(1, 9)),
            lambda: map(even, filter(stop, range(1, 9))),
            lambda: zip(map(stop, range(9))),
        )
        for step in by_next, by_method, by_generator:
            compiled = slotrt.compile(step)
            for make in makers:
                for _ in range(2):
                    self.assertEqual(compiled(make()), step(make()), step.__name__)

    def test_functions_made_anew(self):
        """They are not what a trace is specialised for: it holds for the next one."""

        def step(iterator):
            return next(iterator) + next(iterator)

        compiled = slotrt.compile(step)
        before = slotrt.stats()["frames_compiled"]
        for _ in range(20):
            self.assertEqual(compiled(map(lambda number: number * 2, [1, 2, 3])), 6)
        self.assertLessEqual(slotrt.stats()["frames_compiled"] - before, 4)

    def test_other_parts(self):
        def step(iterator):
            return next(iterator)

        compiled = slotrt.compile(step)
        for make in (lambda: map(add, [1]), lambda: map(add, [1], [2]), lambda: map(fail, [3]), lambda: map(add, (4,))):
            self.assertEqual(compiled(make()), step(make()))

    def test_steps_that_change_the_iterator(self):
        """These break, and are the same."""
        makers = (
            lambda: enumerate(map(add, range(9))),
            lambda: itertools.dropwhile(even, [2, 4, 5, 6, 7, 8, 9, 10, 11]),
            lambda: itertools.takewhile(even, [2, 4, 5, 6]),
            lambda: itertools.accumulate(range(9), add),
            lambda: itertools.islice(map(add, range(30)), 2, 20, 3),
            lambda: itertools.chain([1], map(add, [5, 6]), (letter for letter in "abcdefgh")),
            lambda: itertools.zip_longest(map(add, [1, 2]), "abcdefghi"),
            lambda: map(add, (number for number in range(9))),
            lambda: zip(map(add, range(9)), "ab", strict=True),
            lambda: iter([1, 2, 3, 4].pop, 2),
        )
        for make in makers:
            for step in (STEPS[1], until, caught):
                expected = run(lambda iterator: [str(item) for item in [step(iterator)]], make)
                compiled = slotrt.compile(step)
                self.assertEqual(run(lambda iterator: [str(item) for item in [compiled(iterator)]], make), expected)

    def test_aliases(self):
        """Two iterators over one, and one under two names."""

        def step(one, other):
            return next(one), next(other), next(one)

        def over_one():
            inner = iter(range(20))
            return map(add, inner), map(fail, inner)

        def same():
            one = map(add, range(20))
            return one, one

        def apart():
            return map(add, range(20)), map(fail, range(5, 20))

        compiled = slotrt.compile(step)
        for make in (apart, over_one, same, apart, same, over_one):
            pair, expected = make(), make()
            for _ in range(2):
                self.assertEqual(compiled(*pair), step(*expected))
            self.assertEqual(list(pair[0]), list(expected[0]))

    def test_what_the_trace_changed(self):
        def step(iterator, numbers):
            numbers.append(len(numbers) * 100)
            return next(iterator), next(iterator, "end")

        def make():
            numbers = [1, 2]
            return map(add, numbers), numbers

        compiled = slotrt.compile(step)
        compiled_state, state = make(), make()
        for _ in range(3):
            self.assertEqual(compiled(*compiled_state), step(*state))
        self.assertEqual(compiled_state[1], state[1])


if __name__ == "__main__":
    unittest.main()
