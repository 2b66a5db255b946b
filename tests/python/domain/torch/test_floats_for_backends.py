"""Floats that are others at each call, as factors of losses and noise have them, in graphs that a backend gets: it compiles one graph for all,
where an operation on a tensor without dimensions computes the same, and does what it does uncompiled."""

import random
import unittest

import slotrt
import torch

FLOATS = [number / 7 + 0.5 for number in range(8)]


def leaf():
    return (torch.arange(1.0, 7.0).reshape(2, 3) / 4).requires_grad_()


def scaled(x, factor):
    return x * factor + 1, factor * x, x / factor, x - factor, x + (factor * 2 - 1)


def called(x, factor):
    return x.mul(factor).add(factor), torch.sub(x, factor), torch.div(x, factor)


def in_place(x, factor):
    x = x.clone()
    x *= factor
    x.add_(factor)
    return x.sum() * factor


def of_losses(x, factor):
    return (x.sum() * factor - 1) / factor, x.double().mean() * factor, x.double() * factor


def without_gradients(x, factor):
    with torch.no_grad():
        y = x * factor
    return y + x * factor


def low_precision(x, factor):
    return x.bfloat16() * factor, x.half() + factor


ONCE = [scaled, called, in_place, of_losses, without_gradients, low_precision]


def other_classes(x, factor):
    return x.long() * factor, x.bfloat16().sum() * factor, x.to(torch.complex64) * factor


def other_operations(x, factor):
    return (x * factor).pow(factor).clamp(max=factor * 3), factor - x, factor / x


def transformed(x, factor):
    return torch.func.grad(lambda y: (y * factor).sum())(x)


def again_backward(x, factor):
    return torch.utils.checkpoint.checkpoint(lambda y: (y * factor).relu(), x, use_reentrant=False)


def along(x, factor):
    y = x * factor
    y.sum().backward()
    return y.detach() * factor, x.grad.clone()


EACH = [other_classes, other_operations, transformed, again_backward, along]


def seen(function, factor):
    x = leaf()
    results = function(x, factor)
    results = results if isinstance(results, tuple) else (results,)
    for result in results:
        if result.grad_fn is not None:
            result.abs().sum().backward(retain_graph=True)
    return [(result.dtype, result.tolist(), result.requires_grad) for result in results], None if x.grad is None else x.grad.tolist()


class FloatsForBackends(unittest.TestCase):
    def check(self, function, backend, traces=None):
        with self.subTest(function=function.__name__, backend=backend):
            slotrt.reset()
            compiled = slotrt.compile(function, backend=backend)
            for factor in FLOATS:
                self.assertEqual(seen(compiled, factor), seen(function, factor))
            if traces is not None:
                self.assertEqual((slotrt.stats()["frames_compiled"], slotrt.stats()["graph_breaks"]), (traces, 0))

    def test_compiled_once(self):
        for function in ONCE:
            self.check(function, lambda graph, inputs: graph, 2)
            self.check(function, "aot_eager", 2)

    def test_compiled_as_constants(self):
        for function in EACH:
            self.check(function, lambda graph, inputs: graph)
            self.check(function, "aot_eager")

    def test_graphs_that_the_backend_gets(self):
        got = []

        def backend(graph, inputs):
            got.append([node.op for node in graph.graph.nodes])
            return graph

        compiled = slotrt.compile(lambda x, factor: x * factor + 1, backend=backend)
        for factor in FLOATS:
            compiled(leaf(), factor)
        self.assertEqual(got, [["placeholder", *["call_function"] * 2, "output"], [*["placeholder"] * 2, *["call_function"] * 2, "output"]])

    def test_drawn(self):
        def noisy(x):
            return x * random.random() + random.uniform(1, 2)

        for backend in (lambda graph, inputs: graph, "aot_eager"):
            slotrt.reset()
            results = []
            for function in (noisy, slotrt.compile(noisy, backend=backend)):
                random.seed(4)
                results.append([function(leaf()).tolist() for _ in range(8)] + [random.getstate()])
            self.assertEqual(*results)
            self.assertEqual((slotrt.stats()["frames_compiled"], slotrt.stats()["graph_breaks"]), (1, 0))

    def test_many_kinds_of_inputs_run_as_recorded_in_the_end(self):
        made = []

        def backend(graph, inputs):
            made.append(graph)
            return graph

        def function(x, factor):
            return x * factor + 1

        compiled = slotrt.compile(function, backend=backend, dynamic=True)
        for size in range(2, 100):
            x, factor = torch.arange(float(size)), size / 7
            self.assertEqual(compiled(x, factor).tolist(), function(x, factor).tolist())
        self.assertLessEqual(len(made), 70)


if __name__ == "__main__":
    unittest.main()
