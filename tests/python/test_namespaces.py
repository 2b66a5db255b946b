"""Names of modules, reached as globals, as items of their dict, and as attributes of the module."""

import builtins
import sys
import unittest

import slotrt

GIVEN = 1


def defines():
    globals()["FRESH"] = 3
    return FRESH  # noqa: F821


def takes_away():
    globals()["FRESH"] = 3
    del globals()["FRESH"]
    return FRESH  # noqa: F821


def reads_the_item():
    global FRESH
    FRESH = 4
    before = globals()["FRESH"]
    globals()["FRESH"] = 5
    return before, FRESH


def deletes_the_name():
    global GIVEN
    GIVEN = 7
    names = globals()
    before = names["GIVEN"]
    names["GIVEN"] = 8
    del GIVEN
    return before, "GIVEN" in names, names.get("GIVEN")


def through_the_module():
    module = sys.modules[__name__]
    module.GIVEN = 5
    before = GIVEN
    globals()["GIVEN"] = 6
    return before, module.GIVEN, GIVEN


def a_builtin_by_attribute():
    builtins.zork = 3
    return zork  # noqa: F821


def a_builtin_by_item():
    builtins.__dict__["zork"] = 4
    return zork  # noqa: F821


def asks_for_a_builtin():
    try:
        return zork  # noqa: F821
    except NameError as error:
        return str(error)


def ended(function):
    try:
        return function()
    except NameError as error:
        return str(error)


class Namespaces(unittest.TestCase):
    def setUp(self):
        global GIVEN
        GIVEN = 1
        globals().pop("FRESH", None)
        vars(builtins).pop("zork", None)

    tearDown = setUp

    def test_all_ways_to_a_name_see_each_other(self):
        functions = (
            defines,
            takes_away,
            reads_the_item,
            deletes_the_name,
            through_the_module,
            a_builtin_by_attribute,
            a_builtin_by_item,
        )
        for function in functions:
            with self.subTest(function.__name__):
                seen = []
                for callee in (function, slotrt.compile(function)):
                    self.setUp()
                    first = ended(callee), globals().get("GIVEN"), globals().get("FRESH")
                    self.setUp()
                    seen.append([first, ended(callee), globals().get("GIVEN"), globals().get("FRESH")])
                self.assertEqual(*seen)

    def test_a_builtin_may_come_later(self):
        compiled = slotrt.compile(asks_for_a_builtin)
        self.assertEqual(compiled(), "name 'zork' is not defined")
        builtins.zork = 5
        self.assertEqual(compiled(), 5)


if __name__ == "__main__":
    unittest.main()
