"""Texts of numbers that change, functions of `math`, methods of numbers, and integers of more than 64 bits: how many traces they take."""

import bisect
import functools
import math
import unittest

import slotrt


class Record:
    """What programs keep texts in."""


class TextsAndFunctions(unittest.TestCase):
    """The second trace serves all numbers after the first one, but 0 and 1."""

    def check(self, function, numbers, traces=2):
        calls = [(number,) for number in numbers]
        expected = [repr(function(*args)) for args in calls]
        slotrt.reset()
        compiled = slotrt.compile(function, recompile_limit=64)
        self.assertEqual([repr(compiled(*args)) for args in calls], expected)
        stats = slotrt.stats()
        self.assertEqual((stats["frames_compiled"], stats["frames_skipped"]), (traces, 0))

    def test_bisections(self):
        """A number between two items has a trace, not each number."""
        numbers = [300, 250, 4000, -7, 2**40, 260, 5000, 300, 290, -90]
        self.check(lambda k: bisect.bisect_right([10, 1000, 3000], k), numbers, 4)
        self.check(lambda k: (bisect.bisect([10, 1000], k), bisect.bisect_left((10, 1000), k)), numbers, 4)
        self.check(lambda k: bisect.bisect_left([], k), numbers, 2)

    def test_bisections_in_c(self):
        for function in (
            lambda k: bisect.bisect_left([1, 2, 3, 4], 3, lo=k),
            lambda k: bisect.bisect_right([1, 2, 3, 4], k, 0, -1),
            lambda k: bisect.bisect_right([(1,), (5,)], k, key=lambda item: item[0]),
            lambda k: bisect.bisect_left({0: 1, 1: 5}, k),
            lambda k: bisect.bisect_left([1, "a"], k),
            lambda k: bisect.bisect_left("ab", k),
        ):
            compiled = slotrt.compile(function)
            for number in (3, 4, 9, 2, -1, 0):
                outcomes = []
                for call in (function, compiled):
                    try:
                        outcomes.append(call(number))
                    except (TypeError, ValueError) as error:
                        outcomes.append(repr(error))
                self.assertEqual(*outcomes)

    def test_texts(self):
        integers = [3, 4, 9, -7, 2**62, -(2**63), 123456]
        for function in (
            lambda k: f"{k}",
            lambda k: f"{k} of {k + 1!r}, {k:>5}|{k:,}",
            lambda k: (str(k), repr(k), format(k, "x")),
            lambda k: ("%d items" % k, "%s-%5d|%%" % (k, k), "%r" % (k,)),
            lambda k: ("{} items".format(k), "{0}{0:>9}{1}".format(k, "a")),
            lambda k: "n=" + str(k) + "." + f"{k}",
            lambda k: ",".join([str(k), "a", f"{k}"]) + str.join("-", (str(k), "b")),
            lambda k: f"{str(k)}{k}",
        ):
            with self.subTest(line=function.__code__.co_firstlineno):
                self.check(function, integers)
        for function in (lambda x: f"{x:.3f} {x!r} {x}", lambda x: ("%.2f" % x, "{:e}".format(x), str(x), repr(x * 2))):
            self.check(function, [0.35, 0.45, -2.5, 1e300, 1e-300])

    def test_texts_that_are_kept(self):
        def in_objects(k):
            record = Record()
            record.name, record.lines = f"block{k}", [str(k)]
            return record.name, record.lines

        def in_loops(k):
            lines = []
            for index in range(3):
                lines.append(f"{index}: {k}")
            return lines + [f"{name}{k}" for name in "ab"], {"a": str(k)}, dict(b=str(k))

        kept = []

        def outside(k):
            kept.append(f"step {k}")
            return k

        for function in (in_objects, in_loops, outside):
            self.check(function, [3, 4, 9, 12, 5])
        self.assertEqual(kept, [f"step {k}" for k in [3, 4, 9, 12, 5]] * 2)

    def test_printed(self):
        def step(k):
            print(f"step {k}, {k / 2:.1f}", end="\r")
            return k + 1

        # Its two halves, twice each.
        self.check(step, [3, 4, 9, 12, 5], 4)

    def test_texts_that_are_looked_at(self):
        for function in (
            lambda k: {str(k): k},
            lambda k: str(k) == "7",
            lambda k: len(str(k)),
            lambda k: str(k).zfill(4),
            lambda k: repr([str(k)]),
            lambda k: f"{k}"[-1],
            lambda k: k if f"{k}" else None,
        ):
            with self.subTest(line=function.__code__.co_firstlineno):
                self.check(function, [3, 4, 9, 7], 4)

    def test_texts_that_raise(self):
        def refused(spec, text):
            def function(k):
                try:
                    return format(k, spec) + text % k
                except (ValueError, OverflowError) as error:
                    return str(error)

            return function

        self.check(refused("d", "%c"), [65, 66, -1, 2**31], 4)
        self.check(refused(".3d", "%d"), [65, 66, -1], 3)
        self.check(lambda k: f"{k:c}", [65, 66, 67], 3)
        # From 4300 digits on Python refuses.
        self.check(lambda k: len(str(k**62)), [3, 4, 5], 3)

    def test_functions(self):
        for function in (
            lambda x: (math.degrees(x), math.radians(x), math.cbrt(x), math.fabs(-x), math.exp2(x), math.expm1(x)),
            lambda x: (math.log1p(x), math.tan(x), math.sinh(x), math.cosh(x), math.asinh(x), math.erf(x), math.erfc(x)),
            lambda x: (math.asin(x / 3), math.acos(x / 3), math.atanh(x / 3), math.acosh(x + 1), math.gamma(x), math.lgamma(x)),
            lambda x: (math.atan2(x, 2), math.copysign(x, -1), math.hypot(x, 3.0), math.fmod(7, x), math.pow(x, 3), math.log(x, 2)),
            lambda x: (math.isnan(x), math.isinf(x), math.isfinite(x), math.isfinite(x * 1e300), x.conjugate()),
            lambda x: divmod(x, 0.3),
            lambda x: math.log(x, 10) if x.is_integer() else None,
        ):
            with self.subTest(line=function.__code__.co_firstlineno):
                self.check(function, [0.35, 0.45, 2.5, 1.25])
        for function in (
            lambda k: (math.comb(k, 2), math.factorial(k), math.perm(k, 3), math.perm(9, k)),
            lambda k: (math.pow(k, 2), math.log(k, 10), math.hypot(k, 3), math.degrees(k), math.isfinite(k)),
            lambda k: (k.bit_length(), 1 << (k - 1).bit_length(), (-k).bit_length(), k.__add__(3), k.conjugate()),
            lambda k: (pow(k, 2, 7), pow(k, 3, -5), k**30, k**20 % 7, k**62),
            lambda k: k.bit_length() if (k - 1).bit_length() < 60 else None,
            lambda k: functools.reduce(lambda left, right: left * right, (k, k + 1, 3), 1),
        ):
            with self.subTest(line=function.__code__.co_firstlineno):
                self.check(function, [3, 4, 9, 12, 20])

    def test_functions_that_raise(self):
        def caught(act):
            def function(x):
                try:
                    return act(x)
                except (ValueError, OverflowError, ZeroDivisionError, TypeError) as error:
                    return type(error), str(error)

            return function

        numbers = [0.35, 0.45, 2.5, -0.5, 0.0, -0.0, 1.0, -1.0, 720.0, 1e308, math.inf, -math.inf, math.nan]
        names = "asin acos atanh acosh gamma lgamma expm1 exp2 sinh log1p tan isinf isfinite isnan cbrt erf".split()
        for name in names:
            act = getattr(math, name)
            with self.subTest(name=name):
                function = caught(lambda x, act=act: act(x))
                expected = [repr(function(x)) for x in numbers]
                slotrt.reset()
                compiled = slotrt.compile(caught(lambda x, act=act: act(x)), recompile_limit=64)
                self.assertEqual([repr(compiled(x)) for x in numbers], expected)
        for act in (lambda k: math.comb(k, 2), lambda k: math.factorial(k), lambda k: 1 << k, lambda k: pow(k, 2, 0), lambda k: k.bit_length()):
            function = caught(act)
            slotrt.reset()
            compiled = slotrt.compile(caught(act), recompile_limit=64)
            for k in (3, 4, 9, -1, 0, 1, 100, -7, 5000):
                self.assertEqual(compiled(k), function(k))

    def test_more_than_64_bits(self):
        numbers = [3, 4, 9, 2**62, -(2**63), 5, 12345678901]
        for function in (
            lambda k: k * 2**60 + 1,
            lambda k: (k * 2**60) // 2**58,
            lambda k: [k**30, -(k**9)],
            lambda k: k * 10**40 - k,
        ):
            with self.subTest(line=function.__code__.co_firstlineno):
                self.check(function, numbers)
        # One trace where the power fits, one where it does not.
        self.check(lambda k: 2 ** (k * 10), [3, 4, 5, 6, 7, 8, 40, 12], 3)
        self.check(lambda k: 1 << k * 8, [3, 4, 5, 6, 7, 8, 9, 40], 3)
        self.check(lambda k: k * 3, [3, 4, 2**62, 2**63, 2**64, 5])


if __name__ == "__main__":
    unittest.main()
