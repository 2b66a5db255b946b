"""Tensors that get a result, by `out=` or in place, keep their layout and their kind of numbers, whatever compiled the graph."""

import unittest

import slotrt
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


def of_transposed(x):
    z = torch.add(x.t(), 1, out=torch.empty(3, x.shape[0]))
    return z, z.stride()


def with_transposed(number):
    return [*matrix(number), torch.zeros(3, 2 + number).t()]


class Results(torch_programs.ThreeWays, unittest.TestCase):
    functions = transposed, permuted, every_other, through_a_view, product, channels_last, as_it_lies, of_transposed
    rows = [*((use(function), 0) for function in functions), (use(from_outside, with_transposed), 0)]


def grown(x, factor):
    y = x.clone()
    y.mul_(factor)
    y *= factor
    return y.mul_(x * factor)


def outcome(function, *args):
    try:
        return function(*args).tolist()
    except RuntimeError as error:
        return str(error)


class Refused(unittest.TestCase):
    """Whole numbers take no others: PyTorch's kernels without contents do not ask."""

    def test_numbers_that_the_operand_does_not_hold(self):
        for backend in (None, lambda graph, inputs: graph, "aot_eager"):
            slotrt.reset()
            compiled, x = slotrt.compile(grown, backend=backend), torch.arange(6).reshape(2, 3)
            for factor in (2, 1.5, 3, True, 1j):
                with self.subTest(backend=backend, factor=factor):
                    self.assertEqual(outcome(compiled, x, factor), outcome(grown, x, factor))


if __name__ == "__main__":
    unittest.main()
