"""Names in globals and builtins that are not the usual ones: builtins of a program's own, changed ones, mappings, derived dicts."""

import builtins
import sys
import types
import unittest

import slotrt

from compared import Compared


class Missing(dict):
    def __missing__(self, name):
        return "missing " + name


class Overridden(dict):
    def __getitem__(self, name):
        return "got " + name

    def __setitem__(self, name, value):
        dict.__setitem__(self, name, ("set", value))

    def __delitem__(self, name):
        dict.__setitem__(self, name, "deleted")


class Refusing(dict):
    def __getitem__(self, name):
        raise ValueError(name)


class Mapping:
    def __getitem__(self, name):
        if name == "absent":
            raise KeyError(name)
        return "mapped " + name


def read():
    return abs, absent


def stores():
    global stored
    stored = 1
    return stored


def deletes():
    global stored
    del stored


def statement():
    class Made:
        x = abs

    return Made


def imports():
    import math

    return math


def of(code, names):
    return types.FunctionType(code.__code__, names)


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


def described(value):
    return (type(value), value.__qualname__, value.x) if isinstance(value, type) and "x" in vars(value) else value


class NamesElsewhere(Compared):
    def agree(self, function, *args):
        """Compiled, and called by a compiled function: both as plain, three times."""

        def calls(function, *args):
            return function(*args)

        compiled, called = slotrt.compile(function), slotrt.compile(calls)
        for _ in range(3):
            expected = described(outcome(function, *args))
            self.assertEqual(described(outcome(compiled, *args)), expected)
            self.assertEqual(described(outcome(called, function, *args)), expected)

    def test_builtins_of_its_own(self):
        for names in ({"abs": 5, "absent": 6}, {"abs": [7]}, {}):
            with self.subTest(names=names):
                self.agree(of(read, {"__builtins__": names}))
                self.agree(of(statement, {"__builtins__": names, "__name__": "here"}))
                self.agree(of(imports, {"__builtins__": names}))

    def test_functions_of_one_code_with_different_builtins(self):
        def calls(function):
            return function()

        compiled = slotrt.compile(calls)
        functions = [of(read, {"__builtins__": {"abs": n, "absent": -n}}) for n in range(3)]
        for function in functions * 2:
            self.assertEqual(compiled(function), function())
            self.assertEqual(slotrt.compile(function)(), function())

    def test_builtins_of_its_own_that_change(self):
        names = {"abs": 1, "absent": 2}
        function = of(read, {"__builtins__": names})
        compiled, called = slotrt.compile(function), slotrt.compile(lambda: function())
        for change in ({}, {"abs": 3}, {"absent": "text"}, {"abs": [1]}):
            names.update(change)
            self.assertEqual(compiled(), function())
            self.assertEqual(called(), function())
        del names["absent"]
        self.assertEqual(outcome(compiled), outcome(function))
        self.assertEqual(outcome(called), outcome(function))

    def test_builtins_that_change(self):
        def asked():
            return not_there_at_first

        def called(x):
            return not_there_at_first(x)

        compiled = slotrt.compile(asked)
        self.addCleanup(vars(builtins).pop, "not_there_at_first", None)
        self.assertEqual(outcome(compiled), outcome(asked))
        for value in (1, 2, "text", [3], 1, abs):
            builtins.not_there_at_first = value
            self.assertIs(compiled(), value)
        compiled = slotrt.compile(called)
        for value in (abs, lambda x: x + 1, lambda x: x + 2, str):
            builtins.not_there_at_first = value
            self.assertEqual(compiled(-3), value(-3))

    def test_a_builtin_is_kept_before_it_is_changed(self):
        def kept():
            value = not_there_at_first
            builtins.not_there_at_first = [2]
            return value, not_there_at_first

        self.addCleanup(vars(builtins).pop, "not_there_at_first", None)
        compiled = slotrt.compile(kept)
        for _ in range(2):
            builtins.not_there_at_first = [1]
            self.assertEqual(compiled(), ([1], [2]))
            self.assertEqual(builtins.not_there_at_first, [2])

    def test_build_class_is_what_builtins_say(self):
        original = builtins.__build_class__
        compiled = slotrt.compile(statement)
        self.assertEqual(described(compiled()), described(statement()))
        self.addCleanup(setattr, builtins, "__build_class__", original)
        builtins.__build_class__ = lambda body, name, *bases: ("built", name, bases)
        self.assertEqual(compiled(), ("built", "Made", ()))
        self.assertEqual(slotrt.compile(statement)(), ("built", "Made", ()))
        builtins.__build_class__ = original
        self.assertEqual(described(compiled()), described(statement()))

    def test_import_is_what_builtins_say(self):
        names = vars(builtins) | {"__import__": lambda name, *rest: ("imported", name)}
        self.agree(of(imports, {"__builtins__": names}))
        self.agree(of(imports, {"__builtins__": vars(builtins) | {"__import__": len}}))

    def test_builtins_that_are_no_plain_dict(self):
        for names in (Missing(absent=1), Overridden(abs=1, absent=2), Refusing(), Mapping(), Missing(vars(builtins))):
            for code in (read, statement, imports):
                with self.subTest(type(names).__name__, code=code.__name__):
                    self.agree(of(code, {"__builtins__": names, "__name__": "here"}))

    def test_globals_of_a_derived_class(self):
        for make in (Missing, Overridden, Refusing):
            for names in ({}, {"absent": 1}, {"abs": 2, "absent": 3}, {"stored": 4}):
                for code in (read, stores, deletes):
                    with self.subTest(make.__name__, names=names, code=code.__name__):
                        plain, compiled, called = make(names), make(names), make(names)
                        expected = outcome(of(code, plain))
                        self.assertEqual(outcome(slotrt.compile(of(code, compiled))), expected)
                        self.assertEqual(outcome(slotrt.compile(lambda: of(code, called)())), expected)
                        for left in (compiled, called):
                            self.assertEqual(list(dict.items(left)), list(dict.items(plain)))

    def test_globals_of_a_derived_class_that_the_trace_makes(self):
        def made(n):
            names = Missing(stored=n)
            return types.FunctionType(read.__code__, names)(), types.FunctionType(stores.__code__, names)(), names

        compiled = slotrt.compile(made)
        for n in (1, 2, 1):
            self.assertEqual(compiled(n), made(n))

    def test_evaluated_text_sees_its_builtins(self):
        def evaluated(names):
            return eval("abs", {"__builtins__": names})

        compiled = slotrt.compile(evaluated)
        for names in ({"abs": 1}, {"abs": 2}, Missing(), Mapping()):
            self.assertEqual(outcome(compiled, names), outcome(evaluated, names))

    @unittest.skipIf(sys.version_info < (3, 14), "annotations are made at once")
    def test_annotations_as_text(self):
        import annotationlib

        def inner(a: int, b: Unknown, *rest: list[Unknown]) -> "text": ...  # noqa: F821

        def asked(form):
            return annotationlib.get_annotations(inner, format=form)

        compiled = slotrt.compile(asked)
        for form in (annotationlib.Format.STRING, annotationlib.Format.FORWARDREF, annotationlib.Format.STRING):
            self.assertEqual(repr(compiled(form)), repr(asked(form)))


if __name__ == "__main__":
    unittest.main()
