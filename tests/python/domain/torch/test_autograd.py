"""Gradients within compiled code: hooks, modes, `grad` and `backward`, saved tensors, anomaly mode. What they give, how often they break."""

import sys
import unittest
import warnings

import slotrt
import torch
from torch import nn
from torch.autograd import graph


def leaf():
    return (torch.arange(4.0) + 1).requires_grad_()


def plain():
    return torch.arange(4.0) + 1


def value(result):
    """A comparable form of a result."""
    if isinstance(result, torch.Tensor):
        flags = result.requires_grad, result.is_leaf, result.is_inference(), type(result.grad_fn).__name__
        return result.dtype, tuple(result.shape), flags, result.tolist()
    return [value(part) for part in result] if isinstance(result, (tuple, list)) else result


def hook(w):
    y = w * 2
    y.register_hook(lambda grad: grad * 3)
    return (y + 1).sin()


def hook_and_backward(w):
    y = w * 2
    y.register_hook(lambda grad: grad * 3)
    y.sum().backward()
    return w.grad * 2


def after_accumulation(w):
    seen = []
    w.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.sum()))
    (w * 2).sum().backward()
    return seen, w.grad


def begins(x):
    x.requires_grad_()
    (x * x).sum().backward()
    return x.grad


def detached(w):
    y = w * 2
    y.detach_()
    return y + 1, y.requires_grad, w * 3


def retained(w):
    y = w * 2
    y.retain_grad()
    y.sum().backward()
    return y.grad * 2


def one_gradient(w):
    y = (w * w).sum()
    (grad,) = torch.autograd.grad(y, w)
    return grad + 1


def second_gradient(w):
    y = (w**3).sum()
    (grad,) = torch.autograd.grad(y, [w], create_graph=True)
    return (grad * 2).sum()


def of_made_here(x):
    v = x.mul(2).requires_grad_()
    return torch.autograd.grad((v * v).sum(), v)[0] * 2


def whole(w):
    (w * w).sum().backward()
    return w.grad * 2


def several(w):
    torch.autograd.backward([(w * 2).sum(), (w * 3).sum()])
    return w.grad + 1


def saved(w):
    with graph.saved_tensors_hooks(lambda x: x * 1, lambda x: x):
        y = w * w
    return y.sin()


def on_cpu(w):
    with graph.save_on_cpu():
        y = w * w
    return y.sin()


def anomaly(w):
    with torch.autograd.set_detect_anomaly(True):
        y = (w * w).sin()
        inside = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
        with torch.autograd.set_detect_anomaly(True, check_nan=False):
            inside += (torch.is_anomaly_check_nan_enabled(),)
    return y, inside, torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()


def nan_in_anomaly(w):
    with torch.autograd.set_detect_anomaly(True):
        y = (w - 1).sqrt() * 0
        y.sum().backward()
    return w.grad


def switched(w):
    torch.set_grad_enabled(False)
    y = w * 2
    torch.set_grad_enabled(True)
    return y, w * 2


def switched_within(w):
    with torch.set_grad_enabled(False):
        y = w * 2
    return y, w * 2


@torch.set_grad_enabled(False)
def without(w):
    return w * 2


def switched_function(w):
    return without(w), w * 2


def inference(x):
    with torch.inference_mode():
        y = x * 2
    return y, x + 1


@torch.inference_mode()
def inferred(x):
    return x * 2


def inference_function(x):
    return inferred(x), x + 1


#: A function, its argument, and how often it breaks at most.
# Up to 3.12 the handler of a `with` around a call that breaks the graph and raises is traced, and breaks it again.
AT_HANDLERS = 1 if sys.version_info >= (3, 13) else 2

USES = [
    (hook, leaf, 1), (hook_and_backward, leaf, 2), (after_accumulation, leaf, 2), (begins, plain, 2), (detached, leaf, 1), (retained, leaf, 3),
    (one_gradient, leaf, 1), (second_gradient, leaf, 1), (of_made_here, plain, 2), (whole, leaf, 1), (several, leaf, 1), (saved, leaf, 2),
    (on_cpu, leaf, 2), (anomaly, leaf, 0), (nan_in_anomaly, leaf, AT_HANDLERS), (switched, leaf, 0), (switched_within, leaf, 0), (switched_function, leaf, 0),
    (inference, plain, 2), (inference_function, plain, 2),
]


