"""The visible state of a value, read without running methods of Python code."""

import re
import sys
import types

from samples import Held, Plain, Watched

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_SCALARS = (float, complex, str, bytes, bool, type(None), type(...), type(NotImplemented), range, memoryview)
_DEFINITIONS = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.CodeType, types.FrameType)
#: How many objects within an object are read.
_DEPTH = 6


def picture(value, depth=_DEPTH):
    """The picture of a value: equal for values that a program can tell apart by identity alone."""
    kind = type(value)
    if depth == 0 or value is kind:
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}", *_parts(value, kind, depth)


def _parts(value, kind, depth):
    if kind is int:
        # The text of a long one depends on a limit that programs set.
        return (hex(value),)
    if kind in _SCALARS:
        return (bytes(value) if kind is memoryview and not _is_released(value) else repr(value),)
    if kind in (list, tuple):
        return [picture(item, depth - 1) for item in value],
    if kind is dict:
        if type(value.get("__name__", None)) is str and value["__name__"] in sys.modules:
            return "the dictionary of a module", value["__name__"]
        return [(picture(key, depth - 1), picture(item, depth - 1)) for key, item in value.items()],
    if kind in (set, frozenset):
        return sorted(map(repr, (picture(item, depth - 1) for item in value))),
    if kind is bytearray:
        return (bytes(value),)
    if kind in (Watched, Plain, Held):
        return (picture(object.__getattribute__(value, "__dict__"), depth - 1),)
    if issubclass(kind, type):
        return value.__qualname__, sorted(map(str, type.__getattribute__(value, "__dict__")))
    if kind in _DEFINITIONS:
        return (getattr(value, "__qualname__", None) or getattr(value, "__name__", None),)
    if issubclass(kind, BaseException):
        return [picture(part, depth - 1) for part in (value.args, vars(value), value.__cause__)], _text(value)
    return _reduced(value, depth), _text(value)


def _is_released(view):
    try:
        view.nbytes
    except ValueError:
        return True
    return False


def _reduced(value, depth):
    """The state of an object of a C type as pickling saves it."""
    try:
        parts = object.__reduce_ex__(value, 4) if type(value).__reduce__ is object.__reduce__ else type(value).__reduce__(value)
        if not isinstance(parts, tuple):
            return parts
        # Items of a list or a dictionary come last, as iterators made for this.
        parts = [list(part) if index > 2 and hasattr(part, "__next__") else part for index, part in enumerate(parts)]
    except Exception as error:
        return _ADDRESS.sub("0x", str(error))
    return [picture(part, depth - 1) for part in parts]


def _text(value):
    if type(value).__module__ in ("samples", "__main__"):
        return None
    try:
        return _ADDRESS.sub("0x", repr(value))
    except Exception as error:
        return type(error)
