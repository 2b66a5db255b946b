"""numpy: what a trace records into the graph and where it breaks. Results, warnings and exceptions are those of plain execution."""

import math
import operator
import unittest
import warnings

import slotrt

try:
    import numpy as np
except ImportError as error:
    raise unittest.SkipTest(f"numpy is not installed: {error}") from error

BINARY = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift lt le eq ne gt ge".split()
DTYPES = ["bool", "int8", "uint8", "int64", "float32", "float64", "complex128"]


def outcome(function, *args):
    """Dtype, shape and contents of a result, or the exception; and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = shape_of(function(*args))
        except Exception as error:
            result = type(error), str(error)
    return result, sorted((w.category.__name__, str(w.message)) for w in caught)


def shape_of(value):
    """A comparable form of a result."""
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, (tuple, list)):
        return type(value), [shape_of(item) for item in value]
    if isinstance(value, dict):
        return {key: shape_of(item) for key, item in value.items()}
    return type(value), value


class Numpy(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def agree(self, function, *calls):
        """Compiled equals plain on each call's fresh arguments, and the arguments end up the same."""
        compiled = slotrt.compile(function)
        for make in calls:
            mine, theirs = make(), make()
            self.assertEqual(outcome(compiled, *mine), outcome(function, *theirs))
            self.assertEqual(shape_of(list(mine)), shape_of(list(theirs)))

    def recorded(self, function, *args, ops=None):
        """The whole function is one graph."""
        report = slotrt.explain(function)(*args)
        self.assertEqual((report.graphs, report.breaks), (1, 0), report)
        if ops is not None:
            self.assertEqual(report.ops, ops, report)

    def test_binary_operators_of_all_kinds(self):
        others = [2, -1, 2.5, True, 1j, np.float32(3), np.int8(2), np.arange(3, dtype="int64"), np.ones((2, 3)), "x", None]
        for name in BINARY:
            op = getattr(operator, name)
            function = {}
            exec(f"def f(a, b): return op(a, b)\ndef g(a, b): return op(b, a)", {"op": op}, function)
            for dtype in DTYPES:
                for other in others:
                    array = np.array([1, 0, 3]).astype(dtype)
                    with self.subTest(op=name, dtype=dtype, other=other):
                        self.agree(function["f"], lambda: (array, other), lambda: (array + array, other))
                        self.agree(function["g"], lambda: (array, other))

    def test_operators_and_shapes_are_one_graph(self):
        def f(a, b):
            c = (a + b) * 2 - a.T.reshape(a.shape)
            d = np.sum(c, axis=0) / len(a)
            return np.where(d > 0, d, -d)[1:], c.shape, c.dtype, c.ndim

        a = np.arange(9.0).reshape(3, 3)
        self.agree(f, lambda: (a, a + 1), lambda: (a * 2, a))
        self.recorded(f, a, a)

    def test_each_kind_of_array_is_compiled_for_itself(self):
        def f(a):
            return a * 2, a.shape, a.dtype.str, a.nbytes, a.itemsize

        arrays = [np.arange(3), np.arange(3.0), np.arange(4), np.ones((2, 2)), np.asfortranarray(np.ones((2, 3))), np.arange(3)]
        self.agree(f, *[lambda array=array: (array,) for array in arrays])

    def test_strides_are_read_each_time(self):
        def f(a):
            return a.strides, a + 1

        base = np.arange(24.0)
        self.agree(f, lambda: (base[0:6:2],), lambda: (base[0:9:3],), lambda: (base[:3],))

    def test_in_place_changes_and_views(self):
        def add(a):
            b = a[1:]
            c = b + 1
            a += 10
            return b, c, b * 2

        def store(a):
            before = a * 2
            view = a.reshape(2, 2)
            view[0] = 7
            return before, a + 1, view

        def into(a):
            b = a + 1
            np.multiply(a, 3, out=a)
            np.add.at(a, [0, 0], 1)
            a.sort()
            return b, a

        def imatmul(a):
            m = a.reshape(2, 2)
            m @= m
            m **= 2
            return a

        for function in (add, store, into, imatmul):
            with self.subTest(function.__name__):
                self.agree(function, lambda: (np.arange(4.0),), lambda: (np.arange(4.0) + 1,))

    def test_aliased_arguments(self):
        def f(a, b):
            c = a + b
            a[0] = 100
            return c, b * 1

        def both():
            array = np.arange(3.0)
            return array, array

        def overlap():
            array = np.arange(4.0)
            return array[:3], array[1:]

        self.agree(f, both, overlap, lambda: (np.arange(3.0), np.arange(3.0)))

    def test_results_are_views_of_the_arguments(self):
        compiled = slotrt.compile(lambda a: (a.T, a[1:], a.ravel(), a.copy()))
        for _ in range(2):
            a = np.arange(6.0).reshape(2, 3)
            shared = [np.shares_memory(a, result) for result in compiled(a)]
            self.assertEqual(shared, [True, True, True, False])

    def test_an_operation_that_gives_its_operand(self):
        def f(a):
            return a.real is a, np.atleast_1d(a) is a, a.T is a

        self.agree(f, lambda: (np.arange(3.0),), lambda: (np.arange(3),))

    def test_contents_are_never_baked_in(self):
        functions = [
            lambda a: 1 if a.sum() > 3 else 2,
            lambda a: int(a[0]) + 1,
            lambda a: float(a.mean()),
            lambda a: [x * 2 for x in a],
            lambda a: a.tolist(),
            lambda a: a.item(0),
            lambda a: str(a),
            lambda a: f"{a[1]:.2f}",
            lambda a: np.nonzero(a)[0],
            lambda a: a[a > 1],
            lambda a: 2 in a,
            lambda a: math.sqrt(a[1]),
            lambda a: list(range(10))[int(a[1])],
            lambda a: {a[0].item(): 1},
            lambda a: {a[0]: 1},
            lambda a: sum(a),
            lambda a: max(a[0], a[1]),
            lambda a: sorted([a[1], a[0]]),
            lambda a: isinstance(a[0], float),
            lambda a: np.where(a > 1),
            lambda a: np.unique(a),
            lambda a: repr(a[0]),
        ]
        for number, function in enumerate(functions):
            with self.subTest(number=number):
                self.agree(function, lambda: (np.array([1.0, 2.0]),), lambda: (np.array([5.0, 1.0]),), lambda: (np.array([0.0, 0.0]),))

    def test_scalars_are_values(self):
        functions = [
            lambda x, y: x + y,
            lambda x, y: math.sqrt(x),
            lambda x, y: round(x),
            lambda x, y: "big" if x > y else "small",
            lambda x, y: [10, 20, 30][int(x) % 3],
            lambda x, y: abs(-x) ** 2,
            lambda x, y: hash(x),
            lambda x, y: x == y,
            lambda x, y: 1.5 + x,
            lambda x, y: (x, y) == (y, x),
            lambda x, y: max(x, y),
            lambda x, y: "%s %.3f" % (x, y),
            lambda x, y: float.__add__(x, 1.0),
            lambda x, y: x.is_integer(),
            lambda x, y: math.floor(x),
        ]
        for number, function in enumerate(functions):
            with self.subTest(number=number):
                self.agree(function, lambda: (np.float64(4), np.float64(2)), lambda: (np.float64(2.5), np.float64(9)))

    def test_warnings_come_as_in_plain_execution(self):
        functions = [
            lambda a: a / 0,
            lambda a: (a / 0, 1)[1],
            lambda a: np.log(a - 5),
            lambda a: np.mean(a[:0]),
            lambda a: np.var(a[:1], ddof=1),
            lambda a: (a * 1j).astype(float),
            lambda a: np.median(a[:0]),
            lambda a: a.astype("int8") * np.int8(100),
        ]
        for number, function in enumerate(functions):
            with self.subTest(number=number):
                self.agree(function, lambda: (np.arange(3.0),), lambda: (np.arange(3.0) + 1,))

    def test_what_c_raises_on_the_way_is_in_the_context_of_what_is_handled(self):
        def told(error):
            cause, context = error.__cause__, error.__context__
            return repr(cause), repr(context), cause.__context__ is context, error.__suppress_context__

        def within(a):
            try:
                try:
                    raise KeyError(1)
                except KeyError:
                    np.exp(type(a))
            except TypeError as error:
                return told(error)

        def after_a_break(a):
            try:
                raise KeyError(1)
            except KeyError as error:
                slotrt.graph_break()
                try:
                    np.exp(type(a))
                except TypeError as other:
                    return told(other), repr(error.__context__)

        def within_a_handler(function):
            try:
                raise OSError(2)
            except OSError as error:
                return function(np.ones(2)), repr(error.__context__)

        for function in (within, after_a_break):
            compiled = slotrt.compile(function)
            for _ in range(2):
                self.assertEqual(compiled(np.ones(2)), function(np.ones(2)))
                self.assertEqual(within_a_handler(compiled), within_a_handler(function))
            self.assertEqual(within(np.ones(2))[2:], (True, True))

    def test_floating_point_errors_are_caught_where_they_happen(self):
        def f(a):
            try:
                return a / 0
            except FloatingPointError as error:
                return str(error)

        def inside(a):
            with np.errstate(all="raise"):
                try:
                    b = a / 0
                except FloatingPointError as error:
                    b = str(error)
            with np.errstate(all="ignore"):
                return b, a / 0

        compiled = slotrt.compile(f)
        array = np.arange(3.0)
        for state in ("warn", "raise", "ignore", "raise"):
            with np.errstate(all=state):
                self.assertEqual(outcome(compiled, array), outcome(f, array), state)
        self.agree(inside, lambda: (array,), lambda: (array,))

    def test_integers_to_negative_powers(self):
        def f(a, b):
            try:
                return a**b, np.power(a, b)
            except ValueError as error:
                return str(error)

        a = np.arange(1, 4)
        self.agree(f, lambda: (a, a), lambda: (a, -a), lambda: (a, a))

    def test_exceptions_from_metadata(self):
        functions = [
            lambda a: a + np.ones(7),
            lambda a: a[10],
            lambda a: a.reshape(5, 5),
            lambda a: a @ "x",
            lambda a: a.nothing,
            lambda a: np.sum(a, axis=4),
            lambda a: len(np.float64(1)),
            lambda a: hash(a),
            lambda a: a(),
            lambda a: np.add(a),
        ]
        for number, function in enumerate(functions):
            with self.subTest(number=number):
                self.agree(function, lambda: (np.arange(3.0),), lambda: (np.arange(3.0),))

    def test_a_class_with_its_own_operators_decides(self):
        class Refuses:
            __array_ufunc__ = None

            def __radd__(self, other):
                return "Refuses.__radd__"

        class Ufunc:
            def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
                return ufunc.__name__

        class Sub(np.ndarray):
            def __add__(self, other):
                return "Sub.__add__"

            __radd__ = __add__

        others = [Refuses(), Ufunc(), np.arange(3.0).view(Sub), np.ma.array([1, 2, 3]), [1, 2, 3], (1, 2, 3), range(3)]
        for other in others:
            with self.subTest(other=type(other)):
                self.agree(lambda a, b: a + b, lambda: (np.arange(3.0), other), lambda: (np.arange(3.0), other))
                self.agree(lambda a, b: b + a, lambda: (np.arange(3.0), other))

    def test_arrays_of_objects(self):
        class Noisy:
            seen = []

            def __add__(self, other):
                Noisy.seen.append(other)
                return len(Noisy.seen)

        def f(a):
            return a + 1

        array = np.array([Noisy(), Noisy()], dtype=object)
        slotrt.compile(f)(array)
        self.assertEqual(Noisy.seen, [1, 1])

    def test_norms(self):
        """They raise where they would, and give what they would."""
        functions = (
            lambda x: np.linalg.norm(x * 2) + 1,
            lambda x: np.linalg.norm(x, axis=1, keepdims=True) * x,
            lambda x: np.linalg.norm(x, ord="nuc"),
            lambda x: np.linalg.norm(x, 7, axis=5),
            lambda x: np.linalg.norm(x * np.nan, 2),
            lambda x: np.linalg.norm(x[:, :0], -2),
        )
        for function in functions:
            self.agree(function, lambda: (np.arange(6.0).reshape(2, 3),), lambda: (np.ones((2, 3)) * 1e300,))
        self.recorded(functions[0], np.arange(6.0), ops=3)

    def test_percentiles_and_rearrangements(self):
        kinds = [[[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]], [[np.nan, 1.0, 2.0], [np.inf, 3.0, 4.0]], [[-np.inf, np.inf, 0.0], [0.0, 0.0, 0.0]]]
        for function in (
            lambda a: np.percentile(a, 90) + 1,
            lambda a: np.percentile(a, [10, 50.0], axis=0),
            lambda a: (np.quantile(a, 0.3), np.quantile(a, 0.3, method="nearest"), np.percentile(a, 50, keepdims=True)),
            lambda a: (np.average(a), np.average(a, axis=1), np.average(a, axis=0, weights=[1.0, 2.0])),
            lambda a: (np.fliplr(a), np.flipud(a), np.rot90(a), np.repeat(a, 2), np.repeat(a, [1, 2], axis=0)),
            lambda a: (np.pad(a, 1), np.pad(a, ((1, 0), (0, 2)), mode="edge")),
        ):
            self.agree(function, *[lambda kind=kind: (np.array(kind),) for kind in kinds])
            self.recorded(function, np.array(kinds[0]))
        self.agree(lambda a: np.percentile(a, 101), lambda: (np.ones(3),))
        self.agree(lambda a: (np.percentile(a, 5), np.average(a)), lambda: (np.ones(0),))

    def test_functions_that_use_their_operand_for_their_work(self):
        for function in (
            lambda a: (a + 1, np.median(a, overwrite_input=True), a * 1),
            lambda a: (a + 1, np.median(a, None, None, True), a * 1),
            lambda a: (a + 1, np.percentile(a, 50, overwrite_input=True), a * 1),
            lambda a: (a + 1, np.quantile(a, 0.5, 0, None, True), a * 1),
        ):
            self.agree(function, *[lambda: (np.array([[3.0, 1.0, 2.0, 0.0], [9.0, 7.0, 8.0, 5.0]]),)] * 2)

    def test_an_array_of_an_array(self):
        def f(x):
            made = x * 2
            return np.asarray(x) is x, np.asarray(made) is made, np.asarray(made) + 1

        self.agree(f, lambda: (np.arange(3.0),), lambda: (np.float64(2.0),), lambda: (np.arange(4),))
        self.recorded(f, np.arange(3.0))

    def test_constructors(self):
        def f(a):
            return np.zeros(3) + a, np.full((3,), 2, dtype="int8"), np.arange(3) * a, np.eye(3) @ a, np.zeros_like(a)

        def fresh(a):
            b = np.zeros(3)
            b += a
            return b

        self.agree(f, lambda: (np.arange(3.0),), lambda: (np.arange(3.0) + 1,))
        self.agree(fresh, lambda: (np.arange(3.0),), lambda: (np.arange(3.0) + 1,), lambda: (np.arange(3.0) + 1,))
        self.recorded(fresh, np.arange(3.0), ops=2)

    def test_scalars_of_text_have_the_slots_of_numpy_and_of_text(self):
        for name in BINARY:
            operation = getattr(operator, name)

            def f(a, b):
                try:
                    return operation(a[0], b)
                except Exception as error:
                    return type(error).__name__, str(error)

            def g(a, b):
                try:
                    return operation(b, a[0])
                except Exception as error:
                    return type(error).__name__, str(error)

            for array in (np.array(["a", "bc"]), np.array([b"a", b"bc"])):
                others = np.array([1.0, 2.0]), array, array[1], 2, np.int64(2), "x", b"x", None
                self.agree(f, *((lambda other=other: (array, other)) for other in others))
                self.agree(g, *((lambda other=other: (array, other)) for other in others))

    def test_read_only_arrays(self):
        def f(a):
            a[0] = 1
            return a

        fixed = np.arange(3.0)
        fixed.flags.writeable = False
        self.agree(f, lambda: (np.arange(3.0),), lambda: (fixed,))


if __name__ == "__main__":
    unittest.main()
