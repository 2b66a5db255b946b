"""numpy and classes: scalars that C code recognises by their base class, and operands with numpy's protocols (`__array_ufunc__`, `__array_priority__`…)."""

import json
import operator
import unittest

import slotrt

try:
    import numpy as np
except ImportError as error:
    raise unittest.SkipTest(f"numpy is not installed: {error}") from error


class ScalarsInC(unittest.TestCase):
    def test_c_recognises_a_number_by_its_base(self):
        def written(number):
            try:
                return json.dumps(+number)
            except TypeError as error:
                return str(error)

        compiled = slotrt.compile(written)
        for number in ("", np.float64(2.5), np.float64(2.5), np.int64(3), np.complex128(2j), np.float64("nan")):
            with self.subTest(repr(number)):
                self.assertEqual(compiled(number), written(number))


class Refusing:
    __array_ufunc__ = None

    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return "reflected"


class Ruling:
    def __array_ufunc__(self, *args, **kwargs):
        return "ruled", args[1]

    def __radd__(self, other):
        return "reflected"


class Ranked:
    __array_priority__ = 1000

    def __radd__(self, other):
        return "reflected"


class Converted:
    def __array__(self, dtype=None, copy=None):
        return np.array([5])


class Answering(type):
    def __getattr__(cls, name):
        return "answer", name


class Answered(metaclass=Answering):
    __radd__ = None


class Having(type):
    @property
    def __array_ufunc__(cls):
        return None


class Had(metaclass=Having):
    def __radd__(self, other):
        return "reflected"


class Later:
    def __radd__(self, other):
        return "reflected"


class ProtocolsOfClasses(unittest.TestCase):
    """numpy's C code reads attributes from the classes of operands that CPython knows nothing of."""

    CLASSES = (Refusing, Ruling, Ranked, Converted, Answered, Had, Later)

    @staticmethod
    def first(number, operate, make):
        return list(map(operate, [number], [make()]))

    @staticmethod
    def second(number, operate, make):
        return list(map(operate, [make()], [number]))

    @staticmethod
    def changed(number, operate, make):
        class Made(Later):
            pass

        before = list(map(operate, [number], [Made()]))
        Made.__array_ufunc__ = make.__dict__.get("__array_ufunc__")
        after = list(map(operate, [number], [Made()]))
        del Made.__array_ufunc__
        return before, after, list(map(operate, [number], [Made()]))

    def test_operators(self):
        for number in (np.float64(1), np.int8(3), np.array([1, 2])):
            for make in self.CLASSES:
                for operate in (operator.add, operator.eq, operator.lt, operator.iadd):
                    for function in (self.first, self.second, self.changed):
                        with self.subTest(function.__name__, number=number, make=make, operate=operate):
                            compiled, plain = slotrt.compile(function), self.outcome(function, number, operate, make)
                            for _ in range(2):
                                self.assertEqual(self.outcome(compiled, number, operate, make), plain)

    @staticmethod
    def outcome(function, number, operate, make):
        try:
            return repr(function(number.copy(), operate, make))
        except TypeError as error:
            return str(error)


if __name__ == "__main__":
    unittest.main()
