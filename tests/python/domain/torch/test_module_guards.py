"""Modules that do not change are watched; tensors and modes are looked at as words. Each way to change one is noticed."""

import threading
import unittest

import slotrt
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
        self.table = nn.ParameterDict({"a": nn.Parameter(torch.ones(3))})
        self.register_buffer("offset", torch.arange(3.0))
        self.factor = 2.0

    def forward(self, x):
        x = self.norm(self.first(x)) + self.offset
        for layer in self.layers:
            x = layer(x) * self.table["a"]
        return x * self.factor


def swap(module, name, value):
    setattr(module, name, value)



CHANGES = {
    "a parameter": lambda block: swap(block.first, "weight", nn.Parameter(torch.zeros(3, 3))),
    "data of a parameter": lambda block: setattr(block.first.weight, "data", torch.full((3, 3), 2.0)),
    "data of other strides": lambda block: setattr(block.first.weight, "data", torch.arange(9.0).reshape(3, 3).t()),
    "elements": lambda block: block.first.weight.data.fill_(3.0),
    "dtype": lambda block: block.double(),
    "strides in place": lambda block: block.first.weight.data.t_(),
    "gradients of a parameter": lambda block: block.first.weight.requires_grad_(False),
    "gradients of all": lambda block: block.requires_grad_(False),
    "a buffer": lambda block: swap(block, "offset", torch.ones(3)),
    "a buffer of another size": lambda block: swap(block, "offset", torch.ones(1)),
    "a buffer resized": lambda block: block.offset.resize_(1),
    "a buffer that requires gradients": lambda block: block.offset.requires_grad_(),
    "a buffer negated": lambda block: swap(block, "offset", torch._neg_view(torch.arange(3.0))),
    "mode": lambda block: block.eval(),
    "mode of a part": lambda block: block.norm.eval(),
    "a hook": lambda block: block.first.register_forward_hook(lambda module, args, out: out + 1),
    "a hook before": lambda block: block.layers[1].register_forward_pre_hook(lambda module, args: (args[0] + 1,)),
    "a module": lambda block: swap(block, "first", nn.Linear(3, 3)),
    "a module of a list": lambda block: block.layers.__setitem__(1, nn.Identity()),
    "a list made longer": lambda block: block.layers.append(nn.Linear(3, 3)),
    "a module taken away": lambda block: block._modules.__setitem__("first", None),
    "a bias taken away": lambda block: block.first.register_parameter("bias", None),
    "a parameter of a dict": lambda block: block.table.__setitem__("a", nn.Parameter(torch.zeros(3))),
    "forward": lambda block: setattr(block.first, "forward", lambda x: x - 1),
    "class": lambda block: setattr(block.first, "__class__", Doubled),
    "a number": lambda block: setattr(block, "factor", 3.0),
    "another state": lambda block: block.load_state_dict({k: torch.zeros_like(v) for k, v in block.state_dict().items()}),
    "another state, assigned": lambda block: block.load_state_dict(
        {k: torch.zeros_like(v) for k, v in block.state_dict().items()}, assign=True
    ),
    "a parametrization": lambda block: nn.utils.parametrize.register_parametrization(block.first, "weight", Halved()),
    "another namespace": lambda block: setattr(block, "__dict__", {**block.__dict__, "factor": 5.0}),
}


