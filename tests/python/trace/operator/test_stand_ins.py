"""Operations at which releases differ answer as the running one does, also where another release's bodies stand in; most need no break."""

import unittest

import slotrt


class Truncated:
    def __trunc__(self):
        return 3


class Indexed(Truncated):
    def __index__(self):
        return 4


class Sized:
    def __init__(self):
        self.asked = []

    def __len__(self):
        self.asked.append("len")
        return 3

    def __iter__(self):
        return iter((1, 2, 3))


class Hinted:
    asked = ()

    def __length_hint__(self):
        self.asked += ("hint",)
        return 3

    def __iter__(self):
        return iter((1, 2, 3))


class Power:
    def __pow__(self, other, modulus=None):
        return "pow", modulus

    def __rpow__(self, other, modulus=None):
        return "rpow", modulus


class Untrue:
    __bool__ = None


class Refusing:
    """Has a truth on some days."""

    def __init__(self, days):
        self.days = days

    def __bool__(self):
        return 6 // self.days > 2


class Refused:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        raise LookupError(self.value)


WHOLE = (
    lambda x: (int("12") + x, int(2.5)),
    lambda x: ({1: 2}[x], {1, 2}.pop(), x in {1: 2}, 3 in [x]),
    lambda x: (x / 2, x // 2, 2.5 // x, divmod(7, x)),
    lambda x: (Power() ** x, x ** Power(), Power() ** Power()),
    lambda x: (x >> 1, tuple({1: 2}), tuple(map(str, (x,)))),
)
RAISING = (
    lambda x: int(Truncated()),
    lambda x: int(Indexed()),
    lambda x: {1: 2}[[x]],
    lambda x: {1: 2}.pop([x]),
    lambda x: {[]},
    lambda x: [] in {x},
    lambda x: 3 in x,
    lambda x: x / 0,
    lambda x: x // 0,
    lambda x: float(x) // 0.0,
    lambda x: print >> x,
    lambda x: bool(Untrue()),
    lambda x: dict([x]),
    lambda x: {} | x,
    lambda x: pow(2, x, 0),
)
EFFECTS = (
    lambda x: (tuple(x), [*x], x.asked),
    lambda x: (max(*x), x.asked),
)


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error), getattr(error, "__notes__", None)


class StandIns(unittest.TestCase):
    def test_operations(self):
        for program in WHOLE:
            with self.subTest(line=program.__code__.co_firstlineno):
                compiled = slotrt.compile(program, fullgraph=True)
                for x in (1, 1):
                    self.assertEqual(compiled(x), program(x))

    def test_errors(self):
        for program in RAISING:
            with self.subTest(line=program.__code__.co_firstlineno):
                compiled = slotrt.compile(program)
                for x in (1, 2, 1):
                    self.assertEqual(outcome(compiled, x), outcome(program, x))

    def test_truth_that_raises(self):
        """Where `__bool__` raises, the error is the program's own: the releases agree, and nothing breaks."""

        def program(days):
            try:
                return "yes" if Refusing(days) else "no"
            except ArithmeticError as error:
                return type(error)

        compiled = slotrt.compile(program)
        for days in (1, 6, 0, 0):
            self.assertEqual(compiled(days), program(days))

        def handled(value):
            try:
                return not Refused(value)
            except LookupError as error:
                return error.args

        whole = slotrt.compile(handled, fullgraph=True)
        for value in (1, 2, 1):
            self.assertEqual(whole(value), handled(value))

    def test_lengths_that_are_asked_for(self):
        for program in EFFECTS:
            for kind in (Sized, Hinted):
                with self.subTest(kind.__name__, line=program.__code__.co_firstlineno):
                    self.assertEqual(slotrt.compile(program)(kind()), program(kind()))

    def test_three_operands(self):
        def program(x):
            return pow(x, 2, 5), pow(Power(), x, 5), outcome(pow, x, Power(), 5)

        for x in (1, 2):
            self.assertEqual(slotrt.compile(program)(x), program(x))


if __name__ == "__main__":
    unittest.main()
