"""What training and inference code does with sizes, integers and floats that change from call to call.

A use has its arguments for a number, and how many traces the calls with all numbers have at most: two, and one more for each of 0 and 1 where these
are sizes."""

import math
import unittest

import slotrt
import torch
import torch.nn.functional as F

SIZES = (4, 5, 7, 9, 2, 3, 1, 0)
USES = []


def use(most, arguments, sizes=SIZES):
    def note(function):
        USES.append((function, arguments, most, sizes))
        return function

    return note


def waves(*shape):
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float32) * 0.37 - 1).sin().reshape(shape)


@use(8, lambda n: (waves(n, 2),))
def rows_in_a_loop(x):
    total = 0.0
    for number, row in enumerate(x):
        total = total + row * number
    return total, x.unbind(), [*x.unbind()], len(x.unbind())


@use(2, lambda n: (waves(1, 2, 4, 4), n + 1))
def enlarged_by_whole_factors(x, n):
    return F.interpolate(x * 2, scale_factor=n) + 1, F.interpolate(x, scale_factor=(n, 2))


@use(4, lambda n: (waves(20), n + 1))
def changed_where_elements_are_one_in_memory(x, n):
    x = x + 1
    x.as_strided((4, n), (1, 1)).mul_(2)
    windows = x.unfold(0, 3, 1)
    windows += 1
    windows[0] = 5
    return x * 2, windows


@use(1, lambda n: (waves(20).as_strided((6, 3), (2, 1)),))
def changed_where_an_argument_is_one_in_memory(x):
    return x.mul_(2), x[:, 0] + 1


@use(2, lambda n: (waves(4), n))
def warmed_up_and_decayed(x, step):
    step += 1
    root = 0.1 * min(step**-0.5, step * 4**-1.5)
    part = min(max((step - 2) / 6.0, 0.0), 1.0)
    decay = max(0.0, 1.0 - step / 8, 0.25)
    return x * root + decay, root, max(1e-3, 0.5 * (1 + math.cos(math.pi * part))), int(part * 10)


@use(3, lambda n: (waves(3), n - 3.0, (n - 3.0) * -0.0))
def extremes_of_equal_floats(x, number, zero):
    of_zeros = min(zero, 0.0), max(0.0, zero), min(0.0, zero), max(zero, 0.0)
    return x * min(number, 2.0), max(number, zero), min(number, 1.5, zero), str(min(zero, 0.0)), of_zeros


@use(5, lambda n: (waves(3), n, n * 0.5))
def extremes_of_two_kinds(x, count, number):
    return min(count, number), max(number, count), min(count, 2.5), max(1, number), min(number, 3), x * max(count, number)


@use(3, lambda n: (waves(3), math.inf if n == 2 else math.nan if n == 3 else float(n)))
def extremes_of_odd_floats(x, number):
    return min(number, 2.0), max(2.0, number), max(number, 2.0), x * max(number, 1.0)


@use(4, lambda n: ((n, 2), {"count": n}))
def made_of_sizes_that_may_be_zero(sizes, settings):
    return torch.zeros(sizes), torch.ones(sizes), torch.arange(settings["count"]), torch.full(sizes, 0.5), sizes[0] * 2


@use(5, lambda n: (waves(3), 0.25 * n - 0.5, n))
def close_to_a_number(x, number, count):
    close = math.isclose(number, 9.5), math.isclose(count, number + 100, abs_tol=1e-3), math.isclose(number, number * (1 + 1e-12))
    return x * number if math.isclose(number, 1.25, rel_tol=1e-6) else x, close


ODD = (0.5, 1.5, 7.25, 2.0, -2.0, -0.0, 0.0, math.inf, -math.inf, math.nan, 1e300, 5e-324)


@use(12, lambda n: (waves(3), n), ODD)
def odd_floats_close_to_others(x, number):
    return x * 2, math.isclose(number, 2), math.isclose(math.inf, number), math.isclose(number, math.nan), math.isclose(number, number + 1e-12)


@use(12, lambda n: (waves(3), n), ODD)
def parts_of_odd_floats(x, number):
    return math.modf(number), x * 2


@use(2, lambda n: (waves(3), n + 0.25))
def parts_of_floats(x, number):
    fraction, whole = math.modf(number)
    return x * fraction + whole, fraction, whole


def told(value):
    if isinstance(value, torch.Tensor):
        return value.dtype, tuple(value.shape), value.stride(), value.requires_grad, str(value.tolist())
    if isinstance(value, dict):
        return [(key, told(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [told(item) for item in value]
    return type(value), repr(value)


def outcome(function, arguments):
    torch.manual_seed(1)
    try:
        made = told(function(*arguments))
    except Exception as error:
        made = type(error), str(error)
    return made, told(arguments), torch.rand(1).item()


class UsesOfSizes(unittest.TestCase):
    def check(self, **options):
        for function, arguments, most, sizes in USES:
            slotrt.reset()
            compiled = slotrt.compile(function, recompile_limit=16, **options)
            for n in sizes:
                with self.subTest(use=function.__name__, n=n):
                    self.assertEqual(outcome(compiled, arguments(n)), outcome(function, arguments(n)))
            with self.subTest(use=function.__name__):
                stats = slotrt.stats()
                self.assertLessEqual(stats["frames_compiled"], most)
                self.assertEqual((stats["graph_breaks"], stats["frames_skipped"], stats["backend_errors"]), (0, 0, 0))

    def test_as_they_are(self):
        self.check()

    def test_through_fx(self):
        self.check(backend=lambda graph, inputs: graph)

    def test_through_autograd(self):
        self.check(backend="aot_eager")


if __name__ == "__main__":
    unittest.main()
