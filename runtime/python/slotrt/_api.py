"""The functions of the public API."""

import os
from _functools import partial
from _operator import index

from ._callables import Compiler, disabled
from ._explain import Explanation
from ._slotrt import Session


def _log():
    """What the environment asks for: a log (`SLOTRT_LOG`), pages (`SLOTRT_TRACE`), both or `None`. Most programs want none, and import none."""
    log = None
    if os.environ.get("SLOTRT_LOG"):
        from ._log import from_environment

        log = from_environment()
    if not os.environ.get("SLOTRT_TRACE"):
        return log
    from ._trace import Trace, both

    return both(log, Trace(os.environ["SLOTRT_TRACE"]))


# More than any program has; sets of guards are looked through one by one where none is right.
_MOST_TRACES = 1 << 16

_environment_log = _log()
_environment_folder = os.environ.get("SLOTRT_CACHE_DIR")
_session = Session(log=_environment_log)


def compile(
    fn=None, *, backend=None, fullgraph=None, dynamic=None, recompile_limit=None, inplace=False, cache_dir=None
):
    """Returns a callable that behaves like `fn`, and runs compiled code while its guards hold.

    fn         a callable: a function, a method, a class, an object with `__call__`, a function of C, a `functools.partial`.
               A `torch.nn.Module` gives a module with the same parameters. Without it, `compile` returns a decorator:
               `@slotrt.compile(fullgraph=True)`. What is compiled already is returned as it is, unless an option is given
               that it was not compiled with.
    backend    "eager", which is the default, or a callable `(graph, example_inputs) -> callable`. It gets a `slotrt.Graph`,
               or a `torch.fx.GraphModule` for a graph of tensors. The callable that it returns runs in the graph's place: it
               takes the graph's inputs and returns the tuple of its results.
    fullgraph  if true, a graph break raises `slotrt.GraphBreak`.
    dynamic    which numbers (`int`, `float`) are symbolic, so that one trace serves all of them. `None`: those that
               a later call has found to differ, wherever they come from. `True`: those among the arguments from the first
               trace on, but 0 and 1. `False`: none; each number is guarded, and another one is another trace.
    recompile_limit
               how many traces a frame may have at a time, each for other types and values: 8, unless it is said. Many traces are
               found as quickly as few, but each takes its time to be made. Calls that fit none of them run uncompiled, which
               the logger `slotrt` tells once.
    inplace    if true, `fn` is a `torch.nn.Module` whose own calls run compiled code from now on; it is returned.
    cache_dir  a folder in which this process finds what earlier ones have traced, and leaves what it has traced itself, whatever
               was compiled: `SLOTRT_CACHE_DIR`, unless it is said.
    """
    if cache_dir or _environment_folder:
        from ._cache_dir import use

        use(_session, cache_dir or _environment_folder)
    if dynamic not in (None, True, False):
        raise ValueError(f"dynamic must be None, True or False, not {dynamic!r}")
    dynamic = None if dynamic is None else bool(dynamic)
    limit = _limit(recompile_limit)
    again = partial(compile, backend=backend, fullgraph=fullgraph, dynamic=dynamic, recompile_limit=limit)
    compiler = Compiler(_session, again, backend, None if fullgraph is None else bool(fullgraph), dynamic, limit)
    replace = compiler.in_place if inplace else compiler
    return replace if fn is None else replace(fn)


def _limit(number):
    """A `recompile_limit`: a number of traces, or `None`."""
    if number is None:
        return None
    if isinstance(number, bool) or not hasattr(type(number), "__index__"):
        raise TypeError(f"recompile_limit must be an int or None, not {type(number).__qualname__}")
    if not 1 <= (number := index(number)) <= _MOST_TRACES:
        raise ValueError(f"recompile_limit must be from 1 to {_MOST_TRACES}, not {number}")
    return number


def disable(fn=None):
    """Returns a callable that behaves like `fn`, and runs natively with all that it calls; also a decorator.

    Where compiled code calls it, the graph breaks. Compiled functions that it calls run uncompiled.
    """
    return disable if fn is None else disabled(fn)


def explain(fn, *, backend="eager"):
    """Returns a function that calls `fn`, compiled afresh, and returns an `Explanation`.

    >>> report = slotrt.explain(f)(x, y)
    >>> report.graphs, report.breaks, report.ops, report.guards
    >>> print(report)
    >>> report.save("report.html")
    """
    again = partial(compile, backend=backend)

    def explained(*args, **kwargs):
        session = Session(record=True, log=_environment_log)
        compiled = Compiler(session, again, backend)(fn)
        result = compiled(*args, **kwargs)
        return Explanation(result, session.frames())

    return explained


def stats(*, by_operator=False):
    """Returns counts since the last `reset`.

    frames_compiled  frames traced and emitted
    frames_skipped   frames left uncompiled
    graph_breaks     traces that ended in a graph break
    cache_hits       calls whose guards found compiled code
    recompiles       frames compiled again, because no set of guards held
    graphs           graphs handed to a backend
    backend_errors   graphs, or parts of some, for which a backend raised
    instructions     bytecode instructions traced
    repeated         instructions traced twice, because a trace had to end earlier
    trace_ns         nanoseconds spent in tracing
    emit_ns          nanoseconds spent in emitting code, backends included

    traces_loaded    traces of a file that calls found right

    metadata_by_rule  operations on tensors whose results' types, shapes and strides a rule gave
    metadata_asked    operations for which PyTorch was asked, which takes longer

    by_operator=True adds `operators`: both counts for each operation.
    """
    counts = _session.stats()
    if by_operator:
        counts["operators"] = _session.metadata_counts()
    return counts


def reset():
    """Forgets everything compiled, and sets all counts to zero."""
    _session.reset()


def save(path):
    """Writes what was traced to a file, so that another process that runs the same program need not trace it: `slotrt.load`.

    Everything compiled that still lives is written: guards, graphs and code. The file is put in place as a whole; one that is there
    already is replaced. Returns a dict:

    traces    traces in the file
    bytes     its size
    left_out  reasons why traces are not in it, and how many: an object that no name leads to, an address that it may have seen
    """
    return _session.save(path)


def load(path):
    """Reads a file of `slotrt.save`: calls of functions with the same code use the traces there, where their guards hold.

    Raises `slotrt.TraceFileError` if the file is none, is damaged, or was saved by another interpreter, slotrt or version of a library;
    `OSError` if it cannot be read. What no longer fits the program is ignored. Returns a `slotrt.LoadedTraces`:

    traces  traces in the file
    used    how many of them calls have found right so far
    unfit   reasons why traces that calls asked for do not fit this process, and how many

    Load only files that you would run: their code runs in this process, like that of a `.pyc` file.
    """
    return _session.load(path)
