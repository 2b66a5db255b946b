"""Translated functions on real objects: `prove semantics` on a sample, what they call in the interpreter, and which references they hold."""

import argparse
import contextlib
import gc
import io
import operator
import os
import pathlib
import re
import sys
import unittest
import weakref

from slotrt import protocol

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "semantics"))

import log
import outcome
import rows
import run as semantics
import runner as runners
import subjects as chosen
import values
import workers

STRICT = bool(os.environ.get("SLOTRT_TEST_STRICT"))
LIMIT = 30 if STRICT else 150
MOST_UNSUPPORTED = 0.015


class Semantics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = semantics.main(argparse.Namespace(limit=LIMIT, functions=None, part=None, jobs=None, progress=False))

    def test_no_differences(self):
        new = [group for group in self.report["groups"] if group["function"] not in rows.WRONG]
        self.assertEqual([f"{group['function']} {group['differs']}: {group['cases'][0]}" for group in new], [])

    @unittest.skipIf(STRICT, "is too small a sample")
    def test_known_differences_are_still_there(self):
        wrong = {group["function"] for group in self.report["groups"]}
        exist = {function.__name__ for function in protocol.functions()}
        self.assertEqual(sorted(rows.WRONG.keys() & exist - wrong), [], "these are right now: take them off the list")

    def test_enough_is_compared(self):
        self.assertGreater(self.report["cases"], 3_000 if STRICT else 15_000)
        self.assertGreater(self.report["exercised"], 150)
        self.assertGreaterEqual(self.report["values"], 100)
        self.assertEqual(self.report["slow"], [])

    @unittest.skipIf(STRICT or sys.version_info[:2] not in {(3, 11), (3, 13)}, "is measured where the sources of the release are read, in a large sample")
    def test_few_cases_end_unsupported(self):
        unsupported = sum(self.report["unsupported"].values())
        share = unsupported / (unsupported + self.report["cases"])
        self.assertLess(share, MOST_UNSUPPORTED, self.report["unsupported"])

    @unittest.skipIf(STRICT, "is too small a sample")
    def test_every_operation_is_compared(self):
        functions = self.report["functions"]
        idle = {name for names in rows.OPERATIONS.values() for name in names if not functions.get(name)}
        self.assertEqual(sorted(idle), sorted(rows.IDLE), "rows.IDLE says which operations no translation comes to the end of")

    def test_a_crash_is_a_difference(self):
        add = protocol.PyNumber_Add
        everything = {value.name: value for value in values.everything()}
        one, two = [everything["one"]], [everything["two"], everything["list"], everything["dict a"]]
        crashing = chosen.Subject(add, lambda a, b: os.abort() if type(b) is list else a + b, [one, two], "operator")
        with contextlib.redirect_stderr(io.StringIO()):
            report = workers.Pool([crashing, chosen.Subject(add, lambda a, b: a + b, [one, two], "operator")], 10, 1, None).run()
        self.assertEqual(report["groups"], {"PyNumber_Add\toperator\tend of the process": [1, ["(one, list): the interpreter ended by SIGABRT"]]})
        self.assertEqual(report["cases"], 4, "the case after the crash, and the function after it")

    def test_a_wrong_translation_is_seen(self):
        """Each public function of the abstract protocols is compared with the translation of a neighbour of the same signature."""
        alike, survivors, killed = {}, [], 0
        for subject in subjects():
            if subject.function.__name__.startswith(("PyNumber_", "PySequence_", "PyMapping_")):
                alike.setdefault(subject.function.prototype, []).append(subject)
        for group in alike.values():
            for subject, other in zip(group, group[1:] + group[:1]):
                if subject is other:
                    continue
                report = runners.empty()
                with contextlib.redirect_stderr(io.StringIO()):  # C's messages about exceptions that it drops
                    runners.Runner(report).subject(chosen.Subject(other.function, subject.theirs, subject.choices, "symbol"), 100)
                killed += report["differences"] > 0
                if not report["differences"] and not report["unsupported"]:
                    survivors.append(f"{subject.function.__name__} as {other.function.__name__}")
        same = [name for name in survivors if not any(set(name.split(" as ")) <= set(names) for names in rows.SAME)]
        self.assertEqual(same, [])
        self.assertGreater(killed, 40)

    def test_the_driver_sees_differences(self):
        everything = {value.name: value for value in values.everything()}
        case = chosen.Case([everything["one"], everything["list"]])
        report = runners.empty()
        runner = runners.Runner(report)
        add = protocol.PyNumber_Add
        runner.case(chosen.Subject(add, lambda a, b: a + b, [], "operator"), case, False)
        self.assertEqual((report["cases"], report["differences"]), (1, 0))
        runner.case(chosen.Subject(add, lambda a, b: a - b, [], "operator"), case, False)
        self.assertEqual((report["cases"], report["differences"]), (2, 1))
        case = chosen.Case([everything["list"], everything["list"]])
        runner.case(chosen.Subject(add, lambda a, b: (b.append(1), [1, 2, 3, 1, 2, 3])[1], [], "operator"), case, False)
        self.assertEqual(report["differences"], 2)


