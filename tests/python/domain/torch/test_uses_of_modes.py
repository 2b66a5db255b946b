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


def made_on_meta(x):
    with torch.device("meta"):
        y = torch.zeros(2, 3) + 1
        with torch.device("cpu"):
            here = torch.ones(3)
        told = torch.tensor([1.0, 2.0], device="cpu")
        linear = nn.Linear(3, 4)
    return x * 2 + y.shape[0] + here, y, told, linear(y), linear.weight.device, torch.zeros(2)


def raises_on_meta(x):
    y = torch.zeros(2, 3, device="meta")
    try:
        return (y + x).tolist()
    except RuntimeError as error:
        return str(error)[:60], y, y.sum()


def breaks_on_meta(x):
    with torch.device("meta"):
        y = torch.ones(3)
        slotrt.graph_break()
        z = torch.ones(3) * 2
    return x + 1, y, z, torch.ones(1)


def contents_on_meta(x):
    """What contents decide is put on the device in force, also where a mode of before a break ended."""
    with torch.device("meta"):
        slotrt.graph_break()
        y = torch.zeros(x.nonzero().shape[0])
    told = torch.tensor(x.tolist()), torch.as_tensor(x.tolist()), torch.tensor([x.sum().item()]), torch.full((2,), x.sum().item())
    return told, y, torch.zeros(x.nonzero().shape[0])


def default_device(x):
    before = torch.get_default_device()
    torch.set_default_device("meta")
    y, within = torch.zeros(2, 3) + 1, torch.get_default_device()
    torch.set_default_device(torch.device("cpu"))
    z, again = torch.arange(3), torch.get_default_device()
    torch.set_default_device(None)
    return x * z, y, before, within, again, torch.get_default_device(), torch.ones(1)


def default_device_left(x):
    torch.set_default_device("meta")
    y = torch.zeros(2, 3)
    try:
        return x.sum() / 0, y.item()
    except RuntimeError as error:
        return str(error)[:60], torch.zeros(1)
    finally:
        torch.set_default_device(None)


def of_meta(x, y, linear=nn.Linear(3, 4, device="meta")):
    y.add_(1)
    z = linear(y).relu()
    return x + 1, z, z.sum(), y.is_meta, y.get_device(), (y @ y.T).requires_grad, y.device, y.view(3, 2), y.is_leaf


def on_meta():
    return of_meta, lambda number: [matrix(), torch.empty(2, 3, device="meta", requires_grad=False)], ()


def of_two(x, y):
    y.mul_(2)
    return x * 2 + y, x.requires_grad, x.is_leaf


def of_gradients_on_meta():
    return of_two, lambda number: [torch.empty(2, 3, device="meta", requires_grad=True) * 1, torch.empty(3, device="meta")], ()


ROWS = [
    (of(inference), 0),
    (of(asks_for_inference), 2),
    (of(raises_in_inference), 0),
    (of(breaks_in_inference), 1),
    (of(in_place_after_inference), 1),
    (decorated, 0),
    (of(default_dtype), 0),
    (of(default_dtype_put_back), 1),
    (of(moved_to_meta), 0),
    (of(on_one_device), 0),
    (of(made_on_meta), 1),
    (of(raises_on_meta), 2),
    (of(breaks_on_meta), 1),
    (of(contents_on_meta), 3),
    (of(default_device), 0),
    (of(default_device_left), 2),
    (on_meta, 0),
    (of_gradients_on_meta, 0),
]


# AOTAutograd finds out that the tensor is none to change when it compiles, and raises for itself.
NOT_THERE = (ROWS[4][0],)


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows, not_there = ROWS, NOT_THERE


VIEWS = [lambda x: x.__getitem__(0), torch.ops.aten.alias, lambda x: x.unfold(0, 2, 1), lambda x: x.view(torch.int32), torch.t, lambda x: x * 2]


class Around(unittest.TestCase):
    """Modes that are active where compiled code is called."""

    def test_views_in_inference_mode(self):
        leaf = torch.ones(4, requires_grad=True)

        def looked_at(tensor):
            return tensor.requires_grad, tensor.is_leaf, tensor.is_inference(), tensor._is_view()

        for number, view in enumerate(VIEWS):

            def within(x):
                with torch.inference_mode():
                    made = view(x)
                    inside = looked_at(made)
                return inside, looked_at(made)

            for x in (leaf, leaf * 2, torch.ones(4)):
                with self.subTest(number=number, requires_grad=x.requires_grad, is_leaf=x.is_leaf):
                    self.assertEqual(slotrt.compile(within)(x), within(x))


    def test_devices(self):
        def f(x):
            return torch.zeros(2, 3), torch.arange(3) + 1, x + 1, torch.ones(1, device="cpu")

        for backend in (None, lambda graph, inputs: graph, "aot_eager"):
            slotrt.reset()
            compiled = slotrt.compile(f, backend=backend) if backend else slotrt.compile(f)
            for device in ("meta", "cpu", "meta", None):
                for _ in range(2):
                    with torch.device(device) if device else torch.no_grad():
                        plain, found = f(matrix()), compiled(matrix())
                    self.assertEqual([torch_programs.shown(part) for part in found], [torch_programs.shown(part) for part in plain])
            self.assertEqual((slotrt.stats()["graph_breaks"], slotrt.stats()["graphs"]), (0, 3))

    def test_default_device(self):
        def f(x):
            torch.set_default_device("cpu")
            y = torch.zeros(2)
            torch.set_default_device("meta")
            return x + 1, y, torch.zeros(2), torch.get_default_device()

        compiled = slotrt.compile(f)
        try:
            for device in ("meta", None, "cpu"):
                torch.set_default_device(device)
                found = compiled(matrix())
                self.assertEqual(torch.get_default_device(), torch.device("meta"))
                torch.set_default_device(device)
                self.assertEqual(torch_programs.shown(found), torch_programs.shown(f(matrix())))
        finally:
            torch.set_default_device(None)
        self.assertEqual(torch._C._len_torch_function_stack(), 0)


if __name__ == "__main__":
    unittest.main()
