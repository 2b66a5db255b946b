"""Tools that observe a running program see the same with the hook and without it: tracing, monitoring, frames, warnings, pdb."""

import bdb
import gc
import inspect
import io
import linecache
import pdb
import subprocess
import sys
import threading
import traceback
import unittest
import warnings

from slotrt import hook

MODES = ("observe", "reassemble")
SOURCE = '''\
def leaf(n):
    value = n * 2
    return value

def generate(n):
    for i in range(n):
        got = yield leaf(i)
    return got

def fails(n):
    try:
        return leaf(1) / n
    except ZeroDivisionError as error:
        raise KeyError("n") from error

class Thing:
    def __init__(self, n):
        self.n = n

    def __add__(self, other):
        return Thing(self.n + leaf(other))

def program():
    out = [leaf(3), list(generate(2)), [leaf(i) for i in (1, 2)], (Thing(1) + 2).n]
    try:
        fails(0)
    except KeyError as error:
        out.append(str(error))
    out.append(sum(leaf(i) for i in range(2)))
    return out
'''
NAME = "<transparent>"
linecache.cache[NAME] = (len(SOURCE), None, SOURCE.splitlines(True), NAME)


def space():
    """The program's functions, made again: their code objects have never run."""
    made = {"__name__": "transparent"}
    exec(compile(SOURCE, NAME, "exec"), made)
    return made


CONSTANTS = '''\
import sys
from slotrt import hook

def inner(x): return x

def outer():
    constant = 1, 2, "of its own"
    before = sys.getrefcount(constant)
    inner([])
    return sys.getrefcount(constant) - before

hook.install("observe")
sys.exit(outer() + outer())
'''


class Constants(unittest.TestCase):
    def test_references_to_constants(self):
        """What looks at a caller's code under the hook holds nothing of it afterwards; in a process where nothing else has run."""
        subprocess.run([sys.executable, "-c", CONSTANTS], check=True)


