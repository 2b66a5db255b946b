"""What surrounds tensors in PyTorch programs: training, gradients, hooks, transforms, recurrent networks, random numbers.

A row is a program and how many graph breaks it has at most. Compiled, it gives what it gives uncompiled: results, gradients,
parameters, modes and random numbers; and its second call traces nothing."""

import unittest
import warnings

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import slotrt

LINEAR, AVERAGE = nn.Linear(3, 3), nn.Linear(3, 3)
WEIGHT = nn.Parameter(torch.ones(3))
GENERATOR = torch.Generator()
HOOKED = nn.Linear(3, 3)
HOOKED.register_forward_hook(lambda module, args, result: result * 2)
HOOKED.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
RNN, LSTM, GRU = nn.RNN(3, 4), nn.LSTM(3, 4, 2, dropout=0.5), nn.GRU(3, 4, bidirectional=True, batch_first=True)
CELLS = [nn.RNNCell(3, 4), nn.GRUCell(3, 4)]
LSTM_CELL = nn.LSTMCell(3, 4)
MODULES = [LINEAR, AVERAGE, HOOKED, RNN, LSTM, GRU, LSTM_CELL, *CELLS]


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 3 * x * gradient


@torch.no_grad()
def without_gradients(x):
    return LINEAR(x)


@torch.enable_grad()
def with_gradients(x):
    return LINEAR(x)


@torch.inference_mode()
def in_inference(x):
    return LINEAR(x)


def modes(x):
    with torch.no_grad():
        a, b = LINEAR(x), with_gradients(x)
        with torch.set_grad_enabled(True):
            c = LINEAR(x)
    torch.set_grad_enabled(False)
    d = LINEAR(x)
    torch.set_grad_enabled(True)
    return a, b, c, d, without_gradients(x), LINEAR(x)


def inference(x):
    with torch.inference_mode():
        y = LINEAR(x)
    return y, y * 1, LINEAR(x)


def decorated_inference(x):
    return in_inference(x) + 0, LINEAR(x)


def comes_to_require(x):
    y = (x * 2).requires_grad_()
    return y, y * 3


def detached(x):
    y = LINEAR(x)
    z = y.detach() * 2
    return z, y.detach_() * 2


def gradient(x):
    (grad,) = torch.autograd.grad((x * WEIGHT).sum(), WEIGHT)
    return grad * 2


def backward(x):
    y = (x * WEIGHT * 2).sum()
    y.backward()
    return y.detach() * 2


def descent(x):
    y = (x * WEIGHT * 2).sum() + LINEAR(x).sum()
    y.backward()
    with torch.no_grad():
        for parameter in [WEIGHT, *LINEAR.parameters(), *AVERAGE.parameters()]:
            if parameter.grad is not None:
                parameter -= 0.1 * parameter.grad
                parameter.grad.mul_(0.5)
    return y.detach() * 2, WEIGHT.grad


def forgotten(x):
    (x * WEIGHT * 2).sum().backward()
    LINEAR.zero_grad()
    WEIGHT.grad, old = None, WEIGHT.grad
    return old * 2, WEIGHT.grad, (x * WEIGHT).sum().detach()


def gradient_of_a_gradient(x):
    (grad,) = torch.autograd.grad((x * WEIGHT).pow(2).sum(), WEIGHT, create_graph=True)
    penalty = (grad.norm() - 1) ** 2
    penalty.backward()
    return penalty.detach(), WEIGHT.grad * 2


def backward_of_several(x):
    y = x * WEIGHT
    torch.autograd.backward([y], [torch.ones(2, 3)])
    return y.detach() * 2


def tensor_hook(x):
    y = x * WEIGHT
    handle = y.register_hook(lambda grad: grad * 5)
    z = y.sum() * 2
    z.backward()
    handle.remove()
    return z.detach() * 2


def module_hook(x):
    handle = LINEAR.register_forward_hook(lambda module, args, result: result * 2)
    y = LINEAR(x)
    handle.remove()
    return y, LINEAR(x)


