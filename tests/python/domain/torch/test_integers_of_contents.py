"""Integers that contents of tensors decide, as sizes and bounds of what operations give: `torch.zeros(x.max().item())`, `y[: len(mask)]`."""

import unittest

import slotrt
import torch
from contents_cases import CONTENTS, outcome, shown, vector
from torch.nn import functional


def zeros(x):
    return torch.zeros(x[0].item()), torch.zeros((2, x[1].item()), dtype=torch.int64), x + 1


def filled(x):
    n = x[0].item()
    return torch.full((n,), 2.0), torch.full((2, 2), n), torch.ones(n, 3, device=x.device).sum(0), x.new_zeros(n + 1)


def counted(x):
    n = int(x[0])
    return torch.arange(n) * 2, torch.arange(1, n + 2), torch.eye(n).sum(), torch.zeros(n, n * 2).shape[1:]


def sliced(x):
    n = x[0].item()
    return x[:n] * 2, x[n:].sum(), x.view(-1)[1:n], x.view(2, 3)[:, :n] + 1, x.narrow(0, 0, n)


def spread(x):
    n = x[0].item()
    return x.expand(n, len(x)).sum(0), x.repeat(n).sum(), x.roll(n, 0), functional.pad(x, (0, n)), x.topk(n).values.sum()


def told_to_be_right(x):
    n = x[0].item()
    torch._check(n >= 0)
    torch._check(n <= len(x), lambda: f"only {len(x)}")
    torch._check_value(n != 3, "no three")
    return x[:n], torch.zeros(n)


def refused(x):
    n = x[0].item()
    if n < 0:
        raise ValueError("negative")
    assert n != 5, "five"
    return torch.ones(n), x * 2


def computed(x):
    n, m = x[0].item(), x[1].item()
    q = n * 2 + 1, n // 2, n % 2, -n, abs(n), float(n), n > 3, n == m, n >= m, min(n, 3), max(m, n, 0), divmod(n, 3), n * m
    return q, x, torch.zeros(max(n, 0) // 2 + 1)


def lengths(x):
    y = x[x > 2]
    return torch.zeros(len(y)), torch.arange(y.size(0)) + y, y.numel(), x.new_ones(y.shape), y * 2


def shapes(x):
    y = x.view(2, 3)[x.view(2, 3)[:, 0] > 1]
    rows, columns = y.shape
    return y.shape, y.size(), rows + columns, type(y.shape), y.shape[1:], x * rows


def scattered(x):
    n = x.max().item() + 1
    return torch.zeros(n).scatter(0, x.abs(), 1.0), functional.one_hot(x.abs(), n + 9)


def reshaped(x):
    n = x[0].item()
    return torch.zeros(n).view(n), torch.zeros(n) + torch.ones(n), torch.ones(n, 4) @ torch.ones(4, 2)


USES = [zeros, filled, counted, sliced, spread, told_to_be_right, refused, computed, lengths, shapes, scattered, reshaped]


class IntegersOfContents(unittest.TestCase):
    maxDiff = None

    def check(self, **options):
        for use in USES:
            slotrt.reset()
            compiled = slotrt.compile(use, fullgraph=True, **options)
            for contents in CONTENTS:
                with self.subTest(use=use.__name__, contents=contents):
                    self.assertEqual(outcome(compiled, vector(*contents)), outcome(use, vector(*contents)))
            with self.subTest(use=use.__name__):
                self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_one_graph(self):
        self.check()

    def test_one_graph_with_a_backend(self):
        self.check(backend="aot_eager")

    def test_with_sizes_that_change(self):
        def use(x):
            n = x[0].item()
            return x[:n], torch.zeros(n, len(x)), x.expand(n, len(x)).sum(0), torch.arange(n + len(x))

        compiled = slotrt.compile(use, fullgraph=True)
        slotrt.reset()
        for length in range(2, 12):
            x = torch.arange(2, 2 + length)
            self.assertEqual(outcome(compiled, x), outcome(use, x))
        self.assertLessEqual(slotrt.stats()["frames_compiled"], 2)

    def test_changes_before_it_fails(self):
        """What the function has changed when an operation refuses a size is changed once."""

        def use(x, log):
            log.append(len(x))
            x.add_(1)
            n = x[0].item()
            log.append("sized")
            return torch.zeros(n - 4)

        compiled = slotrt.compile(use)
        for first in (5, 1, 7, 0):
            told = []
            for function in (use, compiled):
                x, log = vector(first, 2), []
                told.append((outcome(function, x, log), x.tolist(), log))
            self.assertEqual(told[0], told[1])

    def test_views_share_memory(self):
        def use(x):
            part = x[1 : x[0].item()]
            x.mul_(2)
            return part, part + 1

        compiled = slotrt.compile(use)
        for first in (3, 2, 5, 1):
            x, other = vector(first, 2, 3, 4, 5), vector(first, 2, 3, 4, 5)
            (part, more), (plain, plain_more) = compiled(x), use(other)
            self.assertEqual(shown((part, more)), shown((plain, plain_more)))
            part.add_(10)
            plain.add_(10)
            self.assertEqual(x.tolist(), other.tolist())

    def test_gradients_flow(self):
        def use(x, k):
            n = k[0].item()
            return (x[:n] * 2).sum() + x.expand(n, 4).sum() + functional.pad(x, (0, n)).sin().sum()

        compiled = slotrt.compile(use, fullgraph=True)
        for count in (2, 3, 1):
            grads = []
            for function in (use, compiled):
                x = torch.arange(4.0).requires_grad_()
                function(x, vector(count)).backward()
                grads.append(x.grad.tolist())
            self.assertEqual(grads[0], grads[1])

    def test_loops_until_it_raises(self):
        """A condition of a loop is no check of the graph, even if nothing but an error comes after the loop."""

        def counts(x):
            n = x[0].item()
            while n > 0:
                n = n - 1
            raise ValueError(f"left {n}")

        def subtracts(x):
            while x.sum() > 0:
                x = x - 1
            raise ValueError(f"left {x.tolist()}")

        def each(x):
            n = x[0].item()
            for number in range(3):
                assert n > number, f"at {number}"
            return torch.zeros(n)

        for use in (counts, subtracts, each):
            slotrt.reset()
            compiled = slotrt.compile(use)
            for contents in ((3, 1), (2, 1), (0, 0), (5, 0)):
                self.assertEqual(outcome(compiled, vector(*contents)), outcome(use, vector(*contents)))
            self.assertEqual(slotrt.stats()["frames_skipped"], 0)

    def test_branches_break(self):
        def use(x):
            n = x[0].item()
            return x.sum() if n > 2 else torch.zeros(n)

        compiled = slotrt.compile(use)
        for contents in CONTENTS:
            self.assertEqual(outcome(compiled, vector(*contents)), outcome(use, vector(*contents)))
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(use, fullgraph=True)(vector(3, 1))


if __name__ == "__main__":
    unittest.main()
