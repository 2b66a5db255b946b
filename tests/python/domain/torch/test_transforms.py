"""Transforms of functions, and operators that take functions.

A row is a program and how many graph breaks it has at most. Compiled, it gives what it gives uncompiled, as it is, through a
`GraphModule` and through AOTAutograd; its second call traces nothing; and no transform stays under way."""

import unittest
import warnings

import torch
from torch import func, nn
from torch._functorch.aot_autograd import aot_module_simplified

import slotrt

NET = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
WEIGHT = nn.Parameter(torch.ones(3))
SCALE = torch.tensor(2.0)


def wave(a):
    return a.sin() * a


def total(a):
    return wave(a).sum()


def through_vjp(x):
    y, back = func.vjp(wave, x * 2)
    return y, back(torch.ones_like(y))[0] * 2


def through_vjp_with_aux(x):
    y, back, aux = func.vjp(lambda a, b: (a * b, a + 1), x * 2, x, has_aux=True)
    return y, back(torch.ones_like(y)), aux


def replaced_parameters(x):
    parameters = {name: parameter * 2 for name, parameter in NET.named_parameters()}
    return func.functional_call(NET, parameters, (x,)) * 2


def gradients_of_each(x):
    parameters = {name: parameter.detach() for name, parameter in NET.named_parameters()}

    def loss(parameters, row):
        return func.functional_call(NET, parameters, (row[None],)).sum()

    return torch.vmap(func.grad(loss), in_dims=(None, 0))(parameters, x)


def ensemble(x):
    stacked = {name: torch.stack([p, p * 2]).detach() for name, p in NET.named_parameters()}
    return torch.vmap(lambda parameters: func.functional_call(NET, parameters, (x,)))(stacked) * 2


def without_gradients(x):
    with torch.no_grad():
        return func.grad(total)(x) * 2, torch.is_grad_enabled()


def asks(x):
    seen = []

    def f(a):
        seen.append((torch.is_grad_enabled(), a.requires_grad, tuple(a.shape)))
        return (a * WEIGHT).sum()

    return func.grad(f)(x), torch.vmap(f)(x), seen, torch.is_grad_enabled()


def raises(x):
    try:
        return torch.vmap(lambda a: a.view(7))(x * 2)
    except RuntimeError as error:
        return str(error)[:40], x * 2


def prints(x):
    def f(a):
        warnings.warn("as it runs natively")
        return a * 2

    return torch.vmap(f)(x * 2) + 1


def scan(x):
    from torch._higher_order_ops.associative_scan import associative_scan

    return associative_scan(lambda a, b: a * b + 1, x * 2, 0, combine_mode="generic") + 1


def linear_scan(x):
    from torch._higher_order_ops.associative_scan import associative_scan

    def combine(one, other):
        return one[0] * other[0], other[0] * one[1] + other[1]

    return associative_scan(combine, (x, x * 2), 1, reverse=True, combine_mode="generic")[1] + 1


ROWS = [
    (lambda x: torch.vmap(lambda a: a * 2 + a.sum())(x * 2) + 1, 0),
    (lambda x: torch.vmap(torch.vmap(torch.mul), out_dims=1)(x * 2, x) + 1, 0),
    (lambda x: torch.vmap(lambda a, b: {"sum": a + b, "dot": a @ b}, in_dims=(0, None))(x * 2, x[0]), 0),
    (lambda x: torch.vmap(lambda a: (a * WEIGHT).sum() * SCALE)(x) * 2, 0),
    (lambda x: torch.vmap(wave, chunk_size=1)(x) + 1, 0),
    (lambda x: torch.vmap(lambda a: a + torch.rand(3), randomness="different")(x * 2), 0),
    (lambda x: torch.vmap(lambda a: nn.functional.dropout(a, 0.5), randomness="same")(x * 2), 0),
    (lambda x: func.grad(total)(x * 2) + 1, 0),
    (lambda x: func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x * 2), 0),
    (lambda x: func.grad_and_value(total)(x * 2), 0),
    (lambda x: func.grad(lambda a: (total(a), a * 2), has_aux=True)(x * 2), 0),
    (lambda x: func.grad(lambda a: func.grad(total)(a).sum())(x) * 2, 0),
    (lambda x: torch.vmap(func.grad(total))(x) * 2, 0),
    (lambda x: func.grad(lambda a: torch.vmap(wave)(a).sum())(x) * 2, 0),
    (lambda x: func.jvp(wave, (x * 2,), (x,))[1] * 2, 0),
    (lambda x: func.jvp(func.grad(total), (x,), (x,)), 0),
    (lambda x: func.jacrev(lambda a: wave(a))(x[0]) * 2, 0),
    (lambda x: func.jacfwd(lambda a: wave(a))(x[0]) * 2, 0),
    (lambda x: func.hessian(lambda a: total(a))(x[0]) * 2, 0),
    (through_vjp, 0),
    (through_vjp_with_aux, 0),
    (replaced_parameters, 0),
    (gradients_of_each, 0),
    (ensemble, 0),
    (without_gradients, 0),
    (asks, 0),
    (raises, 1),
    (prints, 1),
    (scan, 0),
    (linear_scan, 0),
    (lambda x: torch.cond(x.sum() > 3, torch.sin, torch.cos, (x,)) * 2, 1),
]


