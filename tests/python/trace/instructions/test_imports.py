"""Import statements in a trace: modules that are loaded late, replaced, or imported by a program's own `__import__`."""

import builtins
import shutil
import sys
import tempfile
import types
import unittest

import slotrt
from compared import Compared


def imports(name):
    seen = []
    for _ in range(2):
        import slotrt_loaded_late

        seen.append(slotrt_loaded_late.value)
    return seen


def changes_then_imports():
    LATE.append(1)
    import slotrt_loaded_late

    return slotrt_loaded_late.value, slotrt_loaded_late.seen


def from_imports():
    from collections import abc
    from os import path as place
    import os.path

    return abc, place, os


LATE = []


class Imports(unittest.TestCase):
    def late(self, text):
        directory = tempfile.mkdtemp()
        with open(f"{directory}/slotrt_loaded_late.py", "w") as file:
            file.write(text)
        sys.path.insert(0, directory)
        self.addCleanup(shutil.rmtree, directory)
        self.addCleanup(sys.path.remove, directory)
        self.addCleanup(sys.modules.pop, "slotrt_loaded_late", None)
        sys.modules.pop("slotrt_loaded_late", None)

    def test_loaded_within_the_trace(self):
        self.late("value = 7")
        compiled = slotrt.compile(imports, fullgraph=True)
        self.assertEqual(compiled(1), [7, 7])
        self.assertIn("slotrt_loaded_late", sys.modules)
        self.assertEqual(compiled(1), [7, 7])

    def test_another_module_of_the_name(self):
        self.late("value = 7")
        compiled = slotrt.compile(imports)
        self.assertEqual(compiled(1), [7, 7])
        sys.modules["slotrt_loaded_late"] = types.SimpleNamespace(value=8)
        self.assertEqual(compiled(1), [8, 8])
        sys.modules["slotrt_loaded_late"] = None
        self.assertRaises(ModuleNotFoundError, compiled, 1)

    def test_sees_what_came_before(self):
        self.late(f"import sys\nvalue = 7\nseen = list(sys.modules[{__name__!r}].LATE)")
        LATE.clear()
        self.assertEqual(slotrt.compile(changes_then_imports)(), (7, [1]))

    def test_forms(self):
        self.assertEqual(slotrt.compile(from_imports, fullgraph=True)(), from_imports())

    def test_own_import(self):
        asked = []

        def importing(name, *rest):
            asked.append(name)
            return types.SimpleNamespace(value=9)

        compiled = slotrt.compile(imports)
        self.late("value = 7")
        self.assertEqual(compiled(1), [7, 7])
        original, builtins.__import__ = builtins.__import__, importing
        try:
            self.assertEqual(compiled(1), [9, 9])
        finally:
            builtins.__import__ = original


class ImportByFunction(Compared):
    def test_a_name_given_twice(self):
        def program():
            try:
                return __import__("sys", name="sys")
            except TypeError as error:
                return str(error)

        self.assertEqual(slotrt.compile(program)(), program())

    def test_only_the_program_calls_it(self):
        seen = []
        original = builtins.__import__

        def importing(name, *args):
            seen.append(name)
            return original(name, *args)

        def program(number):
            import math

            made = compile("1 + 1", "text", "eval")
            return math.floor(number), sorted([number, 1]), [*map(str, [number])], eval(made)

        compiled = slotrt.compile(program)
        builtins.__import__ = importing
        try:
            for _ in range(2):
                self.assertEqual(compiled(2.5), (2, [1, 2.5], ["2.5"], 2))
        finally:
            builtins.__import__ = original
        self.assertEqual(seen, ["math"] * 2)

    def test_import_by_function(self):
        def through(name):
            return __import__(name).__name__, __import__("collections.abc").__name__, __import__("json.decoder", None, None, ["JSONDecoder"]).__name__

        compiled = self.same(through, "json")
        self.assertEqual(compiled("collections"), through("collections"))


class Finder:
    """A finder that finds nothing, as packages put before the interpreter's own."""

    asked = ()
    counts = False

    def find_spec(self, name, path, target=None):
        if self.counts:
            self.asked = (*self.asked, name)
        return None


def changes_then_imports_c():
    LATE.append(1)
    import xxlimited as late

    return late.__name__, LATE


class ImportsOfC(unittest.TestCase):
    """A module of C that is loaded after changes that are still to be made."""

    def setUp(self):
        self.finder = Finder()
        sys.meta_path.insert(0, self.finder)
        self.addCleanup(sys.meta_path.remove, self.finder)
        self.addCleanup(sys.modules.pop, "xxlimited", None)
        sys.modules.pop("xxlimited", None)
        LATE.clear()
        try:
            __import__("xxlimited")
        except ImportError:
            self.skipTest("this interpreter has no such module")
        sys.modules.pop("xxlimited", None)

    def test_another_finder_has_nothing(self):
        self.assertEqual(slotrt.compile(changes_then_imports_c, fullgraph=True)(), ("xxlimited", [1]))

    def test_a_finder_that_changes_something(self):
        self.finder.counts = True
        with self.assertRaisesRegex(slotrt.BreakError if hasattr(slotrt, "BreakError") else Exception, "after changes that are still to be made"):
            slotrt.compile(changes_then_imports_c, fullgraph=True)()
        LATE.clear()
        self.finder.asked = ()
        self.assertEqual(slotrt.compile(changes_then_imports_c)(), ("xxlimited", [1]))
        self.assertEqual(self.finder.asked, ("xxlimited",))


if __name__ == "__main__":
    unittest.main()
