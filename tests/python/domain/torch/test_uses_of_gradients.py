"""What programs do with gradients beside `backward`: hooks that they set inside, gradients that they set, lists of tensors changed in place.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def of(function, *makers, state=()):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], state)


def hooked():
    seen = []

    def f(x):
        y = x * 2
        y.register_hook(lambda gradient: seen.append(gradient.sum().item()) or gradient * 3)
        return (y + 1).sin()

    return f, lambda number: [leaf()], [lambda: seen]


def hooked_leaf(x):
    x.register_hook(lambda gradient: gradient * 3)
    return x * 2


def hook_that_is_removed(x):
    y = x * 2
    handle = y.register_hook(lambda gradient: gradient * 3)
    z = y + 1
    handle.remove()
    return z


def hook_that_is_kept(x):
    y = x * 2
    handle = y.register_hook(lambda gradient: gradient * 3)
    return y + 1, type(handle).__name__


def changed_after_a_hook(x):
    y = x * 2
    y.register_hook(lambda gradient: gradient * 3)
    z = y * 1
    y.mul_(4)
    return y + z


def hook_that_is_refused(x):
    try:
        x.register_hook(print)
    except RuntimeError as error:
        return str(error), x + 1


def hooked_and_backward(x):
    y = x * 2
    y.register_hook(lambda gradient: gradient * 3)
    y.retain_grad()
    y.sum().backward()
    return x.grad + 1, y.grad


def retained():
    linear = nn.Linear(3, 3)
    kept = []

    def f(x):
        y = linear(x)
        y.retain_grad()
        kept[:] = [y]
        return y * 2

    return f, lambda number: [matrix()], [linear, lambda: kept[0].grad]


def gradient_set():
    w = nn.Parameter(torch.ones(3))

    def f(x):
        w.grad = (x * 2).sum(0)
        return w.grad + 1

    return f, lambda number: [matrix()], [w, lambda: w.grad]


def gradients_scaled():
    linear = nn.Linear(3, 3)

    def f(x):
        for parameter in linear.parameters():
            parameter.grad = parameter.grad * 2 if parameter.grad is not None else torch.ones_like(parameter)
            parameter.grad.add_(1)
        return linear(x)

    return f, lambda number: [matrix()], [linear]


def gradient_refused():
    w = nn.Parameter(torch.ones(3))

    def f(x):
        try:
            w.grad = x
        except RuntimeError as error:
            return str(error), x + 1

    return f, lambda number: [matrix()], [w]


def lists(x, y):
    made = torch._foreach_mul([x, y], 2.0)
    given = torch._foreach_add_(made, 1.0)
    torch._foreach_zero_([x])
    torch._foreach_lerp_([y], [x], 0.5)
    return made, given is made, x, y


def lists_of_leaves(x):
    with torch.no_grad():
        torch._foreach_mul_([x], 3.0)
    return x * 2


def hook_of_a_module():
    linear = nn.Linear(3, 3)

    def f(x):
        handle = linear.register_forward_hook(lambda module, args, result: result * 2)
        before = linear.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
        y = linear(x)
        handle.remove()
        z = linear(x)
        before.remove()
        return y + z + linear(x), len(linear._forward_hooks)

    return f, lambda number: [matrix()], [linear]


def hook_of_a_module_kept():
    linear, handles = nn.Linear(3, 3), []

    def f(x):
        handles.append(linear.register_forward_hook(lambda module, args, result: result * 2))
        return linear(x)

    return f, lambda number: [matrix()], [linear, lambda: len(linear._forward_hooks), lambda: len({h.id for h in handles})]


def activations():
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))

    def f(x):
        kept, handles = {}, []
        for name, inner in module.named_modules():
            if isinstance(inner, nn.Linear):

                def hook(inner, args, result, name=name):
                    kept[name] = result

                handles.append(inner.register_forward_hook(hook))
        y = module(x)
        for handle in handles:
            handle.remove()
        return y, kept, module(x)

    return f, lambda number: [matrix()], [module]


def hooks_in_order():
    linear = nn.Linear(3, 3)
    linear.register_forward_hook(lambda module, args, result: result + 1)

    def f(x):
        with linear.register_forward_hook(lambda module, args, result: result * 2, prepend=True) as first:
            y = linear(x)
            second = linear.register_forward_hook(lambda module, args, options, result: result - 3, with_kwargs=True)
            z = linear(x)
            first.remove()
            second.remove()
        return y, z, linear(x), len(linear._forward_hooks), len(linear._forward_hooks_with_kwargs)

    return f, lambda number: [matrix()], [linear]


def hook_that_raises():
    linear = nn.Linear(3, 3)

    def hook(module, args):
        raise ValueError("no")

    def f(x):
        handle = linear.register_forward_pre_hook(hook)
        try:
            return linear(x)
        except ValueError as error:
            return str(error), x + 1
        finally:
            handle.remove()

    return f, lambda number: [matrix()], [linear, lambda: len(linear._forward_pre_hooks)]


def number_of_a_hook():
    linear = nn.Linear(3, 3)

    def f(x):
        handle = linear.register_forward_hook(lambda module, args, result: result * 2)
        y = linear(x) * (handle.id >= 0)
        handle.remove()
        return y

    return f, lambda number: [matrix()], [linear]


def buffer_that_begins():
    weight = nn.Parameter(torch.ones(3))

    def f(x, buffer):
        buffer.mul_(2).add_(weight * x)
        buffer[0] = x[0] * weight
        asked = buffer.requires_grad, buffer.is_leaf, buffer.shape
        return asked, buffer.sum() * 2, buffer.detach() + 1, buffer.clone()

    return f, lambda number: [matrix(), torch.zeros(2, 3)], [weight, lambda: weight.grad]


def buffer_that_begins_and_backward():
    weight = nn.Parameter(torch.ones(3))

    def f(x, buffer):
        weight.grad = None
        buffer.add_(weight * x)
        (buffer**2).sum().backward()
        return buffer.detach() * 2, weight.grad * 2

    return f, lambda number: [matrix(), torch.zeros(2, 3)], [weight]


def buffer_of_a_module():
    class Average(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))
            self.register_buffer("average", torch.zeros(3))

        def forward(self, x):
            self.average.mul_(0.9).add_(self.weight * 0.1)
            return (x * self.average).sum()

    module = Average()

    def arguments(number):
        module.average = torch.zeros(3)
        return [matrix()]

    return module, arguments, [lambda: module.average, lambda: module.weight.grad]


def buffer_with_views():
    weight = nn.Parameter(torch.ones(3))

    def f(buffer, view):
        inner = buffer.view(-1)
        buffer.add_(weight)
        return view * 2, inner * 2, inner.requires_grad, view.requires_grad, view.is_leaf, buffer.grad_fn is None

    def arguments(number):
        buffer = torch.zeros(2, 3)
        return [buffer, buffer[0]]

    return f, arguments, [lambda: weight.grad]


def buffer_that_begins_and_raises():
    weight = nn.Parameter(torch.ones(3))

    def f(buffer):
        buffer.add_(weight)
        try:
            return torch.linalg.cholesky(buffer[:, :2] - 9)
        except RuntimeError:
            return buffer * 2

    return f, lambda number: [torch.zeros(2, 3)], [lambda: weight.grad]


ROWS = [
    (buffer_that_begins, 0),
    (buffer_that_begins_and_backward, 1),
    (buffer_of_a_module, 0),
    (buffer_with_views, None),
    (buffer_that_begins_and_raises, None),
    (hooked, 0),
    (of(hooked_leaf, leaf), 0),
    (of(hook_that_is_removed, leaf), 4),
    (of(hook_that_is_kept, leaf), 1),
    (of(changed_after_a_hook, leaf), 1),
    (of(hook_that_is_refused), None),
    (of(hooked_and_backward, leaf), 2),
    (retained, 0),
    (gradient_set, 0),
    (gradients_scaled, 0),
    (gradient_refused, 2),
    (of(lists, matrix, matrix), 0),
    (of(lists_of_leaves, leaf), 0),
    (hook_of_a_module, 0),
    (activations, 0),
    (hooks_in_order, 0),
    (hook_that_raises, 0),
    (number_of_a_hook, None),
    (hook_of_a_module_kept, None),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_handles_have_numbers_of_their_own(self):
        linear = nn.Linear(3, 3)

        @slotrt.compile
        def f(x):
            return linear.register_forward_hook(lambda module, args, result: result + 1), x + 1

        handles = [f(matrix())[0] for _ in range(3)]
        self.assertEqual(len({handle.id for handle in handles}), 3)
        self.assertEqual(len(linear._forward_hooks), 3)
        for handle in handles:
            handle.remove()
        self.assertEqual(len(linear._forward_hooks), 0)


if __name__ == "__main__":
    unittest.main()