class Calls(unittest.TestCase):
    def test_by_name(self):
        self.assertEqual(protocol.PyNumber_Or(1, 2), 3)
        self.assertEqual(protocol.call("PyNumber_Or", 1, 2), 3)
        self.assertEqual(protocol.function("PyNumber_Or").file, "Objects/abstract.c")

    def test_static_functions(self):
        self.assertFalse(hasattr(protocol, "binary_op1"))
        self.assertIs(protocol.call("Objects/abstract.c:binary_op1", 1, "a", 0), NotImplemented)

    @unittest.skipIf(rows.NO_MEMBERS, "nothing says where members of this release's structs lie")
    def test_calls_without_keywords(self):
        """`_PyObject_MakeTpCall` calls `tp_call` with NULL for keywords."""

        class Declines(int):
            def __radd__(self, other):
                return NotImplemented

        class Adds(int):
            def __radd__(self, other):
                return "added"

        for left in Declines(1), Adds(1):
            self.assertEqual(protocol.PyNumber_Add(left, 2), left + 2)
            for right in "x", [1], ():
                with self.subTest(f"{type(left).__name__} + {right!r}"):
                    with self.assertRaises(TypeError) as plain:
                        left + right
                    with self.assertRaises(TypeError) as translated:
                        protocol.PyNumber_Add(left, right)
                    self.assertEqual(str(translated.exception), str(plain.exception))
        self.assertEqual(protocol.PyNumber_Add(2, Adds(1)), "added")

    @unittest.skipIf(rows.NO_MEMBERS, "nothing says where members of this release's structs lie")
    def test_structs_of_exceptions(self):
        """Members are read of the objects that have them, and of no others of that size."""
        for name, error in ("OSError_str", OSError(2, "no", "file")), ("ImportError_str", ImportError("x")), ("BaseException_str", ValueError("v", 1)):
            self.assertEqual(protocol.call(name, error), str(error))
            others = [other for other in (type, type(error), SyntaxError("s"), UnicodeDecodeError("ascii", b"x", 0, 1, "r"), [], 1, print, chosen)]
            for other in others:
                if name != "BaseException_str" or not isinstance(other, BaseException):
                    with self.subTest(name=name, other=other), self.assertRaises(protocol.Unsupported):
                        protocol.call(name, other)

    def test_mistakes(self):
        with self.assertRaisesRegex(TypeError, "PyNumber_Or takes 2 arguments, 1 given"):
            protocol.PyNumber_Or(1)
        with self.assertRaisesRegex(AttributeError, "no translated function is named nowhere"):
            protocol.call("nowhere")
        names = [function.__name__ for function in protocol.functions()]
        twice = next(name for name in names if names.count(name) > 1)
        with self.assertRaisesRegex(AttributeError, f"several files define {twice}: say Objects/"):
            protocol.call(twice)
        with self.assertRaises(protocol.Unsupported):
            protocol.PyNumber_Or(protocol.NULL, 1)


class Adds:
    """Raises an error of its own in the place of one that releases word otherwise."""

    def __add__(self, other):
        raise ZeroDivisionError("float division by zero")


class OwnWords(unittest.TestCase):
    """Errors that releases word otherwise have the running one's words, also where another release's bodies stand in."""

    def test_errors(self):
        for name, operation, *args in (
            ("float_div", operator.truediv, 1.0, 0.0),
            ("float_floor_div", operator.floordiv, 1.0, 0.0),
            ("long_div", operator.floordiv, 1, 0),
            ("long_divmod", divmod, 1, 0),
            ("range_index", range.index, range(3), 9),
        ):
            with self.subTest(name), self.assertRaises((ZeroDivisionError, ValueError)) as said:
                operation(*args)
            with self.subTest(name), self.assertRaisesRegex(type(said.exception), f"^{re.escape(str(said.exception))}$"):
                protocol.call(name, *args)


