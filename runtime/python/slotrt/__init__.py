"""Traces Python functions. The object model is generated from CPython's C sources.

    >>> import slotrt
    >>> @slotrt.compile
    ... def join(a, b):
    ...     return a | b
    >>> join({1: 2}, {3: 4})
    {1: 2, 3: 4}

`compile` returns a callable that traces on its first call. `explain` reports what a call was compiled into. `stats` counts.
`reset` forgets everything compiled. `graph_break` breaks the graph where it is called. `disable` leaves a callable alone.
`is_compiled` looks at a callable; `is_compiling` tells code whether it is traced. `save` and `load` keep traces for the next process.
`slotrt.torch` puts slotrt in TorchDynamo's place.
"""

import sys as _sys

if "t" in getattr(_sys, "abiflags", ""):
    raise ImportError(
        "slotrt does not work on a free-threaded CPython: it relies on the interpreter's lock. Use a build with the lock; "
        "docs/free-threading.md says what would have to change."
    )
del _sys

from . import _slotrt
from ._slotrt import bytecode

if _slotrt.HOOKS:
    from ._slotrt import InternalError, hook
if _slotrt.TRACES:
    from ._api import compile, disable, explain, load, reset, save, stats
    from ._callables import is_compiled
    from ._explain import Explanation
    from ._marks import mark_dynamic, mark_static, maybe_mark_dynamic
    from ._slotrt import Graph, GraphBreak, LoadedTraces, Node, TraceFileError, graph_break, is_compiling

    def __getattr__(name):
        if name == "torch":
            # Where a program has it: this imports PyTorch.
            from importlib import import_module

            return import_module(".torch", __name__)
        raise AttributeError(f"module 'slotrt' has no attribute {name!r}")

else:

    def __getattr__(name):
        if name in _MISSING:
            import sys

            offered = ", ".join(f"slotrt.{offer}" for offer in __all__)
            raise AttributeError(
                f"slotrt.{name}: slotrt traces CPython 3.11 to 3.15; "
                f"on {sys.version_info[0]}.{sys.version_info[1]} it offers {offered}"
            )
        raise AttributeError(f"module 'slotrt' has no attribute {name!r}")


__all__ = [
    "Explanation",
    "Graph",
    "GraphBreak",
    "InternalError",
    "LoadedTraces",
    "Node",
    "TraceFileError",
    "bytecode",
    "compile",
    "disable",
    "explain",
    "graph_break",
    "hook",
    "is_compiled",
    "is_compiling",
    "load",
    "mark_dynamic",
    "mark_static",
    "maybe_mark_dynamic",
    "reset",
    "save",
    "stats",
]
if not _slotrt.TRACES:
    _OFFERED = ["InternalError", "bytecode", "hook"] if _slotrt.HOOKS else ["bytecode"]
    if hasattr(_slotrt, "protocol"):
        from ._slotrt import protocol

        _OFFERED.append("protocol")
    _MISSING, __all__ = frozenset(__all__) - frozenset(_OFFERED), _OFFERED
__version__ = _slotrt.__version__
