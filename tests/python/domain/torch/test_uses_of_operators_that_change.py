"""Operators of the program that change some operands and give something new beside: one node of the graph, whose result is the new thing. So do
functions with gradients of their own that may be gone back through once.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import torch
import torch_programs


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


@torch.library.custom_op("slotrt_changes::scaled_to", mutates_args={"out"})
def scaled_to(x: torch.Tensor, out: torch.Tensor, factor: float) -> torch.Tensor:
    out.copy_(x * factor)
    return x.sum().reshape(1)


@scaled_to.register_fake
def _(x, out, factor):
    return x.new_empty(1)


@torch.library.custom_op("slotrt_changes::counted", mutates_args={"counts"})
def counted(x: torch.Tensor, counts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    counts.add_(1)
    return x + counts, x - counts


@counted.register_fake
def _(x, counts):
    return torch.empty_like(x), torch.empty_like(x)


@torch.library.custom_op("slotrt_changes::all_doubled", mutates_args={"tensors"})
def all_doubled(tensors: list[torch.Tensor], factor: int) -> list[torch.Tensor]:
    for tensor in tensors:
        tensor.mul_(factor)
    return [tensor.clone() for tensor in tensors]


@all_doubled.register_fake
def _(tensors, factor):
    return [torch.empty_like(tensor) for tensor in tensors]


def into_another(x):
    out = torch.empty_like(x)
    total = scaled_to(x, out, 3.0)
    return out * total, total


def into_a_view(x):
    out = torch.zeros(4, 3)
    total = scaled_to(x, out[1:3], 2.0)
    return out, out.sum(0) + total


def into_an_argument(x, counts):
    above, below = counted(x, counts)
    again, _ = torch.ops.slotrt_changes.counted(above, counts)
    return above * counts, below, again


def of_a_list(x):
    one, other = x.clone(), x + 1
    copies = all_doubled([one, other], 2)
    return one + copies[1], other, len(copies)


def largest_to(x):
    values, indices = torch.empty(2), torch.empty(2, dtype=torch.long)
    given = torch.max(x, 1, out=(values, indices))
    return values * 2, indices, given.values is values


def vectors_to(x):
    values, vectors, inverse, root = torch.empty(2), torch.empty(2, 2), torch.empty(2, 2), torch.empty(2, 2)
    matrix = x @ x.T + torch.eye(2)
    torch.linalg.eigh(matrix, out=(values, vectors))
    torch.inverse(matrix, out=inverse)
    torch.linalg.cholesky(matrix, out=root)
    return values, vectors.abs(), inverse, root


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 3 * x * x * gradient


def cubed(x):
    return Cube.apply(x) * 2


ROWS = [
    (of(into_another), 0),
    (of(into_a_view), 0),
    (of(into_an_argument, matrix, matrix), 0),
    (of(of_a_list), 0),
    (of(largest_to), 0),
    (of(vectors_to), 0),
    (of(cubed, leaf), 0),
]


class UsesOfOperatorsThatChange(torch_programs.ThreeWays, unittest.TestCase):
    rows, counted = ROWS, True


if __name__ == "__main__":
    unittest.main()
