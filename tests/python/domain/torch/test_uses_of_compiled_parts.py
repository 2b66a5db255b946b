"""What programs do with what `torch.compile` has made, in functions that slotrt compiles: a trace goes through what it was made of.

A row is a use and how many graph breaks its calls have at most."""

import functools
import unittest

import slotrt
import torch
import torch_programs
from torch import nn

compiled = functools.partial(torch.compile, backend="eager")


def matrix(number=0):
    return torch.arange(1.0, 7.0).reshape(2, 3) / (4 + number)


def leaf(number):
    return matrix(number).requires_grad_(number != 1)


def of_calls(make):
    """A use of a callable that is made anew."""

    def use():
        function, state = make()
        return function, lambda number: [leaf(number)], state

    return use


@of_calls
def function():
    inner = compiled(lambda x, scale=2: x.sin() * scale)
    return lambda x: inner(x * 2) + inner(x, scale=3), []


@of_calls
def plain_module():
    module = nn.Linear(3, 3)
    inner = compiled(module)
    return lambda x: inner(x) + 1, [module]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), compiled(nn.Linear(3, 3))
        self.drop = nn.Dropout(0.5)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.drop(self.second(self.first(x).relu()))


@of_calls
def module_in_module():
    module = compiled(Block())
    return module, [module]


@of_calls
def compiled_in_place():
    module = Block()
    module.first.compile(backend="eager")
    module.compile(backend="eager")
    return lambda x: module(x) * 2, [module]


@of_calls
def with_hooks():
    module, seen = Block(), []
    module.first.register_forward_hook(lambda module, args, result: seen.append(len(args)) or result * 2)
    inner = compiled(module)
    inner.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    return lambda x: inner(x), [module, seen]


@of_calls
def attributes():
    inner = compiled(Block())

    def call(x):
        inner.calls = inner.calls + 10
        return inner(x) * inner.first.weight.sum() + inner.calls

    return call, [inner]


@of_calls
def switched():
    inner = compiled(Block())

    def call(x):
        inner.train(not inner.training)
        return inner(x)

    return call, [inner]


@of_calls
def method():
    class Scales:
        def __init__(self):
            self.by = 2

        @torch.compile(backend="eager")
        def scaled(self, x):
            self.by += 1
            return x * self.by

    scales = Scales()
    return lambda x: scales.scaled(x) + scales.by, [lambda: scales.by]


@of_calls
def decorated_class():
    @compiled
    class Doubles(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, x):
            return self.inner(x) * 2

    module = Doubles()
    return lambda x: module(x) + 1, [module]


@of_calls
def twice():
    inner = compiled(compiled(lambda x: x.cos()))
    outer = compiled(lambda x: inner(x) + 1, fullgraph=True)
    return lambda x: outer(x) * 2, []


@of_calls
def of_c():
    inner = compiled(torch.sin)
    return lambda x: inner(x) * 2, []


@of_calls
def broken_inside():
    def breaks(x):
        y = x + 1
        slotrt.graph_break()
        return y * 2

    inner = compiled(nn.Sequential(nn.Linear(3, 3), compiled(Broken(breaks))))
    return lambda x: inner(x) + 1, [inner]


class Broken(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x) - 1


@of_calls
def made_inside():
    def inner(x):
        return x.exp()

    return lambda x: torch.compile(inner, backend="eager")(x * 2) + 1, []


@of_calls
def made_of_a_module():
    inner = nn.Linear(3, 3)
    return lambda x: compiled(inner)(x).relu(), [inner]


@of_calls
def made_by_a_decorator():
    def outer(x):
        @torch.compile(backend="eager", fullgraph=True)
        def inner(y, scale=2):
            return y.cos() * x * scale

        return inner(x) + inner(x * 2, scale=3)

    return outer, []


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.compiled = None

    def forward(self, x):
        if self.compiled is None:
            self.compiled = compiled(self.inner)
        return self.compiled(x)


@of_calls
def made_and_kept():
    module = Lazy()
    return module, [module, lambda: type(module.compiled).__name__]


