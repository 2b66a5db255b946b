"""Runs one file of CPython's own tests under a hook mode; prints the outcome of every test as a line of JSON.

    python child.py MODE NAME [ROUNDS]

With ROUNDS, each test runs again and again, at most that often, as long as a round brings something new under the hook
(twice without it, to see which tests can run again at all); what happens from the second time on is an outcome of its own.
"""
import importlib
import json
import sys
import time
import unittest

TEST = 3  # seconds in which one test may be begun again
FILE = 60  # seconds in which any test may be


class Outcomes(unittest.TestResult):
    """The outcome of each test by its name."""

    def __init__(self):
        super().__init__()
        self.outcomes = {}
        self.suffix = ""

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
    """A suite that goes on with a test while `more(round)` says so."""

    _cleanup = False

    def __init__(self, tests, result, more):
        super().__init__(tests)
        self.result, self.more = result, more

    def __iter__(self):
        for test in self._tests:
            self.result.suffix, number, start = "", 0, time.monotonic()
            yield test
            while time.monotonic() - start < TEST and self.more(number := number + 1):
                self.result.suffix = " again"
                yield test


def repeat(mode, rounds, counters):
    """Whether a test that ran `number` times is to run again."""
    end, before = time.monotonic() + FILE, [0]

    def more(number):
        if rounds < 2 or time.monotonic() > end:
            return False
        if mode == "none":
            return number < 2
        pairs, last = counters.counters()["pairs"], before[0]
        before[0] = pairs
        return number < rounds and pairs > last

    return more


def main(mode, name, rounds=1):
    from test import support

    support.use_resources = []
    support.verbose = 0
    counters = None
    if mode != "none":
        from slotrt import hook

        counters = hook.install(mode) if mode != "empty" else hook.empty(True)
    module = importlib.import_module(f"test.{name}")
    result = Outcomes()
    tests = flat(unittest.defaultTestLoader.loadTestsFromModule(module))
    Rounds(tests, result, repeat(mode, rounds, counters)).run(result)
    counted = counters.counters() if mode not in ("none", "empty") else {}
    broken = {"functions": counters.functions(), "refused": counters.refused()} if mode.startswith("split") else {}
    details = {test.id(): text for test, text in result.failures + result.errors}
    print("\n" + json.dumps({"outcomes": result.outcomes, "counters": counted, "details": details} | broken), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