def checkpointed(x):
    return checkpoint(LINEAR, x * 1, use_reentrant=False) * 2


def own_function(x):
    return Square.apply(x * WEIGHT) * 2


def item(x):
    y = (x * 2).sum()
    return y.item() + 1, y * 2


def tolist(x):
    y = x * 2
    return y.tolist(), y * 2


def counted(x):
    return (x.long().view(-1) + 1).bincount() * 2


def equal(x):
    y = x * 2
    return torch.equal(x, y), y + 1


def forward_and_loss(x):
    return functional.cross_entropy(LINEAR(x), torch.tensor([0, 1]))


def average(x):
    with torch.no_grad():
        for mean, new in zip(AVERAGE.parameters(), LINEAR.parameters()):
            mean.mul_(0.9).add_(new, alpha=0.1)
    return AVERAGE(x)


def cells(x):
    hidden, cell = LSTM_CELL(x * 2)
    return hidden, cell * 2, [cell(x) * 2 for cell in CELLS]


def lstm(x):
    result, (hidden, cell) = LSTM(x * 2)
    return result * 2, hidden * 2, cell


def seeded(x):
    torch.manual_seed(3)
    return functional.dropout(x * 2, 0.5) + torch.rand(2, 3)


def transforms(x):
    def f(a):
        return a.sin().sum()

    y = x * 2
    return torch.func.grad(f)(y) * 2, torch.func.jvp(f, (y,), (y,))[1] * 2


ROWS = [
    (modes, 0),
    (inference, 2),
    (decorated_inference, 2),
    (comes_to_require, 1),
    (detached, 1),
    (gradient, 1),
    (backward, 1),
    (descent, 1),
    (forgotten, 1),
    (gradient_of_a_gradient, 2),
    (backward_of_several, 1),
    (tensor_hook, 3),
    (module_hook, 2),
    (checkpointed, 1),
    (own_function, 1),
    (lambda x: HOOKED(x) + 1, 0),
    (item, 1),
    (tolist, 1),
    (counted, 1),
    (equal, 1),
    (lambda x: (x * 2).nonzero() * 2, 1),
    (lambda x: (x * 2).unique() * 2, 1),
    (lambda x: torch.unique(x * 2, return_counts=True)[1] * 2, 1),
    (lambda x: (x * 2).masked_select(x > 3) * 2, 1),
    (lambda x: torch.where(x * 2 > 3)[0] * 2, 1),
    (forward_and_loss, 0),
    (average, 0),
    (lambda x: RNN(x * 2)[0] * 2, 0),
    (lstm, 0),
    (lambda x: GRU(x[None] * 2)[0] * 2, 0),
    (cells, 0),
    (lambda x: functional.dropout(x * 2, 0.5) * 2, 0),
    (seeded, 1),
    (lambda x: torch.rand(2, 3, generator=GENERATOR) * x, 1),
    (lambda x: torch.sparse.mm((x * 2).to_sparse(), x.T) * 2, 2),
    (transforms, 0),
    (lambda x: torch.einsum("ij,ij,kj->k", x * 2, x, x) * 2, 0),
    (lambda x: torch.cond(x.sum() > 3, torch.sin, torch.cos, (x,)) * 2, 1),
]


def value(result):
    """A comparable form of a result."""
    if isinstance(result, torch.Tensor):
        kind = type(result), result.dtype
        return *kind, tuple(result.shape), result.requires_grad, result.is_leaf, result.is_inference(), result.tolist()
    if isinstance(result, (tuple, list)):
        return type(result), [value(part) for part in result]
    return result


def gradients(result):
    """Those of all tensors in a result that have come about with gradients, summed into the parameters."""
    if isinstance(result, torch.Tensor):
        if result.requires_grad and not result.is_leaf and not result.is_inference():
            result.sum().backward(retain_graph=True)
    elif isinstance(result, (tuple, list)):
        for part in result:
            gradients(part)


