"""Objects that C gets by itself, from a module, and gives to code of the program: they are what they were."""

import typing
import unittest

import slotrt

Ts = typing.TypeVarTuple("Ts")
T = typing.TypeVar("T")


def unpacked(parameters):
    return [*parameters][0]


def alias(parameters):
    return tuple[*parameters]


def joined(parameter):
    return parameter | "text"


class ObjectsThatCGets(unittest.TestCase):
    def test_special_forms(self):
        compiled = slotrt.compile(unpacked)
        for _ in range(2):
            made = compiled(Ts)
            self.assertEqual(made, unpacked(Ts))
            self.assertIs(made.__origin__, typing.Unpack)

    def test_what_is_made_of_them(self):
        for function, parameter in ((alias, Ts), (joined, T)):
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function)
                for _ in range(2):
                    made, plain = compiled(parameter), function(parameter)
                    self.assertEqual((repr(made), made.__parameters__), (repr(plain), plain.__parameters__))
                    if function is alias:
                        self.assertEqual(made[int, str], plain[int, str])


if __name__ == "__main__":
    unittest.main()
