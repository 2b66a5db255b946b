"""Hooks that a function adds and removes again, of tensors and of modules: what is left of them are numbers that nobody gets a second time.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.utils.hooks import RemovableHandle


def leaf(number=0):
    return torch.arange(1.0, 7.0).reshape(2, 3).div(4).requires_grad_()


def of(function, *state):
    return lambda: (function, lambda number: [leaf()], state)


def numbers():
    """How many numbers of handles are taken from now on."""
    first = RemovableHandle.next_id
    return lambda: RemovableHandle.next_id - first


def counted(make):
    """The same of what `make` gives, which shows the numbers that are taken, too."""

    def use():
        function, *state = make()
        return function, lambda number: [leaf()], [*state, numbers()]

    return use


def removed(x):
    y = x * 2
    handle = y.register_hook(lambda gradient: gradient * 3)
    handle.remove()
    return (y + 1).sin()


def removed_twice(x):
    y = x * 2
    handle = y.register_hook(lambda gradient: gradient * 3)
    handle.remove()
    handle.remove()
    return (y + 1).sin()


def one_of_two_removed(x):
    y = x * 2
    first = y.register_hook(lambda gradient: gradient * 3)
    second = y.register_hook(lambda gradient: gradient + 1)
    first.remove()
    return (y + 1).sin(), second is first


def removed_from_argument(x):
    handle = x.register_hook(lambda gradient: gradient * 3)
    handle.remove()
    return (x + 1).sin()


def removed_after_accumulating(x):
    handle = x.register_post_accumulate_grad_hook(lambda tensor: tensor.grad.mul_(2))
    handle.remove()
    return (x + 1).sin()


def within(x):
    y = x * 2
    with y.register_hook(lambda gradient: gradient * 3):
        z = y.sin()
    return z


def in_a_loop(x):
    for factor in range(3):
        handle = x.register_hook(lambda gradient, factor=factor: gradient * (factor + 2))
        if factor != 1:
            handle.remove()
    return x.exp()


def in_the_end(x):
    y = x * 2
    handle = y.register_hook(lambda gradient: gradient * 3)
    try:
        y = y.sin()
        raise ValueError("between")
    except ValueError as error:
        return y, str(error)
    finally:
        handle.remove()


def before_a_break(x):
    y = x * 2
    handle = y.register_hook(lambda gradient: gradient * 3)
    slotrt.graph_break()
    handle.remove()
    return y.sin()


def hook_of_module():
    module = nn.Linear(3, 3)

    def f(x):
        handle = module.register_forward_hook(lambda module, given, result: result * 2)
        y = module(x)
        handle.remove()
        return y

    return f, module


def hooks_of_module():
    module = nn.Linear(3, 3)

    def f(x):
        with module.register_forward_pre_hook(lambda module, given: (given[0] + 1,)):
            handle = module.register_forward_hook(lambda module, given, result: result * 2)
            y = module(x)
        z = module(x)
        handle.remove()
        return y + z

    return f, module


def hook_of_module_that_raises():
    module = nn.Linear(3, 3)

    def refuse(module, given, result):
        raise ValueError("refused")

    def f(x):
        handle = module.register_forward_hook(refuse)
        try:
            module(x)
        except ValueError as error:
            x = x * len(str(error))
        finally:
            handle.remove()
        return module(x)

    return f, module


def hook_that_stays():
    module = nn.Linear(3, 3)
    first = RemovableHandle.next_id

    def f(x):
        handle = module.register_forward_hook(lambda module, given, result: result * 2)
        y = module(x)
        handle.remove()
        module.register_forward_pre_hook(lambda module, given: (given[0] + 1,))
        return y

    return f, lambda: [number - first for number in module._forward_pre_hooks]


def hook_that_is_kept():
    kept, first = [], RemovableHandle.next_id

    def f(x):
        y = x * 2
        y.register_hook(lambda gradient: gradient * 2).remove()
        kept.append(y.register_hook(lambda gradient: gradient * 3))
        return y.sin()

    return f, lambda: [handle.id - first for handle in kept]


ROWS = [
    (of(removed), 0),
    (of(removed_twice), 0),
    (of(one_of_two_removed), 0),
    (of(removed_from_argument), 0),
    (of(removed_after_accumulating), 0),
    (of(within), 0),
    (of(in_a_loop), 0),
    (of(in_the_end), 0),
    (of(before_a_break), None),
]

# A backend's compiler takes numbers, too.
COUNTED = [
    (counted(lambda: (removed,)), 0),
    (counted(lambda: (one_of_two_removed,)), 0),
    (counted(lambda: (in_a_loop,)), 0),
    (counted(lambda: (before_a_break,)), None),
    (counted(hook_of_module), 0),
    (counted(hooks_of_module), 0),
    (counted(hook_of_module_that_raises), 0),
    (counted(hook_that_stays), None),
    (counted(hook_that_is_kept), 0),
]


class Hooks(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_with_a_backend_there_are_no_more_breaks(self):
        torch_programs.check(self, ROWS, slotrt.compile(backend="aot_eager"), counted=True)


class Numbers(unittest.TestCase):
    maxDiff = None

    def test_as_they_are(self):
        torch_programs.check(self, COUNTED, slotrt.compile, counted=True)

    def test_through_fx(self):
        torch_programs.check(self, COUNTED, slotrt.compile(backend=lambda graph, inputs: graph), counted=True)


if __name__ == "__main__":
    unittest.main()
