"""What a trace reads outside itself: files, settings, the globals of modules, the dicts of instances; each call must see it as it is then."""

import array
import collections
import contextlib
import io
import os
import sys
import tempfile
import time
import traceback
import types
import unittest

import slotrt

NUMBER = 1


class Plain:
    """An instance with a `__dict__`."""

    kept = "of the class"

    @property
    def hidden(self):
        return "property"


class Ordered(unittest.TestCase):
    """An `OrderedDict` whose table has another order than it."""

    def test_it_stays_as_it_is_where_it_is_read(self):
        def read(ordered, seen):
            seen.append(ordered["a"])
            return seen

        def seen(function):
            ordered = collections.OrderedDict(a=1, b=2, c=3)
            ordered.move_to_end("a")
            iterator = iter(ordered)
            first = next(iterator)
            held = function(ordered, [ordered])
            return first, list(iterator), held[0] is ordered, held[1:], list(dict.items(ordered))

        compiled = slotrt.compile(read)
        for _ in range(3):
            self.assertEqual(seen(compiled), seen(read))

    def test_changes_keep_both_orders(self):
        def change(ordered, key):
            ordered[key] = 5
            ordered.pop("b", None)
            return next(reversed(ordered))

        def changed(function, key):
            ordered = collections.OrderedDict(a=1, b=2, c=3)
            ordered.move_to_end("a")
            return function(ordered, key), list(ordered.items()), list(dict.items(ordered))

        compiled = slotrt.compile(change)
        for key in ("a", "b", "c", "d"):
            self.assertEqual(changed(compiled, key), changed(change, key))


class Twice(unittest.TestCase):
    """Compares compiled with plain, on the first call and from the cache."""

    def same(self, function, *args):
        compiled = slotrt.compile(function, fullgraph=True)
        self.assertEqual(compiled(*args), function(*args))
        self.assertEqual(compiled(*args), function(*args))
        return compiled


class Files(Twice):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = os.path.join(self.directory.name, "text")
        self.write("first\nsecond\n")

    def write(self, text, ago=60):
        """The file is old enough for its time to tell it from a later one, unless it is said to be new."""
        with open(self.path, "w") as file:
            file.write(text)
        then = time.time() - ago
        os.utime(self.path, (then, then))

    def test_the_text_of_a_file_is_read_again_when_it_has_changed(self):
        def lines(path):
            with open(path) as file:
                found = file.readlines()
            return found, file.closed

        compiled = self.same(lines, self.path)
        self.write("something else", ago=30)
        self.assertEqual(compiled(self.path), (["something else"], True))
        self.same(lines, self.path)

    def test_files_written_one_after_the_other(self):
        def text(path):
            with open(path) as file:
                return file.read()

        compiled = slotrt.compile(text)
        for content in ("one", "two", "six"):
            self.write(content, ago=0)
            self.assertEqual(compiled(self.path), content)
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(text, fullgraph=True)(self.path)

    def test_a_file_that_comes_and_goes(self):
        def status(path):
            try:
                return os.stat(path).st_size, os.path.exists(path)
            except FileNotFoundError as error:
                return error.errno, str(error), os.path.exists(path)

        compiled = self.same(status, self.path)
        os.remove(self.path)
        self.assertEqual(compiled(self.path), status(self.path))
        self.write("longer than before, by far")
        self.assertEqual(compiled(self.path), status(self.path))

    def test_names_in_a_directory(self):
        def names(path):
            found = os.listdir(path)
            found.append("end")
            return sorted(found)

        compiled = self.same(names, self.directory.name)
        with open(os.path.join(self.directory.name, "other"), "w"):
            pass
        self.assertEqual(compiled(self.directory.name), ["end", "other", "text"])

    def test_a_file_that_is_left_open_or_written_is_no_part_of_a_graph(self):
        def left(path):
            return open(path)

        def written(path):
            with open(path, "a") as file:
                return file.write("more")

        with slotrt.compile(left)(self.path) as file:
            self.assertEqual(file.read(), "first\nsecond\n")
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(written, fullgraph=True)(self.path)
        self.assertEqual(slotrt.compile(written)(self.path), 4)
        with open(self.path) as file:
            self.assertEqual(file.read(), "first\nsecond\nmore")

    def test_the_working_directory(self):
        before = os.getcwd()
        compiled = self.same(lambda: os.getcwd())
        os.chdir(self.directory.name)
        try:
            self.assertEqual(compiled(), os.getcwd())
        finally:
            os.chdir(before)

    def test_settings(self):
        compiled = self.same(lambda: (sys.getrecursionlimit(), sys.getswitchinterval()))
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + 7)
        try:
            self.assertEqual(compiled()[0], limit + 7)
        finally:
            sys.setrecursionlimit(limit)


