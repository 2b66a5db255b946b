"""Functions with gradients of their own that are called with lists, or within `vmap`, where nothing needs gradients: what they do is in the graph.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs

SEEN = []


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers):
    def use():
        SEEN.clear()
        return function, lambda number: [make() for make in makers or (matrix,)], [lambda: list(SEEN)]

    return use


class Picked(torch.autograd.Function):
    """Items, by a list of indices; `setup_context` is apart."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, indices):
        return x[tuple(indices)]

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, indices = inputs
        ctx.shape = x.shape
        ctx.save_for_backward(*indices)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.new_zeros(ctx.shape).index_put(ctx.saved_tensors, gradient, accumulate=True), None


class Summed(torch.autograd.Function):
    """The sum of a list, which it looks at."""

    @staticmethod
    def forward(ctx, x, others):
        SEEN.append((len(others), ctx.needs_input_grad, torch.is_grad_enabled()))
        return x + sum(others)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2, None


class Emptied(Summed):
    @staticmethod
    def forward(ctx, x, others):
        return x + others.pop()


class Same(Summed):
    @staticmethod
    def forward(ctx, x, others):
        return x


class Changed(Summed):
    @staticmethod
    def forward(ctx, x, others):
        ctx.mark_dirty(x)
        return x.add_(others[0])


class Refused(Summed):
    @staticmethod
    def forward(ctx, x, others):
        raise ValueError(f"{len(others)} others")


def picked(x):
    return Picked.apply(x, [torch.tensor([1, 0]), torch.tensor([2, 2])]) * 2


def summed(x):
    return Summed.apply(x, [x, x * 2]), torch.is_grad_enabled()


def summed_with_gradients(x, y):
    return Summed.apply(x.sin(), [y]), Summed.apply(y, [x * 2])


def emptied(x):
    others = [x, x * 2]
    return Emptied.apply(x, others) + len(others)


def same(x):
    y = Same.apply(x, [x])
    return y, y is x, y + 1


def changed(x):
    y = Changed.apply(x, [x * 2])
    return y + 1


def refused(x):
    try:
        return Refused.apply(x, [x])
    except ValueError as error:
        return x * 2, str(error), torch.is_grad_enabled()


def mapped(x):
    rows = torch.arange(6).reshape(2, 3)
    return torch.func.vmap(lambda row, at: Picked.apply(row, [at]))(rows, torch.tensor([1, 2])) + x[:, 0]


def mapped_with_gradients(x):
    return torch.func.vmap(lambda row, at: Picked.apply(row, [at]))(x.sin(), torch.tensor([1, 2]))


def differentiated(x):
    return torch.func.grad(lambda x: Picked.apply(x, [torch.tensor([1]), torch.tensor([0])]).sum())(x)


def leaf():
    return matrix().requires_grad_()


ROWS = [
    (of(picked), 0),
    (of(picked, leaf), None),
    (of(summed), 0),
    (of(summed_with_gradients, leaf, matrix), None),
    (of(emptied), None),
    (of(same), None),
    (of(changed), None),
    (of(refused), 0),
    (of(mapped), 0),
    (of(mapped, leaf), 0),
    (of(mapped_with_gradients, leaf), None),
    (of(differentiated), None),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_with_a_backend_there_are_no_more_breaks(self):
        # Compilers take an index without dimensions for a number.
        rows = [(use, breaks if use()[0] is not mapped else 1) for use, breaks in ROWS]
        torch_programs.check(self, rows, slotrt.compile(backend="aot_eager"), counted=True)


if __name__ == "__main__":
    unittest.main()
