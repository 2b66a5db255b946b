"""Modules that C is given: what it asks them for may be there at the next call."""

import collections
import operator
import types
import unittest

import slotrt

MODULE = None


def as_a_dict():
    return dict(MODULE)


def updated():
    found = {}
    found.update(MODULE)
    return found


def initialised():
    found = {}
    found.__init__(MODULE)
    return found


def ordered():
    return collections.OrderedDict(MODULE)


def attribute():
    return operator.attrgetter("fresh")(MODULE)


def attributes():
    return list(map(operator.attrgetter("fresh"), [MODULE, Callable("other")]))


def formatted():
    return "{0.fresh}".format(MODULE)


def names():
    return dir(MODULE)


def a_set():
    return set(MODULE)


def base():
    return type("Made", (MODULE,), {})


class Callable(types.ModuleType):
    fresh = 4

    def __iter__(self):
        return iter(("a",))


class ModulesGivenToC(unittest.TestCase):
    def outcomes(self, function):
        global MODULE
        MODULE = types.ModuleType("module")
        changes = [
            lambda: None,
            lambda: setattr(MODULE, "__getattr__", lambda name: name),
            lambda: delattr(MODULE, "__getattr__"),
            lambda: setattr(MODULE, "fresh", 3),
            lambda: setattr(MODULE, "keys", lambda: []),
            lambda: setattr(MODULE, "__mro_entries__", lambda bases: ()),
            lambda: setattr(MODULE, "__class__", Callable),
        ]
        found = []
        for change in changes:
            change()
            for _ in range(2):
                try:
                    found.append(repr(function()))
                except Exception as error:
                    found.append(f"{type(error).__name__}: {error}")
        return found

    def test_what_they_have_now(self):
        functions = as_a_dict, updated, initialised, ordered, attribute, attributes, formatted, names, a_set, base
        for function in functions:
            with self.subTest(function=function.__name__):
                self.assertEqual(self.outcomes(slotrt.compile(function)), self.outcomes(function))


if __name__ == "__main__":
    unittest.main()