class Namespaces(Twice):
    def setUp(self):
        globals()["NUMBER"] = 1
        globals().pop("LATER", None)

    def test_globals_are_read_and_written_by_name(self):
        def read():
            names = globals()
            return names["NUMBER"], names.get("LATER"), "LATER" in names, names.get("LATER", 3), bool(names)

        def write(value):
            names = globals()
            names["LATER"] = value
            seen = LATER  # noqa: F821
            del names["LATER"]
            try:
                names["LATER"]
            except KeyError as error:
                return seen, error.args, names.setdefault("NUMBER", 5), names.pop("NUMBER"), "NUMBER" in names

        compiled = self.same(read)
        globals()["NUMBER"] = 2
        globals()["LATER"] = 4
        self.assertEqual(compiled(), (2, 4, True, 4, True))
        del globals()["LATER"]
        compiled = slotrt.compile(write, fullgraph=True)
        for value in (1, "text"):
            globals()["NUMBER"] = 9
            self.assertEqual(compiled(value), (value, ("LATER",), 9, 9, False))
            self.assertNotIn("NUMBER", globals())

    def test_vars_and_dict_of_a_module(self):
        module = types.ModuleType("made")
        module.x = 1

        def through(module):
            vars(module)["y"] = module.__dict__["x"] + 1
            module.x += 1
            return module.y, vars(module)["x"], module.__dict__.get("z")

        compiled = slotrt.compile(through, fullgraph=True)
        self.assertEqual(compiled(module), (2, 2, None))
        self.assertEqual(compiled(module), (3, 3, None))
        self.assertEqual((module.x, module.y), (3, 3))

    def test_names_of_a_module(self):
        module = types.ModuleType("made")

        def names(module):
            return list(vars(module)), sorted(module.__dict__)[-1]

        compiled = self.same(names, module)
        module.zeta = 1
        self.assertEqual(compiled(module), names(module))

    def test_globals_of_a_function_made_in_the_trace(self):
        def through():
            def inner():
                return 1

            inner.__globals__["NUMBER"] = 8
            return inner.__globals__["NUMBER"], NUMBER

        compiled = slotrt.compile(through, fullgraph=True)
        for _ in range(2):
            globals()["NUMBER"] = 0
            self.assertEqual(compiled(), (8, 8))
            self.assertEqual(NUMBER, 8)

    def test_exec_in_globals(self):
        def run():
            exec("NUMBER = NUMBER + 1", globals())
            return NUMBER, eval("NUMBER * 2", globals())

        compiled = slotrt.compile(run, fullgraph=True)
        globals()["NUMBER"] = 4
        self.assertEqual(compiled(), (5, 10))
        self.assertEqual(compiled(), (6, 12))
        self.assertEqual(NUMBER, 6)


