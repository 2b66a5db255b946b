"""What programs do with the state of the generator of random numbers: they read it, put it back, and set it by a number.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import torch
import torch_programs
from torch import nn


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, state=()):
    return lambda: (function, lambda number: [matrix()], state)


def seeded(x):
    given = torch.manual_seed(3)
    y = x * torch.rand(2, 3)
    torch.manual_seed(-5)
    return y + torch.randn(3), given is torch.default_generator


def read_and_put_back(x):
    state = torch.get_rng_state()
    y = torch.rand(2, 3)
    torch.set_rng_state(state)
    return x * y + torch.rand(2, 3), state.dtype, state.sum()


def forked(x):
    y = torch.rand(3)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        z = torch.rand(2, 3)
    return x + y + z + torch.rand(2, 3)


def forked_and_raised(x):
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            y = torch.rand(3)
            raise ValueError("within")
    except ValueError as error:
        return x + y + torch.rand(3), str(error)


def refused(x):
    try:
        torch.set_rng_state(x)
    except TypeError as error:
        return type(error).__name__, torch.rand(1)


def refused_seed(x):
    try:
        torch.manual_seed(2**70)
    except (RuntimeError, OverflowError, ValueError) as error:
        return type(error).__name__, torch.rand(1)


def graph_that_raises(x):
    torch.manual_seed(1)
    y = torch.rand(2, 2)
    try:
        return torch.linalg.cholesky(y - 9)
    except RuntimeError:
        return x + torch.rand(3)


def dropout():
    module = nn.Dropout(0.5)

    def f(x):
        torch.manual_seed(7)
        return module(x) + module(x)

    return f, lambda number: [matrix()], [module]


def initialised(x):
    w = torch.empty(3, 3)
    nn.init.kaiming_uniform_(w)
    nn.init.trunc_normal_(w, std=0.02)
    return x @ w


class Noisy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * torch.rand(())

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class NoisyInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(torch.rand(()))

    @staticmethod
    def backward(ctx, gradient):
        return gradient


@torch.library.custom_op("slotrt_random::noisy", mutates_args=())
def noisy(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rand(())


@noisy.register_fake
def _(x):
    return torch.empty_like(x) * torch.rand(())


@torch.library.custom_op("slotrt_random::noisy_in_place", mutates_args={"x"})
def noisy_in_place(x: torch.Tensor) -> None:
    x.mul_(torch.rand(()))


@noisy_in_place.register_fake
def _(x):
    torch.rand(())


def drawn_by_functions(x):
    y = x * 2
    NoisyInPlace.apply(y)
    return Noisy.apply(x), torch.rand(2), y


def drawn_by_operators(x):
    y = x * 2
    noisy_in_place(y)
    return noisy(x), torch.rand(2), y


ROWS = [
    (of(drawn_by_functions), 0),
    (of(drawn_by_operators), 0),
    (of(seeded), 2),
    (of(read_and_put_back), 0),
    (of(forked), 0),
    (of(forked_and_raised), 8),
    (of(refused), None),
    (of(refused_seed), None),
    (of(graph_that_raises), 1),
    (dropout, 1),
    (of(initialised), 1),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


if __name__ == "__main__":
    unittest.main()
