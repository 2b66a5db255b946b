"""Wrappers: what behaves like an object that can be called, but calls run something else."""

import sys
from abc import ABCMeta

# Programs may replace builtins later.
from builtins import (
    TypeError,
    delattr,
    dict,
    frozenset,
    getattr,
    hasattr,
    id,
    isinstance,
    issubclass,
    object,
    setattr,
    str,
    type,
    zip,
)
from types import MethodType

from _abc import _abc_init

_SLOTS = ("__call__", "__wrapped__", "__again__")
_OWN = frozenset((*_SLOTS, "__copy__", "__deepcopy__", "__get__", "__mro_entries__", "__reduce_ex__"))
_read = object.__getattribute__


class Wrapper:
    """Attributes are those of the original. Slots of the instance hold what calls run, the original, and what makes another one."""

    __slots__ = ()

    def __init_subclass__(cls, **kwargs):
        """Nothing, also where the original's class keeps account of its subclasses."""

    def __getattribute__(self, name):
        if name in _OWN:
            return _read(self, name)
        return getattr(_read(self, "__wrapped__"), name)

    def __setattr__(self, name, value):
        setattr(_read(self, "__wrapped__"), name, value)

    def __delattr__(self, name):
        delattr(_read(self, "__wrapped__"), name)

    def __reduce_ex__(self, protocol):
        fn = _read(self, "__wrapped__")
        name = getattr(fn, "__qualname__", None)
        if isinstance(name, str) and _named(getattr(fn, "__module__", None), name) is self:
            return name
        return _read(self, "__again__"), (fn,)

    def __copy__(self):
        from copy import copy  # Here, so that importing slotrt stays quick.

        return _like(self, copy(_read(self, "__wrapped__")))

    def __deepcopy__(self, memo):
        from copy import deepcopy

        return _like(self, deepcopy(_read(self, "__wrapped__"), memo))


class ObjectWrapper(Wrapper):
    """Stands for an instance of a Python class, as an instance of a class that is derived from it: a module stays a module."""

    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        # `type(self)(…)` in a method of the original means the original's class.
        return cls.__bases__[1](*args, **kwargs)

    def __getattribute__(self, name):
        if name in _OWN:
            return _read(self, name)
        fn = _read(self, "__wrapped__")
        found = getattr(fn, name)
        # Methods that give their object give this one: `compiled.eval()`. What `forward` computes is the original's.
        if type(found) is MethodType and found.__self__ is fn and name != "forward":
            return MethodType(found.__func__, self)
        return found


class CallableWrapper(Wrapper):
    """Stands for a callable of another kind: a class, a function, an object of C."""

    __slots__ = (*_SLOTS, "__weakref__")

    def __getattribute__(self, name):
        # What says that it is a class must be one.
        if name == "__class__" and isinstance(_read(self, "__wrapped__"), type):
            return CallableWrapper
        return super().__getattribute__(name)

    def __get__(self, instance, owner=None):
        fn = _read(self, "__wrapped__")
        get = getattr(type(fn), "__get__", None)
        bound = fn if get is None else get(fn, instance, owner)
        if type(bound) is MethodType and bound.__func__ is fn:
            return MethodType(self, bound.__self__)
        return _like(self, bound)

    def __instancecheck__(self, instance):
        return isinstance(instance, _read(self, "__wrapped__"))

    def __subclasscheck__(self, subclass):
        return issubclass(subclass, _read(self, "__wrapped__"))

    def __mro_entries__(self, bases):
        return (_read(self, "__wrapped__"),)

    def __repr__(self):
        return f"<wrapper for {_read(self, '__wrapped__')!r} at {id(self):#x}>"


def wrap(fn, call, again):
    """What behaves like `fn`, and whose calls run `call`; `again` makes the same of another callable."""
    made = _of_class(type(fn))
    if made is None:
        made = object.__new__(CallableWrapper)
    for name, value in zip(_SLOTS, (call, fn, again)):
        object.__setattr__(made, name, value)
    if isinstance(made, ObjectWrapper) and type(getattr(fn, "__dict__", None)) is dict:
        # For methods that write to it behind `__setattr__`.
        object.__setattr__(made, "__dict__", fn.__dict__)
    return made


def _like(known, fn):
    """A wrapper for `fn` like a known one; that one, if it stands for it."""
    return known if fn is _read(known, "__wrapped__") else _read(known, "__again__")(fn)


def is_wrapper(fn):
    """Whether it stands for another object."""
    return issubclass(type(fn), Wrapper)


def original(fn):
    """What it stands for."""
    return _read(fn, "__wrapped__")


def called(fn):
    """What its calls run."""
    return _read(fn, "__call__")


def _of_class(cls):
    """A wrapper for instances of a Python class; `None` where an instance is more than its attributes."""
    bases = (ObjectWrapper, cls)
    try:
        known = [derived for derived in type.__subclasses__(cls) if derived.__bases__ == bases]
        return object.__new__(known[0] if known else _derived(cls, bases))
    except TypeError:
        return None


def _derived(cls, bases):
    names = ("__module__", "__qualname__", "__doc__")
    namespace = {"__slots__": _SLOTS, **{name: getattr(cls, name) for name in names}}
    if hasattr(cls, "__del__"):
        namespace["__del__"] = lambda self: None
    made = type.__new__(type(cls), cls.__name__, bases, namespace)
    if isinstance(cls, ABCMeta):
        _abc_init(made)
    return made


def _named(module, name):
    """The object of this name in a module, or `None`."""
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
