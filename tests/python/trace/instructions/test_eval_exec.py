"""`eval` and `exec` of known texts within a trace."""

import builtins
import collections
import gc
import io
import sys
import unittest
import weakref

import slotrt

OUTER = 5


class Point:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Point({self.x})"


def here(a):
    b = [a]
    return eval("a + b[0] + OUTER"), eval(" \t len(b)"), eval("[c for c in b]"), eval(repr(b)) == b


def in_a_dict():
    space = {"x": 3}
    result = eval("x + 1", space)
    return result, sorted(space), space["__builtins__"]["len"] is len, eval("y", {"__builtins__": {}}, {"y": 2})


def two_dicts():
    outer, inner = {"x": 1, "y": 2}, {"x": 10}
    exec("z = x + y\ndel x", outer, inner)
    return inner, outer["x"], sorted(outer)


def functions():
    space = {}
    exec("def f(n):\n    global calls\n    calls = calls + n\n    return g() + n\ndef g(): return calls\ncalls = 1", space)
    return space["f"](2), space["f"](3), space["calls"], space["f"].__globals__ is space


def names_that_vanish(a):
    exec("a = 5; b = 6")
    try:
        return a, b
    except NameError as error:
        return a, str(error)


def errors():
    seen = []
    for text in ("1 +", "undefined_name", "1 / 0", "x = 1"):
        try:
            eval(text)
        except Exception as error:
            seen.append((type(error).__name__, str(error)))
    return seen


def no_builtins():
    try:
        eval("len([])", {"__builtins__": {}})
    except NameError as error:
        return str(error), error.name


def compiled_first():
    code = compile("a * 2", "<here>", "eval")
    return eval(code, {"a": 4}), eval(code, None, {"a": 5})


def compiled_first_by_keyword():
    code = compile("a * 2", "<here>", "eval")
    return eval(code, globals=None, locals={"a": 6})


def named():
    Pair = collections.namedtuple("Pair", "left right", defaults=[7])
    pair = Pair(1)
    return pair.left, pair.right, tuple(pair), repr(pair), pair._asdict(), pair._replace(left=3).left, Pair._fields, pair == (1, 7)


def a_class():
    space = {}
    exec("class A:\n    x = 3\n    def get(self): return self.x", space)
    return space["A"]().get(), space["A"].__name__


def documented():
    class Kind:
        @property
        def read(self):
            "of a property"

        @staticmethod
        def still():
            "of a static method"

    still = Kind.__dict__["still"]
    return Kind.read.__doc__, still.__doc__, still.__module__, Kind.read.fget.__doc__, staticmethod(len).__doc__


class Nested:
    class Inner:
        unset = property()

        @property
        def read(self):
            return 1


def messages():
    seen = []
    for name in ("unset", "read"):
        try:
            setattr(Nested.Inner(), name, 3)
        except AttributeError as error:
            seen.append(str(error))
    try:
        Nested.Inner().unset
    except AttributeError as error:
        seen.append(str(error))
    return seen


def with_blue(first, second=2, *, blue=3):
    return first


def unexpected():
    seen = []
    for keywords in ({"first": 1, "bleu": 2}, {"other": 1}, {"first": 1, "x": 1}):
        try:
            with_blue(**keywords)
        except TypeError as error:
            seen.append(str(error))
    return seen


WHOLE = [
    (documented,), (messages,), (unexpected,),
    (here, 2), (in_a_dict,), (two_dicts,), (functions,), (names_that_vanish, 1), (errors,), (no_builtins,), (compiled_first,), (named,), (a_class,),
]  # fmt: skip
if sys.version_info >= (3, 13):
    # Before, eval() took no keywords.
    WHOLE.append((compiled_first_by_keyword,))


def leaves():
    space = {"k": 4}
    return eval("lambda: k", space), space


def effect():
    global OUTER
    exec("OUTER = 9", globals())
    return OUTER


