"""Floats that differ from call to call, in what numpy computes: they are inputs of the graph, where nothing but contents follows from them."""

import math
import unittest
import warnings

import slotrt

try:
    import numpy as np
except ImportError as error:
    raise unittest.SkipTest(f"numpy is not installed: {error}") from error

A, B = np.ones(3), np.arange(3)
SINGLE, HALF, BYTES = np.ones(3, np.float32), np.ones(2, np.float16), np.array([1, 2], np.uint8)
DOUBLE, INTEGER = np.float64(2.5), np.int64(3)
NUMBERS = [0.25, 0.75, -0.5, 1e300, math.inf, 0.0, -0.0, 2.0]


def in_place(x):
    a = A.copy()
    a += x
    a *= x
    return a


def assigned(x):
    a = A.copy()
    a[1:] = x
    return a


def assigned_to_integers(x):
    b = B.copy()
    b[b > 0] = x
    return b


def chosen(x):
    a = A.copy()
    a[a > x] = x
    return a


def in_errstate(x):
    with np.errstate(all="raise"):
        return np.sqrt(x)


# With one graph for all numbers but the first.
COMPUTED = [
    lambda x: (A * x, x + A, A - x, A / 4.0 * x, -x + B),
    lambda x: (np.sqrt(abs(x)), np.exp(-abs(x)), np.arctan2(x, A)),
    lambda x: (np.clip(A, 0, x), np.clip(A, a_min=x, a_max=2.0), A.clip(x, 2.0)),
    lambda x: (np.where(A > x, x, -x), np.maximum([x, 1.0], [0.5, x])),
    lambda x: (SINGLE + x).dtype,
    lambda x: (HALF < x, x <= BYTES, B == x, DOUBLE > x),
    lambda x: (BYTES + x, x - INTEGER, DOUBLE * x, np.float64(x) * 2),
    lambda x: 1 / (1 + np.exp(-A * (x + 3.0) / (abs(x) + 1.0))),
    lambda x: (np.full((2, 3), x), np.full_like(B, 1.5), np.asarray([x]), np.array([[x, 1.0], [2, x]]), np.array([x, True, 3])),
    lambda x: np.full_like(A, fill_value=x),
    lambda x: np.dot(A, x),
]
# What the numbers decide, raises, warns or is nothing that is recorded.
OTHERS = [
    lambda x: A / x,
    lambda x: (np.log(x), np.sqrt(x)),
    lambda x: A % x,
    lambda x: (A * 2) ** x,
    lambda x: abs(x) ** B,
    lambda x: np.array([x], dtype=np.int32),
    lambda x: np.asarray(x, dtype=np.float32),
    lambda x: np.float32(x),
    lambda x: int(np.floor(x * 10)),
    lambda x: "more" if np.tanh(x) > 0.5 else "less",
    lambda x: np.arange(0, x, 0.25) if abs(x) < 2 else None,
    lambda x: np.linspace(0, 1, x),
    lambda x: np.full(x, 1.0),
    lambda x: B << x,
    lambda x: A @ x,
    lambda x: A[x],
    lambda x: np.quantile(A, x),
    lambda x: np.round(x, 1),
    in_place,
    assigned,
    assigned_to_integers,
    chosen,
    in_errstate,
]


def outcome(function, number):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            given = repr(function(number))
        except Exception as error:
            given = type(error), str(error)
    return given, [(str(one.message), one.category, one.lineno, one.filename) for one in heard]


class FloatsThatChange(unittest.TestCase):
    def agree(self, functions):
        for index, function in enumerate(functions):
            with self.subTest(row=index):
                slotrt.reset()
                compiled = slotrt.compile(function)
                for number in [*NUMBERS, math.nan, *NUMBERS]:
                    self.assertEqual(outcome(compiled, number), outcome(function, number), number)
                yield slotrt.stats()

    def test_what_is_computed_with_them_is_one_graph(self):
        for stats in self.agree(COMPUTED):
            # One for the first number, one for all, and one for what is no number.
            self.assertLessEqual(stats["graphs"], 3)
            self.assertEqual(stats["graph_breaks"], 0)

    def test_what_they_decide(self):
        for _ in self.agree(OTHERS):
            pass


if __name__ == "__main__":
    unittest.main()
