"""How many traces a function needs whose numbers change from call to call."""

import math
import sys
import unittest
from math import ceil, floor

import slotrt
from guard_cases import fresh, made


class Traces(unittest.TestCase):
    """A number that changes is symbolic in the second trace, which serves all calls after it."""

    def count(self, function, calls, **options):
        """The results, and how many traces they took."""
        slotrt.reset()
        compiled = slotrt.compile(function, **options)
        results = [compiled(*args) for args in calls]
        stats = slotrt.stats()
        self.assertEqual(stats["frames_skipped"], 0)
        return results, stats["frames_compiled"]

    def check(self, function, calls, traces, **options):
        expected = [repr(function(*args)) for args in calls]
        results, count = self.count(function, calls, **options)
        self.assertEqual([repr(result) for result in results], expected)
        self.assertEqual(count, traces)

    def test_integers_and_floats(self):
        numbers = [(number,) for number in range(30)]
        self.check(lambda k: k * 2 + 1, numbers, 2)
        self.check(lambda k: [k, (k, -k), {"k": k % 7}], numbers, 2)
        self.check(lambda k: sum([k, k + 1]) + min(k, 100), numbers, 2)
        self.check(lambda k: k / 3 * 0.5 - k, numbers, 2)
        self.check(lambda x: x * 2 - x / 3, [(number / 7,) for number in range(30)], 2)
        self.check(lambda k, x: (k * x, k + x), [(number, number / 7) for number in range(30)], 2)

    def test_floats_that_are_rounded(self):
        integers, floats = [(number,) for number in range(2, 30)], [(number / 7,) for number in range(3, 30)]
        for function in (
            lambda k: (int(k / 2), int(k * 0.3) + 1, [int(-k / 3)]),
            lambda k: (math.floor(k / 2), math.ceil(k / 2), math.trunc(k / 3), round(k / 4)),
            lambda k: (math.sqrt(k), 1 / math.sqrt(k + 1), int(math.sqrt(k))),
            lambda k: (k**-0.5, k**0.5 * 2, (k + 1) ** 1.5),
            lambda k: (floor(k), ceil(k), round(k), int(k)),
            lambda k: int(k * 1.5) - int(k / 2) if round(k / 2) < 100 else None,
        ):
            self.check(function, integers, 2)
            self.check(function, integers, 1, dynamic=True)
        for function in (
            lambda x: (int(x), round(x), math.floor(x) * 2, math.ceil(x)),
            lambda x: (math.sqrt(x), int(x * x), int(math.sqrt(x * 1000))),
        ):
            self.check(function, floats, 2)

    def test_least_and_greatest(self):
        for function in (
            lambda k: (min(k, 8), max(k, 8), min(9, k, k // 2 + 3), max(1, min(k, 12))),
            lambda k: min(k, 8) + max(k, 8) - k,
            lambda k: [0] * min(k, 3),
            lambda k: k if min(k, 8) <= k else None,
            lambda k: max(k, 8) if max(k, k + 1) > k else None,
            lambda k: (math.lcm(k, 6), math.lcm(k, k + 1), math.lcm(-k, 4)),
        ):
            self.check(function, [(number,) for number in range(4, 20)], 2)
        self.check(lambda k: (min(k, 8), max(k, -1, k - 2)), [(number,) for number in range(-3, 20)], 2)
        self.check(lambda k: min(k, 0.5), [(number,) for number in range(3, 9)], 2)
        self.check(lambda k: max(k, 2**70), [(number,) for number in range(3, 9)], 6)

    def test_digits(self):
        floats = [(number / 7,) for number in range(-30, 30)] + [(2.675,), (0.5,), (1e300,), (1e-300,), (2.5,), (-0.04,)]
        self.check(lambda x: (round(x, 2), round(x, 0), round(x, 22)), floats, 2)
        self.check(lambda x: round(x, 1) if round(x, 1) < 1e200 else x, floats, 3)
        self.check(lambda k: (round(k, 1), round(k, 0)), [(number,) for number in range(2, 20)], 2)
        self.check(lambda x: round(x, -1), floats[:4], 4)
        self.check(lambda x: round(x, 1), [(number,) for number in (0.25, 0.35, float("inf"), float("nan"))], 3)

    def test_functions_of_math(self):
        integers, floats = [(number,) for number in range(2, 30)], [(number / 7,) for number in range(3, 30)]
        for function in (
            lambda k: (math.log(k), math.log2(k) / math.log10(k + 9), math.exp(-k), math.isqrt(k * 5)),
            lambda k: [math.sin(k), math.cos(k), math.tanh(k / 9), math.atan(-k)],
            lambda k: 2 ** math.ceil(math.log2(k)),
            lambda k: (1 << k % 7, 2**k, pow(3, k % 5), k**-1, 1000 >> k % 9),
            lambda k: math.gcd(k, 6) * math.gcd(k, k * 3) + math.lcm(k, 4),
            lambda k: int(math.log2(k + 1) * 8) if math.exp(k) > 1 else None,
            lambda k: (k.real, (k / 2).real, hasattr(k, "shape"), getattr(k, "dtype", 5)),
        ):
            self.check(function, integers, 2)
            self.check(function, integers, 1, dynamic=True)
        self.check(lambda x: (math.log(x), math.exp(x), math.sin(x), int(math.log2(x) * 3)), floats, 2)

    def test_functions_of_math_that_raise(self):
        def f(act, k):
            try:
                return act(k)
            except (ArithmeticError, ValueError, TypeError, AttributeError) as error:
                return type(error), str(error)

        numbers = [(number,) for number in (5, 4, 9, 0, 1, -3, 700, 701, 800, 2**63 - 1, -(2**63), 2**70)]
        for act in (
            math.log,
            lambda k: math.log2(k - 4),
            lambda k: math.log10(k * 2**62),
            math.exp,
            lambda k: math.sin(k * 1e308 * 10),
            lambda k: math.isqrt(k - 4),
            lambda k: math.gcd(k - 9, -6),
            lambda k: math.gcd(k / 2, 4),
            lambda k: 2 ** min(k, 100),
            lambda k: 1 << min(k - 4, 90),
            lambda k: 7 >> (k - 4) % 200,
            lambda k: (k - 5) ** -1,
            lambda k: 0 ** min(k - 5, 7),
            lambda k: (-2) ** min(k, 80),
            lambda k: (k / 2).numerator,
            lambda k: k.shape,
        ):
            for options in ({}, {"dynamic": True}):
                slotrt.reset()
                compiled = slotrt.compile(f, recompile_limit=40, **options)
                for (k,) in numbers:
                    self.assertEqual(compiled(act, k), f(act, k), k)

    def test_integers_among_those_of_a_constant(self):
        calls = [(number,) for number in [7, 8, 9, 3, 12, 5, 3, 40, 5, 6]]
        self.check(lambda k: k + 1 if k in (3, 5) else k - 1, calls, 4)
        self.check(lambda k: k + 1 if k not in {3, 5} else k - 1, calls, 4)
        self.check(lambda k: (k in (3.0, "5"), k in (), k * 2 in (6, True), k in [3, 5]), calls, 8)

    def test_floats_that_no_integer_is_made_of(self):
        def told(function, x):
            try:
                return repr(function(x))
            except (ValueError, ArithmeticError) as error:
                return repr(error)

        numbers = [2.5, 3.5, -3.5, -0.0, 1e300, float("inf"), float("nan"), -4.0, 7.25, 2.0**63, -(2.0**63), 2, 5, -1, 2**70]
        for function in (int, round, math.floor, math.ceil, math.trunc, math.sqrt, lambda x: x**0.5, lambda x: x**-0.5):
            compiled = slotrt.compile(lambda x, function=function: function(x))
            for x in numbers:
                self.assertEqual(told(compiled, x), told(function, x), (function, x))

    def test_functions_of_math_that_programs_replace(self):
        original = math.floor
        function = slotrt.compile(lambda x: (floor(x / 2), math.floor(x / 2)))
        try:
            for x in range(3, 8):
                self.assertEqual(function(x), (x // 2, x // 2))
            math.floor = lambda x: ("replaced", x)
            for x in range(3, 8):
                self.assertEqual(function(x), (x // 2, ("replaced", x / 2)))
            math.floor = original
            self.assertEqual(function(11), (5, 5))
        finally:
            math.floor = original

    def test_keywords_that_go_through_dicts(self):
        def passed(**others):
            return sorted(others), others["k"] * 2, kept(**others)

        def kept(k, *, more=None, **others):
            return k + 1, more, others

        numbers = [(number,) for number in range(20)]
        self.check(lambda k: passed(k=k, more=2), numbers, 2)
        self.check(lambda k: passed(k=k, other=k * 3), numbers, 2)
        self.check(lambda k: kept(**{"k": k, "other": k - 1}), numbers, 2)
        self.check(lambda k: dict(k=k, more=[k])["k"] + 1, numbers, 2)

    def test_two_numbers_at_once(self):
        self.check(lambda a, b: a * b - a, [(number, 3 * number) for number in range(20)], 2)

    def test_branches_are_guards(self):
        def sign(k):
            if k < 0:
                return "negative"
            return "small" if k < 10 else "large"

        calls = [(number,) for number in [-5, -3, -9, 4, 5, 6, 20, 30, 40, -2, 7, 99]]
        self.check(sign, calls, 4)

    def test_where_numbers_come_from(self):
        class Counter:
            steps = 0

        def step(counter):
            counter.steps += 1
            return counter.steps * 2

        counter = Counter()
        results, traces = self.count(step, [(counter,)] * 20)
        # The class has it at first.
        self.assertEqual((results, counter.steps), ([2 * number for number in range(1, 21)], 20))
        self.assertLessEqual(traces, 3)
        module = fresh(steps=0, numbers=[0, 0])
        module.step = made("def f():\n    global steps\n    steps += 1\n    numbers[1] += 2\n    return steps, numbers[1]", module.__dict__)
        results, traces = self.count(module.step, [()] * 20)
        self.assertEqual((results[-1], module.steps, module.numbers), ((20, 40), 20, [0, 40]))
        self.assertEqual(traces, 2)

        def closure():
            count = 0

            def step():
                nonlocal count
                count += 3
                return count

            return step

        results, traces = self.count(closure(), [()] * 20)
        self.assertEqual((results, traces), ([3 * number for number in range(1, 21)], 2))

    def test_dynamic(self):
        numbers = [(number,) for number in range(2, 20)]
        self.check(lambda k: k + 1, numbers, 1, dynamic=True)
        self.check(lambda k: k + 1, numbers[:5], 5, dynamic=False)
        # What programs branch on.
        self.check(lambda k: k + 1, [(0,), (1,), *numbers], 3, dynamic=True)

    def test_kinds_are_told_apart(self):
        class Derived(int):
            pass

        calls = [(value,) for value in (2, 3, True, 4, 2.5, 3.5, Derived(7), 5, False, 4.5, 6)]
        results, traces = self.count(lambda k: (type(k).__name__, k + 1), calls)
        self.assertEqual([name for name, _ in results], [type(value).__name__ for value, in calls])
        self.assertEqual([number for _, number in results], [value + 1 for value, in calls])

    def test_sixty_four_bits(self):
        def near(k):
            return k * k > 100, k * k + 1, k - 1, k / 2

        calls = [(number,) for number in (3, 5, 2**20, 2**31, 2**32, 2**63 - 1, 2**63, -(2**63), 2**200, -(2**70), 11)]
        compiled = slotrt.compile(near)
        for args in calls:
            self.assertEqual(compiled(*args), near(*args))

    def test_division_by_zero(self):
        def quotients(k, x):
            return 100 // k, 100 % k, 1.5 / x

        compiled = slotrt.compile(quotients)
        for k, x in [(3, 2.0), (4, 3.0), (5, -1.0)]:
            self.assertEqual(compiled(k, x), quotients(k, x))
        of_integers = "division by zero" if sys.version_info >= (3, 14) else "integer division or modulo by zero"
        for k, x, message in [(0, 1.0, of_integers), (2, 0.0, "division by zero"), (2, -0.0, "division by zero")]:
            with self.assertRaisesRegex(ZeroDivisionError, message):
                compiled(k, x)

    def test_text_of_a_number(self):
        self.check(lambda k: f"{k} and {k + 1!r}", [(number,) for number in range(6)], 2)

    def test_identity(self):
        def same(k):
            a, b = k + 5000, k + 5000
            return a is b, a is a, a is None, a == b

        compiled = slotrt.compile(same)
        for k in range(5):
            self.assertEqual(compiled(k), (False, True, False, True))


if __name__ == "__main__":
    unittest.main()
