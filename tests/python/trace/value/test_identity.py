"""Numbers, text and tuples from outside stay the same objects, whatever C does with them."""

import functools
import operator
import unittest

import slotrt


def again(value):
    """Another object of the same value."""
    if isinstance(value, tuple):
        return tuple(map(again, value))
    if isinstance(value, str):
        return "".join(list(value))
    if isinstance(value, bytes):
        return bytes(bytearray(value))
    return type(value)(repr(value).strip("()"))


def same(value):
    return value


def first(*values):
    return values[0]


def started(value):
    yield value


def through_a_generator(values):
    made = started(*values)
    print(end="")
    return next(made)


# Given a tuple, each returns its first item.
OF_TUPLE = (
    lambda t: t[0],
    lambda t: same(*t),
    lambda t: first(*t, 2),
    lambda t: [x for x in t][0],
    lambda t: [*t][0],
    lambda t: list(t).pop(),
    lambda t: (t + (1,))[0],
    lambda t: (t * 2)[-1],
    lambda t: t[:][0],
    lambda t: next(iter(t)),
    lambda t: next(reversed(t)),
    lambda t: max(t),
    lambda t: {"k": t}["k"][0],
    lambda t: list(map(same, t))[0],
    lambda t: sorted(t)[0],
    lambda t: dict.fromkeys(t).popitem()[0],
    lambda t: set(t).pop(),
    lambda t: next(iter(frozenset(t))),
    lambda t: tuple(zip(t, t))[0][1],
    lambda t: operator.itemgetter(0)(t),
    lambda t: functools.partial(first, *t)(3),
    lambda t: functools.reduce(lambda a, b: a, t),
    lambda t: (t, 1)[0][0],
    lambda t: {"k": v for v in t}["k"],
    through_a_generator,
)

# Each returns its argument.
OF_VALUE = (
    same,
    lambda v: (v,)[0],
    lambda v: first(*(v,)),
    lambda v: functools.reduce(first, (v, 1)),
    lambda v: functools.partial(first, v)(2),
    lambda v: next(iter((v, 1))),
    lambda v: through_a_generator((v,)),
    lambda v: [v, 1][0],
    lambda v: sorted([v])[0],
    lambda v: {v: v}[v],
)

VALUES = (-0.5, 12345678901, 1.5j, "some text", b"some bytes", ("a text", 2.5))


class Identity(unittest.TestCase):
    def test_items_of_a_tuple(self):
        for number, function in enumerate(OF_TUPLE):
            for value in VALUES:
                with self.subTest(function=number, value=value):

                    def is_item(values, item, function=function):
                        return function(values) is item

                    compiled, gives = slotrt.compile(is_item), slotrt.compile(function)
                    for _ in range(3):
                        item = again(value)
                        self.assertIs(gives((item,)), item)
                        self.assertTrue(compiled((item,), item))
                        self.assertFalse(compiled((item,), again(value)))

    def test_values(self):
        for number, function in enumerate(OF_VALUE):
            for value in VALUES:
                with self.subTest(function=number, value=value):

                    def is_value(value, other, function=function):
                        return function(value) is other

                    compiled, gives = slotrt.compile(is_value), slotrt.compile(function)
                    for _ in range(3):
                        one = again(value)
                        self.assertIs(gives(one), one)
                        self.assertTrue(compiled(one, one))
                        self.assertFalse(compiled(one, again(value)))

    def test_one_object_or_two(self):
        @slotrt.compile
        def larger(one, other):
            return max(other, one), max((one, other))

        for _ in range(2):
            one, other = again(0.5), again(0.5)
            for a, b in ((one, one), (one, other), (other, one)):
                given = larger(a, b)
                self.assertIs(given[0], b)
                self.assertIs(given[1], a)


class Nested(unittest.TestCase):
    def test_deep_containers(self):
        """Deeper than C's stack allows for a recursive search."""
        for kind in (tuple, list):
            value = kind((1.5,))
            for _ in range(100_000):
                value = kind((value,))
            for function in (len, bool, first, lambda v: v[0], lambda v: list(v)[0], lambda v: (v,), lambda v: [x for x in v]):
                with self.subTest(kind=kind):

                    def calls(value, function=function):
                        return function(value)

                    compiled = slotrt.compile(calls)
                    for _ in range(2):
                        given, plain = compiled(value), calls(value)
                        self.assertIs(type(given), type(plain))
                        if type(given) in (tuple, list):
                            self.assertIs(given[0], plain[0])
                        else:
                            self.assertIs(given, plain)


if __name__ == "__main__":
    unittest.main()
