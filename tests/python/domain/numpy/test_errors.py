"""Errors that depend on the contents of arrays, raised inside the program's own `try` and `with`: its handlers see what they see in plain Python."""

import contextvars
import operator
import unittest
import warnings

try:
    import numpy as np
except ImportError as error:
    raise unittest.SkipTest(f"numpy is not installed: {error}") from error

import slotrt

#: Expressions over `x` and `y`, and an `x` for which they fail, warn, or depend on contents.
CASES = {
    "np.linalg.inv(x)": np.zeros((2, 2)),
    "np.linalg.cholesky(x)": -np.ones((2, 2)),
    "np.take(x, y)": np.arange(3),
    "x[y]": np.arange(3),
    "x ** y": np.arange(3),
    "np.power(x, y)": np.arange(3),
    "2 ** x": np.array([-1]),
    "x.reshape(7)": np.arange(3),
    "x.astype(int)": np.array(["a", "b"]),
    "x.astype('M8[s]')": np.array(["a", "b"]),
    "np.choose(x, [x, x, x, x])": np.array([9, 1, 2]),
    "1 / x": np.zeros(2),
    "1 // x": np.zeros(2, int),
    "np.repeat(x, x)": np.array([-1, 2]),
    "np.bincount(x)": np.array([-1, 2]),
    "x.max()": np.zeros(0),
    "float(x)": np.zeros(2),
    "x.sum()": np.array(["a"]),
    "np.unravel_index(x, (1, 1))": np.array([3]),
    "np.int8(300) + x": np.zeros(2),
    "x + 'a'": np.zeros(2),
    "x % 0": np.arange(3),
    "divmod(x, 0)": np.arange(3),
    "np.clip(x, y, 2)": np.arange(3),
    "np.std(x)": np.zeros(0),
    "np.dot(x, np.ones(5))": np.zeros(2),
    "x + 10**30": np.arange(3),
    "x + 300": np.array([1, 2], dtype=np.uint8),
    "x - y": np.array(["2020-01-01"], dtype="M8[D]"),
    "np.linspace(0, 1, -3)": np.arange(3),
    "-x": np.array([True]),
    "x.round(2**40)": np.ones(3),
    "np.int64(1) // x[0]": np.zeros(2, int),
    "np.int8(100) + np.int8(x[0])": np.array([100, 2], dtype=np.int8),
    "np.int64(2) ** x[0]": np.array([-1]),
    "int(x[0])": np.array([np.nan]),
    "[1, 2, 3][x[0]]": np.array([7]),
    "f'{x[0]:d}'": np.array([3.5]),
    "x[0] @ x[0]": np.array([3.5]),
    "list(x[0])": np.array([3.5]),
    "sum(x[0])": np.array([True]),
}

PROGRAM = """
def program(x, y):
    out = []
    try:
        result = {0}
        out.append(1)
        more = result + 1
    except Exception as error:
        return "handled", type(error).__name__, str(error), out
    finally:
        out.append(2)
    with contextlib.suppress(Exception):
        more = {0}
        return more, result, out
    return "suppressed", out
"""


def outcome(function, *args):
    """The outcome of the call, the contents of its result, and its warnings."""
    try:
        return repr(function(*args))
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"


class ErrorsOfContents(unittest.TestCase):
    """Every case, traced and from the cache, with each setting of floating point errors and warnings."""

    def same(self, modes, action):
        for expression, x in CASES.items():
            space = {"np": np, "contextlib": __import__("contextlib")}
            exec(PROGRAM.format(expression), space)
            slotrt.reset()
            compiled = slotrt.compile(space["program"])
            for y in (np.array([0, 1, 2]), np.array([-1, 5, 9])):
                with self.subTest(expression=expression, modes=modes, action=action):
                    expected = self.watched(space["program"], modes, action, x, y)
                    self.assertEqual(self.watched(compiled, modes, action, x, y), expected)
                    self.assertEqual(self.watched(compiled, modes, action, x, y), expected)

    def watched(self, function, modes, action, x, y):
        with np.errstate(all=modes), warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter(action)
            return outcome(function, x.copy(), y.copy()), [
                (warning.filename, warning.lineno, str(warning.message)) for warning in seen
            ]

    def test_warned(self):
        self.same("warn", "always")

    def test_warnings_are_errors(self):
        self.same("warn", "error")

    def test_raised(self):
        self.same("raise", "always")

    def test_ignored(self):
        self.same("ignore", "error")

    def test_set_within_the_trace(self):
        from numpy._core.umath import _extobj_contextvar, _make_extobj

        raises = _make_extobj(divide="raise")

        def sets(x):
            token = _extobj_contextvar.set(raises)
            try:
                return 1 / x
            finally:
                _extobj_contextvar.reset(token)

        def in_a_copy(x):
            return contextvars.copy_context().run(sets, x)

        def in_an_empty_context(x):
            return contextvars.Context().run(np.divide, 1, x)

        for program in sets, in_a_copy, in_an_empty_context:
            compiled = slotrt.compile(program)
            for x in np.ones(2), np.zeros(2), np.ones(2):
                for mode in "ignore", "raise":
                    with self.subTest(program.__name__, mode=mode), np.errstate(all=mode):
                        self.assertEqual(outcome(compiled, x), outcome(program, x))

    def test_a_graph_made_before_the_filter(self):
        def divide(x):
            try:
                return 1 / x
            except RuntimeWarning as warning:
                return str(warning)

        compiled = slotrt.compile(divide)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(str(compiled(np.zeros(1))), "[inf]")
            warnings.filterwarnings("error", category=RuntimeWarning)
            self.assertEqual(compiled(np.zeros(1)), "divide by zero encountered in divide")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(str(compiled(np.zeros(1))), "[inf]")

    def test_concatenation(self):
        def concatenate(function, one, other):
            try:
                return function(one, other)
            except TypeError as error:
                return str(error)

        compiled = slotrt.compile(concatenate)
        for function in (operator.concat, operator.iconcat):
            for one, other in ((np.arange(3), [1]), (np.int64(3), [1]), ([1], np.arange(2)), ([1], [2]), ((1,), (2,)), ("a", 1)):
                with self.subTest(function=function, one=one, other=other):
                    mine, theirs = compiled(function, one, other), concatenate(function, one, other)
                    self.assertEqual(repr(mine), repr(theirs))

    def test_attributes_that_an_array_cannot_have(self):
        def changed(make, x, change):
            array = make(x)
            try:
                change(array)
            except AttributeError as error:
                return str(error), error.name, error.obj is array
            return "changed"

        def store(array):
            array.value = 3

        def hide(array):
            array.__call__ = len

        def delete(array):
            del array.value

        def read_only(array):
            array.sum = 3

        class Derived(np.ndarray):
            pass

        for make in (np.zeros_like, lambda x: x + 1, lambda x: x.reshape(-1), lambda x: x.view(Derived), lambda x: x[0]):
            for change in (store, hide, delete, read_only):
                compiled = slotrt.compile(changed)
                for _ in range(2):
                    with self.subTest(change.__name__):
                        self.assertEqual(compiled(make, np.ones(2), change), changed(make, np.ones(2), change))


if __name__ == "__main__":
    unittest.main()
