"""Runs a program of PyTorch's several times and tells all that it does: results, arguments, gradients, state, modes, random numbers.

A *use* is a function without arguments that gives a callable, a function of the number of the call that gives its arguments, and the
objects whose state is looked at, or functions that give it."""

import contextlib
import dataclasses
import io
import random
import re
import warnings

import numpy
import slotrt
import torch
from torch import nn
from torch._functorch import config as functorch

CALLS = 3

# `backward` below keeps graphs: PyTorch wants AOTAutograd to be told.
functorch.donated_buffer = False


def shown(value):
    """A comparable form of a result, an argument or a piece of state."""
    if isinstance(value, torch.Tensor):
        return tensor(value)
    if isinstance(value, torch.Generator):
        return "Generator", str(value.device), value.get_state().tolist()
    if isinstance(value, numpy.ndarray):
        return "ndarray", str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, [(key, shown(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(item) for item in value]
    if dataclasses.is_dataclass(value):
        return type(value).__name__, [shown(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, nn.Module):
        return module(value)
    return shown(value()) if callable(value) and not isinstance(value, type) else repr(value)


def tensor(value):
    parts = type(value).__name__, value.dtype, tuple(value.shape), value.requires_grad, value.is_leaf, str(value.device)
    if value.layout != torch.strided or value.is_quantized:
        return *parts, repr(value.detach())
    if hasattr(type(value), "__tensor_flatten__"):
        names, rest = value.__tensor_flatten__()
        return *parts, rest, sorted(vars(value)), value._is_view(), value._version, [tensor(getattr(value, name)) for name in names]
    plain = value.detach().as_subclass(torch.Tensor)
    # Compilers note what they know of a tensor.
    own = sorted((name, repr(held)) for name, held in vars(value).items() if not name.startswith("_dynamo"))
    return *parts, value.stride(), own, None if value.is_meta else str(plain.tolist())


def module(value):
    tensors = [*value.named_parameters(), *value.named_buffers()]
    numbers = {name: held for name, held in vars(value).items() if isinstance(held, (int, str, float)) and name != "_torchdynamo_wrapper_id"}
    return [(name, shown(held), shown(held.grad) if held.is_leaf else None) for name, held in tensors], numbers


def leaves(value):
    """The tensors in a result."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif dataclasses.is_dataclass(value):
        yield from leaves([getattr(value, field.name) for field in dataclasses.fields(value)])


def backward(result):
    """Gradients of all that has some."""
    for value in leaves(result):
        if value.requires_grad and value.grad_fn is not None and value.dtype.is_floating_point:
            value.sum().backward(retain_graph=True)


def run(use, compiled):
    """What each call of the callable does, and how `compiled` of it is called: one dictionary a call."""
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    function, arguments, state = use()
    function, log = compiled(function), []
    for number in range(CALLS):
        args = arguments(number)
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()) as said:
            warnings.simplefilter("always")
            result = function(*args)
        seen = {
            "result": shown(result),
            "arguments": shown(list(args)),
            "warnings": re.findall(r"^.+:(\d+): (\w+): (.{,80})", said.getvalue(), re.MULTILINE),
            "random": torch.rand(2).tolist(),
            "modes": (torch.is_grad_enabled(), torch.get_default_dtype(), str(torch.get_default_device())),
        }
        backward(result)
        seen["gradients"] = [shown(value.grad) for value in leaves(list(args)) if value.is_leaf]
        seen["state"] = [shown(held) for held in state]
        log.append(seen)
    return log


def check(test, rows, compiled, counted=False, left_out=()):
    """Each use of `rows`, a use and how many breaks it has at most (`None`: any number), does the same compiled; `counted`: with no more
    breaks than that."""
    for number, (use, breaks) in enumerate(rows):
        if use in left_out:
            continue
        with test.subTest(number=number, function=use()[0]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # What warns once has warned.
            run(use, lambda function: function)
            plain = run(use, lambda function: function)
            slotrt.reset()
            found = run(use, compiled)
            for call, (one, other) in enumerate(zip(plain, found, strict=True)):
                for part in one:
                    test.assertEqual(other[part], one[part], f"{part} of call {call}")
            if counted and breaks is not None:
                stats = slotrt.stats()
                test.assertLessEqual(stats["graph_breaks"], breaks)
                test.assertGreaterEqual(stats["graphs"], 1)


class ThreeWays:
    """The tests of the uses in `rows`: compiled as they are, as a `GraphModule`, and through AOTAutograd, where those of `not_there` do not
    come. `counted`: with a backend there are no more breaks than without one, either."""

    maxDiff = None
    rows, not_there, counted = (), (), False

    def test_as_they_are(self):
        check(self, self.rows, slotrt.compile, counted=True)

    def test_through_fx(self):
        check(self, self.rows, slotrt.compile(backend=lambda graph, inputs: graph), counted=self.counted)

    def test_through_autograd(self):
        check(self, self.rows, slotrt.compile(backend="aot_eager"), left_out=self.not_there, counted=self.counted)