class Dicts(Twice):
    def test_the_dict_of_an_instance(self):
        def through(thing):
            held = thing.__dict__
            held["y"] = held["x"] + 1
            thing.x = 10
            return held["x"], thing.y, "kept" in held, vars(thing).get("z"), held.pop("x"), hasattr(thing, "x")

        compiled = slotrt.compile(through, fullgraph=True)
        for value in (1, 5):
            thing = Plain()
            thing.x = value
            self.assertEqual(compiled(thing), (10, value + 1, False, None, 10, False))
            self.assertEqual(thing.__dict__, {"y": value + 1})

    def test_the_dict_of_an_instance_as_a_whole(self):
        def whole(thing):
            held = dict(thing.__dict__)
            names = [name for name in thing.__dict__]
            thing.__dict__.update(z=3)
            thing.w = 4
            return held, names, thing.z, len(thing.__dict__), thing.__dict__["w"]

        compiled = slotrt.compile(whole, fullgraph=True)
        for value in (1, "a"):
            thing = Plain()
            thing.x = value
            self.assertEqual(compiled(thing), ({"x": value}, ["x"], 3, 3, 4))
            self.assertEqual(list(thing.__dict__.items()), [("x", value), ("z", 3), ("w", 4)])
        thing = Plain()
        thing.other = 2
        self.assertEqual(compiled(thing), ({"other": 2}, ["other"], 3, 3, 4))

    def test_an_entry_that_a_property_hides(self):
        def hidden(thing):
            return thing.__dict__["hidden"], thing.hidden

        thing = Plain()
        thing.__dict__["hidden"] = "entry"
        self.assertEqual(slotrt.compile(hidden)(thing), ("entry", "property"))


class Tracebacks(Twice):
    def test_a_traceback_with_its_source_lines(self):
        def fails(value):
            return value.missing

        def report(value):
            try:
                fails(value)
            except AttributeError:
                return traceback.format_exc().splitlines()[-3:]

        self.same(report, 1)

    def test_f_locals_and_f_globals(self):
        def fails(value):
            twice = [value, value]
            raise ValueError(twice)

        def report(value):
            other = value
            try:
                fails(value)
            except ValueError as error:
                outer = error.__traceback__.tb_frame
                inner = error.__traceback__.tb_next.tb_frame
                seen = inner.f_locals["twice"], sorted(inner.f_locals), inner.f_globals["__name__"], len(inner.f_locals)
                other = 5
                return seen, outer.f_locals["other"], "value" in outer.f_locals, inner.f_locals.get("none", 7)

        self.same(report, 3)
        self.same(report, "x")

    def test_print_into_text_of_the_trace(self):
        class Shouts:
            def write(self, text):
                heard.append(text.upper())

        heard = []

        def prints(value):
            into = io.StringIO()
            with contextlib.redirect_stdout(into):
                print(value, "b", sep="-", end="!\n")
            print([value], file=into)
            print("to", value, file=Shouts())
            return into.getvalue()

        compiled = slotrt.compile(prints, fullgraph=True)
        for value in (1, "x", 1):
            heard.clear()
            self.assertEqual(compiled(value), f"{value}-b!\n{[value]!r}\n")
            self.assertEqual(heard, ["TO", " ", str(value).upper(), "\n"])


class Memory(unittest.TestCase):
    """Operands whose class C code tells by more than slots."""

    def test_as_in_plain_python(self):
        def outcome(function, *args):
            try:
                return function(*args)
            except (TypeError, ValueError) as error:
                return type(error), str(error)

        functions = [
            lambda x: b"x" % x,
            lambda x: b"%s" % x,
            lambda x: "%s" % x,
            lambda x: b"a" + x,
            lambda x: bytearray(b"a") + x,
            lambda x: bytearray(b"%r") % x,
            lambda x: b"ab" == x,
            lambda x: b"a" in x,
            lambda x: memoryview(b"ab") == x,
        ]
        for value in (bytearray(b"ab"), memoryview(b"ab"), array.array("b", b"ab"), b"ab", {"k": 1}):
            for function in functions:
                with self.subTest(type(value).__name__):
                    compiled = slotrt.compile(function)
                    self.assertEqual(outcome(compiled, value), outcome(function, value))
                    self.assertEqual(outcome(compiled, value), outcome(function, value))


if __name__ == "__main__":
    unittest.main()