def run(function):
    """What a call gives, and what it leaves behind."""
    parameters = [WEIGHT, *(parameter for module in MODULES for parameter in module.parameters())]
    torch.manual_seed(0)
    GENERATOR.manual_seed(1)
    for number, parameter in enumerate(parameters):
        parameter.data.copy_(torch.linspace(-1, 1 + number, parameter.numel()).view_as(parameter))
        parameter.grad = None
    x = torch.arange(1.0, 7.0).reshape(2, 3)
    result = function(x)
    after = value(result), value(x), torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    random = torch.rand(2).tolist(), torch.rand(2, generator=GENERATOR).tolist()
    gradients(result)
    hooks = [len(module._forward_hooks) for module in MODULES]
    return after, random, hooks, [(value(parameter), value(parameter.grad)) for parameter in parameters]


class Uses(unittest.TestCase):
    def test_programs(self):
        for number, (function, breaks) in enumerate(ROWS):
            with self.subTest(number=number, function=function.__name__), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                slotrt.reset()
                plain, compiled = run(function), slotrt.compile(function)
                self.assertEqual(run(compiled), plain)
                first = slotrt.stats()
                self.assertLessEqual(first["graph_breaks"], breaks)
                self.assertGreaterEqual(first["graphs"], 1)
                self.assertEqual(run(compiled), plain)
                # Each hook has another number, which the module goes by.
                if function not in (tensor_hook, module_hook):
                    self.assertEqual(slotrt.stats()["instructions"], first["instructions"])


class Gradients(unittest.TestCase):
    def test_attribute(self):
        def f(x):
            return x.grad if x.grad is None else x.grad * 2, x * 2

        slotrt.reset()
        compiled, x = slotrt.compile(f), torch.ones(2, requires_grad=True)
        for grad in (None, torch.ones(2), torch.tensor([3.0, 4.0]), None):
            x.grad = grad
            self.assertEqual(value(compiled(x)), value(f(x)))
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_attribute_is_set_to_none(self):
        def f(a, b):
            held, a.grad = a.grad, None
            return None if held is None else held * 2, b.grad, (b * 2).detach()

        def arguments(same, first, second):
            a = torch.ones(2, requires_grad=True)
            b = a if same else torch.ones(2, requires_grad=True)
            b.grad = torch.ones(2) if second else None
            a.grad = torch.ones(2) if first else None
            return a, b

        for cases in ["011 111 001 100 010 011 111".split(), ["111", "011"]]:
            slotrt.reset()
            compiled = slotrt.compile(f)
            for case in cases:
                mine, theirs = (arguments(*map(int, case)) for _ in range(2))
                self.assertEqual(value(compiled(*mine)), value(f(*theirs)), case)
                self.assertEqual(value([x.grad for x in mine]), value([x.grad for x in theirs]), case)

    def test_attribute_that_is_an_argument_too(self):
        def f(grad, x):
            grad.add_(1)
            x.grad.mul_(3)
            return x.grad is grad, grad * 1, x.grad + grad

        def arguments(same):
            x = torch.ones(2, requires_grad=True)
            x.grad = torch.ones(2)
            return x.grad if same else torch.ones(2), x

        slotrt.reset()
        compiled = slotrt.compile(f)
        for same in (True, False, True):
            self.assertEqual(value(compiled(*arguments(same))), value(f(*arguments(same))))

    def test_attribute_of_what_is_no_leaf_warns(self):
        def f(x):
            return x.grad, x * 2

        def calls(function):
            x = torch.ones(2, requires_grad=True)
            found = []
            for tensor in (x, x * 2, x, x * 2):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    found.append((value(function(tensor)), [str(warning.message)[:80] for warning in caught]))
            return found

        self.assertEqual(calls(slotrt.compile(f)), calls(f))


if __name__ == "__main__":
    unittest.main()