class Doubled(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2


class Halved(nn.Module):
    def forward(self, weight):
        return weight / 2


class SeeFunctions(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        return result + 1 if function is torch.Tensor.add or getattr(function, "__name__", "") == "add" else result


class SeeOperations(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        return result + 1 if function is torch.ops.aten.add.Tensor else result


class Modules(unittest.TestCase):
    def setUp(self):
        slotrt.reset()
        torch.manual_seed(0)

    def same(self, function, compiled, *args):
        results = []
        for call in (function, compiled):
            torch.manual_seed(1)
            try:
                result = call(*args)
                results.append((result.detach().clone(), result.dtype, result.stride(), result.requires_grad, result.is_leaf))
            except Exception as error:
                results.append((type(error), str(error).splitlines()[0]))
        if isinstance(results[0][0], torch.Tensor) and isinstance(results[1][0], torch.Tensor):
            torch.testing.assert_close(results[1][0], results[0][0])
            self.assertEqual(results[0][1:], results[1][1:])
        else:
            self.assertEqual(results[0], results[1])

    def test_each_change_is_noticed(self):
        for name, change in CHANGES.items():
            for thread in (False, True):
                with self.subTest(name, thread=thread):
                    slotrt.reset()
                    block = Block()
                    block.norm.momentum = 0.0
                    compiled, x = slotrt.compile(block), torch.randn(4, 3)
                    for _ in range(4):
                        self.same(block, compiled, x)
                    if thread:
                        worker = threading.Thread(target=change, args=(block,))
                        worker.start()
                        worker.join()
                    else:
                        change(block)
                    for _ in range(3):
                        self.same(block, compiled, x)

    def test_a_leaf_that_is_none_any_more(self):
        held = torch.ones(3, requires_grad=True)

        def function(x):
            return (x * held).sum(), held.is_leaf

        compiled, x = slotrt.compile(function), torch.ones(3)
        for _ in range(4):
            self.assertEqual(compiled(x), function(x))
        held.requires_grad_(False)
        held.mul_(torch.ones(3, requires_grad=True))
        self.assertTrue(held.requires_grad)
        for _ in range(3):
            self.assertEqual(compiled(x), function(x))

    def test_kinds_of_arguments(self):
        def function(x):
            return x * 2

        compiled = slotrt.compile(function)
        samples = [
            torch.ones(2, 2),
            torch.ones(2, 3),
            torch.ones(2),
            torch.ones(2, 2).t(),
            torch.ones(3, 2).t(),
            torch.ones(2, 2, dtype=torch.float64),
            torch.ones(2, 2, dtype=torch.int64),
            torch.ones(2, 2, requires_grad=True),
            torch.ones(2, 2, dtype=torch.complex64).conj(),
            torch._neg_view(torch.ones(2, 2)),
            torch.ones(2, 2).to_sparse(),
            torch.ones(2, 2, device="meta"),
            nn.Parameter(torch.ones(2, 2)),
            torch.ones(()),
            torch.ones(0, 2),
            torch.nested.nested_tensor([torch.ones(2, 2), torch.ones(1, 2)]),
        ]
        for _ in range(3):
            for sample in samples:
                got, expected = compiled(sample), function(sample)
                self.assertEqual(type(got), type(expected))
                self.assertEqual((got.dtype, got.device, got.layout, got.is_conj(), got.is_neg()), (expected.dtype, expected.device, expected.layout, expected.is_conj(), expected.is_neg()))
                if expected.layout == torch.strided and not expected.is_nested and expected.device.type == "cpu":
                    torch.testing.assert_close(got, expected)
                    self.assertEqual(got.stride(), expected.stride())

    def test_modes_of_the_thread(self):
        weight = torch.ones(3, 3, requires_grad=True)

        def function(x):
            return torch.add(x @ weight, torch.ones(3))

        compiled, x = slotrt.compile(function), torch.ones(2, 3)
        for _ in range(4):
            self.same(function, compiled, x)
        modes = {
            "no_grad": torch.no_grad,
            "inference": torch.inference_mode,
            "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
            "autocast of another device": lambda: torch.autocast("cuda", enabled=True) if torch.cuda.is_available() else torch.no_grad(),
            "functions": SeeFunctions,
            "operations": SeeOperations,
            "device": lambda: torch.device("meta"),
            "no overrides": torch._C.DisableTorchFunction,
            "no overrides of classes": torch._C.DisableTorchFunctionSubclass,
            "autocast without a cache": lambda: torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False),
            "hooks": lambda: torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: saved),
        }
        for name, mode in modes.items():
            for _ in range(3):
                with self.subTest(name):
                    with mode():
                        self.same(function, compiled, x)
                    self.same(function, compiled, x)

    def test_default_dtype(self):
        def function(x):
            return x * torch.ones(2)

        compiled, x = slotrt.compile(function), torch.ones(2)
        for _ in range(3):
            self.same(function, compiled, x)
        try:
            torch.set_default_dtype(torch.float64)
            self.same(function, compiled, x)
        finally:
            torch.set_default_dtype(torch.float32)
        self.same(function, compiled, x)

    def test_modes_of_another_thread(self):
        def function(x):
            return x * 2

        compiled, x, found = slotrt.compile(function), torch.ones(2, requires_grad=True), []
        for _ in range(4):
            compiled(x)

        def work():
            found.append(compiled(x).requires_grad)
            with torch.no_grad():
                found.append(compiled(x).requires_grad)

        with torch.no_grad():
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        self.assertEqual(found, [True, False])

    def test_transforms(self):
        def function(x):
            return x * 2 + 1

        compiled, x = slotrt.compile(function), torch.arange(3.0)
        for _ in range(4):
            self.same(function, compiled, x)
        torch.testing.assert_close(torch.vmap(compiled)(x), function(x))
        torch.testing.assert_close(torch.func.grad(lambda x: compiled(x).sum())(x), torch.full((3,), 2.0))
        self.same(function, compiled, x)

    def test_parameters_can_be_swapped(self):
        block = Block()
        compiled, x = slotrt.compile(block), torch.randn(4, 3)
        for _ in range(4):
            self.same(block, compiled, x)
        torch.utils.swap_tensors(block.first.weight, nn.Parameter(torch.zeros(3, 3)))
        self.same(block, compiled, x)

    def test_modules_that_take_turns(self):
        layers = [nn.Linear(3, 3) for _ in range(5)]

        def function(layer, x):
            return layer(x)

        compiled, x = slotrt.compile(function), torch.randn(2, 3)
        for _ in range(12):
            for layer in layers:
                self.same(function, compiled, layer, x)
        layers[2].weight.data = torch.zeros(3, 3)
        layers[4].bias = None
        for layer in layers:
            self.same(function, compiled, layer, x)


if __name__ == "__main__":
    unittest.main()
