"""Runs one file of CPython's own tests under a hook mode; prints the outcome of every test as a line of JSON.

    python child.py MODE NAME [ROUNDS [FILE]]

With ROUNDS, each test runs again and again, at most that often, as long as a round brings something new under the hook
(twice without it, to see which tests can run again at all); what happens from the second time on is an outcome of its own.
The mode "watch" runs without a hook and lists the functions whose frames the program looks at; FILE holds such a list: these are
not broken. The mode "often" runs without a hook, each test as many times as FILE says.
"""
import importlib
import json
import pathlib
import sys
import time
import unittest

TEST = 3  # seconds in which one test may be started again
FILE = 60  # seconds in which any test may be started again


class Outcomes(unittest.TestResult):
    """The outcome of each test by its name."""

    def __init__(self):
        super().__init__()
        self.outcomes = {}
        self.runs = {}
        self.suffix = ""

    def startTest(self, test):
        super().startTest(test)
        self.runs[test.id()] = self.runs.get(test.id(), 0) + 1

    def record(self, test, outcome):
        name = test.id() + self.suffix
        if self.outcomes.get(name) not in ("fail", "error"):
            self.outcomes[name] = outcome

    def addSuccess(self, test):
        self.record(test, "pass")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.record(test, "fail")

    def addError(self, test, error):
        super().addError(test, error)
        self.record(test, "error")

    def addSkip(self, test, reason):
        self.record(test, "skip")

    def addExpectedFailure(self, test, error):
        self.record(test, "expected failure")

    def addUnexpectedSuccess(self, test):
        self.record(test, "unexpected success")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.record(test, "fail")


def flat(suite):
    """The tests of a suite, one after the other."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


class Rounds(unittest.TestSuite):
    """A suite that goes on with a test while `more(test, round)` says so."""

    _cleanup = False

    def __init__(self, tests, result, more):
        super().__init__(tests)
        self.result, self.more = result, more

    def __iter__(self):
        for test in self._tests:
            self.result.suffix, number, start = "", 0, time.monotonic()
            yield test
            while time.monotonic() - start < TEST and self.more(test, number := number + 1):
                self.result.suffix = " again"
                yield test


def repeat(mode, rounds, counters, runs):
    """Whether a test that ran `number` times is to run again."""
    end, before = time.monotonic() + FILE, [0]

    def more(test, number):
        if rounds < 2 or time.monotonic() > end:
            return False
        if mode == "often":
            return number < runs.get(test.id(), 1)
        if counters is None:
            return number < 2
        pairs, last = counters.counters()["pairs"], before[0]
        before[0] = pairs
        return number < rounds and pairs > last

    return more


class Watch:
    """Functions whose frames were on the stack when the program asked for a frame, or for that of a generator."""

    def __init__(self):
        self.seen, self.busy = set(), False
        sys.addaudithook(self.hear)

    def hear(self, event, arguments):
        attribute = str(arguments[1]) if event == "object.__getattr__" else ""
        if self.busy or event not in ("sys._getframe", "sys._current_frames") and not attribute.startswith(("gi_", "cr_", "ag_", "f_code")):
            return
        self.busy = True
        try:
            if attribute == "f_code":  # of any frame, such as a traceback's
                return self.seen.add(named(arguments[0].f_code))
            self.look(sys._getframe(1))
            if attribute:
                self.seen.add(named(getattr(arguments[0], attribute[:3] + "code")))
        finally:
            self.busy = False

    def look(self, frame):
        while frame is not None:
            self.seen.add(named(frame.f_code))
            frame = frame.f_back


def named(code):
    return code.co_filename, code.co_qualname, code.co_firstlineno


def begin(mode, whole):
    """Installs what the mode says: the hook's counters, if it counts, and the watch."""
    if mode in ("none", "watch", "often"):
        return None, Watch() if mode == "watch" else None
    from slotrt import hook

    if mode == "empty":
        return hook.empty(True), None
    return hook.install(mode, *([[tuple(name) for name in whole]] if whole else [])), None


def main(mode, name, rounds=1, file=None):
    from test import support

    support.use_resources = []
    support.verbose = 0
    given = json.loads(pathlib.Path(file).read_text()) if file else None
    counters, watch = begin(mode, given)
    module = importlib.import_module(f"test.{name}")
    result = Outcomes()
    tests = flat(unittest.defaultTestLoader.loadTestsFromModule(module))
    Rounds(tests, result, repeat(mode, rounds, counters, given or {})).run(result)
    counted = counters.counters() if counters else {}
    broken = {"functions": counters.functions(), "refused": counters.refused()} if mode.startswith("split") else {}
    details = {test.id(): text for test, text in result.failures + result.errors}
    watched = {"watched": sorted(watch.seen)} if watch else {}
    print("\n" + json.dumps({"outcomes": result.outcomes, "counters": counted, "details": details, "runs": result.runs} | broken | watched), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:4]), *sys.argv[4:])
