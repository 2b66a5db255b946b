"""Numbers of Python that contents of numpy's arrays decide: the graph gives them, whatever they are."""

import json
import math
import unittest

import slotrt

try:
    import numpy as np
except ImportError as error:
    raise unittest.SkipTest(f"numpy is not installed: {error}") from error

KINDS = "bool int8 uint8 int64 uint64 float16 float32 float64 longdouble complex64".split()
CONTENTS = [[[1, 0, 3], [4, 5, 6]], [[0, 0, 0], [0, 0, 0]], [[7, 2, 1], [0, 9, 1]]]
FLOATS = [[[1.5, 0.0, 3.0], [4.0, -5.0, 6.0]], [[math.nan, 1.0, 2.0], [3.0, 4.0, 0.0]], [[math.inf, 1.0, 1.0], [-math.inf, 0.0, 1.0]]]


def shown(value):
    if isinstance(value, (list, tuple)):
        return type(value), [shown(item) for item in value]
    return type(value), repr(value)


def outcome(function, *args):
    try:
        return shown(function(*args))
    except Exception as error:
        return type(error), str(error)


class Numbers(unittest.TestCase):
    def agree(self, function, arrays, breaks=None):
        slotrt.reset()
        compiled = slotrt.compile(function)
        for array in [*arrays, *arrays]:
            mine, theirs = array.copy(), array.copy()
            self.assertEqual(outcome(compiled, mine), outcome(function, theirs), (function, array))
            self.assertEqual(mine.tobytes(), theirs.tobytes())
        if breaks is not None:
            self.assertLessEqual(slotrt.stats()["graph_breaks"], breaks, function)

    def test_of_all_kinds(self):
        for kind in KINDS:
            arrays = [np.array(contents, dtype=kind) for contents in CONTENTS]
            wide = kind in ("uint64", "longdouble", "complex64")
            for function in (
                lambda a: a.sum().item(),
                lambda a: (a[0, 0].item(), a[:1, :1].item(), a.max().item()),
                lambda a: a.tolist(),
                lambda a: (a[0].tolist(), a[1, 2].tolist(), a[:, 0].tolist()[1]),
                lambda a: (float(a[0, 0]), float(a.max()), float(a.mean())),
                lambda a: (int(a[0, 0]), int(a.argmax())),
                lambda a: (bool(a[0, 0]), bool((a > 1).any())),
                lambda a: float(a),
                lambda a: a.item(),
                lambda a: a.item(2),
            ):
                self.agree(function, arrays, None if wide else 2)

    def test_computed_with(self):
        arrays = [np.array(contents) for contents in FLOATS]

        def sums(a):
            total = 0.0
            for row in range(2):
                total += float(a[row].sum())
            return total / 2, total, a * 2

        def texts(a):
            return f"{float(a.mean()):.3f}", "%.2f" % a.max().item(), [f"{value}" for value in a[0].tolist()]

        for function in (sums, texts):
            self.agree(function, arrays, 0)
        for function in (
            lambda a: int(a.max()),
            lambda a: round(float(a.max()), 1),
            lambda a: 1 if float(a.max()) > 5 else 2,
            lambda a: [1, 2, 3][int((a > 2).sum()) % 3],
            lambda a: max(a.tolist()[0]),
            lambda a: json.dumps(a.tolist()),
            lambda a: math.sqrt(abs(float(a[0, 1]))),
            lambda a: {a[0, 0].item(): 1},
            lambda a: "yes" if a.any() else "no",
            lambda a: [float(value) for value in a[0]],
            lambda a: a * float(a[0, 1]) + a.max().item(),
            lambda a: np.sqrt(a[0, 1].item()),
            lambda a: np.array([a[0, 0].item(), 2.0]),
            lambda a: sorted(a[0].tolist()),
            lambda a: (a[0, 0].item() == a[0, 0].item(), a[0, 1].item() < 3, not a[0, 1].item()),
        ):
            self.agree(function, arrays)

    def test_of_changed_arrays(self):
        def changed(a):
            b = a.copy()
            first = float(b[0, 0])
            b += 1
            second = b[0, 0].item()
            b[0, 0] = 7
            return first, second, b.tolist()

        self.agree(changed, [np.array(contents) for contents in FLOATS], 0)

    def test_errors_that_are_exceptions(self):
        def raised(a):
            with np.errstate(all="raise"):
                return float((a / a).sum())

        self.agree(raised, [np.array(contents) for contents in FLOATS])

    def test_no_contents_make_another_trace(self):
        def f(a):
            return float(a.sum()), a.max().item()

        slotrt.reset()
        compiled = slotrt.compile(f, fullgraph=True)
        for number in range(5):
            a = np.arange(3.0) * number
            self.assertEqual(compiled(a), f(a))
        self.assertEqual(slotrt.stats()["graphs"], 1)


if __name__ == "__main__":
    unittest.main()
