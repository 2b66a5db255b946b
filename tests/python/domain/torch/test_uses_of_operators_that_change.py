"""Operators of the program that change some operands and give something new beside: one node of the graph, whose result is the new thing. So do
functions with gradients of their own that may be gone back through once, or that change arguments; operators may give numbers, too.

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


class Added(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        ctx.save_for_backward(y)
        return x.add_(y)

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return gradient * y, gradient * 3


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(x, factor):
        x.mul_(factor)
        return x, x.sum(0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])

    @staticmethod
    def backward(ctx, gradient, other):
        return gradient * 2 + other, None


class Unmarked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.mul_(2) + 1

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def in_place(x, y):
    z = x * 2
    added = Added.apply(z, y)
    return added is z, added * 2, z


def in_place_of_a_view(x, y):
    z = x * 2
    row = z[0]
    return Added.apply(row, y[0]), z, row


def in_place_beside(x, y):
    z = x * 2
    same, total = Scaled.apply(z, 3.0)
    return same is z, total * 2, z + 1


def in_place_unmarked(x, y):
    z = x * 2
    return Unmarked.apply(z), z


def in_place_of_a_leaf(x, y):
    try:
        return Added.apply(x, y)
    except RuntimeError as error:
        return str(error), y * 2


def comes_to_require_gradients(x, y):
    z = x.detach() * 2
    added = Added.apply(z, y)
    return added is z, z.requires_grad, added * 2


def in_place_of_an_argument(x, y):
    return Added.apply(x, y) is x, x * 2


@torch.library.custom_op("slotrt_changes::told", mutates_args=())
def told(x: torch.Tensor, factor: int) -> tuple[torch.Tensor, int, float]:
    return x * factor, int(x.sum()), float(x.max())


@told.register_fake
def _(x, factor):
    return torch.empty_like(x), 1, 0.0


@torch.library.custom_op("slotrt_changes::whole", mutates_args=())
def whole(x: torch.Tensor) -> int:
    return int(x.sum())


@whole.register_fake
def _(x):
    return 7


@torch.library.custom_op("slotrt_changes::tallied", mutates_args={"counts"})
def tallied(x: torch.Tensor, counts: torch.Tensor) -> tuple[torch.Tensor, int]:
    counts.add_(1)
    return x * 2, int(counts.sum())


@tallied.register_fake
def _(x, counts):
    return torch.empty_like(x), 0


def changed_with_a_number(x, counts):
    y, count = tallied(x, counts)
    return y + count, count, counts * 2


def changed_and_raised(x, y):
    Added.apply(x, y)
    try:
        return torch.linalg.cholesky(y @ y.T - 50)
    except RuntimeError:
        return x * 1, y


def with_numbers(x):
    y, count, greatest = told(x, 2)
    return y * count, count, y + greatest, torch.ops.slotrt_changes.whole(x) + 1


def by_a_number(x):
    y, count, _ = told(x, 2)
    return (y * 2 if count > 2 else y), list(range(count)), x[: whole(x) - 4]


ROWS = [
    (of(in_place, leaf, leaf), 0),
    (of(in_place, matrix, matrix), 0),
    (of(in_place_of_a_view, leaf, leaf), 0),
    (of(in_place_of_a_view, matrix, matrix), 0),
    (of(in_place_beside, leaf, leaf), 0),
    (of(in_place_unmarked, leaf, leaf), 0),
    (of(in_place_of_a_leaf, leaf, leaf), None),
    (of(comes_to_require_gradients, leaf, leaf), None),
    (of(comes_to_require_gradients, matrix, leaf), None),
    (of(in_place_of_an_argument, matrix, matrix), 0),
    (of(changed_with_a_number, matrix, matrix), 0),
    (of(changed_and_raised, matrix, matrix), 0),
    (of(with_numbers), 0),
    (of(by_a_number), None),
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
