"""What programs do with wrappers: classes derived from `Tensor` with a `__torch_dispatch__`, whose instances hold other tensors and have no
contents of their own.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map, tree_map_only


def matrix(*shape, grad=False):
    shape = shape or (2, 3)
    return (torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape) / 4).requires_grad_(grad)


class Scaled(torch.Tensor):
    """A tensor and a scale."""

    @staticmethod
    def __new__(cls, held, scale):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, device=held.device)

    def __init__(self, held, scale):
        self.held, self.scale = held, scale

    def __tensor_flatten__(self):
        return ["held"], {"scale": self.scale}

    def plain(self):
        return self.held * self.scale

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = tree_map_only(Scaled, Scaled.plain, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, lambda made: Scaled(made, 1.0), func(*args, **kwargs))


class Pair(torch.Tensor):
    """Two tensors, of which operations make two."""

    @staticmethod
    def __new__(cls, a, b):
        options = {"strides": a.stride(), "storage_offset": a.storage_offset(), "dtype": a.dtype, "device": a.device}
        return torch.Tensor._make_wrapper_subclass(cls, a.size(), **options, requires_grad=a.requires_grad)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        first, second = (
            func(*tree_map_only(Pair, take, args), **tree_map_only(Pair, take, kwargs))
            for take in (lambda pair: pair.a, lambda pair: pair.b)
        )
        made = [Pair(a, b) for a, b in zip(*(list(part) if isinstance(part, tuple) else [part] for part in (first, second)))]
        return return_and_correct_aliasing(func, args, kwargs, tuple(made) if isinstance(first, tuple) else made[0])


class Counting(torch.Tensor):
    """Tells what it is given; takes over nothing above gradients."""

    told = []
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(cls, held.size(), dtype=held.dtype)

    def __init__(self, held):
        self.held = held

    def __tensor_flatten__(self):
        return ["held"], None

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.told.append((func.__name__, [kind.__name__ for kind in types], len(args), sorted(kwargs or {})))
        made = func(*tree_map(held, args), **tree_map(held, kwargs or {}))
        return tree_map_only(torch.Tensor, lambda plain: cls(plain), made)


class Further(Counting):
    """Gets operations before the class that it is derived from."""


class Refusing(Counting):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.relu.default:
            raise ValueError("no relu")
        return NotImplemented if Counting in types else super().__torch_dispatch__(func, types, args, kwargs)


class Quantised(torch.Tensor):
    @staticmethod
    def __new__(cls, numbers, scale):
        return torch.Tensor._make_wrapper_subclass(cls, numbers.shape, dtype=torch.float32)

    def __init__(self, numbers, scale):
        self.numbers, self.scale = numbers, scale

    def __tensor_flatten__(self):
        return ["numbers", "scale"], None

    def plain(self):
        return self.numbers.float() * self.scale

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is functional.linear:
            return functional.linear(args[0], args[1].plain(), *args[2:])
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.detach.default:
            return Quantised(args[0].numbers, args[0].scale)
        return func(*tree_map_only(Quantised, Quantised.plain, args), **(kwargs or {}))


def held(object):
    return object.held if isinstance(object, Counting) else object


def scaled():
    return Scaled(matrix(), 2.0)


def pair():
    return Pair(matrix(), matrix() + 1)


def of(function, *makers, state=()):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], state)


def made_within(x):
    wrapper = Scaled(x * 2, 3.0)
    y = wrapper + 1
    return y.plain() * 2, wrapper.scale, wrapper.held + 1, isinstance(y, Scaled), type(y).__name__


def operators(x):
    return (x * 2 + 1).relu() - x, x / 3, 2 - x, -x, x**2, abs(x), x > 1, x.sum(1)


def metadata(x):
    return x.shape, x.dtype, x.size(0), x.stride(), x.numel(), x.dim(), x.device, x.requires_grad, x.is_leaf, len(x), x * 2


def counted(*makers):
    def use():
        Counting.told = []

        def f(x, y):
            z = functional.linear(x, y).softmax(-1)
            return z, torch.clamp(x, min=1.0), x.amax(1), torch.cat([x, y]), x.to(torch.float64)

        return f, lambda number: [make() for make in makers], [lambda: list(Counting.told)]

    return use


def refused(x):
    try:
        return x.relu()
    except ValueError as error:
        return str(error), x + 1


def changed_in_place(x):
    y = x * 2
    y += 1
    x.add_(1)
    return y, x


def weight():
    layer = nn.Linear(3, 4)
    layer.weight = nn.Parameter(Quantised(torch.ones(4, 3, dtype=torch.int8), torch.tensor(0.5)), requires_grad=False)
    return layer, lambda number: [matrix()], []


def of_many_sizes():
    return lambda x: (x * 2).sum(0), lambda number: [Scaled(matrix(2 + number, 3), 2.0)], []


ROWS = [
    (of(lambda x, y: ((x + y).plain() * 2, y + x, (x * 2).plain()), scaled, matrix), 0),
    (of(made_within), 0),
    (of(lambda x: x.sin().sum(), scaled), 0),
    (of(lambda x: Scaled(x + 1, 2.0)), 0),
    (of(operators, pair), 0),
    (of(metadata, pair), 0),
    (of(lambda x, y: (x + y).a.sum() + y.b, pair, pair), 0),
    (counted(lambda: Counting(matrix()), matrix), 0),
    (counted(lambda: Counting(matrix()), lambda: Further(matrix())), 0),
    (of(refused, lambda: Refusing(matrix())), 0),
    (of(lambda x, y: x + y, lambda: Refusing(matrix()), lambda: Counting(matrix())), 1),
    (weight, 0),
    (of_many_sizes, 0),
    # Gradients, and what no graph shows: views, changes in place.
    (of(lambda x, y: x * y, pair, lambda: matrix(grad=True)), 0),
    (of(lambda x: (x.t(), x.view(-1)), pair), 0),
    (of(changed_in_place, pair), 0),
    (of(lambda x: (x.add_(1), x._version, x._is_view(), x._base is None), pair), None),
    (of(lambda x: (x.detach(), x.add_(1), x.detach()._version), pair), 0),
    (of(lambda x: (x + 1, (x + 2).detach(), (x + 3)._version), pair), 0),
    (of(lambda x: x.max(1)[0] + 1, pair), 0),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_a_method_that_breaks(self):
        class Breaking(Counting):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                slotrt.graph_break()
                return super().__torch_dispatch__(func, types, args, kwargs)

        compiled = slotrt.compile(lambda x: (x + 1) * 2)
        for _ in range(2):
            self.assertEqual(compiled(Breaking(matrix())).held.tolist(), ((matrix() + 1) * 2).tolist())

    def test_a_method_that_changes(self):
        kind = type("Changing", (Counting,), {})
        compiled = slotrt.compile(lambda x: x + 1)
        self.assertEqual(compiled(kind(matrix())).held.tolist(), (matrix() + 1).tolist())
        kind.__torch_dispatch__ = classmethod(lambda cls, func, types, args=(), kwargs=None: matrix() * 0)
        self.assertEqual(compiled(kind(matrix())).tolist(), (matrix() * 0).tolist())


if __name__ == "__main__":
    unittest.main()
