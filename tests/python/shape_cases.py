"""Compares what the rules of shapes say of a call with what the call gives."""

import torch
from slotrt import _slotrt

rules = _slotrt.ShapeRules()


def tensors_in(objects):
    """All tensors, in nested tuples, lists and dicts."""
    if isinstance(objects, torch.Tensor):
        return [objects]
    if isinstance(objects, dict):
        objects = objects.values()
    if isinstance(objects, (tuple, list, type({}.values()))):
        return [tensor for item in objects for tensor in tensors_in(item)]
    return []


def metadata(tensor):
    return tensor.dtype, list(tensor.shape), list(tensor.stride()), tensor.requires_grad


def without_contents(objects):
    """The same with tensors of the `meta` device."""
    if isinstance(objects, torch.Tensor):
        made = torch.empty_strided(objects.shape, objects.stride(), dtype=objects.dtype, device="meta")
        return made.requires_grad_(objects.requires_grad)
    if type(objects) in (tuple, list):
        return type(objects)(map(without_contents, objects))
    if type(objects) is dict:
        return {name: without_contents(value) for name, value in objects.items()}
    return objects


def fails_without_contents(target, args, kwargs):
    try:
        target(*without_contents(args), **without_contents(kwargs))
        return False
    except Exception:
        return True


def shares(one, other):
    """Whether two tensors have one memory."""
    return one.untyped_storage()._cdata == other.untyped_storage()._cdata


def wrong(target, args, kwargs, call=None):
    """What is wrong about what a rule says of this call: a text; `None` if it is right; `False` if no rule knows."""
    said = rules.answer(target, args, kwargs)
    if said is None:
        return False
    kind, known = said
    operands = tensors_in((args, kwargs))
    first = operands[0] if operands else None
    before = first is not None and (metadata(first), first._version)
    try:
        gave = (call or target)(*args, **kwargs)
    except Exception as error:
        # What contents decide, such as an index out of bounds, is found when the graph runs.
        if fails_without_contents(target, args, kwargs) is False:
            return None
        return f"{kind} instead of {type(error).__name__}: {error}"
    if kind == "changed" or kind == "begins to require gradients":
        dtype, shape, strides, required = before[0]
        required = required or kind != "changed"
        if metadata(first) != (dtype, shape, strides, required):
            return f"{kind}: {before} became {metadata(first)}"
        return None if gave is None or gave is first else f"{kind} gives another object"
    if kind == "relaid":
        if metadata(first) != tuple(known[0]):
            return f"{kind} {known[0]} instead of {metadata(first)}"
        return None if gave is first else f"{kind} gives another object"
    if kind == "itself":
        return None if gave is first else "the operand itself is not given"
    results = list(gave) if isinstance(gave, (tuple, list)) else [gave]
    if kind in ("fresh", "view", "detached"):
        if not isinstance(gave, torch.Tensor):
            return f"{kind} instead of {type(gave).__name__}"
    elif kind in ("views", "tuple", "each"):
        if type(gave) is not tuple:
            return f"{kind} instead of {type(gave).__name__}"
    elif type(gave) is not getattr(torch.return_types, kind):
        return f"{kind} instead of {type(gave).__name__}"
    found = [metadata(result) for result in results]
    if found != [tuple(item) for item in known]:
        return f"{kind} {known} instead of {found}"
    if kind == "each":
        if not all(result is operand or result._is_view() and shares(result, operand) for result, operand in zip(results, operands)):
            return "each: other memory"
        return None
    if any(result is operand for result in results for operand in operands):
        return f"{kind} instead of an operand itself"
    if kind in ("view", "views", "detached"):
        if not all(shares(result, first) for result in results):
            return f"{kind} of other memory"
        if kind != "detached" and not all(result._is_view() for result in results if first.is_inference() is False):
            return f"{kind} is none"
    elif any(shares(result, operand) for result in results for operand in operands if operand.numel()):
        return f"{kind} shares memory with an operand"
    return None


class Compared(torch.overrides.TorchFunctionMode):
    """While it is active, each call of a function of C is compared with what a rule says of it."""

    def __init__(self):
        super().__init__()
        self.ruled, self.asked, self.wrong = {}, {}, []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        if type(function).__name__ not in ("builtin_function_or_method", "method_descriptor") or name in ("backward", "requires_grad_"):
            return function(*args, **kwargs)
        gave = []

        def call(*args, **kwargs):
            gave.append(function(*args, **kwargs))
            return gave[0]

        found = wrong(function, args, kwargs, call)
        counts = self.asked if found is False else self.ruled
        counts[name] = counts.get(name, 0) + 1
        if found:
            self.wrong.append((name, described(args), described(kwargs), found))
        return gave[0] if gave else function(*args, **kwargs)


def described(argument):
    """A short text for arguments."""
    if isinstance(argument, torch.Tensor):
        return f"{argument.dtype}{list(argument.shape)}{list(argument.stride())}"
    if isinstance(argument, (tuple, list)):
        return "(" + ", ".join(map(described, argument)) + ")"
    if isinstance(argument, dict):
        return "{" + ", ".join(f"{name}={described(value)}" for name, value in argument.items()) + "}"
    return repr(argument)[:60]
