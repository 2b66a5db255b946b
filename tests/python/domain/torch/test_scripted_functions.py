"""Functions that `torch.jit.script` has made are called as one in the graph, unless they do more than compute.

A row is a use and how many graph breaks its calls have at most."""

import unittest
import warnings

import torch
import torch_programs
from torch import nn

warnings.simplefilter("ignore", FutureWarning)


@torch.jit.script
def scripted(x, times: int):
    for _ in range(times):
        x = x * 2
    return x + 1, x.view(-1)


@torch.jit.script
def scripted_with_weight(x, weight):
    return (x * weight).relu() + weight


@torch.jit.script
def scripted_change(x):
    x.add_(1)
    return x * 2


@torch.jit.script
def scripted_random(x):
    return torch.rand_like(x) + x


@torch.jit.script
def scripted_branch(x):
    if bool(x.sum() > 3):
        return x * 2
    return x


@torch.jit.script
def scripted_print(x):
    print("printed")
    return x * 2


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


def calls(x):
    first, view = scripted(x * 1, 3)
    view.mul_(2)
    return first * 2, view, scripted_random(x) * 2


def with_weight():
    weight = nn.Parameter(torch.ones(3))
    return lambda x: scripted_with_weight(x, weight).sum() * 2, lambda number: [matrix()], [lambda: weight.grad]


def changed(x):
    return scripted_change(x), x * 2


def failing(x):
    x.add_(1)
    y = scripted_random(x)
    try:
        return torch.linalg.cholesky(y[:, :2] - 90)
    except RuntimeError:
        return y, x


def of_many_sizes():
    return lambda x: scripted(x * 2, 2), lambda number: [torch.ones(number + 2, 3)], []


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = [
        (of(calls), 0),
        (with_weight, 0),
        (of(changed), 1),
        (of(failing), None),
        (of(lambda x: scripted_branch(x * 2) + 1), 1),
        (of(lambda x: scripted_print(x * 2) + 1), 1),
        (of_many_sizes, 0),
    ]


if __name__ == "__main__":
    unittest.main()
