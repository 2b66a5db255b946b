"""Sizes and numbers at the edge: zero, negative, beyond 64 bits, overlapping strides, shapes that do not fit. Compiled code gives what the
program gives, or its error with its message, call after call; traces that were made for other numbers do not get in the way."""

import logging
import unittest
import warnings
from functools import partial

import slotrt
import torch
from torch import nn

LARGE = 2**63
CASES = []


def case(make):
    CASES.append(make)
    return make


def filled(*shape):
    return torch.arange(float(torch.Size(shape).numel())).reshape(shape)


@case
def zero_sizes():
    def f(x):
        return x.sum(0), x.reshape(x.shape[0] * 2, -1) if x.numel() else x, x.shape[0] // max(1, x.shape[1])

    return f, lambda n: (torch.ones(n, 4),), (3, 5, 0, 1, 7, 0, 2)


@case
def zero_div():
    def f(x):
        return x * 2, 10 // x.shape[0], 10 % x.shape[0]

    return f, lambda n: (torch.ones(n),), (3, 5, 0, 7, 0)


@case
def zero_max():
    def f(x):
        return x.max(0)

    return f, lambda n: (torch.ones(n, 2),), (3, 5, 0, 4)


@case
def zero_view():
    def f(x):
        return x.view(-1, x.shape[1])

    return f, lambda n: (torch.ones(4, n),), (3, 5, 0, 4)


@case
def negative_index():
    def f(x, i):
        return x[i], x[:, i], x.select(0, i), x.narrow(0, i, 1)

    return f, lambda n: (filled(4, 4), n), (2, 3, -1, -4, -5, 4, 1, 0)


@case
def negative_slice():
    def f(x, a, b):
        return x[a:b], x[a:b].sum(), x[b:], x[:a]

    return f, lambda n: (filled(6, 2), *n), ((1, 4), (2, 5), (-3, -1), (-9, 9), (5, 2), (3, -2), (-100, 100), (2 ** 62, -2 ** 62))


@case
def negative_dim():
    def f(x, d):
        return x.sum(d), x.unsqueeze(d), x.transpose(0, d), x.softmax(d)

    return f, lambda n: (filled(3, 4, 5), n), (2, 1, -1, -3, -4, 3, 0)


@case
def negative_size():
    def f(n):
        return torch.zeros(n)

    return f, lambda n: (n,), (3, 4, -1, 5, -2, 0)


@case
def negative_expand():
    def f(x, n):
        return x.expand(n, 3)

    return f, lambda n: (torch.ones(1, 3), n), (3, 4, -1, -2, 0)


@case
def negative_repeat():
    def f(x, n):
        return x.repeat(n), x.repeat(n, 2)

    return f, lambda n: (torch.ones(3), n), (3, 4, -1, 0, 2)


@case
def overflow_add():
    def f(x, a, b):
        return x + 1, a + b, a * b, a - b, a < b, (a * b) > (a + b)

    return f, lambda n: (torch.ones(2), *n), ((3, 4), (5, 6), (LARGE - 1, 1), (LARGE - 1, LARGE - 1), (-LARGE, -1), (-LARGE, 1), (LARGE, 2), (2 ** 40, 2 ** 40), (7, 8))


@case
def overflow_pow():
    def f(x, a):
        return x, a ** 2, a ** 5, -a, abs(a), ~a, a << 3, a >> 2, a // 3, a % 7

    return f, lambda n: (torch.ones(2), n), (3, 5, LARGE - 1, -LARGE, 2 ** 31, -2 ** 31, 9, LARGE)


@case
def overflow_floordiv():
    def f(x, a, b):
        return x, a // b, a % b

    return f, lambda n: (torch.ones(2), *n), ((7, 2), (9, 4), (-LARGE, -1), (-7, 2), (7, -2), (-7, -2), (LARGE - 1, -1), (5, 0))


@case
def overflow_size():
    def f(x, n):
        return x.numel() * n * n, (x.numel() * n) % 5

    return f, lambda n: (torch.ones(4), n), (3, 5, 2 ** 31, 2 ** 32, 2 ** 61, 2 ** 62, 9)


@case
def overflow_zeros():
    def f(n):
        return torch.zeros(n, n)

    return f, lambda n: (n,), (3, 5, 2 ** 32, 2 ** 31, 4)


@case
def overflow_expand_numel():
    def f(x):
        return x.numel(), x.shape, x.numel() + 1, x.numel() * 2 > x.shape[0]

    return f, lambda n: (torch.ones(1, 1).expand(*n),), ((3, 4), (5, 6), (2 ** 30, 2 ** 30), (2 ** 31, 2 ** 31), (7, 3))


