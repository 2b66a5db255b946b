"""Views whose history PyTorch makes when somebody asks for it: what they look at was changed in place and requires gradients since. A
question (`is_leaf`, `grad_fn`) changes what an operation in place does to them then, so compiled code asks nothing that the program does
not ask."""

import itertools
import unittest

import slotrt
import torch


def changed_base():
    base = torch.zeros(4, 4)
    row = base[0]
    base.mul_(torch.ones(4, requires_grad=True))
    return row


def changed_view():
    base = torch.zeros(4, 4)
    row, column = base[0], base[:, 0]
    column.mul_(torch.ones(4, requires_grad=True))
    return row


def another_memory():
    base = torch.zeros(4, 4)
    row, column = base[0], base[:, 0]
    column.set_(torch.ones(4, requires_grad=True) * 2)
    return row


def without_gradients():
    with torch.no_grad():
        return torch.ones(4, 4, requires_grad=True)[0]


def leaf():
    return torch.zeros(4, 4)[0].requires_grad_()


def plain():
    return torch.zeros(4, 4)[0]


MAKERS = changed_base, changed_view, another_memory, without_gradients, leaf, plain
OPERATIONS = (
    lambda a: a.mul_(2),
    lambda a: a.unsqueeze_(0),
    lambda a: a.requires_grad_(False),
    lambda a: a * 2,
    lambda a: (a.is_leaf, a * 1),
    lambda a: (a.grad_fn is None, a + 1),
    lambda a: (a.requires_grad, a.shape, a.mul_(3)),
    lambda a: a.detach() * 2,
)


def shown(value):
    if isinstance(value, tuple):
        return [shown(item) for item in value]
    if isinstance(value, torch.Tensor):
        return value.tolist(), tuple(value.shape), value.requires_grad, type(value.grad_fn).__name__
    return repr(value)


def outcome(function, maker):
    """What a call gives or raises, and what has become of the argument."""
    argument = maker()
    try:
        result = shown(function(argument))
    except RuntimeError as error:
        result = type(error), str(error)
    return result, shown(argument)


class ViewsWithoutHistory(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def test_in_any_order(self):
        for number, operation in enumerate(OPERATIONS):
            for one, other in itertools.permutations(MAKERS, 2):
                with self.subTest(operation=number, one=one.__name__, other=other.__name__):
                    compiled = slotrt.compile(operation)
                    for maker in (one, other, one, other):
                        self.assertEqual(outcome(compiled, maker), outcome(operation, maker))

    def test_where_it_appears_within(self):
        def f(a, b, c):
            b.set_(b // c)
            try:
                a.unsqueeze_(0)
            except RuntimeError as error:
                return str(error)

        def arguments():
            base = torch.arange(16.0).reshape(4, 4)
            return base[0], base[:, 0], torch.ones(4, requires_grad=True) * 2

        compiled = slotrt.compile(f)
        for _ in range(3):
            one, other = arguments(), arguments()
            self.assertEqual(compiled(*one), f(*other))
            self.assertEqual(shown(one), shown(other))

    def test_leaves_that_are_views_are_recorded(self):
        compiled = slotrt.compile(lambda a: (a * 2, a.is_leaf))
        for maker in (leaf, plain):
            slotrt.reset()
            compiled(maker())
            self.assertEqual((slotrt.stats()["graphs"], slotrt.stats()["graph_breaks"]), (1, 0))


if __name__ == "__main__":
    unittest.main()
