"""Runs one unittest file and prints its counts as a line of JSON; failures go to standard error."""

import faulthandler
import importlib.util
import json
import os
import sys
import unittest

import slotrt

# Folders and files whose tests need no tracing. The rest is skipped on releases whose frames are hooked only.
UNTRACED = ("bytecode/", "ffi/test_compiled_function.py", "ffi/test_hook.py", "ffi/test_transparency.py", "generated/", "live/")
HERE = os.path.dirname(os.path.abspath(__file__))  # also the first folder of `sys.path`: tests import its helpers
LIMIT = 900  # seconds for one file; a hang then shows where it hangs


def entered():
    """The generated functions that traces of this process have run since this was asked last, as `file name`."""
    session = getattr(slotrt._api, "_session", None) if slotrt._slotrt.TRACES else None
    return [" ".join(function) for function in session.entered()] if session else []


class Result(unittest.TextTestResult):
    """Counts what passed, too, and which generated functions each test runs."""

    passed = 0

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.reached = {}

    def startTest(self, test):
        entered()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        for function in entered():
            self.reached.setdefault(function, []).append(name_of(test))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.passed += 1


def name_of(test):
    """`Class.method`, also for what fails before any method runs."""
    return ".".join(str(test.id()).split(".")[1:]) or str(test)


def main(path):
    """Runs the tests of the file at `path`."""
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    if not slotrt._slotrt.TRACES and not os.path.relpath(path, HERE).startswith(UNTRACED):
        why = f"needs slotrt.compile, and CPython {sys.version_info[0]}.{sys.version_info[1]} is hooked, not traced"
        print(json.dumps({"passed": 0, "failed": [], "skipped": [["(file)", why]]}))
        return
    spec = importlib.util.spec_from_file_location("tests", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["tests"] = module
    try:
        spec.loader.exec_module(module)
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    except unittest.SkipTest as skip:
        print(json.dumps({"passed": 0, "failed": [], "skipped": [["(file)", str(skip)]]}))
        return
    runner = unittest.TextTestRunner(stream=sys.stderr, resultclass=Result, verbosity=0)
    result = runner.run(suite)
    failed = {name_of(test): None for test, _ in result.failures + result.errors}
    failed.update({name_of(test): None for test in result.unexpectedSuccesses})
    skipped = [[name_of(test), reason] for test, reason in result.skipped]
    if reached := os.environ.get("SLOTRT_TEST_REACHED"):
        with open(reached, "w", encoding="utf-8") as file:
            json.dump(result.reached, file)
    if not (result.passed or failed or skipped):
        failed["(no test found)"] = None
    sys.stdout.flush()
    print("\n" + json.dumps({"passed": result.passed, "failed": list(failed), "skipped": skipped}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
