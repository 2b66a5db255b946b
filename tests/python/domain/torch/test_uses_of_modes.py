"""What programs do with modes that say what new tensors are: inference mode, the default type, devices.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *arguments, state=()):
    """A use of a function on copies of the arguments."""
    return lambda: (function, lambda number: [argument.clone() for argument in arguments or (matrix(),)], state)


def inference(x):
    with torch.inference_mode():
        y = x * 2
        within = torch.is_inference_mode_enabled(), torch.is_grad_enabled(), y.requires_grad
        with torch.inference_mode(False):
            z = x + 1
            inner = torch.is_inference_mode_enabled(), torch.is_grad_enabled()
        w = y + z
    return w, within, inner, torch.is_inference_mode_enabled(), torch.is_grad_enabled(), z * 2


def asks_for_inference(x):
    with torch.inference_mode():
        y = x * 2
    return y.is_inference(), x.is_inference(), y


def raises_in_inference(x):
    try:
        with torch.inference_mode():
            y = x * 2
            raise ValueError("within")
    except ValueError as error:
        return y + 1, str(error), torch.is_inference_mode_enabled()


def breaks_in_inference(x):
    with torch.inference_mode():
        y = x * 2
        slotrt.graph_break()
        y = y + 1
        within = torch.is_inference_mode_enabled()
    return y, within, torch.is_inference_mode_enabled()


def in_place_after_inference(x):
    with torch.inference_mode():
        y = x * 2
    try:
        y.add_(1)
    except RuntimeError as error:
        return str(error), torch.is_inference_mode_enabled()
    return y


def decorated():
    linear = nn.Linear(3, 4)

    @torch.inference_mode()
    def f(x):
        return linear(x).relu()

    return f, lambda number: [matrix()], [linear]


def default_dtype(x):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    y = torch.zeros(2, 3) + 1
    torch.set_default_dtype(before)
    return y * x, torch.zeros(2), torch.get_default_dtype()


def default_dtype_put_back(x):
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.bfloat16)
        y = torch.ones(3)
        torch.set_default_dtype("float16")
    except TypeError as error:
        return x * y, type(error).__name__
    finally:
        torch.set_default_dtype(before)


def moved_to_meta(x):
    y, z = (x * 2).to("meta"), x.to(device="meta")
    return y + 1, y.is_meta, x.to(torch.device("meta")).device.type, z.device.type, torch.zeros_like(x, device="meta")


def on_one_device(x):
    ones = torch.ones(3, device=x.device) + torch.tensor([1, 2, 3], device=torch.device("cpu"))
    return x.to(x.device) + ones.to("cpu"), x.device == torch.device("cpu"), str(x.device), x.get_device(), x.cpu()


ROWS = [
    (of(inference), 0),
    (of(asks_for_inference), 2),
    (of(raises_in_inference), 0),
    (of(breaks_in_inference), 1),
    (of(in_place_after_inference), 1),
    (decorated, 0),
    (of(default_dtype), 0),
    (of(default_dtype_put_back), 1),
    (of(moved_to_meta), 8),
    (of(on_one_device), 0),
]



# AOTAutograd finds out that the tensor is none to change when it compiles, and raises for itself.
NOT_THERE = (ROWS[4][0],)


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows, not_there = ROWS, NOT_THERE


if __name__ == "__main__":
    unittest.main()
