"""What nodes of a `torch.fx` graph call: functions that FX can print, find again by their names, and trace anew.

A function of C that no name leads to has a stand-in here, whose name tells where it is: `einsum_of_torch___C___VariableFunctions`."""

import functools
import operator
import sys
import types

import torch

_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "truediv", "floordiv": "floordiv", "mod": "mod", "pow": "pow",
    "matmul": "matmul", "and": "and_", "or": "or_", "xor": "xor", "lshift": "lshift", "rshift": "rshift",
}
_OTHERS = ("lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "invert", "abs", "getitem", "iadd", "isub", "imul", "itruediv")
_SEPARATOR = "_of_"


def node(graph, target, args, kwargs):
    """A node of `graph` that calls `target`, a function or a method of C, as FX has such calls."""
    if type(target) is types.MethodDescriptorType or type(target) is types.WrapperDescriptorType:
        name = target.__name__
        if args and isinstance(args[0], torch.fx.Node) and getattr(torch.Tensor, name, None) is target:
            function, swapped = _operator(name)
            if function is None:
                return graph.call_method(name, args, kwargs)
            if not kwargs:
                return graph.call_function(function, args[::-1] if swapped else args)
    return graph.call_function(_named(target), args, kwargs)


def items(graph, tensor, key):
    """The same for `tensor[key]`, where the key is of slices and integers."""
    keys = key if type(key) is tuple else (key,)
    bounds = tuple(part if type(part) is slice else slice(None) for part in keys)
    if any(part != slice(None) for part in bounds):
        tensor = graph.call_function(operator.getitem, (tensor, bounds))
    for place in reversed(range(len(keys))):
        if type(keys[place]) is not slice:
            tensor = graph.call_function(torch.select, (tensor, place, keys[place]))
    return tensor


@functools.cache
def _operator(name):
    """The function of `operator` for a special method, and whether its operands change places."""
    bare = name[2:-2] if name.startswith("__") and name.endswith("__") else ""
    if bare in _OPERATORS:
        return getattr(operator, _OPERATORS[bare]), False
    if bare[1:] in _OPERATORS and bare[0] == "r":
        return getattr(operator, _OPERATORS[bare[1:]]), True
    return (getattr(operator, bare), False) if bare in _OTHERS else (None, False)


def _named(target):
    """The target itself, if FX writes a name for it that leads there; else what stands for it."""
    if target is min or target is max:
        # They would decide which it is.
        return torch.sym_min if target is min else torch.sym_max
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    name = getattr(target, "__name__", "")
    owner = getattr(target, "__self__", None)
    # FX finds no module of a method that is bound to a class, and none of a method of a class of C.
    bound = module is None and isinstance(owner, type)
    method = isinstance(target, (types.MethodDescriptorType, types.WrapperDescriptorType))
    if not bound and not method and (module is None or getattr(module, name, target) is target):
        return target
    if method:
        owner = target.__objclass__
    path = _path(owner, name, target)
    if path is not None:
        return _stand_in(path)
    return _calling(target, f"{owner.__name__}_{name}" if bound else name)


def _path(owner, name, target):
    """The name here of what stands for `target`; `None`, if nothing leads to it."""
    found = [getattr(owner, "__name__", None)] if isinstance(owner, types.ModuleType) else []
    if isinstance(owner, type):
        found = [f"{owner.__module__}.{owner.__qualname__}", f"torch.{owner.__qualname__}", f"torch._C.{owner.__qualname__}"]
    found.append("torch._C._VariableFunctions")
    for place in found:
        if place is not None and place.startswith("torch") and getattr(_at(place), name, None) == target:
            return f"{name}{_SEPARATOR}{place.replace('.', '__')}"
    return None


def _at(place):
    """What a dotted path leads to, or `None`."""
    return functools.reduce(lambda room, part: getattr(room, part, None), place.split(".")[1:], torch)


@functools.cache
def _stand_in(name):
    attribute, separator, place = name.rpartition(_SEPARATOR)
    target = getattr(_at(place.replace("__", ".")), attribute, None) if separator else None
    if target is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = _calling(target, name)
    globals()[name] = made
    return made


def _calling(target, name):
    """A function of that name that calls `target`; for proxies of FX it is a node."""

    def call(*args, **kwargs):
        from torch.fx import Proxy

        for arg in (*args, *kwargs.values()):
            if isinstance(arg, Proxy):
                return arg.tracer.create_proxy("call_function", call, args, kwargs)
        return target(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _stand_in(name)
