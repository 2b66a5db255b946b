"""`list[C]` of classes that have `__parameters__`: C passes classes over where it looks for parameters."""

import typing
import unittest

import slotrt

T = typing.TypeVar("T")


class Box(typing.Generic[T]):
    pass


class Duck:
    __parameters__ = (T,)


def parameters(cls):
    return list[cls].__parameters__, dict[T, cls].__parameters__, tuple[int, cls].__args__


def subscribed(cls):
    try:
        return list[cls][int]
    except TypeError as error:
        return str(error)


class AliasesOfClasses(unittest.TestCase):
    def test_as_without(self):
        for function in (parameters, subscribed):
            for cls in (Box, Duck, int, Box[int]):
                with self.subTest(function=function.__name__, of=cls):
                    compiled = slotrt.compile(function)
                    self.assertEqual([compiled(cls), compiled(cls)], [function(cls)] * 2)


if __name__ == "__main__":
    unittest.main()