@unittest.skipUnless("notimplemented_bool" in protocol.no_stand_in(), "this release's bodies are its own, or another one's that say the same")
class StandIns(unittest.TestCase):
    """Bodies of another release answer but where this release does otherwise."""

    def refused(self, function, *args):
        with self.assertRaises(protocol.Unsupported) as caught:
            function(*args)
        self.assertIn(caught.exception.name, protocol.no_stand_in())
        self.assertIn(protocol.no_stand_in()[caught.exception.name], str(caught.exception))
        return caught.exception.name

    def test_where_they_raise(self):
        class True_:
            def __bool__(self):
                return True

        class Untrue:
            __bool__ = None

        self.assertEqual(protocol.PyObject_IsTrue(True_()), 1)
        class Refusing:
            def __bool__(self):
                raise LookupError

        self.assertEqual(self.refused(protocol.PyObject_IsTrue, Untrue()), "__bool__")
        with self.assertRaises(LookupError):
            protocol.PyObject_IsTrue(Refusing())

    def test_messages(self):
        self.assertEqual(protocol.PySequence_Contains([1, 2], 2), 1)
        self.assertEqual(self.refused(protocol.PySequence_Contains, object(), 2), "argument of type '%.200s' is not iterable")
        with self.assertRaises(ZeroDivisionError):
            protocol.PyNumber_Add(Adds(), 1)

    def test_special_methods_that_are_not_asked_for(self):
        class Truncated:
            def __trunc__(self):
                return 3

        class Hinted:
            def __length_hint__(self):
                return 1

            def __iter__(self):
                return iter("ab")

        self.assertEqual(protocol.PyNumber_Long("12"), 12)
        self.assertEqual(self.refused(protocol.PyNumber_Long, Truncated()), "__trunc__")
        self.assertEqual(self.refused(protocol.PySequence_Tuple, Hinted()), "__length_hint__")

    def test_functions_that_hand_over(self):
        class Power:
            def __pow__(self, other, modulus=None):
                return modulus

        self.assertIsNone(protocol.PyNumber_Power(Power(), 2, None))
        self.assertEqual(self.refused(protocol.PyNumber_Power, Power(), 2, 3), "slot_nb_power")


