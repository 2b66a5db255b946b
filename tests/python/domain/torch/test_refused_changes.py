"""Tensors from outside whose change PyTorch refuses, or that it does not remember for gradients, after what cannot be taken back: it is done once."""

import itertools
import unittest

import slotrt
import torch


def without_gradients(a):
    with torch.no_grad():
        return a[0]


def in_inference(_):
    with torch.inference_mode():
        return torch.ones(4)


class Several(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        return x[0], x[1]

    @staticmethod
    def backward(_, first, second):
        return torch.stack([first, second, first, second])


MAKES = {
    "computed": lambda a: torch.ones(4) * a[0],
    "one of several views of a leaf": lambda a: a.unbind(0)[0],
    "one of several views of what was computed": lambda a: (a * 1).unbind(0)[0],
    "a view of a leaf": lambda a: a[0],
    "a leaf": lambda _: torch.ones(4, requires_grad=True),
    "a view made without gradients": without_gradients,
    "in inference": in_inference,
    "a view in inference": lambda a: in_inference(a)[:],
    "one of several of a function": lambda a: Several.apply(a * 1)[0],
    "a view of what was computed": lambda a: (a * 1)[0],
    "plain": lambda _: torch.ones(4),
    "detached": lambda a: (a * 1).detach()[0],
}


class Same(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        return x

    @staticmethod
    def backward(_, gradient):
        return gradient


class Viewed(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        return x.view_as(x)

    @staticmethod
    def backward(_, gradient):
        return gradient


class New(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        return x * 2

    @staticmethod
    def backward(_, gradient):
        return gradient * 2


HOOKED = torch.nn.Linear(4, 4)
torch.nn.init.ones_(HOOKED.weight)
HOOKED.register_full_backward_hook(lambda module, given, got: None)
BEFORE = torch.nn.Identity()
BEFORE.register_full_backward_pre_hook(lambda module, got: None)


def viewed_without_gradients(a):
    computed = a * 1
    with torch.no_grad():
        return computed[0]


MAKES_WITHIN = MAKES | {
    "viewed without gradients": viewed_without_gradients,
    "what a function was given": lambda a: Same.apply(a * 1),
    "a view of a function": lambda a: Viewed.apply(a * 1),
    "of a function": lambda a: New.apply(a * 1),
    "the view of one of several of a function": lambda a: Several.apply(a * 1)[1].view(4),
    "of a module with a hook": lambda a: HOOKED(a * 1),
    "of a module with a hook before": lambda a: BEFORE(a * 1),
    "the view of one of a module with a hook": lambda a: HOOKED(a * 1)[0],
    "of a module with a hook, transposed": lambda a: HOOKED(a * 1).t(),
    "unbound": lambda a: (a * 1).unbind(0)[0],
    "split": lambda a: torch.split(a * 1, 2)[0],
}


def added(v, a, c):
    v += c


def clamped(v, a, c):
    v.relu_()


def item(v, a, c):
    v[0] = 2


def added_with_gradients(v, a, c):
    v.add_(a[0])


def with_another(v, a, c):
    torch._foreach_add_([torch.ones(4), v], 1)


def view(v, a, c):
    v[0].add_(1)


def below_gradients(v, a, c):
    with torch.no_grad():
        v.add_(1)


def remembered(v, a, c):
    return (v * a).sum()


def view_remembered(v, a, c):
    return (v[1:2] * a).sum()


def backward(v, a, c):
    (a + a).sum().backward()


def change(v, a, c):
    c.add_(a[0])


def nothing(v, a, c):
    pass


def described(value):
    return (value.tolist(), value.requires_grad) if isinstance(value, torch.Tensor) else value


def called(function, make, leaf_of_change):
    a = torch.ones(4, 4, requires_grad=True)
    v, c = make(a), torch.zeros(4) if leaf_of_change else torch.tensor([1, 2, 3, 4])
    try:
        outcome = described(function(v, a, c))
    except Exception as error:
        outcome = type(error), str(error)
    gradient = None if a.grad is None else (a.grad.tolist(), a.grad._version)
    return outcome, gradient, described(v), described(c), c._version


def called_within(function, leaf_of_change):
    a = torch.ones(4, 4, requires_grad=True)
    c = torch.zeros(4) if leaf_of_change else torch.tensor([1, 2, 3, 4])
    try:
        outcome = described(function(a, c))
    except Exception as error:
        outcome = type(error), str(error)
    gradient = None if a.grad is None else (a.grad.tolist(), a.grad._version)
    return outcome, gradient, described(a), described(c), c._version


class RefusedChanges(unittest.TestCase):
    def test_after_what_cannot_be_taken_back(self):
        uses = (added, added_with_gradients, clamped, item, view, with_another, below_gradients, remembered, view_remembered)
        # Again: what was traced with others may run now.
        orders = [*MAKES, *MAKES], [*reversed(MAKES), *MAKES]
        for first, use, order in itertools.product((nothing, backward, change), uses, orders):

            def both(v, a, c):
                first(v, a, c)
                return use(v, a, c)

            slotrt.reset()
            compiled = slotrt.compile(both, recompile_limit=len(MAKES))
            for name in order:
                make = MAKES[name]
                with self.subTest(first=first.__name__, use=use.__name__, of=name):
                    expected = called(both, make, first is change)
                    for _ in range(2):
                        self.assertEqual(called(compiled, make, first is change), expected)

    def test_integers_that_come_to_require_gradients(self):
        """They can have none: what uses them after the change raises, and the change is done."""

        def assigned(a, c):
            a[..., 0] = c.sum()
            return a.masked_select(a > 0)

        def filled(a, c):
            a.masked_fill_(a.bool(), c.sum())
            return a + 1

        def together(a, c):
            torch._foreach_copy_([a], [c.sum().expand(2, 4)])
            return a * 2

        def made(a, c):
            b = a + 1
            b[0] = c.sum()
            return b.sum()

        def seen(function):
            a, c = torch.arange(-4, 4).view(2, 4), torch.ones(4, requires_grad=True)
            try:
                outcome = described(function(a, c))
            except RuntimeError as error:
                outcome = str(error)
            return outcome, a.data.tolist(), a._version, a.requires_grad

        for function in (assigned, filled, together, made):
            for backend in (None, "eager"):
                slotrt.reset()
                compiled = slotrt.compile(function, backend=backend) if backend else slotrt.compile(function)
                for _ in range(3):
                    with self.subTest(function=function.__name__, backend=backend):
                        self.assertEqual(seen(compiled), seen(function))

    def test_made_within(self):
        for first in (nothing, backward, change):
            for use in (added, added_with_gradients, clamped, item, view, with_another, below_gradients, remembered):
                for name, make in MAKES_WITHIN.items():

                    def both(a, c):
                        v = make(a)
                        first(v, a, c)
                        return use(v, a, c)

                    with self.subTest(first=first.__name__, use=use.__name__, of=name):
                        slotrt.reset()
                        compiled = slotrt.compile(both)
                        expected = called_within(both, first is change)
                        for _ in range(2):
                            self.assertEqual(called_within(compiled, first is change), expected)


if __name__ == "__main__":
    unittest.main()
