"""Graphs, and parts of some, of which PyTorch's compilers would make something else: they run as they were recorded.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.autograd import forward_ad
from torch.nn import functional as F


def matrix():
    return torch.arange(16.0).reshape(4, 4) / 8 - 1


VIEWS = [
    lambda x: [x[0], x[:, 0]],
    lambda x: [x.t(), x],
    lambda x: [x, x[1:]],
    lambda x: [x[:2], x[1:3]],
    lambda x: [x, x.detach()],
    lambda x: [x[::2], x[1::2]],
]


def of_views(function, breaks=0):
    """Uses of two tensors in the same memory."""
    return [(lambda views=views: (function, lambda number: views(matrix() + number), []), breaks) for views in VIEWS]


def item_of_another(a, b):
    b.mul_(2)
    return b, a.select(0, 1), 3 - a


def drawn(a, b):
    nn.init.uniform_(a)
    return b.narrow(0, 0, 1)


def raises_after_a_change(a, b):
    try:
        F.relu(b, inplace=True)
        return a[1:] + torch.ones(7, 7)
    except RuntimeError as error:
        return type(error).__name__, b * 1


def of(function, make=matrix):
    return lambda: (function, lambda number: [make() + number], [])


def broken_in_a_level(x):
    with forward_ad.dual_level():
        y = x * 2
        slotrt.graph_break()
        z = y.detach().mul_(2)
    return z


def begun_and_broken_twice(x):
    y = x * 2
    with forward_ad.dual_level():
        slotrt.graph_break()
        dual = forward_ad.make_dual(y, y + 1)
        slotrt.graph_break()
        found = forward_ad.unpack_dual(dual * dual)
    return found.tangent + 1


def forward_in_one_piece(x):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x + 1)
        squared = dual * dual
        return forward_ad.unpack_dual(squared).tangent * 2, squared + 1


def raises_in_a_level(x):
    kept = []

    def inner(values):
        kept.append(values[0] * 2)
        return (values**2).sum()

    try:
        torch.func.grad(inner)([x, x])
    except TypeError as error:
        return str(error), x * 2


def of_a_level_and_more(x):
    """What is left of values of a level, beside a call that no backend compiles."""
    numbers = torch.from_numpy(x.numpy() + 1)
    return torch.func.jacrev(lambda y: (y**2).sum(0))(x * 1) + 1, numbers * 2


ROWS = [
    *of_views(item_of_another),
    *of_views(drawn),
    *of_views(raises_after_a_change, 1),
    (of(broken_in_a_level), 6),
    (of(begun_and_broken_twice), 12),
    (of(forward_in_one_piece), 0),
    (of(raises_in_a_level), None),
    (of(of_a_level_and_more), None),
]


class MistakenParts(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_no_level_is_left(self):
        compiled = slotrt.compile(broken_in_a_level, backend="aot_eager")
        for _ in range(2):
            compiled(matrix())
        with forward_ad.dual_level() as level:
            self.assertEqual(level, 0)

    def test_other_views_at_each_call(self):
        for function in (item_of_another, drawn):
            compiled = slotrt.compile(function, backend="aot_eager")
            for views in (lambda x: [x, x + 1], *VIEWS, lambda x: [x * 2, x], *reversed(VIEWS)):
                plain, given = views(matrix()), views(matrix())
                torch.manual_seed(0)
                expected = torch_programs.shown(function(*plain))
                torch.manual_seed(0)
                self.assertEqual(torch_programs.shown(compiled(*given)), expected)
                self.assertEqual(torch_programs.shown(given), torch_programs.shown(plain))

    def test_no_class_hears_of_it(self):
        heard = []

        class Told(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                heard.append(function.__name__)
                return super().__torch_function__(function, types, args, kwargs or {})

        def f(x):
            x.as_subclass(Told).as_subclass(torch.Tensor).sum().backward()
            told = x.detach().as_subclass(Told) * 2
            return told.as_subclass(torch.Tensor) + 1

        for backend in (None, lambda graph, inputs: graph, "aot_eager"):
            compiled = f if backend is None else slotrt.compile(f, backend=backend)
            for _ in range(2):
                heard.clear()
                compiled(matrix().requires_grad_())
                self.assertEqual(heard, ["mul"])


if __name__ == "__main__":
    unittest.main()
