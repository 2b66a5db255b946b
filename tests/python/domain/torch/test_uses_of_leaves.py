"""Tensors that begin or end to require gradients within the graph, and gradients that the program asks for there.

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


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def frozen():
    module = net()

    def f(x):
        for parameter in module[0].parameters():
            parameter.requires_grad_(False)
        return module(x), module[0].weight.requires_grad, module[0].bias.is_leaf

    return f, lambda number: [matrix()], [module]


def frozen_by_attribute():
    module = net()

    def f(x):
        for name, parameter in module.named_parameters():
            parameter.requires_grad = name.startswith("2")
        return module(x)

    return f, lambda number: [matrix()], [module]


def frozen_for_a_while():
    module = net()

    def f(x):
        for parameter in module.parameters():
            parameter.requires_grad_(False)
        y = module(x)
        for parameter in module.parameters():
            parameter.requires_grad_(True)
        return module(x) + y, y.requires_grad

    return f, lambda number: [leaf()], [module]


def frozen_module():
    module = net()

    def f(x):
        module[2].requires_grad_(False)
        y = module(x)
        module[2].requires_grad_()
        return y

    return f, lambda number: [matrix()], [module]


def begun_in_an_argument(x):
    x.requires_grad_()
    return x * 2, x.requires_grad, x.is_leaf


def begun_in_a_view_of_an_argument(x):
    v = x[0]
    x.requires_grad_()
    return v * 2, v.requires_grad


def begun_in_a_copy(x):
    y = x.clone().requires_grad_()
    z = (y * y).sum()
    return z, y.is_leaf, y.grad_fn is None, z.is_leaf


def begun_beside_a_view(x):
    y = x.clone()
    v = y[0]
    y.requires_grad_()
    return v * 2, v.requires_grad


def ended_beside_a_view(x):
    y = x.detach().requires_grad_()
    v = y[0]
    y.requires_grad_(False)
    return v * 2, v.requires_grad, y.requires_grad


def begun_and_changed(x):
    y = x.clone().requires_grad_()
    with torch.no_grad():
        y.add_(1)
    return y * 2, y.is_leaf


def begun_and_refused(x):
    y = x.clone().requires_grad_()
    try:
        y.add_(1)
    except RuntimeError as error:
        return str(error), y * 2


def refused_of_integers(x):
    try:
        x.long().requires_grad_()
    except RuntimeError as error:
        return str(error), x + 1


def refused_of_results(x):
    y = x * 2
    try:
        y.requires_grad = False
    except RuntimeError as error:
        return str(error), y + 1


def refused_of_views(x):
    y = (x * 2)[0]
    try:
        y.detach_()
    except RuntimeError as error:
        return str(error), y + 1


def detached(x):
    y = x * 2
    y.detach_()
    return y + x, y.requires_grad, y.is_leaf


def raised_after(x, index):
    x.requires_grad_()
    y = x * 2
    try:
        return y[:, index]
    except IndexError:
        return y + 1, x.requires_grad


def penalty():
    module = net()

    def f(x):
        mixed = x.clone().requires_grad_(True)
        (gradient,) = torch.autograd.grad(module(mixed).sum(), mixed, create_graph=True)
        return ((gradient.norm(2, dim=1) - 1) ** 2).mean(), gradient.stride()

    return f, lambda number: [matrix()], [module]


def penalty_and_backward():
    module = net()

    def f(x):
        mixed = x.detach().requires_grad_(True)
        (gradient,) = torch.autograd.grad(module(mixed).sum(), mixed, create_graph=True)
        loss = ((gradient.norm(2, dim=1) - 1) ** 2).mean()
        loss.backward()
        return loss.detach()

    return f, lambda number: [matrix()], [module]


def of_parameters():
    module = net()

    def f(x):
        loss = module(x).pow(2).sum()
        return [gradient * 2 for gradient in torch.autograd.grad(loss, list(module.parameters()))]

    return f, lambda number: [matrix()], [module]


def of_a_generator():
    module = net()

    def f(x):
        loss = module(x).pow(2).sum()
        first = torch.autograd.grad(loss, module.parameters(), retain_graph=True)
        second = torch.autograd.grad(outputs=loss, inputs=(p for p in module.parameters()))
        return [a + b for a, b in zip(first, second, strict=True)]

    return f, lambda number: [matrix()], [module]


def of_a_hooked_parameter():
    module = net()
    module[2].weight.register_hook(lambda gradient: gradient * 7)
    return lambda x: torch.autograd.grad(module(x).sum(), module[2].weight), lambda number: [matrix()], [module]


def through_a_hook(x):
    y = x * 2
    y.register_hook(lambda gradient: gradient * 5)
    return torch.autograd.grad(y.sum(), x)


def of_an_argument(x):
    y = (x**3).sum()
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    return gradient.sum() + y, gradient.requires_grad


def of_a_result(x):
    y = x * 2
    z = y.exp().t()
    (gradient,) = torch.autograd.grad(z, y, torch.ones(3, 2))
    return gradient, gradient.stride(), gradient.requires_grad


def of_what_was_changed(x, w):
    y = x * 2
    y.mul_(w)
    y[0] = w.sum()
    return torch.autograd.grad(y.sum(), [x, w])


def without_gradients(x):
    with torch.no_grad():
        y = x * 2
    z = (x * y).sum()
    return torch.autograd.grad(z, x)


def of_unused(x, w):
    return torch.autograd.grad((x * 2).sum(), [x, w], allow_unused=True)


def refused_of_unused(x, w):
    try:
        return torch.autograd.grad((x * 2).sum(), [x, w])
    except RuntimeError as error:
        return str(error), x + 1


def twice(x):
    y = (x**2).sum()
    torch.autograd.grad(y, x)
    try:
        return torch.autograd.grad(y, x)
    except RuntimeError as error:
        return str(error)[:40], x + 1


def through_what_came(x):
    y = x * 2
    g = slotrt.compile(lambda y: torch.autograd.grad((y * x).sum(), x, retain_graph=True))
    return g(y)


def saved():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3 * ctx.saved_tensors[0] ** 2

    return lambda x: Cube.apply(x) + 1, lambda number: [leaf()], []


def with_parameter(function):
    def use():
        weight = nn.Parameter(matrix())
        return (lambda x: function(x, weight)), lambda number: [matrix()], [weight]

    return use


def detached_behind_a_leaf(x, weight):
    # A backend gets what made it apart from what becomes of it.
    y = weight * x
    weight.requires_grad_(False)
    y.detach_()
    known = y.requires_grad, y.is_leaf
    weight.requires_grad_(True)
    return y, known, y * weight


def detached_behind_a_seed(x, weight):
    y = weight * x
    z = y * 2
    torch.manual_seed(2)
    y.detach_()
    y.mul_(3)
    return y + torch.rand(2, 3), y, z


def begun_behind_a_leaf(x, weight):
    y = x * 2
    weight.requires_grad_(False)
    y.requires_grad_()
    (y * weight).sum().backward()
    weight.requires_grad_(True)
    return y.grad, y.is_leaf


REFUSED, TWICE = of(refused_of_views, leaf), of(twice, leaf)

ROWS = [
    (frozen, 0),
    (frozen_by_attribute, 0),
    (frozen_for_a_while, 0),
    (frozen_module, 0),
    (of(begun_in_an_argument), 0),
    (of(begun_in_a_view_of_an_argument), 3),
    (of(begun_in_a_copy), 0),
    (of(begun_beside_a_view), 3),
    (of(ended_beside_a_view), 1),
    (of(begun_and_changed), 0),
    (of(begun_and_refused), None),
    (of(refused_of_integers), None),
    (of(refused_of_results, leaf), None),
    (REFUSED, None),
    (of(detached, leaf), 0),
    (of(raised_after, matrix, lambda: torch.tensor([7])), None),
    (penalty, 0),
    (penalty_and_backward, 1),
    (of_parameters, 0),
    (of(of_an_argument, leaf), 0),
    (of_a_generator, 1),
    (of_a_hooked_parameter, 1),
    (of(through_a_hook, leaf), 1),
    (of(of_a_result, leaf), 0),
    (of(of_what_was_changed, leaf, lambda: torch.ones(3, requires_grad=True)), None),
    (of(without_gradients, leaf), 0),
    (of(of_unused, leaf, leaf), 0),
    (of(refused_of_unused, leaf, leaf), None),
    (TWICE, None),
    (of(through_what_came, leaf), None),
    (saved, 0),
    (with_parameter(detached_behind_a_leaf), 0),
    (with_parameter(detached_behind_a_seed), 0),
    (with_parameter(begun_behind_a_leaf), 0),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    # AOTAutograd gives zeros where eager gives none to what only a result was made of that nobody asks for gradients of; it gives a view
    # as a tensor of its own, and does not know that a graph was used up.
    not_there = (penalty_and_backward, REFUSED, TWICE)

    def test_what_a_graph_that_raises_has_begun(self):
        for compiled in (raised_after, slotrt.compile(raised_after)):
            for index in (0, 7):
                x = matrix()
                compiled(x, torch.tensor([index]))
                self.assertTrue(x.requires_grad)

    def test_a_function_with_gradients_is_traced_once(self):
        function, arguments, _ = saved()
        compiled = slotrt.compile(function)
        for number in range(4):
            (x,) = arguments(number)
            compiled(x).sum().backward()
        self.assertEqual(slotrt.stats()["recompiles"], 0)

    def test_modes_of_another_call(self):
        function, arguments, _ = saved()
        compiled = slotrt.compile(lambda x: function(x).requires_grad)
        self.assertTrue(compiled(leaf()))
        with torch.no_grad():
            self.assertFalse(compiled(leaf()))
        self.assertTrue(compiled(leaf()))

    def test_steps_through_a_compiler_are_traced_once(self):
        linear = nn.Linear(3, 3)

        def step(x):
            loss = linear(x).pow(2).mean()
            loss.backward()
            with torch.no_grad():
                for parameter in linear.parameters():
                    parameter.add_(parameter.grad, alpha=-0.1)
                    parameter.grad.zero_()
            return loss.detach()

        compiled = slotrt.compile(step, backend="aot_eager")
        for _ in range(2):
            compiled(matrix())
        before = slotrt.stats()["frames_compiled"]
        for _ in range(4):
            compiled(matrix())
        self.assertEqual(slotrt.stats()["frames_compiled"], before)

    def setUp(self):
        slotrt.reset()


if __name__ == "__main__":
    unittest.main()
