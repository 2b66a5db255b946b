"""Floats that are others at each call, as factors of losses and noise have them, in graphs that a backend gets: it compiles one graph for all,
where an operation on a tensor without dimensions computes the same, and does what it does uncompiled."""

import math
import random
import unittest

import slotrt
import torch
from slotrt import _part_kinds
from torch._dynamo.backends.registry import lookup_backend

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


def reflected(x, factor):
    return factor - x, factor / x, factor - x.half(), factor / x.sum()


def compared(x, factor):
    return x > factor, factor <= x, x.eq(factor), torch.lt(x.double(), factor), x.bfloat16() >= factor


def filled(x, factor):
    given = x * 1
    return given.masked_fill(x > 0.5, factor), torch.where(x > 0.5, x, factor), torch.where(x > 1, factor, x), given.fill_(factor)


def of_integers(x, factor):
    counts = torch.arange(6).reshape(2, 3)
    return counts * factor, counts.to(torch.uint8) + factor, counts[0, 2] / factor, factor - counts


def transformed(x, factor):
    rows = torch.vmap(lambda row: row.sum() * factor + row * factor)(x.detach())
    return torch.func.grad(lambda y: (y * factor).sin().sum())(x.detach()), rows


def of_sizes(x, factor):
    return x / math.sqrt(x.shape[0]) * factor, x * float(x.shape[1])


def whole(x, factor):
    return x * int(factor * 10) + round(factor), x[: int(factor) + 1]


def made(x, factor):
    return torch.tensor(factor) * x, torch.tensor(factor, dtype=torch.float64)


ONCE = [scaled, called, in_place, of_losses, without_gradients, low_precision]
ONCE += [reflected, compared, filled, of_integers, transformed, of_sizes, made]


def other_classes(x, factor):
    return x.long() * factor, x.bfloat16().sum() * factor, x.to(torch.complex64) * factor


def other_operations(x, factor):
    return (x.abs() + 1).pow(factor), torch.add(x, x, alpha=factor), torch.arange(6) > factor, x.clamp(factor), torch.nn.functional.leaky_relu(x, factor)


def made_in_a_mode(x, factor):
    with torch.inference_mode():
        tensor = torch.tensor(factor)
    return x * 2, torch.ones(2) * tensor.is_inference()


def again_backward(x, factor):
    return torch.utils.checkpoint.checkpoint(lambda y: (y * factor).relu(), x, use_reentrant=False)


def along(x, factor):
    y = x * factor
    y.sum().backward()
    return y.detach() * factor, x.grad.clone()


EACH = [other_classes, other_operations, made_in_a_mode, again_backward, along, whole]


def scaled_products(x, factor):
    square = x @ x.t()
    return torch.addmm(square, x, x.t(), beta=factor, alpha=factor), torch.addmv(x[:, 0], square, x[:, 0], alpha=factor)


def activated(x, factor):
    functional = torch.nn.functional
    return functional.leaky_relu(x - 1, factor), functional.elu(x - 1, factor), functional.threshold(x, factor, 0.0)


def of_lists(x, factor):
    return *torch._foreach_mul([x, x], factor), *torch._foreach_add([x, x], [x, x], alpha=factor)


def others(x, factor):
    return torch.full_like(x, factor) + x, x.norm(factor), x.tril(int(factor * 10) % 3)


WITHOUT_BACKEND = [scaled_products, activated, of_lists, others]


def seen(function, factor):
    x = leaf()
    results = function(x, factor)
    results = results if isinstance(results, tuple) else (results,)
    for result in results:
        if result.grad_fn is not None:
            result.abs().sum().backward(retain_graph=True)
    return [(result.dtype, result.tolist(), result.requires_grad) for result in results], None if x.grad is None else x.grad.tolist()