@case
def overflow_scalar():
    def f(x, k):
        return x * k, x + k, x.clamp(max=k)

    return f, lambda n: (torch.arange(3), n), (3, 5, LARGE - 1, -LARGE, LARGE, 7)


@case
def overflow_scalar_i32():
    def f(x, k):
        return x * k, x + k, x.fill_(k)

    return f, lambda n: (torch.arange(3, dtype=torch.int32), n), (3, 5, 2 ** 31, -2 ** 31, 2 ** 40, 7)


@case
def overflow_arange():
    def f(a, b):
        return torch.arange(a, b)

    return f, lambda n: (*n,), ((0, 3), (0, 5), (5, 3), (2, 2), (LARGE-3, LARGE - 1), (1, 6))


@case
def overlap_read():
    def f(x):
        return x + 1, x.sum(), x.reshape(-1), x.is_contiguous(), x.stride()

    return f, lambda n: (torch.arange(20.).as_strided((n, 3), (1, 1)),), (3, 5, 7, 2, 1)


@case
def overlap_write():
    def f(x):
        x.add_(1)
        return x * 1

    return f, lambda n: (torch.arange(20.).as_strided((n, 3), (1, 1)),), (3, 5, 7, 2)


@case
def overlap_expand_write():
    def f(x):
        x.mul_(2)
        return x.sum()

    return f, lambda n: (torch.ones(1, 3).expand(n, 3),), (3, 5, 1, 7)


@case
def overlap_copy():
    def f(x, y):
        x[1:].copy_(x[:-1])
        y[0]=y[1]
        return x * 1, y * 1

    return f, lambda n: (torch.arange(float(n)), torch.arange(2.*n).view(2, n)), (3, 5, 7, 2)


@case
def stride0():
    def f(x):
        return x.contiguous(), x.t().reshape(-1), x.stride(0), x.is_contiguous()

    return f, lambda n: (torch.ones(1).expand(n, 2),), (3, 5, 1, 0, 7)


@case
def as_strided_bad():
    def f(x, n):
        return x.as_strided((n, n), (n, 1))

    return f, lambda n: (torch.arange(30.), n), (3, 5, 6, -1, 0, 4)


@case
def view_bad():
    def f(x, n):
        return x.view(n, -1)

    return f, lambda n: (torch.arange(12.), n), (3, 4, 5, -1, 0, 6, 12, 2)


@case
def reshape_zero():
    def f(x, n):
        return x.reshape(n, -1)

    return f, lambda n: (torch.ones(0, 4), n), (3, 4, 0, 2)


@case
def split_bad():
    def f(x, n):
        return x.split(n), x.chunk(n)

    return f, lambda n: (torch.arange(12.), n), (3, 4, 0, -1, 100, 5)


@case
def range_neg():
    def f(x, n):
        return x + sum(range(n)), [i for i in range(n)], list(range(n, 0, -2))

    return f, lambda n: (torch.ones(2), n), (3, 4, 0, -3, 5)


@case
def floats():
    def f(x, k):
        return x * k, k // 2, k % 3, int(k) if k == k and abs(k) < 1e300 else "no", k < 1, round(k) if abs(k) < 1e300 else 0

    return f, lambda n: (torch.ones(2), n), (1.5, 2.5, -0.0, 0.0, float("inf"), float("-inf"), float("nan"), 1e308, 5e-324, 3.5)


@case
def float_int_mix():
    def f(x, k):
        return x * k, k + 0.5, k / 3, k == 3, float(k)

    return f, lambda n: (torch.ones(2), n), (2, 3, 4, 3.0, True, 2 ** 53 + 1, 2 ** 63, 10 ** 400 and 5)


@case
def booleans():
    def f(x, k):
        return x * k, k + 1, k is True, type(k)

    return f, lambda n: (torch.ones(2), n), (2, 3, True, False, 1, 0, 4)


@case
def derived_integers():
    class I(int):
        def __add__(self, other):
            return "mine"

    def f(x, k):
        return x * 1, k + 1, k * 2

    return f, lambda n: (torch.ones(2), n), (2, 3, I(4), I(5), 6)


@case
def conv_small():
    w = torch.ones(1, 1, 5)

    def f(x):
        return nn.functional.conv1d(x, w)

    return f, lambda n: (torch.ones(1, 1, n),), (7, 8, 5, 4, 3, 9, 0)


