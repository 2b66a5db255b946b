"""A trace can end at any instruction, of a frame and of a continuation: the result is the same wherever it ends."""
import itertools
import unittest

import slotrt
from slotrt._slotrt import Session

STEPS = range(12)


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        return kind is ValueError


def plain(a, b=2, *rest, key=3, **more):
    return [a, b, rest, key, more, a + b]


def cells(a):
    def inner(by):
        nonlocal a
        a += by
        return a

    return inner(1), inner(2), a


def loops(n):
    out = []
    for i in range(n):
        for j in (i, i + 1):
            if j % 2:
                continue
            out.append((i, j))
    while n:
        n -= 1
    return out, n


def handlers(values):
    out = []
    for value in values:
        try:
            try:
                out.append(10 // value)
            except ZeroDivisionError as error:
                raise KeyError(value) from error
            finally:
                out.append("finally")
        except (KeyError, TypeError) as error:
            out.append((type(error), error.args, type(error.__cause__)))
    return out


def managers(value):
    with Manager() as one, Manager():
        if value:
            raise ValueError(value)
        return one is not None
    return "swallowed"


def unbound(flag):
    if flag:
        value = 1
    try:
        return value
    except UnboundLocalError as error:
        return str(error)


def generators(n):
    def numbers():
        for i in range(n):
            got = yield i
            if got:
                yield got

    numbers = numbers()
    return [next(numbers), numbers.send(7), *numbers], [x * y for x in range(n) for y in (1, 2)]


def classes(base):
    class Made(base):
        def method(self):
            return super().__repr__() and __class__.__name__

    return Made().method(), {**{"a": 1}, "b": [*range(2)]}, f"{base.__name__!r:>10}"


CASES = [
    (plain, (1,)),
    (plain, (1, 2, 3)),
    (cells, (1,)),
    (loops, (3,)),
    (handlers, ([1, 0, "x"],)),
    (managers, (0,)),
    (managers, (1,)),
    (unbound, (True,)),
    (unbound, (False,)),
    (generators, (3,)),
    (classes, (object,)),
]


def one_after_another(n):
    """None of these objects can leave a trace, and each ends before the next one is made."""
    kept = []
    for i in range(n):
        made = itertools.tee([i])[0]
        kept.append(next(made))
    slotrt.graph_break()
    return kept, next(made, "end")


class CannotLeave(unittest.TestCase):
    def repeated(self, n):
        slotrt.reset()
        self.assertEqual(slotrt.compile(one_after_another)(n), one_after_another(n))
        return slotrt.stats()["repeated"]

    def test_a_trace_is_made_again_a_bounded_number_of_times(self):
        """Four times as many such objects cost four times as much, not sixteen times."""
        self.assertLess(self.repeated(160), 8 * self.repeated(40))

    def test_the_first_break_is_the_one_that_is_reported(self):
        with self.assertRaisesRegex(slotrt.GraphBreak, "the program asks for a graph break") as caught:
            slotrt.compile(one_after_another, fullgraph=True)(50)
        self.assertEqual(caught.exception.line, one_after_another.__code__.co_firstlineno + 6)


class Stops(unittest.TestCase):
    def test_the_same_wherever_a_trace_ends(self):
        for function, arguments in CASES:
            expected = function(*arguments)
            for step in STEPS:
                with self.subTest(function=function.__name__, step=step):
                    compiled = Session(stop_at=step).compile(function, None, False)
                    self.assertEqual(compiled(*arguments), expected)
                    self.assertEqual(compiled(*arguments), expected)

    def test_a_trace_does_end_there(self):
        session = Session(record=True, stop_at=5)
        self.assertEqual(session.compile(loops, None, False)(3), loops(3))
        reasons = {frame["break"]["kind"] for frame in session.frames() if frame.get("break")}
        self.assertIn("asked to stop", reasons)
        self.assertGreater(session.stats()["graph_breaks"], 10)


if __name__ == "__main__":
    unittest.main()
