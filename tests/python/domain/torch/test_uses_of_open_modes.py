"""Modes that are set where a graph ends, and tensors with tangents: what goes on after a break has the mode, whatever compiled the graph."""

import time
import unittest

import slotrt
import torch
import torch.autograd.forward_ad as forward
import torch_programs
from torch.autograd.forward_ad import _set_fwd_grad_enabled


def matrix(number):
    return [torch.arange(1.0, 1 + 3 * (2 + number)).reshape(2 + number, 3) / 4]


def native():
    """A break: nothing is known of clocks."""
    time.get_clock_info("time")


def use(function):
    return lambda: (function, matrix, [])


def autocast(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ torch.ones(3, 3)
        native()
        z = x @ torch.ones(3, 3)
    return y, z, x @ torch.ones(3, 3)


def autocast_within(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.autocast("cpu", enabled=False):
            y = x @ torch.ones(3, 3)
            native()
            y = y + x @ torch.ones(3, 3)
        native()
        z = x @ torch.ones(3, 3)
    return y, z, torch.is_autocast_enabled("cpu")


def closed(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ torch.ones(3, 3)
    return y, x @ torch.ones(3, 3)


def precision(x):
    torch.set_float32_matmul_precision("high")
    y = x * 2
    native()
    told = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    z = y + x
    native()
    return z, told, torch.get_float32_matmul_precision()


def kernels(x):
    torch._C._set_mkldnn_enabled(False)
    y = x * 2
    native()
    told = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(True)
    return y, told, torch._C._get_mkldnn_enabled()


def anomalies(x):
    with torch.autograd.set_detect_anomaly(True):
        y = x * 2
        native()
        told = torch.is_anomaly_enabled()
    return y, told, torch.is_anomaly_enabled()


def tangents_off(x):
    with _set_fwd_grad_enabled(False):
        y = x * 2
        native()
        told = torch._C._is_fwd_grad_enabled()
    return y, told, torch._C._is_fwd_grad_enabled()


def casts_cached(x):
    torch.set_autocast_cache_enabled(False)
    y = x * 2
    native()
    told = torch.is_autocast_cache_enabled()
    torch.set_autocast_cache_enabled(True)
    return y, told, torch.is_autocast_cache_enabled()


def gradients(x):
    w = torch.ones(3, requires_grad=True)
    torch.set_grad_enabled(False)
    y = w * x
    native()
    z = w * x
    torch.set_grad_enabled(True)
    return y, z, w * x


def tangents(x):
    with forward.dual_level():
        dual = forward.make_dual(x, torch.ones_like(x))
        y = torch.cat([(dual.sin() * 2)[0], x[1]]).reshape(2, 3)
        y += 1
        first, second = forward.unpack_dual(y), forward.unpack_dual(x * 2)
        third = forward.unpack_dual(torch.nn.functional.conv1d(dual[:, None], torch.ones(1, 1, 2)))
    return *first, *second, *third, forward.unpack_dual(y, level=0).tangent is None


def broken_level(x):
    with forward.dual_level():
        dual = forward.make_dual(x, x * 2)
        y = dual * dual
        native()
        z = y.exp() + x
        first, second = forward.unpack_dual(y), forward.unpack_dual(z)
    return *first, *second


def of_operands(dual):
    return forward.unpack_dual(dual.sin() * 2)


def copied(x):
    y = x.clone()
    y.mul_(2)
    y[0] += x[1]
    return y


def with_weights(x):
    return torch.nn.functional.linear(x, WEIGHTS) * 2


WEIGHTS = torch.arange(6.0).reshape(2, 3).requires_grad_()


class OpenModes(torch_programs.ThreeWays, unittest.TestCase):
    counts = (autocast, 1), (autocast_within, 2), (closed, 0), (precision, 2), (kernels, 1), (anomalies, 1)
    counts = *counts, (tangents_off, 1), (casts_cached, 1), (gradients, 1), (tangents, 0)
    # The size changes: each call may be traced.
    rows = [(use(function), 3 * breaks) for function, breaks in counts]


class Levels(unittest.TestCase):
    """Tangents from before the trace."""

    def test_as_they_are(self):
        for how in ({}, {"backend": lambda graph, inputs: graph}):
            torch_programs.check(self, [(use(broken_level), None)], slotrt.compile(**how))

    def test_a_compiled_function_is_called_within(self):
        for backend in (None, "aot_eager"):
            slotrt.reset()
            compiled = slotrt.compile(of_operands, backend=backend)
            with forward.dual_level():
                for number in range(3):
                    dual = forward.make_dual(matrix(number)[0], matrix(number)[0] + 1)
                    for found, plain in zip(compiled(dual), of_operands(dual), strict=True):
                        self.assertEqual(found.tolist(), plain.tolist())

    def test_a_function_is_compiled_before_a_level_is_open(self):
        for backend in (None, lambda graph, inputs: graph, "aot_eager"):
            for function in (copied, with_weights):
                with self.subTest(backend=backend, function=function):
                    slotrt.reset()
                    compiled, (x,) = slotrt.compile(function, backend=backend), matrix(0)
                    self.assertEqual(compiled(x).tolist(), function(x).tolist())
                    with forward.dual_level():
                        found, plain = (forward.unpack_dual(f(forward.make_dual(x, x + 1))) for f in (compiled, function))
                        self.assertEqual(found.primal.tolist(), plain.primal.tolist())
                        self.assertEqual(found.tangent.tolist(), plain.tangent.tolist())
                    compilations = slotrt.stats()["frames_compiled"]
                    self.assertEqual(compiled(x).tolist(), function(x).tolist())
                    self.assertEqual(slotrt.stats()["frames_compiled"], compilations)


if __name__ == "__main__":
    unittest.main()
