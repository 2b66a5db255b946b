"""Runs one file of CPython's own tests under a hook mode; prints the outcome of every test as a line of JSON."""
import importlib
import json
import sys
import unittest


class Outcomes(unittest.TestResult):
    """The outcome of each test by its name."""

    def __init__(self):
        super().__init__()
        self.outcomes = {}

    def record(self, test, outcome):
        name = test.id()
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


def main(mode, name):
    from test import support

    support.use_resources = []
    support.verbose = 0
    if mode != "none":
        from slotrt import hook

        counters = hook.install(mode) if mode != "empty" else hook.empty(True)
    module = importlib.import_module(f"test.{name}")
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = Outcomes()
    suite.run(result)
    counted = counters.counters() if mode not in ("none", "empty") else {}
    details = {test.id(): text for test, text in result.failures + result.errors}
    print("\n" + json.dumps({"outcomes": result.outcomes, "counters": counted, "details": details}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
