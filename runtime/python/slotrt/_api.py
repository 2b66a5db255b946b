"""The functions that users call."""

import os

from ._backends import resolve
from ._explain import Explanation
from ._slotrt import Session


def _log():
    """The log that `SLOTRT_LOG` asks for, or `None`; the module is imported only if there is one."""
    if not os.environ.get("SLOTRT_LOG"):
        return None
    from ._log import from_environment

    return from_environment()


_environment_log = _log()
_session = Session(log=_environment_log)


def compile(fn=None, *, backend="eager", fullgraph=False, dynamic=None):
    """A callable that behaves like `fn` and runs compiled code where guards allow.

    `fn` is a Python function, a bound method, or an object whose class has a `__call__` in Python: a `torch.nn.Module`.
    `backend` is a name or a callable `(graph, example_inputs) -> callable`, which gets a `slotrt.Graph` and returns what
    runs in its place: it takes the graph's inputs and returns the tuple of its results.
    `fullgraph=True` raises `slotrt.GraphBreak` where the graph would end before the function does.
    `dynamic` must be `None` or `False`: every shape is guarded.
    Without `fn` it is a decorator: `@slotrt.compile(fullgraph=True)`.
    """
    if dynamic:
        raise ValueError("dynamic=True: shapes are always guarded here; leave dynamic out")
    target = resolve(backend)
    if fn is None:
        return lambda fn: _session.compile(fn, target, bool(fullgraph))
    return _session.compile(fn, target, bool(fullgraph))


def explain(fn, *, backend="eager"):
    """A function that calls `fn` compiled afresh and returns an `Explanation` of what happened.

    >>> report = slotrt.explain(f)(x, y)
    >>> report.graphs, report.breaks, report.ops, report.guards
    >>> print(report)
    """

    def explained(*args, **kwargs):
        session = Session(record=True, log=_environment_log)
        compiled = session.compile(fn, resolve(backend), False)
        result = compiled(*args, **kwargs)
        return Explanation(result, session.frames())

    return explained


def stats():
    """Numbers since the last `reset`: frames_compiled, frames_skipped, graph_breaks, cache_hits, recompiles, graphs; instructions
    that traces hold, those that were traced once more because a trace had to end earlier (repeated), and the nanoseconds
    that tracing (trace_ns) and emitting code (emit_ns, backends included) took."""
    return _session.stats()


def reset():
    """Forgets everything compiled and counted."""
    _session.reset()
