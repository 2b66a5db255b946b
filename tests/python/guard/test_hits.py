"""Calls that one set of guards serves again and again: whatever its steps look at, each change of it is noticed, and a change back, too."""

import types
import unittest

import slotrt

TABLE = {"rate": 2, "names": ["a", "b"]}


class Box:
    def __init__(self, **values):
        self.__dict__.update(values)


def arguments(a, b, items):
    return a + b, len(items), items[0]


def twice_the_same(a, b):
    a.value = 3
    return a.value + b.value, a is b


def of_globals(a):
    return a * TABLE["rate"], TABLE["names"][1]


def trees(box):
    return box.inner.scale * box.inner.parts[0], box.name


def passed_through(a, b):
    return b, a


def cells():
    factor = 3

    def function(a):
        return a * factor

    def change(other):
        nonlocal factor
        factor = other

    return function, change


class Hits(unittest.TestCase):
    def check(self, function, *calls):
        """Each of the calls, thrice in a row, in two orders: the results, and what became of the arguments."""
        slotrt.reset()
        compiled = slotrt.compile(function)
        for call in [*calls, *reversed(calls), *calls]:
            for _ in range(3):
                (args, more), (plain, _) = call(), call()
                more()
                self.assertEqual(repr(compiled(*args)), repr(function(*plain)))
                self.assertEqual([vars(arg) for arg in args if isinstance(arg, Box)], [vars(arg) for arg in plain if isinstance(arg, Box)])

    def test_what_arguments_are(self):
        calls = [(1, 2, [1]), (1, 2.5, [1]), ("x", "y", [1]), (1, 2, (1,)), (1, 2, [None]), (1, 2, [1, 2]), (True, 2, [1])]
        self.check(arguments, *(lambda args=args: (args, lambda: None) for args in calls))

    def test_arguments_that_are_one_object(self):
        one = Box(value=1)
        self.check(
            twice_the_same,
            lambda: ((Box(value=1), Box(value=2)), lambda: None),
            lambda: ((one, one), lambda: None),
            lambda: ((Box(value=1.5), Box(value=2)), lambda: None),
        )

    def test_entries_of_globals(self):
        def with_rate(rate, name):
            def change():
                TABLE["rate"], TABLE["names"][1] = rate, name

            return lambda: ((5,), change)

        self.check(of_globals, with_rate(2, "b"), with_rate(3, "b"), with_rate(3, "c"), with_rate(2.5, "b"))

    def test_trees_of_objects(self):
        box = Box(name="n", inner=Box(scale=2, parts=[4]))

        def with_parts(scale, part, name):
            def change():
                box.inner.scale, box.inner.parts[0], box.name = scale, part, name

            return lambda: ((box,), change)

        other = Box(name="n", inner=Box(scale=2, parts=[4]))
        self.check(
            trees,
            with_parts(2, 4, "n"),
            with_parts(3, 4, "n"),
            lambda: ((other,), lambda: None),
            with_parts(2, 5, "n"),
            with_parts(2, 4, None),
        )

    def test_arguments_that_nothing_looks_at(self):
        objects = [1, "text", None, Box(), types, [1]]
        self.check(passed_through, *(lambda one=one: ((one, one), lambda: None) for one in objects if not isinstance(one, Box)))

    def test_cells(self):
        function, change = cells()
        self.check(function, *(lambda factor=factor: ((7,), lambda: change(factor)) for factor in (3, 4, 2.5, "x")))

    def test_code_and_callers_that_change(self):
        slotrt.reset()

        def function(a):
            return a + 1

        def other(a):
            return "other", a

        compiled, code = slotrt.compile(function), function.__code__
        for _ in range(3):
            function.__code__ = code
            self.assertEqual([compiled(1) for _ in range(3)], [2, 2, 2])
            function.__code__ = other.__code__
            self.assertEqual([compiled(1) for _ in range(3)], [("other", 1)] * 3)


if __name__ == "__main__":
    unittest.main()
