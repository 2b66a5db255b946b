"""Programs that `torch.export` gives are called as modules are: they check their arguments, and their operations are part of the graph.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn


def rows(number=4):
    return torch.arange(3.0 * number).reshape(number, 3) / 9 - 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)

    def forward(self, x):
        y = self.norm(self.first(x)).relu()
        return {"result": self.last(y), "middle": (y, y.sum())}


def exported(**options):
    return torch.export.export(Net(), (rows(),), **options).module()


def of_one_size():
    net = exported()
    return net, lambda number: [rows().requires_grad_()], [net]


def within_a_function():
    net = exported()

    def function(x):
        result = net(x * 2)
        return result["result"] + 1, result["middle"]

    return function, lambda number: [rows()], [net]


def of_many_sizes():
    net = exported(dynamic_shapes=({0: torch.export.Dim("rows", min=2, max=64)},))
    return (lambda x: net(x)["result"] * 2), lambda number: [rows(4 + number)], [net]


def without_checks():
    net = torch.export.export(Net(), (rows(),)).module(check_guards=False)
    return (lambda x: net(x)["result"] * 2), lambda number: [rows()], [net]


def of_what_does_not_fit():
    net = exported()

    def function(x):
        try:
            return net(x * 2)
        except (AssertionError, RuntimeError, ValueError) as error:
            return type(error).__name__, str(error)

    return function, lambda number: [rows(4 + number)], []


def in_a_context_of_the_compiler():
    limited = torch._dynamo.dont_skip_tracing(lambda x: x.sin() + 1)
    return (lambda x: limited(x * 2) + 1), lambda number: [rows()], []


ROWS = [
    (of_one_size, 0),
    (within_a_function, 0),
    (of_many_sizes, 0),
    (without_checks, 0),
    (of_what_does_not_fit, None),
    (in_a_context_of_the_compiler, 0),
]


class UsesOfExportedPrograms(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


if __name__ == "__main__":
    unittest.main()
