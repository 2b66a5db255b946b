"""What the C API does with Python objects."""

from _functools import partial

from ._callables import Compiler
from ._explain import Explanation
from ._slotrt import Session


class _HostCompiler(Compiler):
    """Compiles with a backend of the host's, which gets a `slotrt.Graph`, whatever the graph is of."""

    def __init__(self, session, again, backend, fullgraph):
        super().__init__(session, again, None, fullgraph)
        self.target = backend

    def _is_backend(self, backend):
        return backend is self.target


class Host:
    """One runtime of the C API: a session, and what its functions ask of Python."""

    def __init__(self):
        self.session = Session()

    def set_log(self, log):
        """Compiles from now on with a log, a callable of a JSON text, or without one."""
        self.session = Session(log=None if log is None else lambda record: log(_json(record)))

    def compile(self, fn, backend, fullgraph):
        """`slotrt.compile`, for this runtime."""
        again = partial(self.compile, backend=backend, fullgraph=fullgraph)
        return _HostCompiler(self.session, again, backend, bool(fullgraph))(fn)

    def explain(self, fn, args, kwargs, backend):
        """Calls `fn`, compiled afresh; gives an `Explanation`."""
        session = Session(record=True)
        compiled = _HostCompiler(session, partial(self.compile, backend=backend), backend, False)(fn)
        result = compiled(*args, **kwargs)
        return Explanation(result, session.frames())


def _json(record):
    import json  # Here, so that importing slotrt stays quick.

    return json.dumps(record, default=repr)
