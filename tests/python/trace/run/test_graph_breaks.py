"""A graph break in each construct of Python: every array operation before and after it is in a graph."""
import contextlib
import sys
import unittest
from unittest import mock

import slotrt

try:
    import numpy
except ImportError:
    raise unittest.SkipTest("numpy is not installed")

X = numpy.arange(4.0)


@contextlib.contextmanager
def managed():
    yield 1


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


def stop():
    slotrt.graph_break()


def for_range(x):
    for i in range(3):
        x = x + i
        stop()
        x = x * 2
    return x


def for_list(x):
    for i in [1, 2]:
        x = x + i
        stop()
        x = x * 2
    return x


def while_loop(x):
    n = 2
    while n:
        x = x + n
        stop()
        x = x * 2
        n -= 1
    return x


def with_contextmanager(x):
    with managed() as one:
        x = x + one
        stop()
        x = x * 2
    return x - 1


def with_user_class(x):
    with Manager():
        x = x + 1
        stop()
        x = x * 2
    return x - 1


def try_body(x):
    try:
        x = x + 1
        stop()
        x = x * 2
    except ValueError:
        x = x - 1
    return x


def try_body_that_raises(x):
    try:
        x = x + 1
        stop()
        x = x * 2
        raise ValueError
    except ValueError:
        x = x - 1
    return x


def except_body(x):
    try:
        raise ValueError
    except ValueError:
        x = x + 1
        stop()
        x = x * 2
    return x


def generator_expression(x):
    def broken(y, i):
        y = y + i
        stop()
        return y * 2

    first, second = (broken(x, i) for i in range(2))
    return first + second


def generator_frame(x):
    first, second = ((x + i, stop(), x * 2)[2] for i in range(2))
    return first + second


def except_star(x):
    try:
        raise ExceptionGroup("g", [ValueError()])
    except* ValueError:
        x = x + 1
        stop()
        x = x * 2
    return x


def nested_with(x):
    with Manager(), Manager():
        x = x + 1
        stop()
        x = x * 2
    return x


def finally_body(x):
    try:
        x = x + 1
    finally:
        x = x * 3
        stop()
        x = x * 2
    return x


def three_deep(x):
    def inner(y):
        y = y + 1
        stop()
        return y * 2

    def middle(y):
        return inner(y - 1) - 2

    y = x * 5
    return middle(y) + 3


def lambda_(x):
    f = lambda y: (y + 1, stop(), y * 2)[2]
    return f(x + 1) - 1


def comprehension(x):
    y = x + 1
    stop()
    return [y * i for i in range(2)]


def comprehension_body(x):
    return [(x + i, stop(), x * 2 + i)[2] for i in range(2)]


def nested_comprehension(x):
    return {j: [(x + i * j, stop(), x * 2 - j)[2] for i in range(2)] for j in (1, 2)}


def property_(x):
    class A:
        @property
        def p(self):
            stop()
            return 2

    x = x + 1
    return x * A().p


def super_(x):
    class A:
        def m(self, y):
            stop()
            return y * 2

    class B(A):
        def m(self, y):
            return super().m(y + 1) - 1

    return B().m(x)


def nonlocal_(x):
    count = 0

    def add():
        nonlocal count
        count += 1

    x = x + 1
    add()
    stop()
    add()
    return x * count


def star_calls(x):
    def f(a, *b, c=1, **d):
        stop()
        return a * c + b[0] + d["e"]

    y = x + 1
    return f(y, *[2], c=3, **{"e": 4}) - 1


def match_(x):
    x = x + 1
    match [1, 2]:
        case [1, y]:
            stop()
            x = x * y
    return x


def class_body(x):
    x = x + 1

    class A:
        v = 2
        stop()

    return x * A.v


def walrus(x):
    if (y := x + 1) is not None:
        stop()
    return y * 2


def chained(x):
    x = x + 1
    n = 2
    if 1 < (stop() or n) < 3:
        x = x * 2
    return x


def assert_(x):
    x = x + 1
    assert stop() is None, "broken"
    return x * 2


def f_string(x):
    x = x + 1
    text = f"{stop()}!"
    return x * len(text)


