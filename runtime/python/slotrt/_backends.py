"""Backends by name."""

from ._fx import graph_module, has_tensors, surroundings


def _with_fx(backend):
    """`backend`, but it gets graphs of tensors as `torch.fx.GraphModule`."""

    def adapted(graph, example_inputs):
        if not has_tensors(graph):
            return backend(graph, example_inputs)
        module = graph_module(graph)
        with surroundings(module):
            return backend(module, example_inputs)

    adapted.__wrapped__ = backend
    return adapted


def resolve(backend):
    """The callable for `backend`. `None` means that the graph runs as it is."""
    if callable(backend):
        return _with_fx(backend)
    if backend == "eager":
        return None
    known = "'eager', or a callable (graph, example_inputs) -> callable"
    raise ValueError(f"unknown backend {backend!r}; known: {known}")
