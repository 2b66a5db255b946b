"""Settings of the process that compiled functions change: in the program's order, and visible to all code afterwards."""

import abc
import csv
import functools
import gc
import os
import sys
import time
import unittest

import slotrt

try:
    import readline
except ImportError:
    readline = None

NAME = "SLOTRT_TEST_SETTING"


def collector(x):
    was = gc.isenabled()
    gc.disable()
    try:
        return x + 1
    finally:
        if was:
            gc.enable()


def collector_asked(x):
    gc.disable()
    try:
        return x, gc.isenabled()
    finally:
        gc.enable()


def collector_off(x):
    gc.disable()
    return 1 / x


def variable(x):
    os.environ[NAME] = x
    os.putenv(NAME + "_2", "second")
    return os.environ[NAME]


def no_variable(x):
    os.environ[NAME] = x
    del os.environ[NAME]
    return os.environ.get(NAME)


def bad_variables(x):
    said = []
    for name, value in (("", x), ("a=b", x), ("a\0b", x), (NAME, x + "\0"), (NAME, 1)):
        try:
            os.putenv(name, value)
        except (OSError, ValueError, TypeError) as error:
            said.append((type(error), str(error)))
    for name in ("", "a=b"):
        try:
            os.unsetenv(name)
        except (OSError, ValueError) as error:
            said.append((type(error), str(error)))
    return said


def zone(x):
    os.environ["TZ"] = x
    time.tzset()
    return time.tzname, time.localtime(0).tm_hour


def interval(x):
    sys.setswitchinterval(x)
    return sys.getswitchinterval()


def bad_intervals(x):
    said = []
    for seconds in (0, -x, "1"):
        try:
            sys.setswitchinterval(seconds)
        except (ValueError, TypeError) as error:
            said.append((type(error), str(error)))
    return said


def getenv(name):
    """The environment as C sees it; `os.environ` may differ."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(write, 1)
        os.execv("/bin/sh", ["sh", "-c", f"printf %s \"${{{name}-none}}\""])
    os.close(write)
    os.waitpid(child, 0)
    said = os.read(read, 100)
    os.close(read)
    return said


def outcome(function, *args):
    """The result or the exception, and the settings afterwards, which are then restored."""
    zone = os.environ.get("TZ")
    interval = sys.getswitchinterval()
    try:
        result = function(*args)
    except Exception as error:
        result = type(error), str(error)
    after = gc.isenabled(), os.environ.get(NAME), getenv(NAME), getenv(NAME + "_2"), sys.getswitchinterval()
    gc.enable()
    sys.setswitchinterval(interval)
    os.environ.pop(NAME, None)
    os.unsetenv(NAME + "_2")
    if zone is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = zone
    time.tzset()
    return result, after


class Settings(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def as_without(self, function, *arguments):
        compiled = slotrt.compile(function)
        for argument in arguments:
            with self.subTest(function.__name__, argument=argument):
                self.assertEqual(outcome(compiled, argument), outcome(function, argument))

    def test_collector(self):
        for function in (collector, collector_asked, collector_off):
            self.as_without(function, 1, 0, 1)
        self.assertEqual(slotrt.explain(collector)(1).breaks, 0)

    def test_environment(self):
        for function in (variable, no_variable, bad_variables):
            self.as_without(function, "one", "two", "one")
        self.assertEqual(slotrt.explain(no_variable)("one").breaks, 0)

    def test_zone(self):
        self.as_without(zone, "UTC", "EST5", "UTC", "EST5")

    def test_interval(self):
        self.as_without(interval, 0.25, 0.5, 0.25)
        self.as_without(bad_intervals, 1, 2)

    @unittest.skipIf(readline is None, "this interpreter has no readline")
    def test_readline(self):
        def delimiters(x):
            before = readline.get_completer_delims()
            readline.set_completer_delims(x)
            return before, readline.get_completer_delims()

        def set_alone(x):
            readline.set_completer_delims(x)
            return len(x)

        before = readline.get_completer_delims()
        self.addCleanup(readline.set_completer_delims, before)
        for function in (delimiters, set_alone):
            compiled = slotrt.compile(function)
            for given in (" \t", "+", " \t", ""):
                answers = []
                for either in (compiled, function):
                    readline.set_completer_delims("/")
                    answers.append((either(given), readline.get_completer_delims()))
                self.assertEqual(*answers)
        self.assertEqual(slotrt.explain(set_alone)("-").breaks, 0)
        self.assertEqual(readline.get_completer_delims(), "-")

    def test_what_modules_remember(self):
        class Abstract(abc.ABC):
            pass

        def remembered():
            return abc.get_cache_token(), csv.list_dialects()

        self.addCleanup(csv.unregister_dialect, "slotrt-test")
        compiled = slotrt.compile(remembered)
        self.assertEqual(compiled(), remembered())
        Abstract.register(type("Virtual", (), {}))
        self.assertEqual(compiled(), remembered())
        csv.register_dialect("slotrt-test", delimiter=";")
        self.assertEqual(compiled(), remembered())

    def test_dispatch_after_a_virtual_subclass(self):
        class Abstract(abc.ABC):
            pass

        class Given:
            pass

        @functools.singledispatch
        def kind(value):
            return "object"

        kind.register(Abstract, lambda value: "abstract")
        compiled = slotrt.compile(lambda value: kind(value))
        for _ in range(3):
            self.assertEqual(compiled(Given()), "object")
        Abstract.register(Given)
        for _ in range(3):
            self.assertEqual(compiled(Given()), "abstract")


if __name__ == "__main__":
    unittest.main()
