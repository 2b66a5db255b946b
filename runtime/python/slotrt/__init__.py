"""Traces Python functions with an object model generated from CPython's C sources.

    >>> import slotrt
    >>> @slotrt.compile
    ... def join(a, b):
    ...     return a | b
    >>> join({1: 2}, {3: 4})
    {1: 2, 3: 4}

`compile` makes a callable that traces on its first call; `explain` shows what a call was compiled into;
`stats` counts; `reset` forgets everything compiled; `graph_break` forces a break where it is called.
"""

from . import _slotrt
from ._slotrt import bytecode

if _slotrt.TRACES:
    from ._api import compile, explain, reset, stats
    from ._explain import Explanation
    from ._slotrt import Graph, GraphBreak, InternalError, Node, graph_break, hook
else:

    def __getattr__(name):
        if name in _TRACED:
            import sys

            raise AttributeError(
                f"slotrt.{name}: slotrt traces CPython 3.13 only; "
                f"on {sys.version_info[0]}.{sys.version_info[1]} it offers slotrt.bytecode"
            )
        raise AttributeError(f"module 'slotrt' has no attribute {name!r}")


__all__ = [
    "Explanation",
    "Graph",
    "GraphBreak",
    "InternalError",
    "Node",
    "bytecode",
    "compile",
    "explain",
    "graph_break",
    "hook",
    "reset",
    "stats",
]
if not _slotrt.TRACES:
    _TRACED, __all__ = frozenset(__all__) - {"bytecode"}, ["bytecode"]
__version__ = _slotrt.__version__
