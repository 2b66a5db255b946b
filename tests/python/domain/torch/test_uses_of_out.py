"""`out=`: the tensor that gets a result keeps its layout, whatever compiled the graph."""

import unittest

import torch
import torch_programs


def matrix(number):
    return [torch.arange(1.0, 1 + 3 * (2 + number)).reshape(2 + number, 3) / 4]


def use(function, arguments=matrix):
    return lambda: (function, arguments, [])


def transposed(x):
    y = torch.empty(3, x.shape[0]).t()
    torch.add(x, 1, out=y)
    return y, y.stride(), (y + 1).stride()


def permuted(x):
    y = torch.empty(3, 2, x.shape[0]).permute(2, 1, 0)
    torch.stack([x, x + 1], 1, out=y)
    return y, y.stride()


def every_other(x):
    y = torch.zeros(x.shape[0], 6)
    torch.mul(x, 2, out=y[:, ::2])
    return y * 2


def through_a_view(x):
    y = torch.zeros(3, x.shape[0])
    torch.add(x, x, out=y.T)
    return y, y.T.stride()


def product(x):
    y = torch.empty(x.shape[0], x.shape[0]).t()
    z = torch.mm(x, x.T, out=y)
    return z is y, z.stride(), y + 1


def channels_last(x):
    image = x.T.reshape(1, 3, -1, 1).expand(1, 3, x.shape[0], 2)
    y = torch.empty(1, 3, x.shape[0], 2, memory_format=torch.channels_last)
    torch.sin(image, out=y)
    return y


def from_outside(x, y):
    torch.add(x, 1, out=y)
    return y.stride(), y * 2


def as_it_lies(x):
    y = torch.zeros(10, 3)
    torch.cumsum(x, 0, out=y.narrow(0, 2, x.shape[0]))
    return y


def with_transposed(number):
    return [*matrix(number), torch.zeros(3, 2 + number).t()]


class Results(torch_programs.ThreeWays, unittest.TestCase):
    functions = transposed, permuted, every_other, through_a_view, product, channels_last, as_it_lies
    rows = [*((use(function), 0) for function in functions), (use(from_outside, with_transposed), 0)]


if __name__ == "__main__":
    unittest.main()
