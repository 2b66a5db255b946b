"""What programs do with quantised tensors: they make them of others, and others of them.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import torch
import torch_programs


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def quantised():
    return torch.quantize_per_tensor(matrix(), 0.1, 10, torch.quint8)


def of(function, make=matrix):
    return lambda: (function, lambda number: [make()], ())


def there_and_back(x):
    q = torch.quantize_per_tensor(x, 0.1, 10, torch.quint8)
    return q.dequantize() + 1, q.is_quantized, q.shape, q.dtype, q.int_repr() + 1, q, x.is_quantized


def by_channel(x):
    return torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([0, 1]), 0, torch.qint8).dequantize() * 2


def given(q):
    return q.dequantize() * 2, q.is_quantized, q.size(0)


def operations(q):
    return torch.relu(q).dequantize() + 1, q.reshape(-1).int_repr()


def twice(q):
    try:
        return torch.quantize_per_tensor(q, 0.1, 10, torch.quint8)
    except RuntimeError as error:
        return str(error)[:50], q.dequantize()


ROWS = [
    (of(there_and_back), 0),
    # What it warns of once in a process cannot be asked again without the contents of its scales.
    (of(by_channel), 1),
    (of(given, quantised), 0),
    (of(given), 1),
    (of(operations, quantised), 2),
    (of(twice, quantised), 2),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


if __name__ == "__main__":
    unittest.main()