@of_calls
def made_and_asked():
    inner = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def outer(x):
        made = compiled(inner)
        kinds = isinstance(made, nn.Module), type(made).__name__, len(list(made.parameters())), made.training
        return made(x), kinds, len(made), [name for name, _ in made.named_parameters()], made._orig_mod is inner

    return outer, [inner]


@of_calls
def made_and_given():
    def inner(x):
        return x * 2

    def outer(x):
        made = compiled(inner)
        return made(x), made.__name__, callable(made), made.__wrapped__ is inner

    return outer, []


@of_calls
def made_of_nothing():
    def outer(x):
        try:
            return torch.compile(lambda y: y, backend="none such")(x)
        except Exception as error:
            return type(error).__name__, x + 1

    return outer, []


@of_calls
def made_around_a_break():
    def inner(x):
        y = x * 2
        slotrt.graph_break()
        return y + 1

    return lambda x: compiled(inner)(x) * 3, []


@of_calls
def left_alone():
    inner = torch.compiler.disable(lambda x: x.sin())
    return lambda x: inner(x) + 1, []


ROWS = [
    (function, 0),
    (plain_module, 0),
    (module_in_module, 0),
    (compiled_in_place, 0),
    (with_hooks, 0),
    (attributes, 0),
    (switched, 0),
    (method, 0),
    (decorated_class, 0),
    (twice, 0),
    (of_c, 0),
    (broken_inside, 2),
    (made_inside, 0),
    (made_of_a_module, 0),
    (made_by_a_decorator, 0),
    (made_and_kept, None),
    (made_and_asked, None),
    (made_and_given, None),
    (made_of_nothing, None),
    (made_around_a_break, None),
    (left_alone, 1),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    @classmethod
    def setUpClass(cls):
        # What TorchDynamo compiled for another instance of a class runs without the hooks of this one.
        torch.compiler.set_stance("force_eager")
        cls.addClassCleanup(torch.compiler.set_stance, "default")


class GivenTest(unittest.TestCase):
    """What a caller gives is another function each time, with the same code around it."""

    def setUp(self):
        slotrt.reset()
        torch._dynamo.reset()

    def test_other_functions_at_each_call(self):
        outer = slotrt.compile(lambda inner, x: inner(x) * 2)
        functions = [torch.sin, lambda x: x + 1, lambda x: x - 1, nn.ReLU(), lambda x, by=3: x * by]
        for inner in functions + functions[::-1]:
            for given in (inner, compiled(inner), torch.compiler.disable(inner)):
                self.assertEqual(outer(given, matrix()).tolist(), (inner(matrix()) * 2).tolist())

    def test_closures_of_one_code(self):
        def adds(number):
            return compiled(lambda x: x + number)

        outer = slotrt.compile(lambda inner, x: inner(x) * 2)
        for number in (1, 2, 3, 2, torch.ones(3), 1):
            self.assertEqual(outer(adds(number), matrix()).tolist(), ((matrix() + number) * 2).tolist())

    def test_what_wraps_a_compiled_function(self):
        inner = compiled(lambda x: x + 1)

        @functools.wraps(inner)
        def wrapper(x):
            return inner(x) * 5

        outer = slotrt.compile(lambda x: wrapper(x) * 2)
        self.assertEqual(outer(matrix()).tolist(), ((matrix() + 1) * 10).tolist())

    def test_the_original_is_replaced(self):
        inner = compiled(lambda x: x + 1)
        outer = slotrt.compile(lambda x: inner(x) * 2)
        self.assertEqual(outer(matrix()).tolist(), ((matrix() + 1) * 2).tolist())
        inner = compiled(lambda x: x - 1)
        self.assertEqual(outer(matrix()).tolist(), ((matrix() - 1) * 2).tolist())

    def test_exceptions(self):
        @compiled
        def fails(x):
            raise ValueError(f"of {x.numel()} items")

        def call(x):
            try:
                return fails(x)
            except ValueError as error:
                return str(error)

        self.assertEqual(slotrt.compile(call)(matrix()), "of 6 items")


if __name__ == "__main__":
    unittest.main()