@unittest.skipIf(sys.version_info[:2] != (3, 13), "what the files of a release ask of its headers is tried on one release")
class Internals(unittest.TestCase):
    """What functions of the files that lay out objects ask of the headers: tables, items, free lists, characters, keywords."""

    def same(self, plain, translated, *args):
        """Both give the same, or raise the same."""
        self.assertEqual(self.outcome(plain, args), self.outcome(translated, args))

    def outcome(self, function, args):
        try:
            return "gives", function(*args)
        except Exception as raised:
            return type(raised), raised.args, str(raised)

    def test_sets(self):
        for made in protocol.PySet_New([1, "a"]), protocol.PyFrozenSet_New([1, "a"]):
            self.assertEqual(made, {1, "a"})
            self.assertEqual([protocol.PySet_Contains(made, key) for key in (1, "a", 2)], [1, 1, 0])
            self.same(lambda key: key in made, lambda key: protocol.PySet_Contains(made, key), [])
        one = {1, "a", (2, 3)}
        self.assertEqual([protocol.PySet_Discard(one, key) for key in (1, 1, (2, 3), "b")], [1, 0, 1, 0])
        self.assertEqual(one, {"a"})
        one |= {1, 2}
        self.assertEqual((protocol.PySet_Size(one), one), (3, {1, 2, "a"}))

    def test_what_a_set_gives_up_ends(self):
        class Key:
            pass

        key = Key()
        ended, one = weakref.ref(key), {key}
        self.assertEqual(protocol.PySet_Discard(one, key), 1)
        del key
        self.assertIsNone(ended())

    def test_items_of_lists(self):
        for place in range(-4, 5):
            mine, plain = [1, 2, 3], [1, 2, 3]
            protocol.PyList_Insert(mine, place, "new")
            plain.insert(place, "new")
            self.assertEqual(mine, plain)
        one = []
        for item in range(100):
            protocol.PyList_Append(one, item)
        self.assertEqual(one, list(range(100)))

    def test_references_of_lists(self):
        item = object()
        before = sys.getrefcount(item)
        one = [item] * 3
        for _ in range(10):
            protocol.PyList_Insert(one, 1, item)
        self.assertEqual(sys.getrefcount(item) - before, 13)
        del one
        self.assertEqual(sys.getrefcount(item), before)

    def test_dictionaries(self):
        one = {}
        self.assertEqual(protocol.PyDict_GetItem({"a": 1}, "a"), 1)
        self.assertIs(protocol.PyDict_GetItem({"a": 1}, "b"), protocol.NULL)
        self.assertIs(protocol.PyDict_GetItem([], "b"), protocol.NULL)
        value = object()
        before = sys.getrefcount(value)
        self.assertIs(protocol.PyDict_SetDefault(one, "a", value), value)
        self.assertIs(protocol.PyDict_SetDefault(one, "a", 2), value)
        self.assertEqual((len(one), sys.getrefcount(value) - before), (1, 1))
        self.same(one.setdefault, lambda key, default: protocol.PyDict_SetDefault(one, key, default), [], 1)
        self.same({}.__getitem__, lambda key: protocol.call("dict_subscript", {}, key), (1, 2))

    def test_numbers(self):
        for a, b in (1.5, 2.25), (-0.0, 0.0), (1e300, 1e300), (1.5, 2):
            self.same(float.__add__, lambda a, b: protocol.call("float_add", a, b), a, b)
            self.same(float.__sub__, lambda a, b: protocol.call("float_sub", a, b), a, b)
        for a, b in (2**70, 3), (-(2**65), 7), (5, -3), (2**30, 2**30 - 1):
            self.same(int.__and__, lambda a, b: protocol.call("long_and", a, b), a, b)
            self.same(int.__xor__, lambda a, b: protocol.call("long_xor", a, b), a, b)

    def test_strings(self):
        texts = "", "a", "b", "data", "é", "ÿ", "Ж", "\U0001f600x", "é\U0001f600"
        for a in texts:
            for b in texts:
                plain = [a < b, a <= b, a == b, a != b, a > b, a >= b]
                self.assertEqual([protocol.PyUnicode_RichCompare(a, b, op) for op in range(6)], plain)
                self.assertEqual(protocol.PyUnicode_Find(a, b, 0, len(a), 1), a.find(b))
            for character in "aéЖx\U0001f600":
                code = ord(character)
                self.assertEqual(protocol.PyUnicode_FindChar(a, code, 0, len(a), 1), a.find(character))
                self.assertEqual(protocol.PyUnicode_FindChar(a, code, 0, len(a), -1), a.rfind(character))
            self.assertEqual([protocol.PyUnicode_ReadChar(a, at) for at in range(len(a))], [*map(ord, a)])
            self.assertEqual(protocol.PyUnicode_IsIdentifier(a), a.isidentifier())

    def test_what_is_written_is_not_lost(self):
        """Texts stand for memory that is read, never for memory that is written."""
        one = bytearray(b"xy")
        self.assertEqual([protocol.PySequence_Repeat(one, times) for times in range(3)], [one * times for times in range(3)])
        with self.assertRaises(protocol.Unsupported):
            protocol.call("bytearray_repeat", one, 2)

    def test_keywords(self):
        self.assertEqual(protocol.call("long_new", int, ("12",), {"base": 8}), 10)
        for args, kwargs in ((), {"base": 8}), (("1", 2, 3), {}), (("1",), {"bas": 2}), (("1",), {"x": 1}), ((), {}):
            self.same(lambda: int.__new__(int, *args, **kwargs), lambda: protocol.call("long_new", int, args, kwargs))

    def test_ignored_exceptions(self):
        class Fails:
            @property
            def attribute(self):
                raise ValueError("from a property")

        seen, hook = [], sys.unraisablehook
        sys.unraisablehook = lambda args: seen.append((args.exc_type, args.err_msg))
        try:
            self.assertEqual(protocol.PyObject_HasAttr(Fails(), "attribute"), 0)
        finally:
            sys.unraisablehook = hook
        self.assertEqual([(ValueError, True)], [(kind, message.startswith("Exception ignored in PyObject_HasAttr()")) for kind, message in seen])

    def test_buffers(self):
        for value in memoryview(b"12"), bytearray(b"12"), b"12", [], memoryview(b"x"):
            self.same(int, protocol.PyNumber_Long, value)
        one = bytearray(b"12")
        protocol.PyNumber_Long(memoryview(one))
        one.append(3)  # nothing holds its buffer

    def test_watchers(self):
        for number in -1, 5, 100:
            for watch, of in (protocol.PyDict_Unwatch, {}), (protocol.PyType_Unwatch, type("C", (), {})):
                with self.assertRaisesRegex(ValueError, "watcher"):
                    watch(number, of)


