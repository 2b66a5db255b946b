"""Attributes of functions from outside are set; what refuses that says so in C's words."""

import functools
import itertools
import sys
import unittest

import slotrt
from compared import Compared


def plain(a):
    "of plain"
    return a


def named(function, name):
    function.__name__ = name
    function.__doc__ = name * 2
    function.level = getattr(function, "level", 0) + 1
    return function.__name__, function.__doc__, function.level, function(3)


def taken_back(function):
    function.mark = 1
    del function.mark
    return hasattr(function, "mark"), function.__module__


def refused(thing, names):
    told = []
    for name in names:
        try:
            setattr(thing, name, 3)
        except (AttributeError, TypeError) as error:
            told.append((type(error).__name__, str(error)))
        try:
            delattr(thing, name)
        except (AttributeError, TypeError) as error:
            told.append((type(error).__name__, str(error)))
    return told


class Owner:
    def method(self):
        "of method"


class Definitions(Compared):
    def test_functions(self):
        def fresh():
            return lambda a: a

        compiled = slotrt.compile(named, fullgraph=True)
        for function in (fresh(), fresh(), plain, plain):
            other = fresh()
            other.__dict__.update(function.__dict__)
            self.assertEqual(compiled(function, "one"), named(other, "one"))
            self.assertEqual((function.__name__, function.__doc__, function.level), ("one", "oneone", other.level))
        with self.assertRaises(TypeError) as caught:
            slotrt.compile(named)(plain, 4)
        self.assertEqual(str(caught.exception), "__name__ must be set to a string object")

    def test_an_attribute_is_taken_back(self):
        self.same(taken_back, plain)
        self.assertFalse(hasattr(plain, "mark"))
        self.same(lambda f: refused(f, ["missing"]) if not hasattr(f, "missing") else 0, len)

    def test_a_name_in_a_message(self):
        def renamed(function):
            function.__name__ = "renamed"
            try:
                function()
            except TypeError as error:
                return str(error), repr(function)[:20]

        self.assertEqual(slotrt.compile(renamed)(lambda a: a)[0], renamed(lambda a: a)[0])

    @unittest.skipIf(sys.version_info >= (3, 15), "it looks into a frozendict, for which a trace ends")
    def test_total_ordering(self):
        def ordered():
            @functools.total_ordering
            class Number:
                def __init__(self, value):
                    self.value = value

                def __lt__(self, other):
                    return self.value < other.value

                def __eq__(self, other):
                    return self.value == other.value

            one, two = Number(1), Number(2)
            return one < two, one <= two, one > two, one >= two, Number.__ge__.__name__

        self.same(ordered)

    def test_bound_methods_and_fixed_objects(self):
        self.same(lambda owner: refused(owner.method, ["x", "__func__", "__self__", "__doc__"]), Owner())
        for thing in (range(3), slice(1), len, None, 3, "text", itertools.chain, int, type(None)):
            with self.subTest(thing=thing):
                self.same(refused, thing, ["start", "real", "other", "__doc__"])


class Callables(Compared):
    """C that is given functions of Python raises what it raises without the tracer."""

    def test_what_is_called_and_does_not_fit(self):
        def told(call):
            def one(a):
                return a

            def fails(a, b=None):
                raise IndexError("here")

            seen = []
            for args in ((one,), (one, one), (one, 42), ([1, 2], one), (fails, [1, 2]), (one, [1], [2]), ("", one)):
                try:
                    made = call(*args)
                    seen.append(list(made) if isinstance(made, (map, filter, itertools.starmap, itertools.takewhile)) else 0)
                except (TypeError, ValueError, IndexError) as error:
                    seen.append((type(error).__name__, str(error).partition(" at 0x")[0]))
            return seen

        calls = [map, filter, itertools.starmap, itertools.takewhile, itertools.dropwhile, itertools.groupby, itertools.filterfalse]
        calls += [functools.reduce, functools.cmp_to_key, sorted, sum, min, staticmethod, classmethod, int, str.join, list, dict, enumerate]
        for call in calls:
            with self.subTest(call=call):
                self.assertEqual(slotrt.compile(told)(call), told(call))
        self.same(told, map)
        self.same(told, itertools.takewhile)


if __name__ == "__main__":
    unittest.main()
