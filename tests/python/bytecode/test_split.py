"""Functions split at every instruction: they do what the whole functions do."""

import collections
import contextlib
import dis
import gc
import importlib.util
import io
import pathlib
import sys
import traceback
import unittest
import weakref

import split_generators
import split_samples
from slotrt import bytecode, hook


NAMESPACE = """
import sys
k, i = 1, "outer"
found = sorted(locals())
seen = [[i * k for k in (2, 3)] for i in (1, 2)]
late = [get() for get in [lambda: i for i in (1, 2)]]
class Body:
    j = 1
    inside = [j for j in (3,)]
    names = sorted(locals())
    del j
body = Body.inside, Body.names
try:
    raise ValueError([i for i in (7,)])
except ValueError as error:
    caught = sorted(locals()), str(error)
left = i, k, sorted(dir()), sorted(sys._getframe().f_locals)
del i
gone = "i" in locals(), "k" in dir()
"""


def proof():
    """The runner of `prove breaks`."""
    path = pathlib.Path(__file__).parents[2] / "breaks" / "run.py"
    spec = importlib.util.spec_from_file_location("breaks_run", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def chain(error):
    """Types, messages and lines of an exception and its causes."""
    out = []
    while error is not None:
        frames = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:]]
        out.append((type(error).__name__, str(error), frames))
        error = error.__cause__ or error.__context__
    return out


def observe(function, args):
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            result = repr(function(*args))
    except BaseException as error:
        result = chain(error)
    return result, printed.getvalue()


def offsets(function):
    code = function.__code__
    return [i.offset for i in dis.get_instructions(code) if i.opname not in ("CACHE", "EXTENDED_ARG")]