class EvalExec(unittest.TestCase):
    def test_within_the_trace(self):
        for function, *args in WHOLE:
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function, fullgraph=True)
                self.assertEqual(compiled(*args), function(*args))
                self.assertEqual(compiled(*args), function(*args))

    def test_changed_globals(self):
        global OUTER
        compiled = slotrt.compile(here, fullgraph=True)
        compiled(1)
        try:
            OUTER = 50
            self.assertEqual(compiled(1), here(1))
        finally:
            OUTER = 5

    def test_materialised(self):
        function, space = slotrt.compile(leaves)()
        self.assertTrue(function.__globals__ is space)
        space["k"] = 8
        self.assertEqual(function(), 8)

    def test_own_globals(self):
        global OUTER
        try:
            self.assertEqual(slotrt.compile(effect)(), 9)
            self.assertEqual(OUTER, 9)
        finally:
            OUTER = 5


SPACE = {}


def in_a_dict_from_outside(x):
    before = sorted(name for name in ("a", "f", "gone") if SPACE.get(name) is not None)
    exec(f"a = {x}\ndef f(n):\n    global a\n    a += n\n    return a, len([n])", SPACE)
    result = SPACE["f"](10), eval("a + b", SPACE), SPACE["a"]
    exec("del gone", SPACE)
    return before, result, "gone" in SPACE


def with_locals(x):
    inner = {}
    exec("c = b + y", SPACE, inner | {"y": x})
    return eval("b + y", SPACE, {"y": x})


class OutsideDicts(unittest.TestCase):
    """Code that runs in a dict which existed before the trace."""

    def outcome(self, function, x, **names):
        SPACE.clear()
        SPACE.update(names)
        try:
            result = function(x)
        except Exception as error:
            result = type(error), str(error)
        builtins = SPACE.pop("__builtins__", None)
        builtins = type(builtins), "len" in (builtins if isinstance(builtins, dict) else dir(builtins))
        return result, builtins, {name: value for name, value in SPACE.items() if name != "f"}, "f" in SPACE

    def test_as_without(self):
        for function in (in_a_dict_from_outside, with_locals):
            compiled = slotrt.compile(function)
            for names in (
                {"b": 1, "gone": 2},
                {"b": 5, "gone": 2},
                {"b": 1},
                {"gone": 2},
                {"b": 1, "gone": 2, "__builtins__": __builtins__},
                {"b": 1, "gone": 2, "len": lambda items: "mine"},
                {"b": 1, "gone": 2, "__builtins__": {"sum": sum}},
                {"b": 1, "gone": 2},
            ):
                for x in (1, 2):
                    with self.subTest(function.__name__, names=names, x=x):
                        self.assertEqual(
                            self.outcome(compiled, x, **names), self.outcome(function, x, **names)
                        )

    def test_in_one_trace(self):
        SPACE.clear()
        SPACE.update(b=1, gone=2)
        self.assertEqual(slotrt.explain(in_a_dict_from_outside)(1).breaks, 0)


class Holder:
    """Has a dict that code runs in, which no guard may keep alive."""

    def __init__(self, **names):
        self.space = names


def in_a_held_dict(holder, text):
    exec(text, holder.space)
    return eval("a + b", holder.space), holder.space["a"], "__builtins__" in holder.space


def names_by_two_paths(holder, other):
    exec("a = a + 1", holder.space)
    other["a"] += 10
    return eval("a", holder.space), other["a"]


def shown(holder):
    """What an interactive session shows."""
    file = io.StringIO()
    before, sys.stdout = sys.stdout, file
    try:
        exec(compile("a + b", "<session>", "single"), holder.space)
        exec(compile("None", "<session>", "single"), holder.space)
        exec(compile("'text'", "<session>", "single"), holder.space)
    finally:
        sys.stdout = before
    return file.getvalue(), builtins._


def shown_by(hook):
    before, sys.displayhook = sys.displayhook, hook
    try:
        exec(compile("3 * 4", "<session>", "single"), {})
    finally:
        sys.displayhook = before


