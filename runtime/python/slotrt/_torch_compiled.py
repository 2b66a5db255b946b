"""What stands for parts of PyTorch's compiler while a trace goes through modules that `torch.compile` has wrapped, and calls of it.

What `torch.compile` makes within a trace, and the trace alone calls, is what it was made of. The trace ends before it where anything else is done
with it, and it is made natively."""

import types

import torch

from torch._dynamo import eval_frame

from ._slotrt import graph_break
from ._callables import disabled

_OPTIONS = {"fullgraph": (bool,), "dynamic": (bool, type(None)), "backend": (str, types.FunctionType), "mode": (type(None),)}
_FUNCTIONS = types.FunctionType, types.MethodType
_BACKENDS = "inductor", "eager", "aot_eager"


class _InWrapped:
    """`_set_in_optimized_module()`, which is a generator: compiled code could not go on within one."""

    def __enter__(self):
        self.before = eval_frame._in_optimized_module
        eval_frame._in_optimized_module = True

    def __exit__(self, exc_type, exc_value, traceback):
        eval_frame._in_optimized_module = self.before


class _Compiled:
    """What `torch.compile` makes of a function, a method or a module."""

    _slotrt_within = True

    def __init__(self, function):
        object.__setattr__(self, "_slotrt_function", function)

    def __call__(self, /, *args, **kwargs):
        if type(self._slotrt_function) in _FUNCTIONS:
            return self._slotrt_function(*args, **kwargs)
        if torch.nn.modules.module._has_any_global_hook():
            graph_break()
        with _InWrapped():
            return self._slotrt_function(*args, **kwargs)

    def __getattr__(self, name):
        graph_break()

    def __setattr__(self, name, value):
        graph_break()

    def __delattr__(self, name):
        graph_break()

    def __len__(self):
        graph_break()

    def __getitem__(self, key):
        graph_break()

    def __repr__(self):
        graph_break()

    def __get__(self, instance, owner=None):
        graph_break()

    @property
    def __class__(self):
        graph_break()


class _Compiler:
    """What `torch.compile` gives where it is not told what to compile: a decorator."""

    _slotrt_within = True

    def __init__(self, options):
        self.options = options

    def __call__(self, model):
        return _compile(model, **self.options)


_native = disabled(torch.compile)


def _compile(model=None, **options):
    for name, value in options.items():
        known = type(value) in _OPTIONS.get(name, ())
        if not known or type(value) is str and value not in _BACKENDS:
            return _native(model, **options)
    if model is None:
        return _Compiler(options)
    if type(model) in _FUNCTIONS:
        return _Compiled(model)
    if isinstance(model, torch.nn.Module):
        model._is_torch_compile = True
        return _Compiled(model)
    return _native(model, **options)


IN_PLACE_OF = {eval_frame._set_in_optimized_module: _InWrapped, torch.compile: _compile}
