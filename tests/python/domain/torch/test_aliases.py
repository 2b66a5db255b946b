"""Tensors that are one tensor in some calls, or share memory: eager execution and AOTAutograd give what plain PyTorch gives."""

import itertools
import unittest

import slotrt
import torch
from torch._dynamo.backends.debugging import aot_eager


def apart():
    return torch.arange(4.0), torch.arange(4.0) + 10


def one():
    x = torch.arange(4.0)
    return x, x


def view():
    x = torch.arange(4.0)
    return x, x[:]


def overlapping():
    whole = torch.arange(8.0)
    return whole[:4], whole[2:6]


def beside():
    whole = torch.arange(8.0)
    return whole[:4], whole[4:]


MAKE = (apart, one, view, overlapping, beside)


def branches(x, a, b, c):
    x = x + 1
    if a:
        x = x + 2
    x = x + 3
    if b:
        x = x + 4
    x = x + 5
    if c:
        x = x + 6
    return x + 7


class Aliases(unittest.TestCase):
    def traces(self, function, backend="eager", make=MAKE):
        """The function is called with each kind of operands, each first once; the most traces that it had."""
        most = 0
        for first in make:
            slotrt.reset()
            compiled = slotrt.compile(function, backend=backend)
            for operands in (first, *make, *make):
                mine, theirs = operands(), operands()
                self.assertEqual(self.called(compiled, mine), self.called(function, theirs), operands.__name__)
                self.assertEqual(repr(mine), repr(theirs), operands.__name__)
            most = max(most, slotrt.stats()["frames_compiled"])
        return most

    def called(self, function, given):
        try:
            return repr(function(*given))
        except RuntimeError as error:
            return str(error)

    def test_operands_that_are_read_need_no_guard(self):
        for backend in ("eager", aot_eager):
            self.assertEqual(self.traces(lambda a, b: a * b + a, backend), 1)
            self.assertEqual(self.traces(lambda a, b: (torch.cat([a, b]), [a, b][1]), backend), 1)

    def test_branches_on_two_tensors_need_a_trace_for_each_part(self):
        compiled, x = slotrt.compile(branches), torch.ones(3)
        slotrt.reset()
        for choice in itertools.product((torch.tensor([True]), torch.tensor([False])), repeat=3):
            self.assertTrue(torch.equal(compiled(x, *choice), branches(x, *choice)))
        self.assertEqual(slotrt.stats()["frames_compiled"], 7)

    def test_changes_in_place(self):
        def add(a, b):
            a.add_(1)
            return b * 2

        def store(a, b):
            a[0] = 7
            return b.sum(), a.sum()

        def part(a, b):
            a[0].mul_(3)
            a[1:].add_(b.sum())
            return a + b

        def both(a, b):
            a.view(-1).mul_(2)
            b.add_(a.sum())
            return a - b

        for function in (add, store, part, both):
            # The graph changes the tensors themselves.
            self.assertEqual(self.traces(function), 1, function)
            # A backend may rely on what shares memory: the graph is made for tensors apart, one tensor, a view, and parts that overlap.
            self.assertEqual(self.traces(function, aot_eager), 4, function)

    def test_only_what_the_graph_changes_is_guarded(self):
        def add(a, b):
            c = torch.zeros(4)
            c.add_(a)
            return c * b

        self.assertEqual(self.traces(add, aot_eager), 1)

    def test_identity(self):
        self.assertEqual(self.traces(lambda a, b: (a is b, a + 1)), 2)
        self.traces(lambda a, b: ({a: 1}.get(b), len({a, b}), a in [b]))

    def test_one_tensor_is_another_leaf_over_each_path(self):
        weight = torch.ones(4, requires_grad=True)

        def begins(a, b):
            b.requires_grad_()
            return a.requires_grad, (a * 1).requires_grad

        def chained(a, b):
            b.detach_().requires_grad_()
            a.unsqueeze_(0).requires_grad_()
            return a.requires_grad, b.requires_grad, b.float().requires_grad

        def multiplied(a, b):
            b.mul_(weight)
            return a.requires_grad, a.is_leaf, (a * 1).requires_grad

        def across_a_break(a, b):
            slotrt.graph_break()
            [a, b][1].requires_grad_()
            return a.requires_grad, a.detach().sum()

        for function in (begins, chained, multiplied, across_a_break):
            for backend in ("eager", aot_eager):
                self.traces(function, backend, (apart, one, beside))

    def test_a_parameter_that_two_layers_share(self):
        class Layers(torch.nn.Module):
            def __init__(self, tied):
                super().__init__()
                self.one, self.other = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
                if tied:
                    self.other.weight = self.one.weight

            def forward(self, x):
                return self.other(self.one(x))

        for backend in ("eager", aot_eager):
            for order in ((True, False), (False, True)):
                slotrt.reset()
                compiled = slotrt.compile(lambda module, x: module(x), backend=backend)
                for tied in order * 2:
                    module, x = Layers(tied), torch.rand(2, 3)
                    wanted = module(x)
                    gradients = torch.autograd.grad(wanted.sum(), list(module.parameters()))
                    got = compiled(module, x)
                    self.assertTrue(torch.equal(got, wanted))
                    for mine, theirs in zip(torch.autograd.grad(got.sum(), list(module.parameters())), gradients, strict=True):
                        self.assertTrue(torch.allclose(mine, theirs))


if __name__ == "__main__":
    unittest.main()
