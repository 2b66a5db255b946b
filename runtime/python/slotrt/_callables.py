"""Callables of every kind, compiled or left alone."""

import sys

# `functools` takes longer to import.
from _functools import partial

# Programs may replace builtins later.
from builtins import (
    TypeError,
    bool,
    callable,
    classmethod,
    getattr,
    isinstance,
    next,
    staticmethod,
    str,
    type,
)
from types import FunctionType, MethodType

from ._backends import resolve
from ._slotrt import CompiledFunction, native_call
from ._wrappers import called, is_wrapper, original, wrap

_AROUND = (MethodType, staticmethod, classmethod, partial)


class Compiler:
    """Compiles callables for a session. Options that are `None` are left out."""

    def __init__(self, session, again, backend=None, fullgraph=None, dynamic=None, recompile_limit=None):
        self.session = session
        self.again = again
        self.backend = backend
        self.fullgraph = fullgraph
        self.dynamic = dynamic
        self.recompile_limit = recompile_limit
        self.target = resolve("eager" if backend is None else backend)

    def __call__(self, fn):
        """What behaves like `fn`, and runs compiled code; `fn` itself, if it does that already."""
        kind = type(fn)
        if kind is CompiledFunction:
            return fn if self._is_made(fn) else self._function(fn.__wrapped__)
        if kind is FunctionType:
            return self._function(fn)
        if kind in _AROUND:
            return _around(fn, self)
        if is_wrapper(fn):
            # What is to be left alone stays so.
            function = _function_behind(called(fn))
            return fn if function is None or self._is_made(function) else self(original(fn))
        _check(fn, "compile")
        call = _own_call(fn)
        call = self._function(_forwarder(fn), True) if call is None else MethodType(self(call), fn)
        return wrap(fn, call, self.again)

    def in_place(self, module):
        """Has the calls of a `torch.nn.Module` run compiled code, as `Module.compile` does; gives the module."""
        if not _is_module(module):
            kind = type(module).__qualname__
            raise TypeError(f"slotrt.compile(inplace=True) takes a torch.nn.Module, not {kind}")
        plain = original(module) if is_wrapper(module) else module
        plain._compiled_call_impl = self(plain._call_impl)
        return module

    def _function(self, function, forwarder=False):
        fullgraph, limit = bool(self.fullgraph), self.recompile_limit
        return self.session.compile(function, self.target, fullgraph, forwarder, self.dynamic, limit)

    def _is_made(self, compiled):
        """Whether this session has compiled it with the options that are given."""
        options = self.session.options(compiled)
        if options is None:
            return False
        backend, fullgraph, dynamic, limit = options
        same = self.fullgraph in (None, fullgraph) and self.dynamic in (None, dynamic)
        same = same and self.recompile_limit in (None, limit)
        return same and self._is_backend(backend)

    def _is_backend(self, backend):
        given = self.backend
        if given is None or isinstance(given, str):
            return given is None or backend is None
        known = backend and backend.__wrapped__
        return known is given or type(known) is type(given) is MethodType and known == given


def disabled(fn):
    """What behaves like `fn`, and runs natively with all that it calls."""
    kind = type(fn)
    if kind is CompiledFunction:
        return disabled(fn.__wrapped__)
    if kind in _AROUND:
        return _around(fn, disabled)
    if is_wrapper(fn):
        return fn if _function_behind(called(fn)) is None else disabled(original(fn))
    _check(fn, "disable")
    return wrap(fn, native_call(fn), disabled)


def is_compiled(fn):
    """Whether calls of `fn` run compiled code."""
    kind = type(fn)
    if kind in _AROUND:
        return is_compiled(_inside(fn))
    if is_wrapper(fn):
        return _function_behind(called(fn)) is not None
    return kind is CompiledFunction or _is_module(fn) and is_compiled(fn._compiled_call_impl)


def _check(fn, whose):
    if not callable(fn):
        raise TypeError(f"slotrt.{whose} takes a callable, not {type(fn).__qualname__}")


def _inside(fn):
    return fn.func if type(fn) is partial else fn.__func__


def _around(fn, replace):
    """A method, a static or class method, or a partial object around another callable."""
    made = replace(_inside(fn))
    if made is _inside(fn):
        return fn
    if type(fn) is MethodType:
        return MethodType(made, fn.__self__)
    extra = (fn.args, fn.keywords) if type(fn) is partial else ((), {})
    around = type(fn)(made, *extra[0], **extra[1])
    around.__dict__.update(fn.__dict__)
    return around


def _own_call(fn):
    """The Python function that calls of an object run, or `None`."""
    found = next((base.__dict__["__call__"] for base in type(fn).__mro__ if "__call__" in base.__dict__), None)
    return found if type(found) in (FunctionType, CompiledFunction) else None


def _function_behind(call):
    """The compiled function in what a wrapper calls; `None` if it is to be left alone."""
    function = call.__func__ if type(call) is MethodType else call
    return function if type(function) is CompiledFunction else None


def _forwarder(fn):
    """A Python function that calls `fn`. No traceback shows its frame."""

    def call(*args, **kwargs):
        return fn(*args, **kwargs)

    # Reports name what is called.
    name = getattr(fn, "__qualname__", None) or type(fn).__qualname__
    call.__qualname__ = name if isinstance(name, str) else "call"
    return call


def _is_module(fn):
    """Whether it is a `torch.nn.Module`. A program that has not imported torch has none."""
    kind = getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", None)
    return kind is not None and isinstance(fn, kind)
