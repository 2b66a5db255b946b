"""Runs the tests of one CPython test file one at a time, each in a fork: as they are, then with the body compiled.

    python run.py test_dict [--limit SECONDS] [--only NAME] [--plain]

Prints one line of JSON per test that passes uncompiled, or fails as it is expected to:
{"test", "verdict": "passed" | "break" | "wrong" | "timeout" | "crash", "reason", "context", "ms", "plain_ms"}.

A body is compiled with `fullgraph=True`: a graph break anywhere, or a frame that the tracer leaves alone, is a "break".
Any other outcome than the uncompiled one is "wrong".
"""

import argparse
import contextlib
import faulthandler
import importlib
import json
import os
import select
import signal
import sys
import time
import types
import unittest


class NoSubTest(contextlib.nullcontext):
    """Stands for `TestCase.subTest`, whose bookkeeping is no subject of the test."""

    def __init__(self, *args, **kwargs):
        super().__init__()


def equal(self, first, second, msg=None, **kwargs):
    """Stands for the assertion helpers that compute long differences."""
    if not first == second:
        self.fail(msg or "not equal")


def simplify():
    """Replaces what the measure allows to be replaced, for both runs."""
    unittest.TestCase.subTest = NoSubTest
    for name in ("assertMultiLineEqual", "assertSequenceEqual", "assertDictEqual"):
        setattr(unittest.TestCase, name, equal)


EXPECTED = "expected failure"


class Verdict(unittest.TestResult):
    """Keeps the first thing that went wrong."""

    def __init__(self):
        super().__init__()
        self.outcome = None

    def keep(self, kind, error):
        """`error` is `(type, value, traceback)`."""
        if self.outcome is None:
            module = getattr(error[0], "__module__", "")
            name = error[0].__qualname__ if module == "builtins" else f"{module}.{error[0].__qualname__}"
            particulars = [getattr(error[1], name, None) for name in ("type", "context", "explanation")]
            self.outcome = (kind, name, str(error[1])[:400], particulars)

    def addError(self, test, error):
        self.keep("error", error)

    def addFailure(self, test, error):
        self.keep("failure", error)

    def addSkip(self, test, reason):
        self.outcome = self.outcome or ("skip", "", reason, [])

    def addExpectedFailure(self, test, error):
        if error[0].__module__ == "slotrt":
            return self.keep("error", error)
        self.outcome = self.outcome or (EXPECTED, "", "", [])

    def addUnexpectedSuccess(self, test):
        self.outcome = self.outcome or ("unexpected success", "", "", [])


def body(test, compiled):
    """Runs one test here; returns the outcome as plain data."""
    clock = []
    if compiled:
        import slotrt

        slotrt.reset()
        target = slotrt.compile(getattr(type(test), test._testMethodName), fullgraph=True)
    else:
        target = getattr(type(test), test._testMethodName)

    def timed(*args, **kwargs):
        start = time.perf_counter_ns()
        try:
            return target(*args, **kwargs)
        finally:
            clock.append(time.perf_counter_ns() - start)

    original = getattr(test, test._testMethodName)
    timed.__dict__.update(getattr(original, "__dict__", {}))
    setattr(test, test._testMethodName, types.MethodType(timed, test))
    verdict = Verdict()
    test.run(verdict)
    skipped = 0
    if compiled:
        skipped = slotrt.stats().get("frames_skipped", 0)
    return {"outcome": verdict.outcome, "ms": sum(clock) / 1e6, "skipped": skipped}


def in_child(test, compiled, limit):
    """The same in a fork: ("ok", data), ("timeout", None) or ("crash", signal or status)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        try:
            data = json.dumps(body(test, compiled)).encode()
        except BaseException as error:
            data = json.dumps({"outcome": ["error", type(error).__name__, str(error)[:400], []], "ms": 0, "skipped": 0})
            data = data.encode()
        os.write(writer, data)
        os._exit(0)
    os.close(writer)
    data = receive(reader, time.monotonic() + limit)
    os.close(reader)
    if data is None:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if data is None:
        return "timeout", None
    if not data:
        return "crash", os.waitstatus_to_exitcode(status)
    return "ok", json.loads(data)


def receive(reader, deadline):
    """All bytes up to the end of the pipe; None when time is up."""
    chunks = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return None
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)


def judge(test, limit, plain_only):
    """The line for one test; None where it neither passes uncompiled nor fails as expected."""
    state, plain = in_child(test, False, limit)
    fails = state == "ok" and plain["outcome"] is not None
    if state != "ok" or fails and plain["outcome"][0] != EXPECTED:
        return None
    row = {"test": test.id().partition(".")[2], "plain_ms": plain["ms"]}
    if plain_only:
        return row | {"verdict": "passed", "reason": "", "ms": plain["ms"]}
    state, data = in_child(test, True, limit)
    if state != "ok":
        return row | {"verdict": state, "reason": str(data or ""), "ms": 0}
    row["ms"] = data["ms"]
    outcome = data["outcome"]
    if fails and outcome is not None and outcome[0] == EXPECTED:
        outcome = None
    if outcome is None and data["skipped"]:
        return row | {"verdict": "break", "reason": f"{data['skipped']} frame(s) left alone"}
    if outcome is None:
        return row | {"verdict": "passed", "reason": ""}
    kind, name, message, particulars = outcome
    if name == "slotrt.GraphBreak":
        reason, context, explanation = particulars
        where = f"{context} ({explanation})"
        return row | {"verdict": "break", "reason": reason or message.partition("\n")[0], "context": where}
    return row | {"verdict": "wrong", "reason": f"{kind}: {name}: {message}"}


def tests_of(suite):
    """All test cases in a suite."""
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_of(item)
        else:
            yield item


def by_class(tests):
    """Tests in order, grouped so that class fixtures run once per class."""
    groups = {}
    for test in tests:
        groups.setdefault(type(test), []).append(test)
    return groups.items()


def main():
    """Reads the command line, runs, prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--limit", type=float, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    faulthandler.enable()
    sys.setrecursionlimit(1000)
    from test import support

    support.use_resources = ()
    simplify()
    if not options.plain:
        import slotrt  # noqa: F401  (imported once, before the forks)
    module = importlib.import_module(f"test.{options.file}")
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    os.chdir(os.environ.get("TMPDIR", "/tmp"))
    getattr(module, "setUpModule", lambda: None)()
    for case, tests in by_class(tests_of(suite)):
        if case.__module__ == "unittest.loader" or getattr(case, "__unittest_skip__", False):
            continue
        try:
            case.setUpClass()
        except unittest.SkipTest:
            continue
        for test in tests:
            if options.only in test.id() and (row := judge(test, options.limit, options.plain)):
                print(json.dumps(row), flush=True)
        case.tearDownClass()


if __name__ == "__main__":
    main()