class Gradients(unittest.TestCase):
    def observed(self, function, argument):
        """What a call gives or raises; gradients through what it gives; what it leaves."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = function(argument)
                outcome = value(result)
                for part in result if isinstance(result, (tuple, list)) else [result]:
                    if isinstance(part, torch.Tensor) and part.requires_grad and argument.requires_grad:
                        part.sum().backward()
            except RuntimeError as error:
                outcome = str(error)
        modes = torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled()
        return outcome, value(argument), value(argument.grad), modes

    def test_an_operation_on_bits_that_raises_after_backward(self):
        layer = nn.Linear(3, 3)

        def program(x, how):
            layer(x).sum().backward()
            try:
                return [lambda: x & x, lambda: torch.bitwise_or(x, x), lambda: ~x, lambda: x.bitwise_xor_(x), lambda: 1 ^ x][how]()
            except (RuntimeError, TypeError) as error:
                return repr(error)[:40]

        for how in range(5):
            outcomes = []
            for function in program, slotrt.compile(program):
                layer.weight.grad = layer.bias.grad = None
                said = [function(torch.ones(2, 3), how) for _ in range(3)]
                outcomes.append((said, layer.weight.grad.tolist()))
            self.assertEqual(*outcomes)

    def test_an_operation_without_a_kernel_after_backward(self):
        makers = {
            "gelu": lambda: lambda i: torch.nn.functional.gelu(i),
            "softmax": lambda: lambda i: i.softmax(0),
            "hardswish_": lambda: lambda i: torch.nn.functional.hardswish(i, inplace=True),
            "avg_pool1d": lambda: lambda i: torch.nn.functional.avg_pool1d(i[None], 2),
            "topk": lambda: lambda i: i.topk(2).values,
            "foreach": lambda: lambda i: torch._foreach_mul([i, i], 2),
        }
        for name in makers:
            for dtype in torch.int64, torch.int32, torch.bool, torch.float16, torch.bfloat16, torch.complex64:
                with self.subTest(name, dtype=dtype):
                    outcomes = []
                    for is_compiled in False, True:
                        operation = makers[name]()

                        def program(x, i, operation=operation):
                            (x * x).sum().backward()
                            return operation(i)

                        function = slotrt.compile(program) if is_compiled else program
                        x, said = torch.ones(3, requires_grad=True), []
                        for _ in range(3):
                            try:
                                said.append(repr(function(x, torch.ones(4).to(dtype))))
                            except (RuntimeError, TypeError) as error:
                                said.append((type(error), str(error)))
                        outcomes.append((said, x.grad.tolist()))
                    self.assertEqual(*outcomes)

    def test_what_a_context_has_is_what_the_one_of_pytorch_has(self):
        class Doubled(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                return x.mul_(2)

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        class Asking(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * (2 if hasattr(ctx, "next_functions") else 3) + len(ctx.nothing)

        def caught(x):
            said = []
            for function in (Doubled, Asking):
                try:
                    said.append(function.apply(x * 1))
                except AttributeError as error:
                    said.append(str(error))
            return said

        for make in (leaf, plain):
            self.assertEqual(repr(slotrt.compile(caught)(make())), repr(caught(make())))

    def test_uses(self):
        for function, make, most in USES:
            with self.subTest(function.__name__):
                slotrt.reset()
                compiled, traced = slotrt.compile(function), []
                for _ in range(3):
                    self.assertEqual(self.observed(compiled, make()), self.observed(function, make()))
                    traced.append(slotrt.stats()["instructions"])
                self.assertEqual(traced, traced[:1] * 3)
                self.assertLessEqual(slotrt.stats()["graph_breaks"], most)

    def test_module_hooks(self):
        def net(register):
            torch.manual_seed(0)
            made = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
            register(made[0])
            return made

        hooks = [
            (lambda layer: layer.register_forward_hook(lambda module, args, result: result * 2), 0),
            (lambda layer: layer.register_forward_pre_hook(lambda module, args: (args[0] + 1,)), 0),
            (lambda layer: layer.register_full_backward_hook(lambda module, into, out: (into[0] * 2,)), 3),
            (lambda layer: layer.register_full_backward_pre_hook(lambda module, out: (out[0] * 2,)), 3),
        ]
        for register, most in hooks:
            slotrt.reset()
            one, two = net(register), net(register)
            compiled, traced = slotrt.compile(one), []
            for _ in range(3):
                self.assertEqual(self.observed(compiled, leaf()), self.observed(two, leaf()))
                traced.append(slotrt.stats()["instructions"])
                grads = [[value(parameter.grad) for parameter in made.parameters()] for made in (one, two)]
                self.assertEqual(*grads)
            self.assertEqual(traced, traced[:1] * 3)
            self.assertLessEqual(slotrt.stats()["graph_breaks"], most)


if __name__ == "__main__":
    unittest.main()