def outcome(function, bound):
    try:
        return function(leaf(), bound).tolist()
    except RuntimeError as error:
        return str(error)


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

    def test_without_a_backend(self):
        for function in WITHOUT_BACKEND:
            self.check(function, None, 2)

    def test_compiled_as_constants(self):
        for function in EACH:
            self.check(function, lambda graph, inputs: graph)
            self.check(function, "aot_eager")

    def test_floats_that_are_too_large(self):
        def function(x, bound):
            return x.clone().fill_(bound)

        for backend in (lambda graph, inputs: graph, "aot_eager"):
            compiled = slotrt.compile(function, backend=backend)
            for bound in (0.5, 0.25, 0.75, math.inf, -math.inf, 2.5):
                self.assertEqual(compiled(leaf(), bound).tolist(), function(leaf(), bound).tolist())
            for tested in (lambda x, bound: x.clone().fill_(bound), lambda x, bound: x.masked_fill(x > 1, bound), lambda x, bound: x > bound):
                compiled = slotrt.compile(tested, backend=backend)
                for bound in (0.5, 0.25, 0.75):
                    compiled(leaf(), bound)
                self.assertEqual(outcome(compiled, 1e300), outcome(tested, 1e300))

    def test_sizes_stay_symbolic_beside_floats(self):
        def function(x, factor):
            return (x * factor + x.shape[0] / factor).sum(0) / x.shape[0], torch.zeros(x.shape[0], 2) + factor

        def integers(x, factor):
            number = x.shape[0]
            return x * math.isqrt(number), x * math.gcd(number, 6) + int(factor * 8), torch.tensor(number) * x

        for tested in (function, integers):
            for name in (None, "aot_eager"):
                made = []

                def backend(graph, inputs):
                    made.append(graph)
                    return graph if name is None else lookup_backend(name)(graph, inputs)

                slotrt.reset()
                compiled = slotrt.compile(tested, backend=backend)
                for size in range(3, 13):
                    x, factor = torch.arange(size * 3.0).reshape(size, 3), size / 7
                    results, plain = compiled(x, factor), tested(x, factor)
                    self.assertEqual([result.tolist() for result in results], [result.tolist() for result in plain])
                self.assertEqual((len(made), slotrt.stats()["frames_compiled"], slotrt.stats()["graph_breaks"]), (2, 2, 0))

    def test_integers_that_follow_from_such_floats(self):
        def padded(x):
            n = x.shape[0]
            return torch.nn.functional.pad(x, (0, 2 ** math.ceil(math.log2(n)) - n))

        def whole(x):
            n = x.shape[0]
            return x * math.floor(math.sqrt(n)) + int(math.exp(n / 3)), x.new_zeros(round(math.log(n, 2) * 2), 2)

        def counted(x):
            n = x.shape[0]
            return x[: (n - 1).bit_length()] * math.erf(n) + math.comb(n, 2) + n.bit_length(), x.new_ones(math.isqrt(n))

        for function in (padded, whole, counted):
            for backend in (lambda graph, inputs: graph, "aot_eager"):
                slotrt.reset()
                compiled = slotrt.compile(function, backend=backend)
                for n in (3, 4, 6, 9, 5, 13, 7):
                    x = torch.arange(float(n))
                    with self.subTest(function=function.__name__, backend=backend, n=n):
                        torch.testing.assert_close(compiled(x), function(x))
                self.assertLessEqual(slotrt.stats()["frames_compiled"], 3)

    def test_items_at_a_symbolic_integer(self):
        def function(x, number):
            return x[number] * 2, x[:, number] + 1, x[1:, number - 1, :2], x[number, -number], x[..., number:, 1]

        for backend in (lambda graph, inputs: graph, "aot_eager"):
            slotrt.reset()
            compiled = slotrt.compile(function, backend=backend)
            x = torch.arange(14.0 * 14 * 3).reshape(14, 14, 3)
            for number in range(2, 13):
                results, plain = compiled(x, number), function(x, number)
                self.assertEqual([result.tolist() for result in results], [result.tolist() for result in plain])
            self.assertEqual((slotrt.stats()["frames_compiled"], slotrt.stats()["graph_breaks"]), (2, 0))
            with self.assertRaises(IndexError) as plain:
                function(x, 14)
            with self.assertRaises(IndexError) as raised:
                compiled(x, 14)
            self.assertEqual(str(raised.exception), str(plain.exception))

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

    def test_parts_are_compiled_for_one_size_and_for_all_others(self):
        made = []

        def backend(graph, inputs):
            made.append(graph)
            return graph

        def function(x, factor):
            with torch.inference_mode():
                y = x * factor
            return y + factor

        compiled = slotrt.compile(function, backend=backend, dynamic=True)
        for size in range(2, 100):
            x, factor = torch.arange(float(size)), size / 7
            self.assertEqual(compiled(x, factor).tolist(), function(x, factor).tolist())
        # Two parts.
        self.assertEqual(len(made), 4)

    def test_many_kinds_of_inputs_run_as_recorded_in_the_end(self):
        made = []
        kinds = _part_kinds.Kinds(lambda inputs, sizes: (made.append(inputs) or len(made), None))
        found = [kinds.find([torch.ones(3), number / 7]) for number in range(100)]
        self.assertEqual((len(made), found[63], found[64]), (64, 64, None))
        # The latest of them are kept.
        self.assertEqual(kinds.find([torch.ones(3), 63 / 7]), 64)
        self.assertIsNone(kinds.find([torch.ones(3), 0.0]))

    def test_zeros_are_told_apart(self):
        kinds = _part_kinds.Kinds(lambda inputs, sizes: (str(inputs), None))
        self.assertEqual([kinds.find([zero]) for zero in (0.0, -0.0, 0.0, False)], ["[0.0]", "[-0.0]", "[0.0]", "[False]"])


if __name__ == "__main__":
    unittest.main()
