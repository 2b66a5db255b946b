"""Unpacking of iterables: `*` and `**` in calls and displays, and starred names. C makes lists and tuples of them at once."""

import sys
import unittest

import slotrt


class Counting:
    """An iterator that records its calls."""

    def __init__(self, count, asked):
        self.count = count
        self.asked = asked

    def __iter__(self):
        self.asked.append("iter")
        return self

    def __next__(self):
        self.asked.append("next")
        if not self.count:
            raise StopIteration
        self.count -= 1
        return self.count

    def __length_hint__(self):
        self.asked.append("hint")
        return 3


class NoIterator:
    def __iter__(self):
        return 3


class Sequence:
    def __getitem__(self, index):
        if index > 3:
            raise IndexError
        return index


def counted(count):
    yield from range(count)


def received(*args, **kwargs):
    return args, kwargs


def starred(values):
    return received(*values)


def starred_with_names(values):
    return received(*values, name=5)


def starred_after_one(values):
    return received(1, *values)


def rest_alone(values):
    (*rest,) = values
    return rest


def rest_last(values):
    first, *rest = values
    return first, rest


def rest_between(values):
    first, second, *rest, last = values
    return first, second, rest, last


class Mapping:
    def __init__(self, values):
        self.values = values

    def keys(self):
        return self.values

    def __getitem__(self, key):
        return -key


def merged(values):
    return {**Mapping(values), "name": 5}


VALUES = (
    lambda: range(3),
    lambda: range(2**60),
    lambda: [1, 2, 3, 4],
    lambda: (1, 2),
    lambda: Counting(3, []),
    lambda: NoIterator(),
    lambda: Sequence(),
    lambda: counted(4),
    lambda: counted(0),
    lambda: {1: 2, 3: 4, 5: 6},
    lambda: map(str, [1, 2, 3]),
    lambda: "text",
    lambda: 3,
)


def endless(function, make):
    """From 3.14 on `f(*values)` asks for no length first: of too many values it takes one after the other."""
    return sys.version_info >= (3, 14) and function in (starred, starred_with_names) and make() == range(2**60)


def observed(function, values):
    """The outcome, and the calls of the iterable."""
    try:
        outcome = function(values)
    except Exception as error:
        outcome = repr(error)
    return outcome, getattr(values, "asked", None)


class Unpacking(unittest.TestCase):
    FUNCTIONS = (starred, starred_with_names, starred_after_one, rest_alone, rest_last, rest_between, merged)

    def test_from_outside(self):
        for function in self.FUNCTIONS:
            for number, make in enumerate(VALUES):
                if endless(function, make):
                    continue
                with self.subTest(function.__name__, value=number):
                    compiled, plain = slotrt.compile(function), observed(function, make())
                    for _ in range(2):
                        self.assertEqual(observed(compiled, make()), plain)

    def test_made_in_the_trace(self):
        for function in self.FUNCTIONS:
            for number, make in enumerate(VALUES):
                if endless(function, make):
                    continue
                with self.subTest(function.__name__, value=number):

                    def made(function=function, make=make):
                        return observed(function, make())

                    self.assertEqual(slotrt.compile(made)(), made())


if __name__ == "__main__":
    unittest.main()