@case
def pool_small():
    def f(x):
        return nn.functional.max_pool1d(x, 3, 2), nn.functional.avg_pool1d(x, 3)

    return f, lambda n: (torch.ones(1, 1, n),), (7, 8, 5, 2, 3, 9)


@case
def unfold():
    def f(x, n):
        return x.unfold(0, n, 2)

    return f, lambda n: (torch.arange(9.), n), (3, 4, 10, 0, -1, 5)


@case
def diag():
    def f(x, k):
        return x.diagonal(k), x.tril(k), torch.diag(x[0], k), x.roll(k, 0), x.rot90(k)

    return f, lambda n: (filled(4, 5), n), (1, 2, -3, -10, 10, 3, 2 ** 62)


@case
def pad():
    def f(x, k):
        return nn.functional.pad(x, (k, 1))

    return f, lambda n: (filled(2, 5), n), (1, 2, -2, -5, -7, 3)


@case
def movedim():
    def f(x, k):
        return x.movedim(0, k), x.flatten(k), x.permute(k, 0, 1) 

    return f, lambda n: (filled(2, 3, 4), n), (2, -1, 1, -4, 3)


@case
def gather():
    def f(x, i):
        return x.gather(1, i), x.index_select(1, i[0]), x[:, i[0]]

    return f, lambda n: (filled(2, 5), torch.full((2, n), min(n, 4))), (3, 4, 0, 1, 2)


@case
def cat_empty():
    def f(x, y):
        return torch.cat([x, y]), torch.cat([x, y], -1), torch.stack([x, x])

    return f, lambda n: (torch.ones(n, 2), torch.ones(n, 3)[:, :2]), (3, 4, 0, 1, 5)


@case
def cat_legacy():
    def f(x, y):
        return torch.cat([x, y], 1)

    return f, lambda n: (torch.ones(0), torch.ones(2, n)), (3, 4, 0, 1, 5)


@case
def broadcast():
    def f(x, y):
        return x + y, x * y, torch.maximum(x, y)

    return f, lambda n: (torch.ones(n[0], 2), torch.ones(n[1], 1)), ((3, 3), (4, 4), (1, 5), (5, 1), (3, 4), (0, 1), (0, 0), (0, 3))


@case
def matmul():
    def f(x, y):
        return x @ y, torch.mm(x, y)

    return f, lambda n: (torch.ones(n[0], n[1]), torch.ones(n[2], n[3])), ((3, 4, 4, 5), (4, 5, 5, 6), (0, 5, 5, 2), (2, 0, 0, 3), (2, 3, 4, 5), (1, 5, 5, 1))


@case
def item_len():
    def f(x):
        return len(x), [r.sum() for r in x], list(enumerate(x.tolist() if x.numel() < 3 else []))

    return f, lambda n: (torch.ones(n, 2),), (3, 4, 0, 1, 2)


@case
def scalar_tensor():
    def f(x):
        return len(x) if x.dim() else "d", x.shape, x.numel(), x.size()

    return f, lambda n: (torch.ones(n),), ((3,), (4,), (), (0,), (1,), (2, 2))


def shown(value):
    """A comparable form of a result or an argument."""
    if isinstance(value, torch.Tensor):
        place = str(value.dtype), tuple(value.shape), value.stride(), value.storage_offset()
        return *place, str(value.tolist()) if value.numel() < 1000 else None
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(item) for item in value]
    return type(value).__name__, repr(value)


def outcome(function, make):
    """What a call gives or raises, and what it makes of its arguments."""
    arguments = make()
    try:
        result = shown(function(*arguments))
    except Exception as error:
        result = type(error).__name__, str(error)
    return result, shown(arguments)


class Edges(unittest.TestCase):
    OPTIONS = ({}, {"dynamic": True}, {"dynamic": False}, {"backend": "eager"}, {"backend": "eager", "dynamic": True})

    def setUp(self):
        # Functions that are traced too often say so.
        logging.getLogger("slotrt").setLevel(logging.ERROR)
        self.addCleanup(logging.getLogger("slotrt").setLevel, logging.NOTSET)
        warnings.simplefilter("ignore")
        self.addCleanup(slotrt.reset)

    def test_each_call_does_what_it_does(self):
        for case in CASES:
            function, arguments, values = case()
            calls = [partial(arguments, value) for value in values]
            expected = [outcome(function, make) for make in calls]
            for options in self.OPTIONS:
                slotrt.reset()
                compiled = slotrt.compile(function, **options)
                for number, make in enumerate(calls):
                    with self.subTest(case=case.__name__, call=number, **options):
                        self.assertEqual(outcome(compiled, make), expected[number])


if __name__ == "__main__":
    unittest.main()
