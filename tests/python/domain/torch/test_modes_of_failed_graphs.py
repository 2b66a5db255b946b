"""A graph that raises leaves the modes as the program has them there, also where a mode begins before a graph break and ends after it."""

import contextlib
import itertools
import unittest

import slotrt
import torch
from torch.overrides import TorchFunctionMode


class Passing(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def itself(tensor):
    return tensor


PASSING = Passing()
CONTEXTS = {
    "inference mode": torch.inference_mode,
    "no inference mode": lambda: torch.inference_mode(False),
    "no gradients": torch.no_grad,
    "gradients": torch.enable_grad,
    "gradients set": lambda: torch.set_grad_enabled(False),
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "device": lambda: torch.device("meta"),
    "no classes": torch._C.DisableTorchFunctionSubclass,
    "no overrides": torch._C.DisableTorchFunction,
    "kernels": lambda: torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
    "anomalies": lambda: torch.autograd.set_detect_anomaly(True, check_nan=False),
    "function mode": lambda: PASSING,
    "saved tensors": lambda: torch.autograd.graph.saved_tensors_hooks(itself, itself),
    "random state": torch.random.fork_rng,
    "threads": lambda: torch.autograd.set_multithreading_enabled(False),
    "nothing": contextlib.nullcontext,
}


def state():
    return (
        torch.is_inference_mode_enabled(),
        torch.is_grad_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch._C._len_torch_function_stack(),
        torch._C._get_torch_function_state().name,
        torch.get_default_device().type,
        torch._C._get_math_sdp_enabled(),
        torch._C._get_flash_sdp_enabled(),
        torch.is_anomaly_enabled(),
        torch._C._is_multithreading_enabled(),
        torch.get_rng_state().tolist(),
    )


def ended(make, x, i):
    with make():
        slotrt.graph_break()
        y = x + 1
    return y, x[i]


def nested(make, x, i):
    with make():
        slotrt.graph_break()
        with make():
            y = x + 1
            slotrt.graph_break()
            y = y * 2
    with make():
        z = x * 3
    return y, z, x[i]


def begun(make, x, i):
    with make():
        y = x + 1
        z = x[i]
        slotrt.graph_break()
        y = y * 2
    return y, z, x[i]


def caught(make, x, i):
    try:
        with make():
            slotrt.graph_break()
            y = x + 1
            z = x[i]
    except IndexError as error:
        return str(error), state()
    return y, z


def not_begun(makes, x, i):
    """Raises before the modes begin."""
    first, second = makes
    x.index_put_((i,), x[:1], accumulate=True)
    with first():
        y = x + 1
        with second():
            slotrt.graph_break()
            y = y * 2
    return (y,)


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        return x * {}

    @staticmethod
    def backward(_, gradient):
        return gradient


def raised_within(make, x, i):
    with make():
        try:
            return (Twice.apply(x),)
        except TypeError as error:
            return str(error), state()


def asked(make, x, i):
    leaf = torch.ones(2, requires_grad=True)
    with make():
        return x.requires_grad, leaf.requires_grad, (leaf * 2).requires_grad


def described(value):
    if not isinstance(value, torch.Tensor):
        return value
    contents = value.tolist() if value.device.type != "meta" else None
    return value.dtype, value.device.type, value.requires_grad, value.is_inference(), contents


def called(function, make, index):
    torch.manual_seed(0)
    before = state()
    try:
        outcome = [described(value) for value in function(make, torch.zeros(4, 4), index)]
    except Exception as error:
        outcome = type(error), str(error)
    return outcome, before == state()


class ModesOfFailedGraphs(unittest.TestCase):
    def test_a_graph_that_raises(self):
        fits, fails = torch.tensor([1]), torch.tensor([100])
        for name, make in CONTEXTS.items():
            for function in (ended, nested, begun, caught):
                with self.subTest(context=name, function=function.__name__):
                    slotrt.reset()
                    compiled = slotrt.compile(function)
                    for index in (fits, fails, fails, fits):
                        self.assertEqual(called(compiled, make, index), called(function, make, index))

    def test_a_function_that_raises(self):
        for name, make in CONTEXTS.items():
            with self.subTest(context=name):
                slotrt.reset()
                compiled = slotrt.compile(raised_within)
                for _ in range(2):
                    self.assertEqual(called(compiled, make, None), called(raised_within, make, None))

    def test_tensors_are_asked(self):
        for name, make in CONTEXTS.items():
            slotrt.reset()
            compiled = slotrt.compile(asked)
            for kind in ("plain", "leaf", "computed", "computed"):
                with self.subTest(context=name, kind=kind):
                    x = torch.ones(2, requires_grad=kind != "plain")
                    x = x * 1 if kind == "computed" else x
                    self.assertEqual(compiled(make, x, None), asked(make, x, None))

    def test_before_modes_within_modes(self):
        fits, fails = torch.tensor([1]), torch.tensor([100])
        for pair in itertools.product(CONTEXTS, repeat=2):
            with self.subTest(contexts=pair):
                slotrt.reset()
                compiled = slotrt.compile(not_begun)
                makes = tuple(CONTEXTS[name] for name in pair)
                for index in (fits, fails, fails, fits):
                    self.assertEqual(called(compiled, makes, index), called(not_begun, makes, index))


if __name__ == "__main__":
    unittest.main()
