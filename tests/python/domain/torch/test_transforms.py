"""Transforms of functions, operators that take functions, gradients that are written by hand.

A row is a program and how many graph breaks it has at most. Compiled, it gives what it gives uncompiled, as it is, through a
`GraphModule` and through AOTAutograd; its second call traces nothing; and no transform stays under way."""

import unittest
import warnings

import torch
from torch import func, nn
from torch._functorch.aot_autograd import aot_module_simplified
from torch._higher_order_ops import scan
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as mapped
from torch._higher_order_ops.while_loop import while_loop
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

import slotrt

NET = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
WEIGHT = nn.Parameter(torch.ones(3))
SCALE = torch.tensor(2.0)
NORM = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
DROP, COUNT = nn.Dropout(0.5), [0]


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


def mapped_over_followed(x):
    """Over what gradients follow, and the graph has made."""
    return torch.vmap(lambda row: row.mean() * row)(x * WEIGHT)


def chosen(x):
    """A truth chooses before the graph runs; what is chosen may give its argument."""
    first = torch.cond(x.dim() == 2, lambda a: a, torch.cos, (x,))
    return first is x, first * 2, torch.cond(False, torch.sin, lambda a: a.tanh(), (x,))


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


def one_scan(x):
    return associative_scan(lambda a, b: a * b + 1, x * 2, 0, combine_mode="generic") + 1


def linear_scan(x):
    def combine(one, other):
        return one[0] * other[0], other[0] * one[1] + other[1]

    return associative_scan(combine, (x, x * 2), 1, reverse=True, combine_mode="generic")[1] + 1


def attention(x):
    heads = x.repeat(16, 8).view(1, 1, -1, 8)[:, :, :32].contiguous()
    return flex_attention(heads, heads, heads, score_mod=lambda score, b, h, i, j: score + (i - j)) * 2


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale=2.0):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * scale

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 3 * x * gradient * ctx.scale * (2.0 if ctx.needs_input_grad[0] else 1.0), None


class Pair(torch.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y, x + y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, product, total):
        x, y = ctx.saved_tensors
        return product * y, product * x


class Counted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        COUNT[0] += 1
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 7


class Same(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.clone() if torch.is_grad_enabled() else x.view_as(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return -gradient


class Weighted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * SCALE

    @staticmethod
    def backward(ctx, gradient):
        return gradient * SCALE


ROWS = [
    (mapped_over_followed, 0),
    (chosen, 0),
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
    (one_scan, 0),
    (linear_scan, 0),
    (lambda x: torch.cond(x.sum() > 3, lambda a: a.sin() * WEIGHT, lambda a: (a * SCALE).cos(), (x,)) * 2, 0),
    (lambda x: torch.cond(x.sum() > 3, lambda a: (a + 1, a * 2), lambda a: (a - 1, a / 2), (x,))[1] + 1, 0),
    (lambda x: while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * SCALE), (torch.tensor(0), x))[1] + 1, 0),
    (lambda x: scan(lambda carry, a: (carry + a, carry * a), x[0].clone(), x)[1] + 1, 0),
    (lambda x: mapped(lambda a, b: a * b * WEIGHT, x, x[0].clone()) + 1, 0),
    (lambda x: associative_scan(lambda a, b: a * b, x, 0, combine_mode="pointwise") + 1, 0),
    (attention, 1),
    (lambda x: checkpoint(NET, x * WEIGHT, use_reentrant=False) * 2, 0),
    (lambda x: checkpoint(NET, x * WEIGHT, use_reentrant=True) * 2, 0),
    (lambda x: checkpoint(lambda a, b: (NET(a), [b * WEIGHT]), x * WEIGHT, x, use_reentrant=False), 0),
    (lambda x: checkpoint_sequential(NET, 2, x * WEIGHT, use_reentrant=False) * 2, 0),
    (lambda x: nn.functional.dropout(checkpoint(DROP, x * WEIGHT, use_reentrant=False)), 0),
    (lambda x: checkpoint(NORM, x * WEIGHT, use_reentrant=False) * 2, 1),
    (lambda x: Square.apply(x * WEIGHT, 3.0) * 2 + Square.apply(x), 0),
    (lambda x: Pair.apply(x * WEIGHT, WEIGHT.expand(2, 3))[0] * 2, 0),
    (lambda x: Counted.apply(x * WEIGHT) * 2 + COUNT[0], 1),
    (lambda x: Same.apply(x * WEIGHT) * 2, 0),
    (lambda x: Weighted.apply(x * WEIGHT) * 2, 1),
    (lambda x: func.vmap(Same.apply)(x) * 2, 1),
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
    parameters = [WEIGHT, *NET.parameters(), *NORM[0].parameters()]
    COUNT[0] = 0
    NORM[1].reset_parameters()
    for number, parameter in enumerate(parameters):
        parameter.data.copy_(torch.linspace(-1, 1 + number, parameter.numel()).view_as(parameter))
        parameter.grad = None
    torch.manual_seed(0)
    x = torch.arange(1.0, 7.0).reshape(2, 3) / 4
    result = function(x)
    after = value(result), value(x), torch.is_grad_enabled(), torch.rand(2).tolist()
    for tensor in tensors(result):
        if tensor.requires_grad and not tensor.is_leaf:
            tensor.sum().backward(retain_graph=True)
    return after, [value(parameter.grad) for parameter in parameters], torch._C._functorch.peek_interpreter_stack(), COUNT[0], NORM.state_dict()["1.running_mean"].tolist()


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
