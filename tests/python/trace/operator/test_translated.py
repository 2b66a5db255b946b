"""Functions and bound methods, which C code cannot take in a trace: the translations of C functions work on them instead."""
import functools
import unittest

import slotrt


class Base:
    def __repr__(self):
        return "a Base"

    def method(self):
        return self

    @classmethod
    def of_class(cls):
        return cls

    @staticmethod
    def free(x):
        return x


class Derived(Base):
    pass


def function(a, b=2):
    return a, b


def other(a, b=2):
    return a, b


base, derived, items = Base(), Derived(), [3, 1]
bound = base.method

WHOLE = [
    lambda: repr(base.method),
    lambda: repr(derived.method),
    lambda: str(Base().method),
    lambda: f"{base.method} {bound!r:>60} {bound!s}",
    lambda: repr(Derived.of_class),
    lambda: f"{Derived.of_class}",
    lambda: repr([base.method, (bound, 1)]),
    lambda: "%s %r" % (bound, bound),
    lambda: repr(function),
    lambda: f"{function} {Base.free}",
    lambda: str(Base.__dict__["method"]),
    lambda: (function == function, function == other, function != other, other != other),
    lambda: (base.method == base.method, base.method == derived.method, bound == base.method, bound != base.method),
    lambda: (bound == 1, function == 1, 1 == function, bound != "x"),
    lambda: function.__get__(base)(),
    lambda: function.__get__(None, Base)(1),
    lambda: Base.__dict__["method"].__get__(derived, Derived)() is derived,
    lambda: function in [other, function],
    lambda: [other, function].index(function),
    lambda: {function: 1}[function],
    lambda: functools.partial(function, 1).func == function,
]


def refused():
    try:
        return function < other
    except TypeError as error:
        return str(error)


def invalid():
    try:
        return function.__get__(None, None)
    except TypeError as error:
        return str(error)


class Translated(unittest.TestCase):
    def test_without_a_break(self):
        for case in WHOLE + [refused, invalid]:
            with self.subTest(case.__code__.co_firstlineno):
                compiled = slotrt.compile(case, fullgraph=True)
                self.assertEqual(compiled(), case())
                self.assertEqual(compiled(), case())

    def test_with_breaks(self):
        for case in [lambda: (items.append == items.append, items.append == [].append, items.append != items.pop)]:
            self.assertEqual(slotrt.compile(case)(), case())

    def test_other_objects(self):
        texts = slotrt.compile(lambda x: repr(x))
        for value in (base.method, derived.method, bound, function, other, Base().method, Base.free, items.append):
            self.assertEqual(texts(value), repr(value))
        same = slotrt.compile(lambda x, y: x == y)
        pairs = [(function, function), (function, other), (bound, base.method), (bound, derived.method), (bound, function)]
        for one, two in pairs:
            self.assertIs(same(one, two), one == two)

    def test_a_function_that_is_called_otherwise(self):
        def named():
            pass

        compiled = slotrt.compile(lambda: (repr(named), repr(named.__get__(base))))
        for name in ("first", "second"):
            named.__qualname__ = name
            self.assertEqual(compiled(), (repr(named), repr(named.__get__(base))))


if __name__ == "__main__":
    unittest.main()