def value(result):
    """A comparable form of a result."""
    if isinstance(result, torch.Tensor):
        return result.dtype, tuple(result.shape), result.requires_grad, result.tolist()
    if isinstance(result, (tuple, list)):
        return type(result), [value(part) for part in result]
    if isinstance(result, dict):
        return {name: value(part) for name, part in result.items()}
    return result


def tensors(result):
    if isinstance(result, torch.Tensor):
        yield result
    elif isinstance(result, (tuple, list, dict)):
        for part in result.values() if isinstance(result, dict) else result:
            yield from tensors(part)


def run(function):
    """What a call gives, and what it leaves behind."""
    parameters = [WEIGHT, *NET.parameters()]
    for number, parameter in enumerate(parameters):
        parameter.data.copy_(torch.linspace(-1, 1 + number, parameter.numel()).view_as(parameter))
        parameter.grad = None
    torch.manual_seed(0)
    x = torch.arange(1.0, 7.0).reshape(2, 3) / 4
    result = function(x)
    after = value(result), value(x), torch.is_grad_enabled(), torch.rand(2).tolist()
    for tensor in tensors(result):
        if tensor.requires_grad:
            tensor.sum().backward(retain_graph=True)
    return after, [value(parameter.grad) for parameter in parameters], torch._C._functorch.peek_interpreter_stack()


def aot(module, example_inputs):
    return aot_module_simplified(module, example_inputs, fw_compiler=lambda graph, inputs: graph.forward)


class Transforms(unittest.TestCase):
    def check(self, backend):
        for number, (function, breaks) in enumerate(ROWS):
            with self.subTest(number=number, function=function.__name__), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                slotrt.reset()
                plain, compiled = run(function), slotrt.compile(function, backend=backend)
                self.assertEqual(run(compiled), plain)
                first = slotrt.stats()
                self.assertLessEqual(first["graph_breaks"], breaks)
                self.assertGreaterEqual(first["graphs"], 1)
                self.assertEqual(run(compiled), plain)
                self.assertEqual(slotrt.stats()["instructions"], first["instructions"])

    def test_eager(self):
        self.check(None)

    def test_graph_module(self):
        self.check(lambda graph, inputs: graph)

    def test_aot(self):
        self.check(aot)

    def test_a_transformed_function_is_compiled(self):
        slotrt.reset()
        mapped, x = torch.vmap(lambda a: a * 2 + a.sum()), torch.arange(6.0).reshape(2, 3)
        compiled = slotrt.compile(mapped)
        self.assertEqual(value(compiled(x)), value(mapped(x)))
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_a_compiled_function_is_transformed(self):
        slotrt.reset()
        compiled, x = slotrt.compile(wave), torch.arange(6.0).reshape(2, 3)
        for _ in range(2):
            self.assertEqual(value(torch.vmap(compiled)(x)), value(torch.vmap(wave)(x)))
            self.assertEqual(value(func.jacrev(compiled)(x)), value(func.jacrev(wave)(x)))
            self.assertEqual(value(compiled(x)), value(wave(x)))


class Failures(unittest.TestCase):
    """A graph that raises leaves no mode behind, and the program raises what it raises uncompiled."""

    def test_modes_are_restored(self):
        def within(x, index):
            with torch.no_grad():
                return (x * 2)[index]

        def transformed(x, index):
            return func.grad(lambda a: (a * 2)[index].sum())(x)

        def mapped(x, index):
            return torch.vmap(lambda a: torch.index_select(x, 0, a[None]) * 2)(index)

        def dual(x, index):
            return func.jvp(lambda a: (a * 2)[index], (x,), (x,))

        for function in (within, transformed, mapped, dual):
            for backend in (None, lambda graph, inputs: graph):
                with self.subTest(function=function.__name__, backend=backend):
                    slotrt.reset()
                    compiled = slotrt.compile(function, backend=backend)
                    x, good, bad = torch.arange(3.0), torch.tensor([0, 1]), torch.tensor([0, 7])
                    self.assertEqual(value(compiled(x, good)), value(function(x, good)))
                    for called in (function, compiled):
                        with self.assertRaises((IndexError, RuntimeError)) as caught:
                            called(x, bad)
                        self.assertIn("out of", str(caught.exception))
                        self.assertTrue(torch.is_grad_enabled())
                        self.assertIsNone(torch._C._functorch.peek_interpreter_stack())
                    self.assertEqual(value(compiled(x, good)), value(function(x, good)))


if __name__ == "__main__":
    unittest.main()
