"""Hooks that see gradients: those of modules, put between two nodes of the graph of gradients, and those of tensors, with a backend, too.

A row is a use and how many graph breaks its calls have at most."""

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


def layers():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def sums(gradients):
    return [None if gradient is None else round(gradient.sum().item(), 4) for gradient in gradients]


def with_hooks(add, make=layers, maker=leaf):
    """A use of a module that has the hooks that `add(module, seen)` adds."""

    def use():
        module, seen = make(), []
        add(module, seen)
        return (lambda x: module(x)), lambda number: [maker()], [module, lambda: seen]

    return use


def on_each(model, seen):
    for module in model:
        module.register_full_backward_hook(lambda module, given, gives: seen.append((type(module).__name__, sums(given), sums(gives))))


def on_the_whole(model, seen):
    model.register_full_backward_hook(lambda module, given, gives: seen.append((sums(given), sums(gives))))


def on_one(model, seen):
    model[0].register_full_backward_hook(lambda module, given, gives: seen.append((sums(given), sums(gives))))


def before_one(model, seen):
    model[2].register_full_backward_pre_hook(lambda module, gives: seen.append(sums(gives)))


def that_changes(model, seen):
    model[2].register_full_backward_hook(lambda module, given, gives: (given[0] * 3,))
    model[0].register_full_backward_pre_hook(lambda module, gives: (gives[0] * 2,))


def of_two_kinds(model, seen):
    model[2].register_full_backward_hook(lambda module, given, gives: seen.append("after"))
    model[2].register_full_backward_pre_hook(lambda module, gives: seen.append("before"))
    model[2].register_forward_hook(lambda module, args, result: seen.append("forward") or result * 2)


def of_the_old_kind(model, seen):
    model[0].register_backward_hook(lambda module, given, gives: seen.append(sums(gives)))


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x, scale=2.0):
        return self.one(x) * scale, self.other(x).sum(), "text"


class Hooked(nn.Module):
    """Calls a module that has hooks with more than one tensor, and a number."""

    def __init__(self):
        super().__init__()
        self.inner = Pair()

    def forward(self, x):
        first, second, text = self.inner(x, 3.0)
        return first + second, text


def on_the_pair(model, seen):
    model.inner.register_full_backward_hook(lambda module, given, gives: seen.append((sums(given), sums(gives))))


def changed_between():
    model, seen, handles = layers(), [], []

    def arguments(number):
        while handles:
            handles.pop().remove()
        if number != 1:
            handles.append(model[0].register_full_backward_hook(lambda *args: seen.append(number)))
        return [leaf()]

    return (lambda x: model(x)), arguments, [lambda: seen]


def without_gradients():
    model, seen = layers(), []
    on_each(model, seen)

    def f(x):
        with torch.no_grad():
            y = model(x)
        return y, model(x)

    return f, lambda number: [leaf()], [lambda: seen]


def and_backward():
    model, seen = layers(), []
    on_each(model, seen)

    def f(x):
        model(x).sum().backward()
        return x.detach() * 2

    return f, lambda number: [leaf()], [model, lambda: seen]


def in_place():
    model, seen = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True)), []
    on_each(model, seen)

    def f(x):
        try:
            return model(x)
        except RuntimeError as error:
            return str(error)[:40], x * 2

    return f, lambda number: [leaf()], [lambda: seen]


def hooked(x):
    y = x * 2
    y.register_hook(lambda gradient: gradient * 3)
    return (y + 1).sin()


def hooked_twice(x):
    y = x * 2
    z = y.exp()
    y.register_hook(lambda gradient: gradient * 3)
    z.register_hook(lambda gradient: gradient + 1)
    return (y * z).sum(), y


def retained():
    kept = []

    def f(x):
        y = x * 2
        y.retain_grad()
        kept[:] = [y]
        return y * y

    return f, lambda number: [leaf()], [lambda: kept[0].grad]


def hooked_views(x):
    y = (x * 2).view(3, 2)
    y.register_hook(lambda gradient: gradient * 3)
    return y.t() + 1, y


def hooked_given(x):
    x.register_hook(lambda gradient: gradient * 3)
    return x.exp() + x


def hooked_parameters():
    model = layers()

    def f(x):
        handles = [parameter.register_hook(lambda gradient: gradient * 0.5) for parameter in model.parameters()]
        return model(x), len(handles)

    return f, lambda number: [leaf()], [model]


ROWS = [
    (with_hooks(on_each), 0),
    (with_hooks(on_each, maker=matrix), 0),
    (with_hooks(on_the_whole), 0),
    (with_hooks(on_one), 0),
    (with_hooks(before_one), 0),
    (with_hooks(that_changes), 0),
    (with_hooks(of_two_kinds), 0),
    (with_hooks(of_the_old_kind), 1),
    (with_hooks(on_the_pair, Hooked), 0),
    (changed_between, 0),
    (without_gradients, 0),
    (and_backward, 1),
    (in_place, None),
    (of(hooked, leaf), 0),
    (of(hooked_twice, leaf), 0),
    (retained, 0),
    (of(hooked_views, leaf), 0),
    (of(hooked_given, leaf), 0),
    (hooked_parameters, 0),
]


class Hooks(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_with_a_backend_there_are_no_more_breaks(self):
        torch_programs.check(self, ROWS, slotrt.compile(backend="aot_eager"), counted=True)


if __name__ == "__main__":
    unittest.main()
