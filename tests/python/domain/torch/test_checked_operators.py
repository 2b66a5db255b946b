"""Operators that take functions, called with what they refuse, and with functions that raise: the program hears what it hears uncompiled."""

import unittest

import numpy
import slotrt
import torch
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as mapped
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop


def vector():
    return torch.ones(3)


def sine(x):
    return x.sin()


def cosine(x):
    return x.cos()


def absent(x, *_):
    return x.absent


def chosen(truth, operands=None):
    return lambda x: torch.cond(truth(x), sine, cosine, (x,) if operands is None else operands(x))


def below(x):
    return x.sum() < 9


TRUTHS = [True, 0, 3, 2.5, numpy.bool_(True), numpy.float32(1), numpy.float64(0), "text", None, (), torch.tensor([True])]

ROWS = [
    *(chosen(lambda _, truth=truth: truth) for truth in TRUTHS),
    chosen(lambda x: x > 0),
    chosen(lambda x: x.sum() > 0, lambda x: x),
    chosen(lambda x: x.sum() > 0, lambda x: (x.numpy(),)),
    chosen(lambda x: x.sum() > 0, lambda x: (3,)),
    chosen(lambda x: x.sum() > 0, lambda x: [{"x": x}]),
    chosen(lambda x: True, lambda x: (3,)),
    lambda x: torch.cond(x.sum() > 0, 3, 4, (x,)),
    lambda x: torch.cond(x.sum() > 0, sine, absent, (x,)),
    lambda x: while_loop(3, 4, (x,)),
    lambda x: while_loop(absent, lambda x: (x,), (x,)),
    lambda x: while_loop(below, lambda x: x + 1, x),
    lambda x: while_loop(below, lambda x: (x + 1,), (x,)),
    lambda x: scan(lambda carried, x: (absent(carried), x), torch.zeros(()), x),
    lambda x: scan(3, torch.zeros(()), x),
    lambda x: associative_scan(absent, x, 0, combine_mode="generic"),
    lambda x: mapped(absent, x),
    lambda x: mapped(3, x),
]


WEIGHT = torch.arange(9.0).reshape(3, 3).requires_grad_()


def of_an_outer_view(x):
    y = x * 2
    row = y[0]
    return torch.cond(x.sum() > 0, lambda a: row[:], lambda a: (a + row)[0], (x,)), y


# Functions that give views, and how many breaks there are: none where they are views of what the functions make.
VIEWS = [
    (lambda x: torch.cond(x.sum() > 0, lambda a: (a * 2).view(-1), lambda a: (a + 1).reshape(-1), (x,)), 0),
    (lambda x: torch.cond(x.sum() > 0, lambda a: a.view(-1), lambda a: (a + 1).view(-1), (x,)), 2),
    (lambda x: torch.cond(x.sum() > 0, lambda a: WEIGHT.t(), lambda a: (WEIGHT * 1).t(), (x,)), 2),
    (of_an_outer_view, 2),
    (lambda x: mapped(lambda row: [(row.sin() * WEIGHT).t(), row.cos()[None]], x), 0),
    (lambda x: mapped(lambda row: row.view(3, 1), x), 2),
    (lambda x: scan(lambda carried, row: ((carried + row).view(3), (carried * row).view(3, 1)), torch.zeros(3), x), 0),
    (lambda x: while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, (a * 2).t().t()), (torch.tensor(0), x)), 0),
]


def caught(function):
    def use(x):
        try:
            return function(x)
        except Exception as error:
            return type(error).__name__, str(error).split("\n")[0]

    return use


class CheckedOperators(unittest.TestCase):
    def test_what_a_program_hears(self):
        for index, function in enumerate(ROWS):
            with self.subTest(row=index):
                use = caught(function)
                self.assertEqual(repr(slotrt.compile(use)(vector())), repr(use(vector())))

    def test_functions_that_give_views(self):
        for index, (function, breaks) in enumerate(VIEWS):
            with self.subTest(row=index):
                slotrt.reset()
                use, compiled = caught(function), slotrt.compile(caught(function))
                for sign in (1, -1):
                    x = torch.arange(9.0).reshape(3, 3) * sign
                    self.assertEqual(repr(compiled(x.clone().requires_grad_())), repr(use(x.clone().requires_grad_())))
                self.assertLessEqual(slotrt.stats()["graph_breaks"], breaks)

    def test_what_they_compute_is_in_the_graph(self):
        for function in (chosen(lambda x: x.sum() > 0), lambda x: while_loop(below, lambda x: (x + 1,), (x,))):
            self.assertEqual(slotrt.explain(function)(vector()).breaks, 0)


if __name__ == "__main__":
    unittest.main()
