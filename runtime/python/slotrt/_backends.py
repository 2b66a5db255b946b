"""Backends by name."""


def resolve(backend):
    """The callable for `backend`; `None` stands for running the graph as it is."""
    if callable(backend):
        return backend
    if backend == "eager":
        return None
    known = "'eager', or a callable (graph, example_inputs) -> callable"
    raise ValueError(f"unknown backend {backend!r}; known: {known}")
