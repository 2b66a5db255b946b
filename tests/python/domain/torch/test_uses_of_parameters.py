"""Parameters that a program makes of tensors of the graph: copies of modules, layers put around others, layers fused or merged, modules that
are made where they are used.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import copy
import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional as F


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def made(x):
    weight = nn.Parameter(x * 2)
    return weight, weight * x, weight.requires_grad, weight.is_leaf, weight.grad_fn, type(weight).__name__


def without_gradients(x):
    weight = nn.Parameter(x * 2, requires_grad=False)
    return weight, (weight * x).requires_grad, isinstance(weight, nn.Parameter)


def of_argument(x):
    weight = nn.Parameter(x)
    return weight is x, weight.data_ptr() == x.data_ptr(), weight * 2


def of_one_memory(x):
    """What changes the one changes the other."""
    y = x * 2
    weight = nn.Parameter(y)
    y.add_(1)
    with torch.no_grad():
        weight.mul_(3)
    return y, weight * 1


def of_followed(x):
    """Its gradients end there."""
    y = x * 2
    weight = nn.Parameter(y)
    (weight * weight).sum().backward()
    return weight.grad, y * 3


def with_own_gradient(x):
    weight = nn.Parameter(x.clone())
    loss = (weight * x).sum()
    loss.backward()
    with torch.no_grad():
        weight -= weight.grad * 0.1
    return weight, loss.detach()


def of_parameter(x):
    first = nn.Parameter(x * 2)
    second = nn.Parameter(first, requires_grad=False)
    return first, second, second is first, first.requires_grad, second.requires_grad


def of_integers(x):
    try:
        nn.Parameter(x.long())
    except RuntimeError as error:
        return str(error)[:40], nn.Parameter(x.long(), requires_grad=False)


def in_inference(x):
    with torch.inference_mode():
        weight = nn.Parameter(x * 2)
    return weight.is_inference(), weight.requires_grad


class Own(nn.Parameter):
    """A class of the program's."""


def of_own_class(x):
    weight = Own(x * 2)
    return weight * 2, type(weight).__name__


def listed(x):
    weights = nn.ParameterList([nn.Parameter(x * 2), nn.Parameter(x * 3)])
    named = nn.ParameterDict({"a": nn.Parameter(x)})
    return sum(weight.sum() for weight in weights), named["a"] * 2, len(weights)


def buffered(x):
    module = nn.Module()
    module.register_buffer("steps", x * 2)
    module.table = nn.Buffer(x * 3)
    return module.steps + module.table, sorted(module.state_dict())


def module_made(x):
    layer = nn.Linear(3, 2)
    return layer(x), layer.weight.requires_grad


def copied():
    model = net()

    def f(x):
        twin = copy.deepcopy(model)
        with torch.no_grad():
            for weight in twin.parameters():
                weight.mul_(2)
        return twin(x), model(x)

    return f, lambda number: [matrix()], [model]


def copied_weight():
    model = net()

    def f(x):
        weight = copy.deepcopy(model[0].weight)
        return F.linear(x, weight), weight.requires_grad, weight is model[0].weight

    return f, lambda number: [matrix()], [model]


def fused():
    convolution, norm = nn.Conv2d(1, 2, 1).eval(), nn.BatchNorm2d(2).eval()

    def f(x):
        return nn.utils.fusion.fuse_conv_bn_eval(convolution, norm)(x)

    return f, lambda number: [torch.arange(4.0).reshape(1, 1, 2, 2)], [convolution, norm]


class Adapted(nn.Module):
    """A layer with a small one beside it."""

    def __init__(self, base):
        super().__init__()
        self.base, self.merged = base, False
        self.down = nn.Parameter(torch.ones(2, base.in_features) * 0.1)
        self.up = nn.Parameter(torch.ones(base.out_features, 2) * 0.1)

    def forward(self, x):
        y = self.base(x)
        return y if self.merged else y + F.linear(F.linear(x, self.down), self.up)

    def merge(self):
        self.base.weight = nn.Parameter(self.base.weight + self.up @ self.down)
        self.merged = True


def adapted():
    model = net()

    def f(x):
        for name, child in list(model.named_children()):
            if isinstance(child, nn.Linear):
                setattr(model, name, Adapted(child))
        return model(x)

    return f, lambda number: [matrix()], [model]


def merged():
    model = nn.Sequential(Adapted(nn.Linear(3, 4)), nn.ReLU())

    def f(x):
        before = model(x)
        if not model[0].merged:
            model[0].merge()
        return before, model(x)

    return f, lambda number: [matrix()], [model]


def registered_late():
    class Late(nn.Module):
        def forward(self, x):
            if "scale" not in self._parameters:
                self.register_parameter("scale", nn.Parameter(x.mean(0)))
            return x * self.scale

    module = Late()
    return module, lambda number: [matrix()], [module]


def trained():
    """A parameter that a call makes is the one that the next call finds."""
    held = nn.Module()

    def f(x):
        if not hasattr(held, "weight"):
            held.weight = nn.Parameter(torch.zeros(3))
        loss = (x * held.weight + held.weight).pow(2).sum() + held.weight.sum()
        loss.backward()
        with torch.no_grad():
            held.weight -= held.weight.grad * 0.1
        held.weight.grad = None
        return loss.detach()

    return f, lambda number: [matrix()], [held]


ROWS = [
    (of(made), 0),
    (of(without_gradients), 0),
    (of(of_argument), 0),
    (of(of_one_memory), 0),
    (of(of_followed, leaf), 1),
    (of(with_own_gradient), 1),
    (of(of_parameter), 0),
    (of(of_integers), None),
    (of(in_inference), None),
    (of(of_own_class), None),
    (of(listed), None),
    (of(buffered), None),
    (of(module_made), 0),
    (copied, 0),
    (copied_weight, 0),
    (fused, 0),
    (adapted, 0),
    (merged, 0),
    (registered_late, 0),
    (trained, None),
]


class UsesOfParameters(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


class Fates(unittest.TestCase):
    def test_a_new_one_each_time(self):
        compiled = slotrt.compile(lambda x: nn.Parameter(x * 2))
        first, second = compiled(matrix()), compiled(matrix())
        self.assertIsNot(first, second)
        self.assertNotEqual(first.data_ptr(), second.data_ptr())
        self.assertIs(type(first), nn.Parameter)

    def test_sizes_that_change(self):
        def f(x):
            weight = nn.Parameter(x.sum(0))
            return weight, x * weight

        slotrt.reset()
        compiled = slotrt.compile(f)
        for length in (2, 3, 4, 5):
            x = torch.arange(length * 3.0).reshape(length, 3)
            for one, other in zip(compiled(x), f(x), strict=True):
                self.assertTrue(torch.equal(one, other))
                self.assertEqual(one.requires_grad, other.requires_grad)
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)


if __name__ == "__main__":
    unittest.main()