class BreakAnywhere(unittest.TestCase):
    def setUp(self):
        gc.collect()  # garbage of other tests ends here, not among the functions that are counted

    def everywhere(self, cases):
        tried, refused = 0, {}
        for function, args in cases:
            expected = observe(function, args)
            for offset in offsets(function):
                for every in (False, True):
                    try:
                        broken = bytecode.break_at(function, offset, every)
                    except ValueError as error:
                        refused[str(error)] = refused.get(str(error), 0) + 1
                        continue
                    got = observe(broken, args)
                    self.assertEqual(got, expected, f"{function.__qualname__}{args} at {offset}, every={every}")
                    tried += 1
        return tried, refused

    def test_samples(self):
        tried, refused = self.everywhere(split_samples.CASES)
        self.assertGreater(tried, 3_000)
        self.assertEqual([r for r in refused if "unreachable" not in r], [])

    def check_report(self, report, pairs):
        """No difference, no refusal, and every function that was called was tried at each of its instructions."""
        self.assertEqual(report["different"], [])
        self.assertEqual(report["refused"], {})
        count = lambda bits: sum(int(digit, 16).bit_count() for digit in bits)
        untried = [name for name, (reachable, tried, _) in report["functions"].items() if count(tried) < reachable]
        self.assertEqual(untried, [])
        self.assertGreater(sum(count(tried) for _, tried, _ in report["functions"].values()), pairs)
        self.assertGreater(sum(count(reached) for _, _, reached in report["functions"].values()), pairs // 4)

    def test_programs(self):
        self.check_report(proof().programs(0, 2, ("split",)), 500)

    def test_the_standard_library(self):
        self.check_report(proof().scenarios(["texts"]), 1_000)

    def test_differences_are_found(self):
        """`prove breaks` reports a broken program that differs from the whole one."""
        identity = "import sys\ndef main(a):\n    return [sys._getframe().f_code is main.__code__]\n"
        prints = "import sys\ndef main(a):\n    print(sys._getframe().f_code is main.__code__)\n"
        raises = "import sys\ndef main(a):\n    if sys._getframe().f_code is main.__code__:\n        a.x\n    a.x\n"
        arguments = "import sys\ndef main(a):\n    a.append(sys._getframe().f_code is main.__code__)\n"
        for source in (identity, prints, raises, arguments):
            with self.subTest(source):
                counters, difference = proof().program(source, [("[1]",)], "split")
                self.assertGreater(counters.counters()["pairs"], 0)
                self.assertIsNotNone(difference)

    def test_lines_of_running_frames_are_compared(self):
        run, lines = proof(), []
        here = run.looker(lines)

        def caller():
            here()

        caller()
        self.assertEqual(lines[0][0], ("caller", caller.__code__.co_firstlineno + 1))
        watched = run.ast.unparse(run.Watched().visit(run.ast.parse("def f():\n    a\n    b\n    c\n    d\n")))
        self.assertEqual(watched.count(run.HERE), 1)

    def test_loop_costs_no_stack(self):
        def loop(n):
            total = 0
            for i in range(n):
                total += abs(i)
            return total

        call = [i.offset for i in dis.get_instructions(loop) if i.opname == "CALL"][1]
        self.assertEqual(bytecode.break_at(loop, call)(100_000), loop(100_000))

    def test_generators_and_coroutines(self):
        tried = 0
        for function, observed in split_generators.cases():
            expected = observed(function)
            for offset in offsets(function):
                try:
                    broken = bytecode.break_at(function, offset)
                except ValueError as error:
                    self.assertIn("unreachable", str(error))
                    continue
                tried += 1
                self.assertEqual(observed(broken), expected, (function.__name__, offset))
        self.assertGreater(tried, 5_000)

    def test_bodies_of_modules_and_classes(self):
        expected = split_generators.run_bodies()
        for mode in ("split", "split-every"):
            counters, pairs = hook.install(mode), -1
            try:
                for _ in range(600):
                    got = split_generators.run_bodies()
                    if got != expected or counters.counters()["pairs"] == pairs:
                        break
                    pairs = counters.counters()["pairs"]
            finally:
                hook.uninstall()
            self.assertEqual(got, expected)
            self.assertEqual(counters.refused(), {})
            self.assertGreater(pairs, 1_000)

    def test_slots_of_our_own_are_hidden(self):
        """`locals()` neither shows them nor takes them out of the namespace; variables of comprehensions stay as hidden as they are."""
        class Space(collections.UserDict):
            deleted = ()

            def __delitem__(self, name):
                self.deleted += (name,)
                super().__delitem__(name)

        def run(space):
            exec(code, {"__name__": "m"}, space)
            return {name: repr(value) for name, value in space.items() if name.islower()}, getattr(space, "deleted", None)

        code = compile(NAMESPACE, "namespace.py", "exec")  # (CPython 3.13.0 crashes on `locals()` in a comprehension there)
        expected = [run(kind()) for kind in (dict, Space)]
        for mode in ("reassemble", "split", "split-every"):
            counters, before = hook.install(mode), -1
            try:
                while before < (before := counters.counters()["pairs"]) or mode == "reassemble" and before < 0:
                    for _ in range(20):
                        self.assertEqual([run(kind()) for kind in (dict, Space)], expected, mode)
            finally:
                hook.uninstall()

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "no instruction at offset 1"):
            bytecode.break_at(offsets, 1)

    def test_programs_may_return_continuations(self):
        """A tuple that begins with a continuation is a frame packet only where a frame transfer made it."""
        def one(a):
            return len(a)

        def give(found, *more):
            return (found, *more)

        broken = bytecode.break_at(one, offsets(one)[1])
        self.assertEqual(broken("abc"), 3)
        found = [made for made in gc.get_objects() if type(made) is type(broken) and made.__wrapped__.__name__ == "one"]
        self.assertGreater(len(found), 1)
        for made in found:
            for more in ((), (1,), (1, 2)):
                for offset in offsets(give):
                    self.assertEqual(bytecode.break_at(give, offset)(made, *more), (made, *more), offset)

    @unittest.skipIf(sys.version_info < (3, 14), "no instruction borrows before 3.14")
    def test_what_runs_before_a_break_counts_its_references(self):
        def loads():
            code = sys._getframe(1).f_code
            return {found.opname for found in dis.get_instructions(code) if found.opname.startswith("LOAD_FAST")}

        def function(x, y):
            return [x, y, loads()]

        def borrowing(names):
            return [name for name in names if "BORROW" in name]

        self.assertTrue(borrowing(function([1], 2)[2]))
        whole = {found.opname for found in dis.get_instructions(function)}
        names = bytecode.break_at(function, offsets(function)[-1], False)([1], 2)[2]
        self.assertTrue(names - whole)  # the packet of the break itself
        self.assertEqual(borrowing(names), [])

    def test_finalisers_run_as_early(self):
        class Thing:
            pass

        def function():
            thing = Thing()
            seen = weakref.ref(thing)
            del thing
            return seen() is None

        for offset in offsets(function):
            self.assertTrue(bytecode.break_at(function, offset)(), offset)


if __name__ == "__main__":
    unittest.main()
