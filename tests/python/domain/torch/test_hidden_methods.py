"""Attributes of tensors, parameters and modules that hide methods, and functions of the program that bear names of PyTorch's."""

import contextlib
import gc
import io
import unittest

import slotrt
import torch
from torch import nn


def plain():
    return torch.tensor([-1.0, 2.0])


def other():
    x = plain()
    x.tag = 1
    return x


def emptied():
    x = other()
    del x.tag
    return x


def hiding():
    x = plain()
    x.relu, x.norm, x.sum = (lambda: torch.tensor(5.0)), (lambda: 4), 3
    x.add_ = x.unsqueeze = lambda number: 8
    return x


def parameter():
    return nn.Parameter(plain())


def hiding_parameter():
    x = parameter()
    x.relu = lambda: torch.tensor(5.0)
    return x


def set_and_deleted(x):
    x.sum = lambda: 7
    result = x.sum()
    del x.sum
    return result, x.norm()


def set_on_a_result(x):
    y = x * 1
    y.relu = lambda: 3
    return y.relu(), torch.Tensor.relu(y), torch.relu(y), y.sum()


def across_a_break(x):
    y = x * 2
    y.sum = 1
    first = y.sum
    slotrt.graph_break()
    second = y.sum
    del y.sum
    return first, second, y.sum()


def deletes(x):
    y = x * 2
    try:
        del y.sum
    except AttributeError as error:
        return str(error)


def called_by_the_class(x):
    return torch.Tensor.relu(x), torch.Tensor.unsqueeze(x, 0), torch.Tensor.add_(x, 1) + 1


def not_hidden(x):
    return torch.relu(x), x + 1, len(x), torch.sum(x), x.shape, x.mul(2)


def shown(value):
    if isinstance(value, torch.Tensor):
        return type(value).__name__, value.tolist()
    return [shown(item) for item in value] if isinstance(value, tuple) else value


class HiddenMethods(unittest.TestCase):
    def both_ways(self, function, makers):
        for backend in ("eager", lambda graph, inputs: graph):
            slotrt.reset()
            compiled = slotrt.compile(function, backend=backend)
            for make in makers:
                with self.subTest(function=function, backend=backend, make=make.__name__):
                    mine, theirs = make(), make()
                    self.assertEqual(shown(compiled(mine)), shown(function(theirs)))
                    self.assertEqual(mine.tolist(), theirs.tolist())

    def test_tensors(self):
        makers = [plain, hiding, emptied, other, hiding, plain]
        self.both_ways(lambda x: x.relu() if callable(x.relu) else 0, makers)
        self.both_ways(lambda x: (x.relu(), x.norm(), x.mul(2)), makers)
        for function in (set_and_deleted, set_on_a_result, deletes, called_by_the_class, not_hidden):
            self.both_ways(function, makers)
            self.both_ways(function, makers[1:])
        self.both_ways(across_a_break, [plain, other])

    def test_parameters(self):
        self.both_ways(lambda x: x.relu() * 2, [parameter, hiding_parameter, parameter])
        layer = nn.Linear(2, 2)
        compiled = slotrt.compile(lambda x: (layer(x), layer.weight.t(), layer.extra_repr()))
        compiled(plain())
        layer.weight.t = lambda: 3
        self.assertEqual(compiled(plain())[1], 3)
        del layer.weight.t
        self.assertEqual(compiled(plain())[1].shape, (2, 2))
        layer.extra_repr = lambda: "hidden"
        self.assertEqual(compiled(plain())[2], "hidden")
        layer.forward = lambda x: 7
        self.assertEqual(compiled(plain())[0], 7)

    def test_tensors_in_containers_and_globals(self):
        compiled = slotrt.compile(lambda tensors: [tensor.relu() for tensor in tensors])
        compiled([plain(), plain()])
        self.assertEqual(shown(tuple(compiled([plain(), hiding()]))), shown((plain().relu(), torch.tensor(5.0))))

    def test_one_trace_serves_tensors_without_attributes(self):
        slotrt.reset()
        compiled = slotrt.compile(lambda x: x.relu().sum() + x.mul(2))
        for make in (plain, emptied, plain):
            compiled(make())
        self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_a_guard_makes_no_dict(self):
        compiled, x = slotrt.compile(lambda x: x.relu()), plain()
        compiled(plain())
        compiled(x)
        self.assertFalse(any(type(held) is dict for held in gc.get_referents(x)))


class FunctionsOfTheProgram(unittest.TestCase):
    def test_names_of_operations(self):
        """What a function does is not told by its name."""

        def relu(x):
            x.add_(100)
            return x * 2

        def neg(x):
            return x * torch.rand(2, device=x.device)

        def mul(x):
            return x.view(2, 1)

        def size(x):
            return x * 3

        with slotrt.torch.frontend():
            relu, neg, mul, size = map(torch.compiler.allow_in_graph, (relu, neg, mul, size))

        def fails(x):
            return torch.linalg.inv(x[None].expand(2, 2) * 0)

        def changes(x):
            return relu(x), fails(x)

        def draws(x):
            return neg(x), fails(x)

        def views(x):
            return mul(x).add_(1), fails(x)

        def named(x):
            return size(x), mul(x * 1)

        for backend in ("eager", lambda graph, inputs: graph):
            for function in (changes, draws, views, named):
                slotrt.reset()
                compiled = slotrt.compile(function, backend=backend)
                for number in range(3):
                    with self.subTest(function=function.__name__, number=number):
                        seen = [self.outcome(way) for way in (compiled, function)]
                        self.assertEqual(*seen)

    def outcome(self, function):
        x = plain()
        torch.manual_seed(0)
        try:
            # FX prints where a graph raises.
            with contextlib.redirect_stderr(io.StringIO()):
                result = shown(function(x))
        except RuntimeError as error:
            result = type(error).__name__
        return result, x.tolist(), torch.rand(2).tolist()


if __name__ == "__main__":
    unittest.main()
