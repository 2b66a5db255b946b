"""The functions of the public API."""

import os

from ._backends import resolve
from ._explain import Explanation
from ._slotrt import Session


def _log():
    """The log that `SLOTRT_LOG` asks for, or `None`. Most programs want no log, and do not import it."""
    if not os.environ.get("SLOTRT_LOG"):
        return None
    from ._log import from_environment

    return from_environment()


_environment_log = _log()
_session = Session(log=_environment_log)


def compile(fn=None, *, backend="eager", fullgraph=False, dynamic=None):
    """Returns a callable that behaves like `fn`, and runs compiled code while its guards hold.

    fn         a Python function, a bound method, or an object whose class has a `__call__` in Python: a `torch.nn.Module`.
               Without it, `compile` returns a decorator: `@slotrt.compile(fullgraph=True)`.
    backend    "eager", or a callable `(graph, example_inputs) -> callable`. It gets a `slotrt.Graph`, or a
               `torch.fx.GraphModule` for a graph of tensors. The callable that it returns runs in the graph's place: it
               takes the graph's inputs and returns the tuple of its results.
    fullgraph  if true, a graph break raises `slotrt.GraphBreak`.
    dynamic    must be `None` or `False`: every shape is guarded.
    """
    if dynamic:
        raise ValueError("dynamic=True: shapes are always guarded here; leave dynamic out")
    target = resolve(backend)
    if fn is None:
        return lambda fn: _session.compile(fn, target, bool(fullgraph))
    return _session.compile(fn, target, bool(fullgraph))


def explain(fn, *, backend="eager"):
    """Returns a function that calls `fn`, compiled afresh, and returns an `Explanation`.

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
    """Returns counts since the last `reset`.

    frames_compiled  frames traced and emitted
    frames_skipped   frames left uncompiled
    graph_breaks     traces that ended in a graph break
    cache_hits       calls whose guards found compiled code
    recompiles       frames compiled again, because no set of guards held
    graphs           graphs handed to a backend
    instructions     bytecode instructions traced
    repeated         instructions traced twice, because a trace had to end earlier
    trace_ns         nanoseconds spent in tracing
    emit_ns          nanoseconds spent in emitting code, backends included
    """
    return _session.stats()


def reset():
    """Forgets everything compiled, and sets all counts to zero."""
    _session.reset()
