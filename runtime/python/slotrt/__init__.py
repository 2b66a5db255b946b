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
from ._api import compile, explain, reset, stats
from ._explain import Explanation
from ._slotrt import Graph, GraphBreak, InternalError, Node, bytecode, graph_break, hook

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
__version__ = _slotrt.__version__
