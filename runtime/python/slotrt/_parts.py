"""Graphs with calls that a backend does not compile: it gets what stands between them, each part when that first runs.

Such a call works on arrays of numpy, on the state of generators of random numbers, on quantised tensors, or it sets what no backend sets.
It runs as it was recorded."""

import operator

from ._early import nodes, value
from ._histories import as_recorded
from ._part_kinds import Kinds
from ._slotrt import Node
from ._ways_back import divide


def has_apart(calls, results, inputs):
    """Whether there are calls that a backend for tensors does not compile, or not with the others; `inputs` are the values of the placeholders."""
    is_split = any(node.meta.get("apart") in ("call", "end") or node.meta["domain"] not in ("", "torch") for node in calls)
    alone = as_recorded(calls, results, lambda node: False, _ends_part)[0]
    return is_split or bool(alone) or bool(divide(calls, results, inputs, alone, _ends_part))


class Parts:
    """What runs in place of such a graph, where `early` comes first, and the placeholders have values like `inputs`. `compiled(inputs, calls, results,
    values, sizes)` is what a backend makes of a part, and on what it relies of the sizes that have names."""

    def __init__(self, graph, early, inputs, compiled):
        self._inputs = [node for node in graph if node.op == "placeholder"]
        self._results = early.results
        first = set(early.calls)
        rest = [node for node in graph if node.op == "call_function" and node not in first]
        self._steps = list(_steps([*early.calls, *rest], self._results, inputs, compiled))
        needed = set(nodes(self._results))
        for step in reversed(self._steps):
            step.begin(needed)

    def __call__(self, *inputs):
        values = dict(zip(self._inputs, inputs, strict=True))
        for step in self._steps:
            step.run(values)
            for node in step.dead:
                values.pop(node, None)
        return tuple(value(result, values) for result in self._results)


class _Call:
    """One call, as it was recorded."""

    def __init__(self, node):
        self._node = node

    def begin(self, needed):
        """`needed` are the nodes whose values are used after this, and then those that are used from here on."""
        needed.discard(self._node)
        used = dict.fromkeys(nodes((self._node.args, self._node.kwargs)))
        self.dead = [node for node in used if node not in needed]
        needed.update(used)

    def run(self, values):
        args = [value(argument, values) for argument in self._node.args]
        named = {name: value(argument, values) for name, argument in self._node.kwargs.items()}
        values[self._node] = self._node.target(*args, **named)


class _Part:
    """Calls that a backend compiles together."""

    def __init__(self, calls, compiled):
        self._calls = calls
        self._kinds = Kinds(lambda *inputs: compiled(self._inputs, calls, self._results, *inputs))

    def begin(self, needed):
        own = set(self._calls)
        self._results = tuple(node for node in self._calls if node in needed)
        needed -= own
        used = dict.fromkeys(nodes([(node.args, node.kwargs) for node in self._calls]))
        self._inputs = [node for node in used if node not in own]
        self.dead = [node for node in self._inputs if node not in needed]
        needed.update(self._inputs)

    def run(self, values):
        inputs = [values[node] for node in self._inputs]
        run = self._kinds.find(inputs)
        if run is None:
            self._run_calls(values)
            return
        values.update(zip(self._results, run(*inputs), strict=True))

    def _run_calls(self, values):
        own = dict(zip(self._inputs, (values[node] for node in self._inputs), strict=True))
        for call in self._calls:
            _Call(call).run(own)
        values.update((node, own[node]) for node in self._results)


def _steps(calls, results, inputs, compiled):
    """The calls in their order: those that a backend takes together, the others one by one."""
    together, (alone, within) = [], as_recorded(calls, results, _is_apart, _ends_part)
    alone.update(node for node in calls if _is_apart(node) and node not in within)
    ends = divide(calls, results, inputs, alone, _ends_part)
    for node in calls:
        if node in alone:
            if together:
                yield _Part(together, compiled)
                together = []
            yield _Call(node)
        else:
            together.append(node)
            if node in ends or _ends_part(node):
                yield _Part(together, compiled)
                together = []
    if together:
        yield _Part(together, compiled)


def _ends_part(node):
    return node.meta.get("apart") == "end"


def _is_apart(node):
    """Whether a call runs as it was recorded. A mode that one part would set is in force in the others, too. Numbers for sizes are computed
    beside the tensors; items of what such a call gives are taken where it runs."""
    if node.meta.get("apart", "end") != "end" or node.meta["domain"] != "torch":
        return True
    given = node.args[0] if node.target is operator.getitem else None
    return type(given) is Node and given.op != "placeholder" and _is_apart(given)