class Vocabulary(unittest.TestCase):
    """A translated function calls no function of the interpreter that is translated itself."""

    # Functions that are called in the interpreter although they are translated, with the reason.
    ALLOWED = {
        "PyWeakref_NewProxy": "makes the proxy, which stands in the interpreter's list of an object's weak references",
        "PyType_Unwatch": "says which numbers of watchers there are, of a class that has no mark",
        "PyType_GenericNew": "allocates, and memory is the interpreter's",
        "PyType_GenericAlloc": "allocates, and memory is the interpreter's",
        "PyObject_GenericSetAttr": "deletes, where the translation takes a value alone",
        "PyType_Modified": "empties the interpreter's cache of methods",
        "PyCFunction_GetSelf": "reads a member",
        "PyType_GetDict": "reads where the interpreter keeps the dictionaries of its own types",
    }

    def test_no_shortcuts(self):
        translated = {one.__name__ for one in protocol.functions() if not one.prototype.startswith("static") and one.file not in protocol.MEMORY}
        used, seen = {}, 0
        for subject in subjects():
            for case in sample(subject, 12):
                asked = []
                outcome.outcome(lambda *args: subject.function.logged(asked, *args), case.make())
                seen += len(asked)
                for what, name in asked:
                    if what == "native" and name in translated:
                        used.setdefault(name, f"{subject.function.__name__}({case.shown()})")
        self.assertGreater(seen, 5_000)
        self.assertEqual({name: where for name, where in used.items() if name not in self.ALLOWED}, {})

    def test_the_log_is_complete(self):
        asked = []
        protocol.PyNumber_Or.logged(asked, {1: 2}, {3: 4})
        self.assertEqual([name for what, name in asked if what == "enter"], ["PyNumber_Or", "binary_op", "binary_op1"])
        self.assertEqual([name for what, name in asked if what == "native"], ["dict_or"])


class References(unittest.TestCase):
    """No argument is held when the result is gone."""

    # `typing` keeps what it makes of them in its caches.
    TYPING = ("optional", "TypeVar", "alias var")

    def test_arguments_die(self):
        kept = []
        for subject in subjects():
            seen = []
            for case in sample(subject, 10 if STRICT else 25):
                if any(isinstance(part, values.Value) and part.name in self.TYPING for part in case.parts):
                    continue
                args = case.make()
                if outcome.outcome(subject.function, args)[0] == "unsupported":
                    continue  # an object that was not finished is leaked with all that it holds
                # Attributes that are set on a value shared by all cases stay.
                shared = any(getattr(part, "fixed", False) and hasattr(arg, "__dict__") for part, arg in zip(case.parts, args))
                for part, arg in zip(case.parts, args):
                    if isinstance(part, values.Value) and not part.fixed and not shared:
                        try:
                            seen.append((case.shown(), weakref.ref(arg)))
                        except TypeError:
                            pass
                args = arg = None
            gc.collect()
            kept += [f"{subject.function.__name__}({shown})" for shown, seen_arg in seen if seen_arg() is not None]
        self.assertEqual(kept, [])

    def test_results_die(self):
        chosen = [(subject, case) for subject in subjects() for case in sample(subject, 3)]

        def work():
            for subject, case in chosen:
                outcome.outcome(subject.function, case.make())
            del log.LOG[:]
            gc.collect()

        work()
        work()
        before = len(gc.get_objects())
        for _ in range(3):
            work()
        self.assertLess(len(gc.get_objects()) - before, 50)


def subjects():
    """The public functions with their values, without those that operators reach."""
    report = {"exposed": 0, "left out": {}}
    return [one for one in chosen.public(values.everything(), report) if one.how == "symbol"]


def sample(subject, count):
    return (case for case in subject.cases(count) if not chosen.too_large(subject, case))


if __name__ == "__main__":
    unittest.main()
