"""Describes a value as plain data, to compare two runs that cannot share objects. Runs no user code."""

import collections
import re
import types

from log import LOG, name_of

PLAIN = frozenset({float, complex, str, bytes, bool, type(None), type(...), type(NotImplemented), range})
LINE = re.compile(r"^\S+\.c:\d+: ")  # of the C file that found a bad argument: another in each release of a series
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
DEPTH = 4
ITERATORS = tuple({type(iter(one)) for one in ([], (), "", {}, set(), range(3), range(2**70), b"", bytearray(), {}.values(), {}.items(), reversed([]), reversed({}))} | {enumerate, zip, map, filter})
CONTAINERS = ((list, list.__iter__), (tuple, tuple.__iter__), (collections.deque, collections.deque.__iter__))


def text(value):
    """A string without addresses."""
    return ADDRESS.sub("0x", value) if "0x" in value else value


def describe(value, depth=0):
    """Plain data that is equal for equal values."""
    kind = type(value)
    if kind is int:
        return value if -(2**60) < value < 2**60 else ("int", hex(value))
    if kind in PLAIN:
        return (kind.__name__, text(repr(value)))
    if depth > DEPTH:
        return (name_of(kind), "...")
    before = len(LOG)
    try:
        return (name_of(kind), *parts(value, kind, depth + 1))
    finally:
        del LOG[before:]


def parts(value, kind, depth):
    if issubclass(kind, type):
        return (name_of(value),)
    for base, iterate in CONTAINERS:
        if issubclass(kind, base):
            return ([describe(item, depth) for item in iterate(value)], instance(value, depth))
    if issubclass(kind, dict):
        return ([(describe(key, depth), describe(item, depth)) for key, item in dict.items(value)], instance(value, depth))
    if issubclass(kind, (set, frozenset)):
        base = set if issubclass(kind, set) else frozenset
        return (sorted(repr(describe(item, depth)) for item in base.__iter__(value)), instance(value, depth))
    for base in (int, float, str, bytes, bytearray, complex):
        if issubclass(kind, base):
            return (text(base.__repr__(value)), instance(value, depth))
    if issubclass(kind, BaseException):
        return error(value, depth)
    return builtin(value, kind, depth)


def builtin(value, kind, depth):
    if kind is types.MethodType:
        return (describe(value.__func__, depth), describe(value.__self__, depth))
    if kind is types.FunctionType:
        return (value.__qualname__, describe(value.__dict__, depth), describe(value.__defaults__, depth))
    if kind in (types.BuiltinFunctionType, types.MethodWrapperType):
        return (value.__qualname__, describe(value.__self__, depth))
    if kind is slice:
        return tuple(describe(item, depth) for item in (value.start, value.stop, value.step))
    if kind is types.CellType:
        try:
            return (describe(value.cell_contents, depth),)
        except ValueError:
            return ("empty",)
    if kind is types.GeneratorType:
        return (value.gi_frame and value.gi_frame.f_lasti,)
    if kind in ITERATORS:
        return tuple(describe(item, depth) for item in kind.__reduce__(value)[1:])
    if kind is super:
        return (describe(value.__thisclass__, depth), describe(value.__self__, depth))
    if kind is types.ModuleType:
        return (describe({key: item for key, item in value.__dict__.items() if key != "__builtins__"}, depth),)
    if kind is memoryview:
        return (value.tobytes(), value.format)
    if kind.__module__ in ("builtins", "types", "typing", "_collections_abc", "collections", "datetime", "decimal", "fractions", "array", "functools", "itertools", "operator"):
        own = kind.__repr__ is not object.__repr__
        return (shown(value) if own else "", instance(value, depth) if kind.__module__ in ("fractions", "collections") else "")
    return (instance(value, depth),)


def shown(value):
    """The text of a value that may hold any other."""
    try:
        return text(repr(value))
    except Exception as raised:
        return name_of(type(raised))


def instance(value, depth):
    """The attributes of an instance, in its dictionary and in its slots."""
    out = []
    try:
        out.append(describe(object.__getattribute__(value, "__dict__"), depth))
    except AttributeError:
        pass
    for kind in type.__getattribute__(type(value), "__mro__"):
        for name, member in type.__getattribute__(kind, "__dict__").items():
            if type(member) is types.MemberDescriptorType and kind.__flags__ & (1 << 9):
                try:
                    out.append((name, describe(member.__get__(value), depth)))
                except AttributeError:
                    out.append((name, "unset"))
    return out


def error(value, depth=0):
    """An exception: arguments, attributes, notes, and those that it came from."""
    if depth > DEPTH:
        return ("...",)
    extra = [(name, describe(getattr(value, name), depth + 1)) for name in ("name", "value", "key") if name in dir(type(value))]
    links = [link and (name_of(type(link)), *error(link, depth + 1)) for link in (value.__context__, value.__cause__)]
    args = list(tuple.__iter__(BaseException.args.__get__(value)))
    said = [describe(item, depth + 1) for item in args]
    if type(value) is not KeyError and args and type(args[0]) is str:
        said[0] = LINE.sub("", text(args[0])) if isinstance(value, SystemError) else text(args[0])
    return (said, extra, list(getattr(value, "__notes__", ())), links, value.__suppress_context__)
