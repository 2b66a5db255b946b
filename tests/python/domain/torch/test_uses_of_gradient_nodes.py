"""Nodes of the graph of gradients (`grad_fn`): whether a tensor has one, and hooks that are added to it.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs

SEEN, KEPT = [], []


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def computed():
    return leaf() * 2


def name_of(node):
    return node and node.name()


def of(function, *makers):
    def use():
        SEEN.clear()
        KEPT.clear()
        return function, lambda number: [make() for make in makers or (leaf,)], [lambda: list(SEEN), lambda: [name_of(node) for node in KEPT]]

    return use


def sums(gradients):
    return [None if gradient is None else round(gradient.sum().item(), 4) for gradient in gradients]


def asked(x):
    y = x * 2
    made = y.grad_fn is not None
    z = y.sin() if y.grad_fn is None else y.exp()
    with torch.no_grad():
        other = x * 2
    return z, made, x.grad_fn is None, other.grad_fn is None, y.detach().grad_fn is None


def asked_as_truth(x):
    y = x * 2
    return (y + 1 if y.grad_fn else y - 1), bool(x.grad_fn)


def hook_before(x):
    y = (x * 2).sin()
    y.grad_fn.register_prehook(lambda gradients: (gradients[0] * 2,))
    return y + 1


def hook_after(x):
    y = (x * 2).sin()
    y.grad_fn.register_hook(lambda given, gives: SEEN.append((sums(given), sums(gives))))
    return y.exp() + y


def several_hooks(x):
    y = (x * 2).sin()
    node = y.grad_fn
    for number in range(2):
        node.register_hook(lambda given, gives, number=number: SEEN.append(number))
    handle = node.register_prehook(lambda gradients: (gradients[0] * 3,))
    handle.remove()
    return y + 1


def hook_of_one_of_several(x):
    first, second = (x * 2).unbind()
    first.grad_fn.register_prehook(lambda gradients: tuple(None if gradient is None else gradient * 2 for gradient in gradients))
    return first.exp() + second


def hook_of_a_view(x):
    y = (x * 2).view(-1)
    y.grad_fn.register_prehook(lambda gradients: (gradients[0] * 2,))
    return y.exp() + y


def hook_after_a_change(x):
    y = x * 2
    y.mul_(3)
    y.grad_fn.register_prehook(lambda gradients: (gradients[0] * 2,))
    return y.exp()


def hook_after_a_change_of_a_view(x):
    y = x * 2
    y[0].mul_(3)
    y.grad_fn.register_prehook(lambda gradients: (gradients[0] * 2,))
    return y.exp()


def hook_of_argument(x):
    x.grad_fn.register_prehook(lambda gradients: (gradients[0] * 2,))
    return x.sin()


def kept(x):
    y = x.sin()
    KEPT.append(y.grad_fn)
    return y + 1


def given_back(x):
    y = x.sin()
    node = y.grad_fn
    KEPT.append(node)
    return y * 2, node is KEPT[-1]


def across_a_break(x):
    y = x.sin()
    node = y.grad_fn
    slotrt.graph_break()
    node.register_prehook(lambda gradients: (gradients[0] * 2,))
    return y + 1, node.name()


def changed_after(x):
    y = x.sin()
    node = y.grad_fn
    y.mul_(2)
    KEPT.extend([node, y.grad_fn])
    return y, y.grad_fn is node


def changed_after_a_hook(x):
    y = x.sin()
    y.grad_fn.register_prehook(lambda gradients: (gradients[0] * 3,))
    y.mul_(2)
    y.grad_fn.register_prehook(lambda gradients: (gradients[0] + 1,))
    return y


def one_node_of_two(x):
    first, second = x.sin().unbind()
    other = first * 2
    return first.grad_fn is second.grad_fn, other.grad_fn is first.grad_fn, first.grad_fn == second.grad_fn, first + second


def named(x):
    y = x.sin()
    return y + 1, y.grad_fn.name(), type(y.grad_fn).__name__


def gone_through(x):
    y = (x * 2).sin()
    names, node = [], y.grad_fn
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return y, names


def and_backward(x):
    y = (x * 2).sin()
    y.grad_fn.register_prehook(lambda gradients: (gradients[0] * 2,))
    y.sum().backward()
    return x.detach() * 2


def refused(x):
    y = x.sin()
    try:
        y.grad_fn.register_hook()
    except TypeError as error:
        return y, type(error).__name__


ROWS = [
    (of(asked), 0),
    (of(asked, computed), None),
    (of(asked, matrix), 0),
    (of(asked_as_truth), None),
    (of(hook_before), 0),
    (of(hook_after), 0),
    (of(several_hooks), 0),
    (of(hook_of_one_of_several), 0),
    (of(hook_of_a_view), 0),
    (of(hook_after_a_change), None),
    (of(hook_after_a_change_of_a_view), None),
    (of(hook_of_argument, computed), 0),
    (of(kept), 0),
    (of(given_back), None),
    (of(across_a_break), None),
    (of(changed_after), None),
    (of(changed_after_a_hook), None),
    (of(one_node_of_two), None),
    (of(named), 1),
    (of(gone_through), None),
    (of(and_backward), 1),
    (of(refused), None),
]

# A backend makes other nodes, and fewer.
TOLD = (hook_after, several_hooks, kept, given_back, across_a_break, changed_after, one_node_of_two, named, gone_through)


class Nodes(torch_programs.ThreeWays, unittest.TestCase):
    rows, not_there, counted = ROWS, [use for use, _ in ROWS if use()[0] in TOLD], True


if __name__ == "__main__":
    unittest.main()
