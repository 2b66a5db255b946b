"""The tracer against plain execution: same results, exceptions, messages and side effects, without a graph break where none is due."""

import copy
import unittest

import slotrt


def outcome(function, args):
    try:
        return "value", repr(function(*args)), repr(args)
    except Exception as error:  # noqa: BLE001
        return "raises", type(error).__name__, str(error), repr(args)


class Number:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Number(self.value + other.value) if isinstance(other, Number) else NotImplemented

    def __radd__(self, other):
        return ("radd", other)

    def __iadd__(self, other):
        self.value += other
        return self

    def __lt__(self, other):
        return self.value < other.value

    def __getitem__(self, index):
        return self.value + index

    def __len__(self):
        return 3

    def __repr__(self):
        return f"Number({self.value})"

    @property
    def double(self):
        return self.value * 2

    @classmethod
    def make(cls, value):
        return cls(value)


class Swallow:
    def __enter__(self):
        return 5

    def __exit__(self, kind, error, traceback):
        return kind is ValueError


def count(n):
    for i in range(n):
        yield i


def arithmetic(a, b):
    return a + b, a * 2, -a, a < b, a == b, f"{a!r:>5}{b}"


def containers(xs):
    xs.append(3)
    squares = [x * x for x in xs]
    squares.sort(reverse=True)
    first, *rest = squares
    return squares, first, rest, {"xs": xs, **{"z": 1}}, xs[0], xs[1:], {1, 2} | {3}, sorted(xs, key=lambda x: -x)


def no_vars(v):
    a = Number(v)
    a.extra = [v]
    a += 1
    return a.double, Number.make(9).value, a[4], len(a), a + Number(1), 5 + a, sorted([Number(3), Number(1)]), a.extra


def missing(d):
    try:
        return d["x"]
    except KeyError as error:
        text = str(error)
    finally:
        d["f"] = 1
    return text, d


def generators(n):
    return list(count(n)), sum(count(n)), [x for x in count(3)], dict(zip("ab", count(2)))


def closures(n):
    def inc():
        nonlocal n
        n += 1
        return n

    inc()
    return inc(), n


def managers():
    with Swallow() as value:
        raise ValueError("x")
    return value


def patterns(x):
    match x:
        case {"a": v}:
            return v
        case [a, b, *c]:
            return a, b, c
        case Number(value=v):
            return v
        case int():
            return "int"
        case _:
            return None


def keywords(x):
    def inner(*args, **kwargs):
        return args, kwargs

    return inner(x, *[1, 2], q=3, **{"z": x})


def stars_before_keywords(x):
    def inner(*args, **kwargs):
        return args, kwargs

    return inner(*x, **{1: x})


def unbound():
    if False:
        x = 1
    return x


def bad_operands(a):
    return a + Number(1), Number(1) - a


def bad_call():
    return arithmetic(1)


CASES = [
    (arithmetic, (1, 2)),
    (arithmetic, (1.5, 2)),
    (arithmetic, ("a", "b")),
    (containers, ([1, 2],)),
    (no_vars, (4,)),
    (missing, ({},)),
    (missing, ({"x": 1},)),
    (generators, (4,)),
    (closures, (4,)),
    (managers, ()),
    (patterns, ({"a": 1},)),
    (patterns, ([1, 2, 3],)),
    (patterns, (Number(7),)),
    (patterns, (3,)),
    (patterns, (None,)),
    (keywords, (1,)),
    (stars_before_keywords, ((1, 2),)),
    (unbound, ()),
    (bad_operands, (1,)),
    (bad_call, ()),
]


def given_back(number, text):
    same_number, stripped, largest, joined = +number, text.strip(), max(number, -1e9), text + ""
    listed, named = [number, text], {"key": number}["key"]
    slotrt.graph_break()
    same = stripped is text, joined is text, listed[1] is text
    return same, same_number is number, largest is number, listed[0] is number, named is number


class Traced(unittest.TestCase):
    def test_positional_arguments_fail_before_keywords(self):
        slotrt.reset()
        self.assertEqual(outcome(stars_before_keywords, (slice(1),)), outcome(slotrt.compile(stars_before_keywords), (slice(1),)))

    def test_what_c_gives_back_is_the_same_object(self):
        slotrt.reset()
        compiled = slotrt.compile(given_back)
        for _ in range(3):
            args = float("-0.0"), "a text" + str(len("xyz"))
            self.assertEqual(given_back(*args), compiled(*args))
        self.assertEqual(slotrt.stats()["recompiles"], 0)

    def test_same_as_plain(self):
        for function, args in CASES:
            with self.subTest(function=function.__name__, args=args):
                slotrt.reset()
                plain = outcome(function, copy.deepcopy(args))
                compiled = slotrt.compile(function, fullgraph=True)
                self.assertEqual(plain, outcome(compiled, copy.deepcopy(args)), "traced")
                self.assertEqual(plain, outcome(compiled, copy.deepcopy(args)), "from the cache")
                stats = slotrt.stats()
                self.assertEqual(stats.get("frames_skipped", 0), 0)
                self.assertEqual(stats.get("graph_breaks", 0), 0)

    def test_recompiles_when_a_relied_on_thing_changes(self):
        compiled = slotrt.compile(lambda v: Number(v).double)
        self.assertEqual(compiled(2), 4)
        self.assertEqual(compiled(3), 6)
        original = Number.double
        try:
            Number.double = property(lambda self: "changed")
            self.assertEqual(compiled(2), "changed")
        finally:
            Number.double = original
        self.assertEqual(compiled(2), 4)

    def test_operators_go_through_generated_functions(self):
        report = slotrt.explain(lambda: (Number(1) + Number(2)).value)()
        text = str(report)
        for name in ("PyNumber_Add", "slot_nb_add", "Number.__add__"):
            self.assertIn(name, text)

    def test_print_breaks_and_goes_on(self):
        def program(x):
            y = x + 1
            slotrt.graph_break()
            return y * 2

        slotrt.reset()
        self.assertEqual(slotrt.compile(program)(3), 8)
        self.assertEqual(slotrt.stats()["graph_breaks"], 1)
        with self.assertRaises(slotrt.GraphBreak) as caught:
            slotrt.compile(program, fullgraph=True)(3)
        self.assertEqual(caught.exception.type, "explicit")


if __name__ == "__main__":
    unittest.main()
