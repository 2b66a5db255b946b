"""Decimal arithmetic in a trace: compiled code reads the thread's context at each call and leaves it as plain Python leaves it."""

import decimal
import json
import unittest
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Rounded

import slotrt

OWN = Context(prec=6)


def exact(text):
    return Decimal(text), Decimal(1) + Decimal("2.50"), Decimal(text) == 1, hash(Decimal(3))


def thirds(value):
    return Decimal(value) / 3, decimal.getcontext().flags[Inexact]


def precise(value):
    context = decimal.getcontext()
    context.prec = 5
    first = Decimal(1) / value
    context.prec = 12
    return first, Decimal(1) / value, context is decimal.getcontext(), context.prec


def local(value):
    with decimal.localcontext() as context:
        context.prec = 4
        inner = Decimal(2) / value
    return inner, Decimal(2) / value


def local_of(value):
    with decimal.localcontext(OWN) as context:
        inner = Decimal(2) / value, context.prec
    return inner, Decimal(2) / value


def signals(value):
    loose = Context(prec=3, traps=[InvalidOperation, DivisionByZero])
    strict = loose.copy()
    strict.traps[Inexact] = True
    raised = []
    for context in (loose, strict):
        for divisor in (value, 0):
            try:
                raised.append(context.divide(1, divisor))
            except decimal.DecimalException as error:
                raised.append(type(error))
    return raised, loose.flags[Rounded], strict.flags == loose.flags, sorted(map(str, loose.flags)), loose


def given(context):
    context.prec = 7
    decimal.setcontext(context)
    return Decimal(1) / 7, context.Emax


def held(value):
    OWN.prec += 1
    return OWN.divide(1, value), OWN.prec


def two(one, other):
    one.prec = 9
    return one.prec, other.prec, one is other


def shared(value):
    return sum([value, value, Decimal(1)]) / 3, round(value, 2), value == 1, int(value), f"{value:.3f}", value


def wrong(text):
    return Decimal(text)


def read(text):
    return json.loads(text), json.loads(text, parse_float=Decimal)


def outcome(function, args):
    decimal.setcontext(Context(prec=28))
    OWN.prec = 6
    OWN.clear_flags()
    args = tuple(value.copy() if isinstance(value, Context) else value for value in args)
    try:
        result = repr(function(*args))
    except Exception as error:
        result = type(error), str(error)
    contexts = [decimal.getcontext(), OWN, *(value for value in args if isinstance(value, Context))]
    return result, [context.__reduce__() for context in contexts], decimal.getcontext() in args


CASES = [
    (exact, "1.10"),
    (thirds, 7),
    (thirds, "1.5"),
    (precise, 3),
    (local, 3),
    (local_of, 3),
    (signals, 3),
    (given, Context(prec=9)),
    (held, 7),
    (two, Context(prec=3), Context(prec=4)),
    (shared, Decimal("1.2345")),
    (wrong, "no number"),
    (read, '{"a": [1, 2.5, "x", null]}'),
]


class Contexts(unittest.TestCase):
    def test_as_in_plain_python(self):
        for function, *args in CASES:
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function, fullgraph=True)
                for _ in range(4):
                    self.assertEqual(outcome(compiled, args), outcome(function, args))

    def test_another_context_is_noticed(self):
        def third(value):
            return Decimal(value) / 3

        compiled = slotrt.compile(third, fullgraph=True)
        for precision in (28, 5, 28, 3):
            decimal.setcontext(Context(prec=precision))
            self.assertEqual(repr(compiled(1)), repr(third(1)))

    def test_one_context_given_twice(self):
        compiled = slotrt.compile(two, fullgraph=True)
        for _ in range(2):
            self.assertEqual(compiled(Context(prec=3), Context(prec=4)), (9, 4, False))
            same = Context(prec=3)
            self.assertEqual(compiled(same, same), (9, 9, True))

    def test_tracing_leaves_the_context_alone(self):
        def third(value):
            decimal.getcontext().prec = 4
            result = Decimal(value) / 3
            slotrt.graph_break()
            return result, decimal.getcontext().prec

        for function in (third, slotrt.compile(third)):
            decimal.setcontext(Context(prec=28))
            self.assertEqual(repr(function(1)), "(Decimal('0.3333'), 4)")
            self.assertTrue(decimal.getcontext().flags[Inexact])


if __name__ == "__main__":
    unittest.main()