def no_dict(which):
    try:
        return eval("", *which)
    except TypeError as error:
        return str(error)


class GivenDicts(unittest.TestCase):
    def test_each_call_has_its_own(self):
        compiled = slotrt.compile(in_a_held_dict, fullgraph=True)
        for names in ({"b": 1}, {"b": 2, "c": 5}, {"b": 3.5}, {"a": 7, "b": 1, "__builtins__": builtins.__dict__}):
            one, two = Holder(**names), Holder(**names)
            self.assertEqual(compiled(one, "a = b * 2"), in_a_held_dict(two, "a = b * 2"))
            self.assertEqual(list(one.space), list(two.space))
            self.assertEqual(one.space["a"], two.space["a"])

    def test_no_dict_is_kept_alive(self):
        class Kept:
            pass

        compiled = slotrt.compile(in_a_held_dict, fullgraph=True)
        holder = Holder(b=2, kept=Kept())
        seen = weakref.ref(holder.space["kept"])
        compiled(holder, "a = b")
        del holder
        gc.collect()
        self.assertIsNone(seen())

    def test_two_paths_to_one_dict(self):
        compiled = slotrt.compile(names_by_two_paths)
        for _ in range(2):
            for same in (False, True, False):
                answers = []
                for function in (compiled, names_by_two_paths):
                    holder = Holder(a=1)
                    other = holder.space if same else {"a": 5}
                    answers.append((function(holder, other), holder.space["a"], other))
                self.assertEqual(answers[0][:2], answers[1][:2])
                self.assertEqual(answers[0][2]["a"], answers[1][2]["a"])

    def test_functions_of_a_held_dict(self):
        def define(holder):
            exec("def f(n):\n    global k\n    k += n\n    return k", holder.space)
            return holder.space["f"](1), holder.space["f"]

        compiled = slotrt.compile(define)
        for _ in range(2):
            holder = Holder(k=4)
            first, function = compiled(holder)
            self.assertEqual((first, function(2), holder.space["k"]), (5, 7, 7))
            self.assertIs(function.__globals__, holder.space)

    def test_exceptions_of_a_held_dict(self):
        compiled = slotrt.compile(in_a_held_dict)
        for _ in range(2):
            holder = Holder(b=4)
            try:
                compiled(holder, "a = missing")
            except NameError as error:
                trace = error.__traceback__
            while trace.tb_next is not None:
                trace = trace.tb_next
            self.assertIs(trace.tb_frame.f_globals, holder.space)

    def test_what_a_session_shows(self):
        compiled = slotrt.compile(shown, fullgraph=sys.version_info >= (3, 12))
        self.addCleanup(builtins.__dict__.pop, "_", None)
        for b in (1, 2, "x"):
            a = 2 if b != "x" else "y"
            told = [function(Holder(a=a, b=b)) for function in (compiled, shown)]
            self.assertEqual(*told)

    def test_a_hook_of_the_program(self):
        for function in (slotrt.compile(shown_by), shown_by):
            seen = []
            function(seen.append)
            function(seen.append)
            self.assertEqual(seen, [12, 12])

    def test_names_of_another_mapping(self):
        class Counting(dict):
            def __setitem__(self, name, value):
                super().__setitem__(name, value * 2)

        class Mapping:
            def __init__(self):
                self.names = {}

            def __getitem__(self, name):
                return self.names[name]

            def __setitem__(self, name, value):
                self.names[name] = value + 1

        def assign(make):
            space = make()
            exec("a = 3\nb = a", {}, space)
            return space["a"], space["b"]

        for make in (Counting, Mapping):
            compiled = slotrt.compile(assign, fullgraph=True)
            for _ in range(2):
                self.assertEqual(compiled(make), assign(make))

    def test_dicts_are_asked_for_before_the_text_is_read(self):
        for which in ((3,), (len,), (None, 3), ({}, len)):
            self.assertEqual(slotrt.compile(no_dict)(which), no_dict(which))


if __name__ == "__main__":
    unittest.main()