class Same(unittest.TestCase):
    """Each test collects what a tool sees; it must be the same in every mode."""

    def same(self, seen):
        gc.collect()  # what earlier runs left would end within a later one, where tools see it
        seen()  # the first tracer of a process that wants opcodes does not get them all, in 3.12
        expected = [seen()]
        self.assertTrue(expected[0])
        if sys.version_info < (3, 13):
            # Any hook changes where a caller stands when its callee raises (3.11), and how deep recursion may go (3.12).
            hook.empty(True)
            try:
                expected.append(seen())
            finally:
                hook.empty(False)
        for mode in MODES:
            with self.subTest(mode):
                counters = hook.install(mode)
                try:
                    got = seen()
                finally:
                    hook.uninstall()
                if got not in expected:
                    self.assertEqual(got, expected[-1])
                self.assertGreater(counters.counters()["frames"], 0)
                self.assertEqual(counters.counters()["replaced"] > 0, mode == "reassemble")

    def test_settrace(self):
        def seen():
            events, program = [], space()["program"]

            def tracer(frame, event, arg):
                if frame.f_code.co_filename == NAME:
                    frame.f_trace_opcodes = True
                    what = repr(arg) if event == "return" else event == "exception" and arg[0].__name__
                    events.append((frame.f_code.co_name, frame.f_lineno, frame.f_lasti, event, what if "0x" not in str(what) else "object"))
                    return tracer

            sys.settrace(tracer)
            try:
                program()
            finally:
                sys.settrace(None)
            return events

        self.same(seen)

    def test_setprofile(self):
        def seen():
            events, program = [], space()["program"]

            def profiler(frame, event, arg):
                if frame.f_code.co_filename == NAME:
                    events.append((frame.f_code.co_name, frame.f_lineno, event, getattr(arg, "__name__", None)))

            sys.setprofile(profiler)
            try:
                program()
            finally:
                sys.setprofile(None)
            return events

        self.same(seen)

    def test_a_tracer_may_jump_and_change_locals(self):
        def seen():
            leaf = space()["leaf"]

            def tracer(frame, event, arg):
                if frame.f_code is not None and frame.f_code.co_name == "leaf":
                    if event == "line" and frame.f_lineno == 2 and "value" not in frame.f_locals:
                        frame.f_locals["value"] = "jumped"
                        frame.f_lineno = 3
                    return tracer

            sys.settrace(tracer)
            try:
                return leaf(4)
            finally:
                sys.settrace(None)

        self.same(seen)

    @unittest.skipUnless(hasattr(sys, "monitoring"), "no sys.monitoring")
    def test_monitoring(self):
        """All events but C_RETURN, which CPython itself reports for Python functions too under any hook, as it gives RAISE
        another offset in the caller of a function that raised."""
        names = "PY_START PY_RETURN PY_YIELD PY_RESUME PY_UNWIND LINE CALL RAISE RERAISE EXCEPTION_HANDLED BRANCH JUMP"
        events = [name for name in names.split() if hasattr(sys.monitoring.events, name)]

        def seen():
            log, program, tool = [], space()["program"], 3
            sys.monitoring.use_tool_id(tool, "test")
            numbers = {name: getattr(sys.monitoring.events, name) for name in events}

            def callback(name):
                def called(code, *rest):
                    if code.co_filename == NAME:
                        log.append((name, code.co_qualname, *[item for item in rest if isinstance(item, int) and name != "RAISE"]))

                return called

            for name, number in numbers.items():
                sys.monitoring.register_callback(tool, number, callback(name))
            sys.monitoring.set_events(tool, sum(numbers.values()))
            try:
                program()
            finally:
                sys.monitoring.set_events(tool, 0)
                for number in numbers.values():
                    sys.monitoring.register_callback(tool, number, None)
                sys.monitoring.free_tool_id(tool)
            return log

        self.same(seen)

    def test_tracebacks(self):
        def seen():
            try:
                space()["fails"](0)
            except KeyError as error:
                entry, rows = error.__traceback__, []
                while entry:
                    rows.append((entry.tb_frame.f_code.co_name, entry.tb_lineno, entry.tb_lasti * (entry.tb_frame.f_code.co_filename == NAME)))
                    entry = entry.tb_next
                text = "".join(traceback.format_exception(error))
                return rows[1:], [line for line in text.splitlines() if "test_transparent" not in line]

        self.same(seen)

    def test_inspect(self):
        def seen():
            made = {"inspect": inspect, "sys": sys}
            source = "def inner(a, *b, c=1):\n    local = a\n    frame = inspect.currentframe()\n    return describe(frame)\n\ndef outer():\n    return inner(1, 2, c=3)\n"
            exec(compile(source, NAME, "exec"), made)

            def describe(frame):
                out = []
                while frame and frame.f_code.co_filename == NAME:
                    info = inspect.getargvalues(frame)
                    values = {name: value for name, value in info.locals.items() if name != "frame"}
                    out.append((frame.f_code.co_name, frame.f_lineno, info.args, info.varargs, values, inspect.getframeinfo(frame).positions))
                    frame = frame.f_back
                return out + [[record.function for record in inspect.stack() if record.filename == NAME]]

            made["describe"] = describe
            generator = space()["generate"](2)
            states = [inspect.getgeneratorstate(generator), next(generator), inspect.getgeneratorstate(generator), dict(inspect.getgeneratorlocals(generator))]
            return made["outer"](), states

        self.same(seen)

    def test_warnings_stack_levels(self):
        def seen():
            made = {"warnings": warnings}
            source = "def warn(level):\n    warnings.warn('careful', stacklevel=level)\n\ndef caller(level):\n\n    warn(level)\n\ndef outer(level):\n\n\n    caller(level)\n"
            exec(compile(source, NAME, "exec"), made)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for level in (1, 2, 3):
                    made["outer"](level)
            return [(str(warning.message), warning.filename, warning.lineno) for warning in caught]

        self.same(seen)

    def test_recursion_limits(self):
        def seen():
            made, found = {}, []
            exec(compile("def down(n):\n    deepest[0] = n\n    return down(n + 1)\n", NAME, "exec"), made)
            limit = sys.getrecursionlimit()
            for new in (limit, 400, 2000):
                made["deepest"] = [0]
                sys.setrecursionlimit(new)
                try:
                    made["down"](0)
                except RecursionError as error:
                    found.append((str(error), made["deepest"][0]))
                finally:
                    sys.setrecursionlimit(limit)
            return found

        self.same(seen)

    def test_pdb(self):
        def seen():
            out = io.StringIO()
            commands = "break 2\ncontinue\nwhere\nargs\nnext\np value\nup\nlist 20,22\ndown\nreturn\nclear 1\nstep\ncontinue\n"
            debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=out, nosigint=True, readrc=False)
            debugger.use_rawinput = False
            bdb.Breakpoint.next, bdb.Breakpoint.bplist, bdb.Breakpoint.bpbynumber = 1, {}, [None]
            debugger.clear_all_breaks()
            made = space()
            debugger.set_break(NAME, 2)
            debugger.runcall(made["program"])
            shown = [line for line in out.getvalue().splitlines() if "test_transparent" not in line]
            self.assertIn("value = n * 2", out.getvalue())
            return shown

        self.same(seen)

    def test_frames_of_other_threads(self):
        def seen():
            made, ready, done = {"threading": threading}, threading.Event(), threading.Event()
            made.update(ready=ready, done=done)
            exec(compile("def wait():\n    here = 1\n    ready.set()\n    done.wait()\n    return here\n", NAME, "exec"), made)
            thread = threading.Thread(target=made["wait"])
            thread.start()
            ready.wait()
            frame = sys._current_frames()[thread.ident]
            while frame.f_code.co_filename != NAME:
                frame = frame.f_back
            found = frame.f_code.co_name, frame.f_lineno in (3, 4), dict(frame.f_locals)
            done.set()
            thread.join()
            return found

        self.same(seen)


if __name__ == "__main__":
    unittest.main()
