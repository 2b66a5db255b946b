"""Floats, and integers, that change from call to call, as operands of operations: contents, bounds, steps. Two traces serve all of them, or three where
PyTorch is asked what an operation gives; numbers that an operation refuses raise what they raise uncompiled, after what comes first."""

import unittest

import slotrt
import torch
import torch.nn.functional as F

# A use and how many traces its calls have at most: `x` has a size that changes, `a` is a float, `k` an integer.
ROWS = r"""
2 torch.full((3,), a) + torch.full((k, 2), a).sum()
2 x.new_full((2, k), a), torch.full_like(x, a)
2 torch.linspace(0, a, k), torch.linspace(-a, a, 5)
2 torch.arange(k) * a, torch.arange(0, 20, k), torch.arange(-k, k)
2 torch.arange(0, a + 1, 0.25), torch.arange(a, 3), torch.arange(a, k + 2.5, a), torch.arange(a + 2).shape
2 torch.arange(0.5, 4 + a * 3, a, dtype=torch.float64).sum() + x, len(torch.arange(0, 3, a)) * a
2 big[k:], big[:-k], big[k:k + 3], big[-k:, k:]
2 big[::k], big[:, ::k], big[1::k, ::2], big[k::k]
2 big.tril(k), big.triu(-k), torch.triu(big, 1)
2 big.roll(k), big.narrow(0, k, 3), big[:, 0].topk(k)
2 F.embedding(torch.arange(3), torch.ones(30, 2), padding_idx=k)
2 F.pad(x, (k, 0), value=a)
2 c = torch.zeros(40)\n    c[k:] = a\n    r = c
2 c = torch.zeros(40)\n    c[::k] = 1\n    r = c
2 c = torch.zeros(9, 4)\n    c[:k].fill_(a)\n    r = c
3 x.clone().index_fill_(0, torch.tensor([0, 1]), a)
3 F.threshold(x, a, 0.5), torch.renorm(x[None], 2, 0, a)
3 torch.special.zeta(x.abs() + 2, a)
2 torch.isclose(x, x + 0.1, atol=a), torch.where(torch.isclose(x, x + a), a, 0.0)
3 F.pairwise_distance(big, big + 1, eps=a)
2 F.interpolate(x[None, None], scale_factor=0.5), F.interpolate(x[None, None], size=k)
"""

# Each is called with numbers that it takes, and with others; `x` has changed before.
REFUSED = [
    ("torch.full((2,), a)", [0.5, 0.7, 1e30, 1e300, 0.3]),
    ("torch.full((2,), a, dtype=torch.int8)", [3, 4, 300, 7, 2.5]),
    ("torch.zeros(2).fill_(a)", [0.5, 0.7, 1e300, 0.3]),
    ("torch.zeros(3)[1:].fill_(a)", [0.5, 0.7, 1e300, 0.3]),
    ("torch.empty(2).uniform_(0, a)", [0.5, 0.6, -1.5, 0.3]),
    ("torch.empty(2).normal_(0, a)", [0.5, 0.6, -1.5, 0.3]),
    ("torch.empty(2).exponential_(a)", [0.5, 0.6, -1.5, 0.3]),
    ("torch.renorm(x[None], 2, 0, a)", [0.5, 0.6, -1.5, 0.3]),
    ("torch.zeros(9)[::a]", [2, 3, 4, -2, 0, 1, 50]),
    ("torch.zeros(6).narrow(0, a, 2)", [1, 2, 3, 9, -1]),
    ("torch.arange(0, 9, a)", [2, 3, 0, -1, 5]),
    ("torch.arange(0.0, 9, a)", [2.5, 3.5, 0.0, -1.5, 5.5, float("inf"), float("nan")]),
    ("torch.arange(a, 2)", [0.5, 1.5, 2.0, 2.5, -3.5, float("inf"), -1e300, float("nan")]),
    ("torch.linspace(0, 1, a)", [2, 3, 0, -1, 5]),
    ("F.interpolate(x[None, None], scale_factor=a)", [0.5, 2.5, 0.1, 3.5]),
    ("torch.zeros(6).repeat(a)", [2, 3, 0, -1, 5]),
    ("torch.zeros(3, 3).tril(a)", [2, 3, 0, -1, 2**40]),
]


def made(body):
    """A function with this body."""
    scope = {"torch": torch, "F": F}
    body = body.replace("\\n", "\n") if body.startswith("c = ") else f"r = {body}"
    exec(f"def f(x, big, a, k):\n    {body}\n    return r", scope)
    return scope["f"]


def told(value):
    if isinstance(value, torch.Tensor):
        return value.dtype, tuple(value.shape), value.stride(), str(value.tolist())
    return [told(item) for item in value] if isinstance(value, (list, tuple)) else value


class FloatsThatChange(unittest.TestCase):
    def test_uses(self):
        for row in ROWS.strip().splitlines():
            most, body = row.split(" ", 1)
            slotrt.reset()
            plain, compiled = made(body), slotrt.compile(made(body))
            for n in (3, 5, 4, 9, 7, 2, 8):
                args = torch.arange(n) * 0.5 - 1, torch.arange(240.0).view(24, 10), n * 0.1 + 0.05, n
                with self.subTest(body=body, n=n):
                    self.assertEqual(told(compiled(*args)), told(plain(*args)))
            with self.subTest(body=body):
                stats = slotrt.stats()
                self.assertLessEqual(stats["frames_compiled"], int(most))
                self.assertEqual((stats["frames_skipped"], stats["graph_breaks"]), (0, 0))

    def test_numbers_that_are_refused(self):
        def caught(function, x, number):
            torch.manual_seed(1)
            try:
                return told(function(x, None, number, 0))
            except Exception as error:
                return type(error), str(error).split("\nException raised")[0]

        def function_of(body):
            scope = {"torch": torch, "F": F}
            exec(f"def f(x, big, a, k):\n    x.add_(1)\n    return {body}", scope)
            return scope["f"]

        for body, numbers in REFUSED:
            for options in ({}, {"dynamic": True}):
                slotrt.reset()
                plain, compiled = function_of(body), slotrt.compile(function_of(body), **options)
                for number in numbers:
                    x, other = torch.ones(4), torch.ones(4)
                    with self.subTest(body=body, number=number, **options):
                        self.assertEqual(caught(compiled, x, number), caught(plain, other, number))
                        self.assertEqual(x.tolist(), other.tolist())


if __name__ == "__main__":
    unittest.main()
