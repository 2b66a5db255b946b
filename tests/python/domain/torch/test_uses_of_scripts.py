"""What scripts have around tensors: logs, locks, classes that count, members of enumerations as numbers, hooks that are removed again.

A row is a use and how many graph breaks its calls have at most."""

import enum
import logging
import threading
import unittest

import slotrt
import torch
import torch_programs
from torch import nn


class Dim(enum.IntEnum):
    ROWS = 0
    COLUMNS = 1


class Kind(enum.IntFlag):
    ONE = 1
    TWO = 2


class Number(int):
    """What C takes is the number."""

    def __index__(self):
        return 0


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


def dims(x):
    rows, columns = Dim.ROWS, Dim.COLUMNS
    return x.sum(rows), x.sum(dim=columns), torch.cat([x, x], columns), x.softmax(dim=columns), x.size(columns)


def members_as_numbers(x):
    one, two = Kind.ONE, Kind.TWO
    made = torch.full((two, one), two), torch.tensor(one), torch.tensor([one, two | one]), x.new_zeros(two, two)
    return made, x + one, x * two, two - x, x[one], x[:, one:], x.reshape(two + one, -1), (x > one).any()


def own_numbers(x):
    number = Number(1)
    return x[number], x.sum(number), x + number, torch.ones(number, 2)


def set_by_member(x):
    x[Dim.COLUMNS] = Dim.COLUMNS
    x[:, Dim.ROWS] += Kind.TWO
    return x.transpose(Dim.ROWS, Dim.COLUMNS)


def logs():
    log, kept = logging.Logger("tests", "INFO"), []

    class Keeps(logging.Handler):
        def emit(self, record):
            kept.append((record.getMessage(), record.funcName))

    log.addHandler(Keeps())

    def function(x):
        loss = x.mean()
        log.info("loss %.3f", loss)
        log.debug("nothing %s", x)
        return loss * 2

    return function, lambda number: [matrix() + number], [lambda: kept]


def locks():
    lock = threading.RLock()

    def function(x):
        with lock:
            total = x.sum()
            if total > 3:
                x = x * 2
        return x + 1

    return function, lambda number: [matrix() + number], []


def counting():
    class Layer(nn.Module):
        made, scale = 0, 2.0

        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 2)

        def forward(self, x):
            return self.linear(x) * self.scale

    model = Layer()

    def arguments(number):
        Layer.made += 1
        return [matrix()]

    return model, arguments, [model, lambda: Layer.made]


def hooks():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))

    def function(x):
        handles = [weight.register_hook(lambda gradient: gradient * 0.5) for weight in model.parameters()]
        result = model(x).sum()
        result.backward()
        for handle in handles:
            handle.remove()
        return result.detach()

    return function, lambda number: [matrix() + number], [model]


class Scripts(torch_programs.ThreeWays, unittest.TestCase):
    rows = [
        (of(dims), 0),
        (of(members_as_numbers), 0),
        (of(own_numbers), 1),
        (of(set_by_member), 0),
        (logs, 3),
        (locks, 1),
        (counting, 0),
        (hooks, 3),
    ]
    not_there = ()

    def test_nothing_is_traced_at_each_call(self):
        for use, most in ((logs, 1), (locks, 1), (counting, 0), (hooks, 1)):
            with self.subTest(use=use.__name__):
                slotrt.reset()
                torch_programs.run(use, slotrt.compile)
                torch_programs.CALLS, calls = 8, torch_programs.CALLS
                try:
                    slotrt.reset()
                    torch_programs.run(use, slotrt.compile)
                finally:
                    torch_programs.CALLS = calls
                self.assertLessEqual(slotrt.stats()["recompiles"], most)


if __name__ == "__main__":
    unittest.main()
