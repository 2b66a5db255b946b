"""Classes that a trace makes are its own: when it is over, the program does not find them among the subclasses of its classes."""

import gc
import unittest

import slotrt


class Base:
    pass


class Registering:
    def __init_subclass__(cls):
        cls.items = [1]
        super().__init_subclass__()


class Meta(type):
    def __new__(meta, name, bases, namespace):
        made = super().__new__(meta, name, bases, namespace)
        made.items = {made.__name__: []}
        return made


class Made(metaclass=Meta):
    pass


def plain():
    class Below(Base):
        def number(self):
            return 5

    return Below.__name__


def of_c():
    class Below(str):
        def number(self):
            return 5

    return Below("a") + "b"


def called():
    def number(self):
        return 5

    return type("Below", (Base, dict), {"number": number})()


def with_code():
    class Below(Registering):
        def number(self):
            return 5

    slotrt.graph_break()
    return Below.items


def by_a_metaclass():
    class Below(Made):
        def number(self):
            return 5

    slotrt.graph_break()
    return Below.items


def that_fails():
    class Below(Base):
        other = Naming()

        def number(self):
            return 5

    return Below


class Naming:
    def __set_name__(self, owner, name):
        slotrt.graph_break()
        raise ValueError(owner.__name__)


def seen(function):
    try:
        return function()
    except (RuntimeError, ValueError) as error:
        return type(error)


def below():
    bases = Base, Registering, Made, str
    return [cls for base in bases for cls in base.__subclasses__() if cls.__name__ == "Below"]


class MadeClasses(unittest.TestCase):
    def test_they_are_not_found(self):
        for function in (plain, of_c, called, with_code, by_a_metaclass, that_fails):
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function)
                gc.collect()
                gc.disable()
                try:
                    expected = [seen(function) for _ in range(3)]
                    by_plain = len(below())
                    self.assertEqual(str([seen(compiled) for _ in range(3)]), str(expected))
                    found = below()
                    self.assertLessEqual(len(found), 2 * by_plain)
                    self.assertEqual([cls.number(None) for cls in found], [5] * len(found))
                finally:
                    gc.enable()


if __name__ == "__main__":
    unittest.main()
