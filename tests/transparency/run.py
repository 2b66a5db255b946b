"""Runs one CPython test file under a mode of the evaluation hook and prints the outcome of every test as JSON.

    python run.py MODE test_dict        MODE: plain (no hook), observe, reassemble
"""

import faulthandler
import importlib
import json
import os
import sys
import unittest


class Outcomes(unittest.TestResult):
    """The outcome of every test and subtest that did not pass, and how many ran."""

    def __init__(self):
        super().__init__()
        self.found = {}

    def keep(self, test, outcome):
        self.found.setdefault(str(test.id()), []).append(outcome)

    def addError(self, test, error):
        self.keep(test, f"error {error[0].__name__}")

    def addFailure(self, test, error):
        self.keep(test, f"failure: {str(error[1])[:2000]}")

    def addSkip(self, test, reason):
        self.keep(test, "skipped")

    def addUnexpectedSuccess(self, test):
        self.keep(test, "unexpected success")

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.keep(test, f"subtest {error[0].__name__}")


def main(mode, name):
    """Runs the file."""
    faulthandler.enable()
    from test import support

    support.use_resources = ()
    support.verbose = 0
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module = importlib.import_module(f"test.{name}")
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = Outcomes()
    if mode != "plain":
        from slotrt import hook

        hook.install(mode)
    suite.run(result)
    if mode != "plain":
        hook.uninstall()
    print(json.dumps({"ran": result.testsRun, "outcomes": result.found}), file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
