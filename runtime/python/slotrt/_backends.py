"""Backends by name."""

import sys
from functools import partial

from ._early import Early, is_early
from ._fx import has_tensors, module_of, surroundings
from ._fx_meta import Examples, own_base
from ._parts import Parts, has_apart
from ._refusals import is_refused_back, mistakes_views, unwarned
from ._slotrt import native_call
from ._symbols import Symbols


def _with_fx(backend):
    """`backend`, but it gets graphs of tensors as `torch.fx.GraphModule`, and what it raises has the graph attached."""

    def adapted(graph, example_inputs):
        if not has_tensors(graph):
            return given(graph, example_inputs, None, graph)
        early, symbols, inputs = Early(graph), None, _values(graph, example_inputs)
        if has_apart(early.late, early.results, inputs):
            return native_call(Parts(graph, early, inputs, partial(part, graph)))
        example_inputs = tuple(map(own_base, early.values(example_inputs)))
        sizes = early.sizes()
        if any(known is not None for known in sizes):
            symbols = Symbols(sizes, example_inputs)
            example_inputs = symbols.inputs
        examples = Examples(example_inputs)
        compiled = given(module_of(early.inputs, early.late, early.results, examples), example_inputs, examples, graph)
        conditions = None if symbols is None else symbols.conditions()
        if conditions is not None:
            if any(map(is_early, conditions[1])):
                # No guard asks for these numbers.
                return native_call(Parts(graph, early, inputs, partial(part, graph)))
            graph.require(*conditions)
        return native_call(early.before(compiled)) if early.calls else compiled

    def part(whole, inputs, calls, results, values, sizes):
        """What the backend makes of a part of the graph `whole`; its inputs have these values for now, and on what it relies of sizes with names."""
        import torch

        values, symbols = tuple(map(own_base, values)), None
        is_known = all(isinstance(value, torch.Tensor) or type(value) in (int, float, bool, complex) for value in values)
        if is_known and sizes is not None:
            symbols = Symbols(sizes, values)
            values = symbols.inputs
        examples = Examples(values)
        module = module_of(inputs, calls, results, examples)
        try:
            compiled = given(module, values, examples, whole) if is_known else module
        except Exception:
            whole.count_error()
            raise
        return compiled, None if symbols is None else symbols.conditions()

    def given(graph, example_inputs, examples, whole):
        try:
            with surroundings(graph, example_inputs), unwarned():
                compiled = backend(graph, example_inputs)
            # Hooks of all modules are none of the graph's.
            return compiled.forward if compiled is graph and hasattr(graph, "graph") else compiled
        except Exception as error:
            if is_refused_back(graph, example_inputs, error):
                whole.count_error()
                return graph.forward
            _attach(error, graph, backend)
            raise
        finally:
            if examples is not None:
                examples.release()

    adapted.__wrapped__ = backend
    return adapted


def _values(graph, example_inputs):
    """What the placeholders of a graph are in this call."""
    return dict(zip((node for node in graph if node.op == "placeholder"), example_inputs))


def _attach(error, graph, backend):
    """Tells in `graph` and in a note what was being compiled."""
    name = getattr(backend, "__name__", None) or getattr(backend, "compiler_name", None) or type(backend).__name__
    try:
        error.graph = graph
        error.add_note(f"The backend {name!r} raised this for the graph (in the exception's attribute 'graph'):\n{_text(graph)}")
    except (AttributeError, TypeError):
        # An exception may allow no attributes.
        pass


def _text(graph):
    return str(getattr(graph, "graph", graph)).strip()


def resolve(backend):
    """The callable for `backend`. `None` means that the graph runs as it is."""
    if callable(backend):
        return _with_fx(backend)
    if backend == "eager":
        return None
    return _with_fx(TensorsOnly(registered(backend)))


class TensorsOnly:
    """A backend of PyTorch's, which gets graphs of tensors; graphs of arrays run as they are, and those that it would mistake."""

    def __init__(self, backend):
        from functools import update_wrapper

        update_wrapper(self, backend)
        self._backend = backend

    def __call__(self, graph, example_inputs):
        if not hasattr(graph, "graph") or mistakes_views(graph, example_inputs):
            return graph
        return self._backend(graph, example_inputs)

    def __eq__(self, other):
        return type(other) is TensorsOnly and self._backend == other._backend

    def __hash__(self):
        return hash(type(self._backend))


def registered(backend):
    """The backend that PyTorch knows by this name."""
    if isinstance(backend, str) and "torch" in sys.modules:
        from torch._dynamo.backends.registry import list_backends, lookup_backend

        known = list_backends(None)
        if backend in known:
            return lookup_backend(backend)
        names = ", ".join(repr(name) for name in known)
        raise ValueError(
            f"unknown backend {backend!r}; known: a callable (graph, example_inputs) -> callable, or, as PyTorch has them "
            f"registered, {names}; torch._dynamo.register_backend adds one"
        )
    hint = "; import torch first, if it is one of PyTorch's" if isinstance(backend, str) else ""
    known = "'eager', or a callable (graph, example_inputs) -> callable"
    raise ValueError(f"unknown backend {backend!r}; known: {known}{hint}")
