"""`int`, `float` and `complex` of objects that have other methods than the one of that name, or none."""

import unittest
import warnings

import slotrt


class Nothing:
    pass


class Real:
    def __float__(self):
        return 1.5


class Complex:
    def __complex__(self):
        return 1.5j


class Index:
    def __index__(self):
        return 3


class Raises:
    def __index__(self):
        raise ValueError("no index")


class NoIndex:
    def __index__(self):
        return "three"


class Large:
    def __index__(self):
        return 10**400


class Hidden:
    __float__ = None
    __int__ = None


class Text(str):
    pass


class Bytes(bytes):
    pass


class Derived(float):
    pass


class Number(int):
    pass


class NotExact:
    def __int__(self):
        return Number(3)

    def __float__(self):
        return Derived(2.5)


class Trunc:
    def __trunc__(self):
        return 5


class Meta(type):
    def __float__(cls):
        return 2.5


class OfMeta(metaclass=Meta):
    pass


VALUES = [
    Nothing(), Real(), Complex(), Index(), Raises(), NoIndex(), Large(), Hidden(), Text("12"), Text("x"), Bytes(b"12"), Derived(2.5),
    Number(7), NotExact(), Trunc(), OfMeta, OfMeta(), Nothing, [Nothing()], (1,), {},
]


def to_int(value):
    return int(value)


def to_float(value):
    return float(value)


def to_complex(value):
    return complex(value)


def both(value):
    return complex(value, Index()), complex(1, value)


def outcome(function, value):
    try:
        result = function(value)
    except Exception as error:
        return type(error), str(error)
    return result, type(result)


class Conversions(unittest.TestCase):
    def test_as_plain(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for function in to_int, to_float, to_complex, both:
                for value in VALUES:
                    with self.subTest(function.__name__, value=value):
                        compiled = slotrt.compile(function)
                        wanted = outcome(function, value)
                        for _ in range(3):
                            self.assertEqual(outcome(compiled, value), wanted)

    def test_no_break(self):
        for function, values in (
            (to_int, [Index(), Raises(), NoIndex(), Nothing(), Real()]),
            (to_float, [Index(), Raises(), Large(), Nothing(), Hidden(), Real()]),
            (to_complex, [Complex(), Real(), Index(), Nothing(), Large()]),
        ):
            for value in values:
                with self.subTest(function.__name__, value=type(value).__name__):
                    slotrt.reset()
                    outcome(slotrt.compile(function), value)
                    self.assertEqual(slotrt.stats()["graph_breaks"], 0)


if __name__ == "__main__":
    unittest.main()
