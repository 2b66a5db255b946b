"""Names of a module used as globals, as items of its dict and as attributes: each way sees what the others change."""

import builtins
import sys
import types
import unittest
from unittest import mock

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


class Thing:
    """Compiled code makes instances and sets their attributes."""

    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value


def makes_things(n):
    count = 0

    def add(k):
        nonlocal count
        count += k
        return count

    thing = Thing(n)
    thing.more = [add(1), add(n)]
    Thing.made = thing.get
    slotrt.graph_break()
    try:
        for i in iter([n, n + 1]):
            thing.value += next(iter((i,)))
        thing.missing
    except AttributeError as error:
        kind = type(error).__name__
    return thing.get(), add, thing.more, Thing.made(), isinstance(n, int), kind


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

    def test_modules_that_the_program_replaced(self):
        """The compiler uses the interpreter's own `builtins` and `types`, also where a program has replaced them."""
        replaced = {"types": types.ModuleType("types"), "builtins": types.ModuleType("builtins"), "slotrt._slotrt": None}
        wrong = {name: None for name in ("object", "type", "AttributeError", "iter", "next", "isinstance", "compile", "slice")}
        # The program's own code finds them in the globals, not among the builtins.
        given = {name: getattr(builtins, name) for name in ("AttributeError", "iter", "next", "isinstance", "type")}
        with mock.patch.dict(globals(), given):
            expected = makes_things(3)
            with mock.patch.dict(sys.modules, replaced), mock.patch.dict(vars(builtins), wrong):
                seen = [slotrt.compile(makes_things, fullgraph=False)(3) for _ in range(2)]
        for result in seen:
            self.assertEqual(result[0:1] + result[2:], expected[0:1] + expected[2:])
            self.assertEqual(result[1](1), 5)

    def test_a_builtin_may_come_later(self):
        compiled = slotrt.compile(asks_for_a_builtin)
        self.assertEqual(compiled(), "name 'zork' is not defined")
        builtins.zork = 5
        self.assertEqual(compiled(), 5)

    def test_methods_of_a_module(self):
        """What a module has of its class and of `object`, bound to it: packages ask a module of theirs for names in this way."""

        class Outer:
            def __init__(self, module):
                self.module = module

            def __getattr__(self, name):
                return self.module.__getattribute__(name)

        here = sys.modules[__name__]

        def f(module, outer):
            told = [module.__getattribute__("GIVEN"), outer.GIVEN, module.__eq__(module), module.__dir__ == module.__dir__]
            try:
                outer.missing
            except AttributeError as error:
                told.append(str(error))
            return told, module.__hash__() == hash(module), module.__sizeof__() > 0

        compiled = slotrt.compile(f)
        for number in (1, 2):
            global GIVEN
            GIVEN = number
            self.assertEqual(compiled(here, Outer(here)), f(here, Outer(here)))


if __name__ == "__main__":
    unittest.main()
