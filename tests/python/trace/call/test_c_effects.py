"""C functions that run while tracing have no side effects and depend on their arguments alone: each call, traced or cached, does what plain Python does."""

import collections
import decimal
import functools
import io
import itertools
import re
import struct
import sys
import types
import unittest
import warnings
from decimal import Decimal

import slotrt

SEEN = []


class Loud:
    """Records which of its methods run."""

    def __init__(self):
        SEEN.append("init")

    def __repr__(self):
        SEEN.append("repr")
        return "loud"

    def __len__(self):
        SEEN.append("len")
        return 1

    def __iter__(self):
        SEEN.append("iter")
        return iter([1])

    def __hash__(self):
        SEEN.append("hash")
        return 1

    def __eq__(self, other):
        SEEN.append("eq")
        return self is other

    def __lt__(self, other):
        SEEN.append("lt")
        return True

    def __index__(self):
        SEEN.append("index")
        return 1

    def keys(self):
        SEEN.append("keys")
        return ["a"]

    def __getitem__(self, key):
        SEEN.append("getitem")
        return 1


def context():
    now = decimal.getcontext()
    now.prec = 5
    return str(Decimal(1) / Decimal(3))


def divided(number):
    return str(Decimal(number) / Decimal(3))


def flagged():
    Decimal(1) / Decimal(3)
    return bool(decimal.getcontext().flags[decimal.Inexact])


def inverted(value):
    return ~value


def undecided():
    return bool(NotImplemented), not NotImplemented


def left_over(iterator):
    made = iterator()
    next(made)
    slotrt.graph_break()
    return next(made)


def substituted():
    return re.sub("a", lambda match: SEEN.append(match.group()) or "x", "aba")


def written(buffer):
    struct.pack_into("i", buffer, 0, 7)
    buffer.append(1)
    return bytes(buffer)


def rotated(items):
    items.append(1)
    items.rotate(1)
    return list(items)


def first(iterator):
    return next(iterator)


def stored(stream):
    stream.write("x")
    return stream.getvalue()


def set_on(space):
    space.x = 2
    return vars(space)


def recursion():
    sys.setrecursionlimit(1500)
    return sys.getrecursionlimit()


def evaluated():
    exec("SEEN.append('exec')", globals())
    return eval("SEEN.append('eval')", globals())


def defaulted():
    made = collections.defaultdict(Loud)
    made[1]
    return len(made)


def sorted_by():
    items = [3, 1]
    items.sort(key=lambda item: SEEN.append(item) or item)
    return items, sorted(items, key=functools.cmp_to_key(lambda a, b: SEEN.append("cmp") or a - b))


def loud():
    found = {Loud(): 1}, [1, 2, 3][Loud() :], {**Loud()}, list(zip(Loud(), Loud())), min(Loud(), Loud()) is None
    return len(found)


def numbers(kind):
    return lambda: getattr(itertools, kind)(*{"count": (3,), "chain": ([1], [2]), "islice": ([1, 2], 2), "repeat": (1, 3)}[kind])


CASES = [
    (context,), (divided, lambda: 1), (flagged,), (inverted, lambda: True), (undecided,), (substituted,), (written, lambda: bytearray(8)),
    (rotated, lambda: collections.deque([5])), (first, lambda: iter([1, 2])), (first, lambda: (x for x in (1, 2))), (stored, io.StringIO),
    (set_on, types.SimpleNamespace), (recursion,), (evaluated,), (defaulted,), (sorted_by,), (loud,),
    *((left_over, lambda kind=kind: numbers(kind)) for kind in ("count", "chain", "islice", "repeat")),
]  # fmt: skip


def watched(function, arguments, precision):
    """The result of a call, and all its side effects."""
    SEEN.clear()
    decimal.setcontext(decimal.Context(prec=precision))
    limit = sys.getrecursionlimit()
    arguments = [make() for make in arguments]
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = repr(function(*arguments))
            except Exception as error:
                result = repr(error)
        now = decimal.getcontext()
        flags = [signal.__name__ for signal, raised in now.flags.items() if raised]
        return result, list(SEEN), [str(warning.message) for warning in caught], now.prec, flags, sys.getrecursionlimit()
    finally:
        sys.setrecursionlimit(limit)


class CEffects(unittest.TestCase):
    def test_each_call(self):
        for function, *arguments in CASES:
            compiled = slotrt.compile(function)
            for precision in (10, 10, 3):
                with self.subTest(function=function.__name__, precision=precision):
                    expected = watched(function, arguments, precision)
                    self.assertEqual(watched(compiled, arguments, precision), expected)


if __name__ == "__main__":
    unittest.main()