def augmented(x):
    class A:
        pass

    a = A()
    a.v, items = 1, [1, 2]
    x = x + 1
    a.v += stop() or 2
    items[0] += stop() or 3
    return x * a.v + items[0]


def del_(x):
    y = x + 1
    stop()
    z = y * 2
    del y
    return z


def inlined_generator(x):
    def generate():
        yield 1
        yield 2

    x = x + 1
    for i in generate():
        stop()
        x = x * i
    return x


def yield_in_inlined_generator(x):
    def generate(y):
        for i in range(2):
            y = y + i
            stop()
            yield y * 2
            y = y - 1

    total = x + 3
    for y in generate(x):
        total = total + y
    return total * 5


def recursion(x, n=2):
    if n == 0:
        stop()
        return x * 2
    return recursion(x + 1, n - 1) - 1


def decorated(x):
    def decorate(f):
        def wrapper(*args):
            return f(*args) - 1

        return wrapper

    @decorate
    def f(y):
        stop()
        return y * 2

    return f(x + 1)


class Holder:
    def method(self, x):
        x = x + 1
        stop()
        return x * 2

    @staticmethod
    def static(x):
        x = x + 1
        stop()
        return x * 2

    @classmethod
    def klass(cls, x):
        x = x + 1
        stop()
        return x * 2


def method(x):
    return Holder().method(x) - 1


def static_method(x):
    return Holder.static(x) - 1


def class_method(x):
    return Holder.klass(x) - 1


FUNCTIONS = [
    for_range, for_list, while_loop, with_contextmanager, with_user_class, try_body, try_body_that_raises, except_body,
    generator_expression, except_star, nested_with, finally_body, three_deep, lambda_, comprehension, comprehension_body,
    nested_comprehension, property_, super_,
    nonlocal_, star_calls, match_, class_body, walrus, chained, assert_, f_string, augmented, del_, inlined_generator,
    yield_in_inlined_generator, recursion, decorated, method, static_method, class_method,
]


class Watched(numpy.ndarray):
    """An array that records the line of each operation on it."""

    log = []

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        self.log.append(sys._getframe(1).f_lineno)
        plain = [value.view(numpy.ndarray) if isinstance(value, Watched) else value for value in inputs]
        return getattr(ufunc, method)(*plain, **options).view(Watched)


def operations(function):
    """Lines of the array operations that the function does uncompiled, in groups between its breaks."""
    Watched.log = log = []
    with mock.patch.dict(globals(), stop=lambda: log.append("break")):
        function(X.view(Watched))
    groups = [[]]
    for event in log:
        if event == "break":
            groups.append([])
        else:
            groups[-1].append(event)
    return groups


class Breaks(unittest.TestCase):
    """One test a construct: the result is the same, and all operations before, between and after the breaks are in graphs."""

    def check(self, function):
        groups = operations(function)
        self.assertGreater(len(groups), 1, "no break")
        self.assertTrue(groups[0] and groups[-1], f"no operation on one side of the break: {groups}")
        expected = repr(function(X))
        slotrt.reset()
        compiled = slotrt.compile(function)
        for _ in range(2):
            self.assertEqual(repr(compiled(X)), expected)
        slotrt.reset()
        report = slotrt.explain(function)(X)
        self.assertEqual(repr(report.result), expected)
        self.assertGreaterEqual(report.breaks, 1, report.reasons)
        nodes = [node for frame in report.frames for node in frame["graph"] or () if node["op"].startswith("call")]
        missing = {line for group in groups for line in group} - {node["line"] for node in nodes}
        self.assertEqual(missing, set(), f"lines whose operations are in no graph; {report}")
        distinct = {tuple(group) for group in groups if group}
        self.assertGreaterEqual(report.graphs, len(distinct), report.reasons)
        self.assertGreaterEqual(report.graphs, 2, report.reasons)

    def test_operations_of_a_generators_own_frame(self):
        """A generator stays where it is made; its body runs in continuations of its own."""
        self.check(generator_frame)

    def test_every_construct_is_here(self):
        self.assertEqual(len(FUNCTIONS), 36)


def add(function):
    def test(self):
        self.check(function)

    setattr(Breaks, "test_" + function.__name__.strip("_"), test)


for function in FUNCTIONS:
    add(function)

if __name__ == "__main__":
    unittest.main()
