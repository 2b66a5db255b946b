"""What programs call while a mode puts new tensors on a device: functions of Python that modes see, modules that are made there and moved after.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch.nn.functional as functional
import torch_programs

from torch import nn


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


def seen(x):
    """A function that modes see."""
    if torch.overrides.has_torch_function_unary(x):
        return torch.overrides.handle_torch_function(seen, (x,), x)
    return torch.ones(3), x


def seen_and_raised(x):
    if torch.overrides.has_torch_function_unary(x):
        return torch.overrides.handle_torch_function(seen_and_raised, (x,), x)
    raise ValueError("no")


def seen_and_broken(x):
    if torch.overrides.has_torch_function_unary(x):
        return torch.overrides.handle_torch_function(seen_and_broken, (x,), x)
    y = torch.ones(3)
    print("", end="")
    return y, torch.ones(3), x


def of_python(x):
    with torch.device("cpu"):
        return functional.softmax(x, -1), functional.dropout(x, 0.5), x.split(1), torch.einsum("ij,kj->ik", x, x), torch.ones(3)


def elsewhere(x):
    with torch.device("meta"):
        return functional.softmax(x, 0), seen(x), torch.ones(2)


def nested(x):
    with torch.device("meta"):
        with torch.device("cpu"):
            inner = functional.softmax(x, -1), seen(x), torch.ones(3)
        return inner, seen(x), torch.ones(2)


def raised(x):
    try:
        with torch.device("meta"):
            seen_and_raised(x)
    except ValueError as error:
        return str(error), torch.ones(3), x + 1


def broken(x):
    with torch.device("meta"):
        y = seen_and_broken(x)
        return y, torch.ones(3)


def beside_casts(x):
    with torch.device("cpu"), torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        return functional.relu(x @ x.T), torch.ones(2)


class Ones(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + torch.ones(3)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def with_gradients_of_its_own(x):
    with torch.device("cpu"):
        return functional.relu(Ones.apply(x))


def made_without_memory(x):
    with torch.device("meta"):
        module = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    return module[0].weight, module(x.to("meta"))


def made_and_moved(x):
    with torch.device("meta"):
        module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    module.to_empty(device="cpu")
    for parameter in module.parameters():
        nn.init.constant_(parameter, 0.5)
    module[1].reset_running_stats()
    return module(x)


def made_and_initialised(x):
    with torch.device("meta"):
        module = nn.Linear(3, 2)
    module = module.to_empty(device="cpu")
    module.reset_parameters()
    return module(x)


def gradients_of_new_leaves(x):
    parameter, zeros = nn.Parameter(x * 2), torch.zeros(3, device="meta")
    before = parameter.grad, zeros.grad, nn.Linear(3, 2).bias.grad
    (parameter * 3).sum().backward()
    return before, parameter.grad


def by_default(x):
    with torch.autocast("cpu", torch.bfloat16):
        product = functional.relu(x @ x.T)
    return functional.softmax(x, -1) * torch.ones(3), seen(x), torch.ones(2), product


def begun_before_a_break(x):
    device = torch.device("meta")
    with device:
        slotrt.graph_break()
        y = torch.ones(2)
    slotrt.graph_break()
    with device:
        return y, torch.ones(3), x.device


def begun_from_outside(x, device):
    with device:
        return torch.ones(3) + x.sum().to(device)


ROWS = [
    (of(of_python), 0),
    (of(elsewhere), 0),
    (of(nested), 0),
    (of(raised), 0),
    (of(broken), 1),
    (of(beside_casts), 0),
    (of(with_gradients_of_its_own), 1),
    (of(made_without_memory), 0),
    (of(made_and_moved), 0),
    (of(made_and_initialised), 0),
    (of(gradients_of_new_leaves), None),
]


class UsesOfDeviceModes(torch_programs.ThreeWays, unittest.TestCase):
    rows, counted = ROWS, True


class KnownDevices(unittest.TestCase):
    def test_no_trace_for_each_call(self):
        compiled = slotrt.compile(begun_before_a_break)
        for number in range(4):
            compiled(matrix())
            if number == 0:
                count = slotrt.stats()["frames_compiled"]
        self.assertEqual(slotrt.stats()["frames_compiled"], count)

    def test_one_from_outside_is_begun_by_its_value(self):
        compiled = slotrt.compile(begun_from_outside)
        for place in ("meta", "meta", "cpu", "meta", "cpu"):
            self.assertEqual(compiled(matrix(), torch.device(place)).device, torch.device(place))
        self.assertEqual(slotrt.stats()["frames_compiled"], 2)

    def setUp(self):
        slotrt.reset()


class UsesOfDefaultDevices(torch_programs.ThreeWays, unittest.TestCase):
    rows, counted = [(of(by_default), 0)], True

    def setUp(self):
        torch.set_default_device("cpu")
        self.addCleanup(torch.set_default_device, None)


if __name__ == "__main__":
    unittest.main()
