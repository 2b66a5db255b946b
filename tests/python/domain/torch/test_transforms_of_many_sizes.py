"""Transforms of functions over tensors whose sizes change from call to call: results are eager's, two traces serve all sizes but zero and one."""

import unittest
import warnings

import slotrt
import torch
from torch import func, nn
from torch.nn import functional as F

torch.manual_seed(0)
NET = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
SIZES = 3, 5, 2, 8, 7, 12


def wave(a):
    return a.sin() * a


def total(a):
    return wave(a).sum()


def seen(a):
    """What the transformed function sees."""
    return torch.zeros(a.shape[0]) + a.stride(0) * a.numel() + len(a) + a.is_contiguous()


def loss(parameters, row):
    return func.functional_call(NET, parameters, (row[None],)).sum()


def parameters():
    return {name: parameter.detach() for name, parameter in NET.named_parameters()}


def each_row(x):
    return torch.vmap(lambda row: row * 2 + 1)(x)


def each_column(x):
    return torch.vmap(lambda column: wave(column) - column.mean(), in_dims=1, out_dims=1)(x)


def with_one_for_all(x):
    return torch.vmap(lambda row, other: row @ other, in_dims=(0, None))(x, x.t())


def of_pairs(x):
    return torch.vmap(torch.vmap(torch.dot, in_dims=(None, 0)), in_dims=(0, None))(x, x)


def what_is_seen(x):
    return torch.vmap(seen)(x), torch.vmap(seen, in_dims=1)(x), func.grad(lambda a: (a * seen(a)[0]).sum())(x)


def views(x):
    return torch.vmap(lambda row: row.flip(0).unfold(0, 2, 1).sum(1), in_dims=1)(x)


def nothing_of_the_argument(x):
    return torch.vmap(lambda row: torch.arange(3.0))(x)


def joined(x):
    return torch.vmap(lambda row: torch.stack([row, row * 2]).reshape(-1))(x * 2).sum(1) + x.shape[0]


def random(x):
    torch.manual_seed(3)
    return torch.vmap(lambda row: row + torch.rand(3), randomness="different")(x)


def gradients(x):
    n = x.shape[0]
    return func.grad(total)(x * n)[: n // 2 + 1] + n


def values_too(x):
    return func.grad_and_value(lambda a: (total(a), a * 2), has_aux=True)(x)


def of_two(x):
    return func.grad(lambda a, b: (a * b).sum() * a.shape[0], argnums=(0, 1))(x, x + 1)


def twice(x):
    return func.grad(lambda a: func.grad(total)(a).pow(2).sum())(x)


def backwards(x):
    y, back = func.vjp(wave, x)
    return y, back(torch.ones_like(y))[0] * y.shape[0]


def forwards(x):
    return func.jvp(wave, (x,), (torch.ones_like(x),))


def jacobians(x):
    return func.jacrev(lambda a: (a * a).sum(0))(x), func.jacfwd(lambda a: (a * a).sum(0))(x)


def of_each_sample(x):
    return torch.vmap(func.grad(loss), in_dims=(None, 0))(parameters(), x)


def of_the_mean(x):
    return func.grad(lambda p: F.mse_loss(func.functional_call(NET, p, (x,)), x[:, :1]))(parameters())


def in_place(x):
    def f(row):
        made = row.clone()
        made.mul_(2).add_(row)
        made[0] = 1
        return made

    return torch.vmap(f)(x)


def then_padded(x):
    made = torch.vmap(lambda row: row.softmax(0))(x)
    return F.pad(made, (0, 0, 0, 4 - made.shape[0] % 4)).view(-1, 4, 3).sum(1)


def branches(x):
    made = func.grad(total)(x)
    return made * 2 if made.shape[0] > 1 else made


ROWS = [
    each_row,
    each_column,
    with_one_for_all,
    of_pairs,
    what_is_seen,
    views,
    nothing_of_the_argument,
    joined,
    gradients,
    values_too,
    of_two,
    twice,
    backwards,
    jacobians,
    of_each_sample,
    of_the_mean,
    in_place,
    branches,
]

# How many samples there are decides what is drawn.
EACH = [random]


def told(value):
    if isinstance(value, torch.Tensor):
        return value.tolist(), value.stride(), value.requires_grad
    if isinstance(value, dict):
        return {name: told(item) for name, item in value.items()}
    return [told(item) for item in value] if isinstance(value, (tuple, list)) else value


class Transforms(unittest.TestCase):
    def compared(self, program, sizes=SIZES, **options):
        slotrt.reset()
        compiled = slotrt.compile(program, recompile_limit=16, **options)
        for size in sizes:
            x = torch.arange(3.0 * size).view(size, 3).sin()
            with self.subTest(program=program.__name__, size=size, **options), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.assertEqual(told(compiled(x)), told(program(x)))
        return slotrt.stats()

    def test_two_traces(self):
        for program in ROWS:
            stats = self.compared(program)
            self.assertEqual((stats["frames_compiled"], stats["graph_breaks"]), (2, 0), program.__name__)

    def test_sizes_that_are_computed(self):
        # Of two rows there are as many as are taken away.
        stats = self.compared(then_padded)
        self.assertEqual((stats["frames_compiled"], stats["graph_breaks"]), (3, 0))

    def test_forwards(self):
        # PyTorch warns once when it loads what that needs.
        forwards(torch.ones(2, 3))
        for program in (forwards, jacobians):
            stats = self.compared(program)
            self.assertEqual((stats["frames_compiled"], stats["graph_breaks"]), (2, 0), program.__name__)

    def test_sizes_of_zero_and_one(self):
        for program in (each_row, gradients, of_each_sample, joined):
            self.compared(program, (4, 1, 6, 1, 5))
        for program in (gradients, of_two):
            self.compared(program, (4, 0, 6, 0, 5))

    def test_each_size(self):
        for program in EACH:
            self.compared(program)

    def test_backends(self):
        for backend in ("eager", "aot_eager"):
            for program in (each_row, gradients, backwards, of_the_mean, of_each_sample):
                stats = self.compared(program, backend=backend)
                self.assertEqual((stats["frames_compiled"], stats["graph_breaks"]), (2, 0), program.__name__)


if __name__ == "__main__":
    unittest.main()
