"""`warnings.warn` in compiled code: the same warnings at the same lines, under all filters, and no break where nothing of the program's runs."""

import contextlib
import io
import sys
import unittest
import warnings

import slotrt


class Said(UserWarning):
    pass


class Loud(UserWarning):
    def __str__(self):
        return "loud"


def inner(level):
    warnings.warn("inner", Said, stacklevel=level)
    return level


def nested(log):
    log.append("before")
    inner(1)
    inner(2)
    log.append("after")
    return len(log)


def repeated(log):
    for number in range(3):
        warnings.warn("again")
        log.append(number)
    warnings.warn("another", category=DeprecationWarning)


def handled(log):
    try:
        warnings.warn("caught?", RuntimeWarning)
        log.append("no")
    except RuntimeWarning as error:
        log.append(str(error))
    return log


def of_the_caller(log):
    warnings.warn("caller", stacklevel=2)
    log.append(1)


def loud(log):
    warnings.warn("x", Loud)
    warnings.warn(Said("an instance"))


PROGRAMS = (nested, repeated, handled, of_the_caller, loud)
FILTERS = ("default", "always", "once", "module", "ignore", "error")


def registry():
    kept = globals().get("__warningregistry__", {})
    return sorted(key for key in kept if key != "version")


def outcomes(function, action, calls=3):
    """What calls do: results, warnings with their places, what the module notes."""
    globals().pop("__warningregistry__", None)
    warnings.onceregistry.clear()
    found = []
    for _ in range(calls):
        log = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)
            try:
                result = function(log)
            except Warning as error:
                result = type(error), str(error), error.__traceback__.tb_next.tb_lineno
        found.append((result, log, [(w.category, str(w.message), w.filename, w.lineno) for w in caught], registry()))
    return found


class IssuedWarnings(unittest.TestCase):
    maxDiff = None

    def test_filters(self):
        for program in PROGRAMS:
            for action in FILTERS:
                with self.subTest(program=program.__name__, action=action):
                    plain = outcomes(program, action)
                    slotrt.reset()
                    self.assertEqual(outcomes(slotrt.compile(program), action), plain)

    def test_what_is_shown(self):
        for program in PROGRAMS:
            for action in FILTERS:
                shown = []
                for function in (program, slotrt.compile(program)):
                    globals().pop("__warningregistry__", None)
                    warnings.onceregistry.clear()
                    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()) as stream:
                        warnings.simplefilter(action)
                        for _ in range(3):
                            with contextlib.suppress(Warning):
                                function([])
                    shown.append(stream.getvalue())
                with self.subTest(program=program.__name__, action=action):
                    self.assertEqual(shown[1], shown[0])

    def test_a_list_that_records_them_and_is_read(self):
        def recorded(caught):
            before = len(caught)
            warnings.warn("recorded")
            return before, [str(warning.message) for warning in caught], len(caught)

        def within(x):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                slotrt.graph_break()
                warnings.warn("two", DeprecationWarning)
            return [str(warning.message) for warning in caught]

        compiled = slotrt.compile(recorded)
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(compiled([]), (0, [], 0))
        for _ in range(3):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.assertEqual(compiled(caught), (0, ["recorded"], 1))
                self.assertEqual(compiled([]), (0, [], 0))
            self.assertEqual(slotrt.compile(within)(1), ["two"])

    def test_breaks(self):
        for program, breaks in ((nested, False), (repeated, False), (of_the_caller, True), (loud, True)):
            with self.subTest(program=program.__name__), contextlib.redirect_stderr(io.StringIO()):
                slotrt.reset()
                with warnings.catch_warnings():
                    warnings.simplefilter("always")
                    slotrt.compile(program)([])
                self.assertEqual(slotrt.stats()["graph_breaks"] > 0, breaks)

    def test_filters_that_change(self):
        slotrt.reset()
        compiled = slotrt.compile(repeated)
        for action in ("always", "ignore", "error", "always", "error", "default"):
            self.assertEqual(outcomes(compiled, action, 1), outcomes(repeated, action, 1))

    def test_patterns(self):
        def f(log):
            warnings.warn("some text")
            return log

        for options in ({"message": "some"}, {"message": "other"}, {"module": __name__}, {"category": Said}):
            found = []
            for function in (f, slotrt.compile(f)):
                globals().pop("__warningregistry__", None)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    warnings.filterwarnings("error", **options)
                    try:
                        found.append((function([]), len(caught)))
                    except UserWarning as error:
                        found.append((str(error), len(caught)))
            self.assertEqual(found[1], found[0], options)

    def test_what_shows_them_is_the_programs(self):
        def f(log):
            log.append(1)
            warnings.warn("shown")
            log.append(2)

        def shown(function):
            globals().pop("__warningregistry__", None)
            log, seen = [], []
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.showwarning = lambda message, *rest: seen.append((str(message), list(log)))
                function(log)
            return log, seen

        self.assertEqual(shown(slotrt.compile(f)), shown(f))

    def test_text_on_the_error_stream(self):
        def written(function):
            globals().pop("__warningregistry__", None)
            kept, sys.stderr = sys.stderr, io.StringIO()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("default")
                    function([])
                    function([])
                return sys.stderr.getvalue()
            finally:
                sys.stderr = kept

        for program in (nested, repeated, of_the_caller):
            self.assertEqual(written(slotrt.compile(program)), written(program))


if __name__ == "__main__":
    unittest.main()
