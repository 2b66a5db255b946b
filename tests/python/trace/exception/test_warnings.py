"""Warnings and their filters in compiled functions: C obeys the filters that the program sets, and a trace leaves them as they were."""

import copy
import itertools
import os
import re
import sys
import unittest
import warnings

import slotrt

try:
    import numpy
except ImportError:
    numpy = None


def ignored(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return x + 1, len(warnings.filters)


def recorded(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DeprecationWarning)
        y = x * 2
    return y, caught


def nested(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with warnings.catch_warnings():
            warnings.resetwarnings()
            inner = list(warnings.filters)
        return x, inner, warnings.filters[0][:3:2]


def left_by_an_exception(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return x / 0


def warned_within(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("one")
        slotrt.graph_break()
        warnings.warn("two", DeprecationWarning)
    return x, [(str(warning.message), warning.category) for warning in caught]


def an_error_within(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.warn(f"bad {x}")


def a_copy(x):
    """Up to 3.13 C warns that iterators are no longer copied."""
    itertools.starmap(pow, [(1, 2)]).__reduce__()
    return x + 1


def a_copy_recorded(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(copy.copy(itertools.dropwhile(bool, [x, 0])))
    return [(str(warning.message), warning.category, warning.lineno) for warning in caught]


def a_copy_refused(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return copy.copy(itertools.count(x))


def line_numbers(x):
    """From 3.12 to 3.14 C warns of the attribute."""
    return outcome.__code__.co_lnotab[:x]


def a_pattern(x):
    """Python code that runs while tracing warns; the module caches patterns."""
    return re.compile(f"[[a]{{1}}{x}").match("[a")


def a_file(x):
    """From 3.13 on C warns of it."""
    return os.path.exists(bool(x))


def outcome(function, *args):
    """The result or the exception, the warnings, and the filters afterwards."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args)
        except Exception as error:
            result = type(error), str(error)
        re.purge()
        said = [(str(warning.message), warning.category, warning.filename, warning.lineno) for warning in caught]
        return repr(result), said, list(warnings.filters)


class Warnings(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def test_as_without(self):
        for function in (ignored, recorded, nested, left_by_an_exception, warned_within, an_error_within):
            with self.subTest(function.__name__):
                compiled = slotrt.compile(function)
                for x in (1, 2, 3.5):
                    self.assertEqual(outcome(compiled, x), outcome(function, x))

    @unittest.skipUnless(hasattr(warnings, "_acquire_lock"), "the filters have no lock before 3.14")
    def test_a_lock_of_the_filters_that_nobody_holds(self):
        def released(x):
            warnings._release_lock()
            return x

        def changed(x):
            warnings._filters_mutated_lock_held()
            return x

        def held(x):
            warnings._acquire_lock()
            slotrt.graph_break()
            warnings._filters_mutated_lock_held()
            warnings._release_lock()
            return x + 1

        for function in (released, changed, held):
            with self.subTest(function.__name__):
                compiled = slotrt.compile(function)
                for x in (1, 2):
                    self.assertEqual(outcome(compiled, x), outcome(function, x))

    def test_c_warns_each_time(self):
        """The warning names the program's line, under the program's filters."""
        of_c = [a_pattern]
        of_c += [a_copy, a_copy_recorded, a_copy_refused] if (3, 12) <= sys.version_info < (3, 14) else []
        of_c += [line_numbers] if (3, 12) <= sys.version_info < (3, 15) else []
        of_c += [a_file] if sys.version_info >= (3, 13) else []
        for function in of_c:
            with self.subTest(function.__name__):
                filters = list(warnings.filters)
                compiled = slotrt.compile(function)
                for x in (1, 2, 1):
                    plain = outcome(function, x)
                    self.assertEqual(outcome(compiled, x), plain)
                    self.assertTrue(plain[1] or "Warning" in plain[0] or function is a_copy_recorded, plain)
                self.assertEqual(warnings.filters, filters)

    def test_nothing_of_it_stays(self):
        """A trace in which C warns shows nothing, keeps nothing, and leaves the filters as they are."""

        def warn_in_c(x):
            slotrt.graph_break()
            if sys.version_info >= (3, 15):
                return os.path.exists(bool(x))
            return outcome.__code__.co_lnotab[:x] if sys.version_info >= (3, 14) else itertools.count(x).__reduce__()

        for filters in ([], list(warnings.filters)):
            with self.subTest(len(filters)), warnings.catch_warnings():
                warnings.filters[:] = filters
                globals().pop("__warningregistry__", None)
                slotrt.explain(lambda x: a_copy(x) if x > 5 else None)(1)
                slotrt.compile(lambda x: bool(x))(2)
                self.assertNotIn("__warningregistry__", globals())
                self.assertEqual(warnings.filters, filters)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("default")
                    for _ in range(2):
                        slotrt.compile(warn_in_c)(3)
                    self.assertEqual(len(caught), sys.version_info >= (3, 12))

    def test_no_registry_is_made_for_the_caller(self):
        """What C warns of within a trace is of the traced function's module alone."""
        module = {"__name__": "program", "warnings": warnings, "Index": type("Index", (), {"__index__": lambda self: True})}
        source = """def function():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                number = int(Index())
            return number, type(number), len(caught)"""
        exec(source, module)
        plain, compiled = module["function"](), slotrt.compile(module["function"])
        globals().pop("__warningregistry__", None)
        for _ in range(3):
            module.pop("__warningregistry__", None)
            self.assertEqual(compiled(), plain)
            self.assertNotIn("__warningregistry__", globals())
            self.assertIn("__warningregistry__", module)

    def test_in_one_trace(self):
        for function in (ignored, recorded, nested):
            with self.subTest(function.__name__):
                self.assertEqual(slotrt.explain(function)(1).breaks, 0)
                self.assertEqual(slotrt.compile(function)(1), function(1))

    def test_c_sees_new_filters(self):
        """A place that has warned warns again when filters were set since."""

        def warn():
            warnings.warn("here")

        def times(function):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("default")
                globals().pop("__warningregistry__", None)
                for _ in range(2):
                    warn()
                    warn()
                    function(1)
                return len(caught)

        self.assertEqual(times(slotrt.compile(ignored)), times(ignored))
        self.assertEqual(times(abs), 1)

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_operations_of_a_graph(self):
        def within(x):
            y = numpy.log(x)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                z = numpy.log(x)
            return y, z, numpy.log(x)

        def raising(x):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return numpy.log(x)

        zero, one = numpy.zeros(2), numpy.ones(2)
        for function in (within, raising):
            compiled = slotrt.compile(function)
            for x in (one, zero, one, zero):
                self.assertEqual(outcome(compiled, x), outcome(function, x))


def told(caught):
    return [(str(one.message), one.category, one.lineno, os.path.basename(one.filename)) for one in caught]


def in_python_and_c(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("of Python", stacklevel=1)
        first = copy.copy(itertools.count(x)) if sys.version_info[:2] in ((3, 12), (3, 13)) else iter([x])
        warnings.warn(f"again {x}", DeprecationWarning)
        warnings.warn("again", ResourceWarning)
    return next(first), told(caught)


def as_errors(x):
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        warnings.filterwarnings("ignore", "quiet")
        for text in ("loud", "quiet", "quieter", "loud"):
            try:
                warnings.warn(text, DeprecationWarning)
            except DeprecationWarning as warning:
                seen.append((str(warning), warning.__context__))
    return x, seen


def by_module(x):
    def deeper():
        warnings.warn("deeper", UserWarning, 2)

    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", module="no such module")
        warnings.filterwarnings("ignore", module=re.escape(__name__) + ".*", category=UserWarning, append=True)
        warnings.filterwarnings("always", category=Warning, lineno=1)
        warnings.filterwarnings("always", message="deep", module=re.escape(__name__))
        deeper()
    return x, told(caught)


def shown_once(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            warnings.warn("once")
    return x, told(caught)


def shown_by_hand(x):
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, category, filename, lineno, file=None, line=None: seen.append(str(message))
        warnings.warn(f"by hand {x}")
    return seen


def looked_at(x):
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        warnings.warn("looked at")
        return x, list(globals().get("__warningregistry__", ()))


class Followed(unittest.TestCase):
    """Under filters that the trace has set, it does what they say."""

    def compared(self, function, **options):
        compiled = slotrt.compile(function, **options)
        for x in (1, 2, 1):
            left = []
            for either in (compiled, function):
                globals().pop("__warningregistry__", None)
                left.append((either(x), list(globals()["__warningregistry__"])))
            self.assertEqual(*left)
        return compiled

    def test_in_one_graph(self):
        for function in (in_python_and_c, as_errors, by_module, shown_by_hand):
            with self.subTest(function=function.__name__):
                self.compared(function, fullgraph=True)

    def test_what_depends_on_more(self):
        for function in (shown_once, looked_at):
            with self.subTest(function=function.__name__):
                self.compared(function)

    def test_registries_are_emptied(self):
        def ignored_again(x):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.warn("nobody hears")
            return x

        compiled = slotrt.compile(ignored_again, fullgraph=True)
        for either in (compiled, ignored_again, compiled):
            registry = globals()["__warningregistry__"] = {"version": -1, "what was before": True}
            self.assertEqual(either(3), 3)
            self.assertEqual(list(registry), ["version"])
            self.assertIs(globals()["__warningregistry__"], registry)


if __name__ == "__main__":
    unittest.main()
