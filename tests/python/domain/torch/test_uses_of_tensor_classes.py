"""Classes of tensors that programs call for a tensor of numbers or of some sizes, and lists that tensors are made of.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import torch
import torch_programs


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


def of_sizes(x):
    return torch.Tensor(2, 3).zero_() + x, torch.Tensor(x.shape).fill_(2), torch.FloatTensor(x.shape[0], 3).fill_(1), torch.Tensor().shape


def of_numbers(x):
    index = torch.LongTensor([0, 1])
    return x[index] + torch.Tensor([1.0, 2.0, 3.0]), torch.Tensor((1, 2)), torch.BoolTensor([[True], [False]]), torch.HalfTensor([1.5]), torch.Tensor([])


def of_an_array(x):
    array = x.numpy()
    return torch.Tensor(array) * 2, torch.DoubleTensor(array)


def of_tensors(x):
    return torch.Tensor([x[0].sum(), x[1].sum()]) * 2, torch.Tensor(x) + 1


def of_the_default_type(x):
    torch.set_default_dtype(torch.float64)
    try:
        return torch.Tensor([1, 2]), torch.FloatTensor([1]), torch.Tensor(2).fill_(1)
    finally:
        torch.set_default_dtype(torch.float32)


def beside_a_mode(x):
    with torch.device("meta"):
        return torch.Tensor([1.0, 2.0]), torch.LongTensor([3]), torch.ones(2)


def refused(x):
    found = []
    for make in (lambda: torch.Tensor(-1), lambda: torch.Tensor(3.5), lambda: torch.Tensor([[1, 2], [3]]), lambda: torch.LongTensor(x)):
        try:
            found.append(make())
        except (RuntimeError, TypeError, ValueError) as error:
            found.append(str(error)[:40])
    return found, x + 1


class Named(torch.Tensor):
    pass


def of_a_class_of_the_program(x):
    return Named([1.0, 2.0]), x + 1


def named_types(x):
    return x.type(torch.DoubleTensor), x.type("torch.LongTensor"), isinstance(x, torch.FloatTensor)


def refused_lists(x):
    found = []
    for make in (
        lambda: torch.tensor([[1, 2], [3]]),
        lambda: torch.as_tensor([[1, 2], [3]], dtype=torch.float32, device="cpu"),
        lambda: torch.asarray([[1], 2]),
        lambda: torch.tensor([1, 300], dtype=torch.uint8),
        lambda: x.new_tensor([[1, 2], [3]]),
    ):
        try:
            found.append(make())
        except (RuntimeError, TypeError, ValueError) as error:
            found.append(str(error))
    return found, x + 1


def refused_list_on_a_device(x):
    with torch.device("meta"):
        try:
            return torch.tensor([[1, 2], [3]])
        except ValueError as error:
            return str(error), torch.ones(2)


def new_of_tensors(x):
    return x.new_tensor([x[0].sum(), x[1].sum()]) * 2


ROWS = [
    (of(of_sizes), 0),
    (of(of_numbers), 0),
    (of(of_an_array), 0),
    (of(of_tensors), None),
    (of(of_the_default_type), 0),
    (of(beside_a_mode), 0),
    (of(refused), None),
    (of(of_a_class_of_the_program), None),
    (of(named_types), 0),
    (of(refused_lists), 0),
    (of(refused_list_on_a_device), 0),
    (of(new_of_tensors), 0),
]


class UsesOfTensorClasses(torch_programs.ThreeWays, unittest.TestCase):
    rows, counted = ROWS, True


if __name__ == "__main__":
    unittest.main()
