"""Tensors in Python code: iteration, attributes, containers, devices, and questions about types of numbers."""

import collections
import dataclasses
import functools
import unittest

import slotrt
import torch
from torch import nn
from torch.nn import functional


def value(result):
    """A comparable form of a result."""
    if isinstance(result, torch.Tensor):
        return type(result), result.dtype, tuple(result.shape), result.stride(), result.requires_grad, result.tolist()
    if isinstance(result, dict):
        return type(result), [(key, value(item)) for key, item in result.items()]
    if isinstance(result, (tuple, list)):
        return type(result), [value(item) for item in result]
    if dataclasses.is_dataclass(result):
        return type(result), value(vars(result))
    return type(result), result


def outcome(function, *args):
    """The result, or the exception."""
    try:
        return value(function(*args))
    except Exception as error:
        return type(error), str(error)


def example():
    return torch.arange(6.0).reshape(2, 3)


class Tensors(unittest.TestCase):
    def whole(self, function):
        """The function is one trace, and it does what it does uncompiled: at once, from the cache, with gradients, as an FX graph."""
        report = slotrt.explain(function)(example())
        self.assertEqual(report.breaks, 0, report)
        for compiled in (slotrt.compile(function), slotrt.compile(function, backend=lambda graph, examples: graph)):
            for grad in (False, False, True):
                mine, theirs = example().requires_grad_(grad), example().requires_grad_(grad)
                self.assertEqual(outcome(compiled, mine), outcome(function, theirs))

    def test_iteration(self):
        def by_statement(x):
            (a, b), (first, *rest), total = x, x.T, 0
            for row in x:
                total = total + row
            rows = iter(x)
            return a + b, first, rest, total, [row * 2 for row in x], next(rows), next(rows), next(rows, None)

        def by_functions_of_c(x):
            pairs = [number * one + other for number, (one, other) in enumerate(zip(x, x + 1))]
            return pairs, list(x), tuple(x), [*map(torch.sum, x)], [*reversed(x)], sum(x), functools.reduce(torch.mul, x)

        def of_a_scalar(x):
            return [item for item in x.sum()]

        for function in (by_statement, by_functions_of_c):
            self.whole(function)
        compiled = slotrt.compile(of_a_scalar)
        self.assertEqual(outcome(compiled, example()), outcome(of_a_scalar, example()))

    def test_attributes_that_are_not_there(self):
        def f(x):
            y = x + 1
            try:
                y.missing
            except AttributeError as error:
                text = str(error)
            return text, hasattr(x, "missing"), getattr(y, "missing", 3), hasattr(y, "sum"), isinstance(y, nn.Parameter)

        self.whole(f)

    def test_attributes_of_an_argument_s_own(self):
        def f(x):
            return x * getattr(x, "scale", 1)

        compiled = slotrt.compile(f, fullgraph=True)
        for scale in (None, 2, 3, None):
            x = example()
            if scale:
                x.scale = scale
            self.assertEqual(value(compiled(x)), value(f(x)))

    def test_kinds_and_views(self):
        def f(x):
            y = x * 2
            kinds = [t.is_cpu and not (t.is_cuda or t.is_xpu or t.is_mps or t.is_sparse_csr) for t in (x, y)]
            return kinds, y.__class__ is torch.Tensor, x.__array_priority__, x.real, y.real + x.data, torch.complex(x, y).imag

        self.whole(f)

    def test_what_gradients_make_of_it(self):
        def f(x):
            y = x * 2
            return y.is_leaf, y.detach().is_leaf, y.detach().grad_fn

        self.whole(f)

    def test_places(self):
        def f(x):
            there = [x.to("cpu"), x.to(x.device), x.to("cpu", torch.float64), x.to(torch.device("cpu"), torch.int32), x.cpu()]
            return there, there[0] is x, there[-1] is x, x.to(device="cpu", dtype=torch.float16), x.to(x + 1)

        self.whole(f)

    def test_a_device_as_a_mode(self):
        def f(x):
            with torch.device("meta"):
                y = torch.ones(2)
            return y.device.type, torch.ones(2).device.type, x + 1

        compiled = slotrt.compile(f)
        for _ in range(2):
            self.assertEqual(outcome(compiled, example()), outcome(f, example()))
        self.assertEqual(torch.ones(1).device.type, "cpu")

    def test_numbers_and_sizes(self):
        def f(x):
            low, size = torch.finfo(x.dtype).min, torch.Size([2, x.size(1)])
            limits = torch.iinfo(torch.int8).max, torch.finfo(torch.bfloat16).eps
            mixed = torch.promote_types(x.dtype, torch.float64), torch.can_cast(torch.int32, x.dtype)
            return x.masked_fill(x > 2, low), limits, x.shape == size, size.numel(), x.shape.numel(), mixed, tuple(size[1:])

        self.whole(f)

    def test_losses_are_made_where_they_are_needed(self):
        def f(x):
            return nn.MSELoss()(x, x + 1) + nn.CrossEntropyLoss(reduction="sum")(x, torch.tensor([1, 2]))

        self.whole(f)

    def test_containers_of_tensors(self):
        Pair = collections.namedtuple("Pair", "one other")

        @dataclasses.dataclass
        class Result:
            loss: torch.Tensor
            parts: dict = dataclasses.field(default_factory=dict)

        class Output(collections.OrderedDict):
            def __init__(self, **fields):
                super().__init__(**fields)
                for name, field in fields.items():
                    object.__setattr__(self, name, field)

            def __getitem__(self, key):
                return super().__getitem__(key) if isinstance(key, str) else list(self.values())[key]

        def f(x):
            ordered, groups = collections.OrderedDict(loss=x), collections.defaultdict(list)
            ordered["more"] = x + 1
            ordered.move_to_end("loss")
            groups["rows"].extend(x)
            output = Output(loss=x.sum(), logits=x * 2)
            return ordered, dict(groups), groups, Pair(x, x + 2), Result(x.mean(), {"x": x}), output, output[0] + output.logits

        self.whole(f)

    def test_buffers_that_are_set(self):
        class Mean(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.zeros(3))
                self.calls = 0

            def forward(self, x):
                self.calls += 1
                self.mean = self.mean * 0.5 + x.detach().mean(0) * 0.5
                return x - self.mean

        theirs, mine = Mean(), Mean()
        self.assertEqual(slotrt.explain(Mean())(example()).breaks, 0)
        compiled = slotrt.compile(mine)
        for _ in range(3):
            self.assertEqual(value(compiled(example())), value(theirs(example())))
        self.assertEqual((value(mine.mean), mine.calls), (value(theirs.mean), theirs.calls))

    def test_resizing(self):
        def f(x):
            return functional.interpolate(x[None, None], scale_factor=2, mode="bilinear", align_corners=False)

        self.whole(f)


if __name__ == "__main__":
    unittest.main()
