"""The graph of a trace, run beside it on PyTorch's fake tensors, with symbols for the sizes that differ from call to call.

It is asked where one operation alone does not tell what it gives: while functions are transformed (`vmap`, `grad`), when a tensor is more than
the sizes that it shows, and where gradients are computed within the graph.
"""

from slotrt._size_questions import _made, _Reader, _silence, _symbol, _told, _value


class Node:
    """Stands for what a node gives."""

    def __init__(self, index):
        self.index = index

    def __eq__(self, other):
        return isinstance(other, Node) and self.index == other.index

    __hash__ = None


class Graph:
    """What the nodes of one trace give. `levels`: the transforms that are under way in it."""

    def __init__(self):
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        self.environment = ShapeEnv()
        self.mode = FakeTensorMode(shape_env=self.environment)
        self.values, self.names = {}, {}
        self.reader = _Reader(self.names)
        self.results, self.levels = [], []
        self.told = 0
        self.asked = None

    def ask(self, symbols, nodes, call, changes):
        """What a call gives, as `slotrt._size_questions.ask` tells it. `nodes`: those that the trace has recorded since it asked last."""
        from torch._dispatch.python import enable_python_dispatcher

        for name, (now, is_size) in symbols.items():
            if name not in self.values:
                value = self.values[name] = _symbol(self.environment, name, now, is_size)
                self.names[str(value.node.expr)] = name
        with _silence(), self.mode, enable_python_dispatcher(), _Levels(self):
            for node in nodes:
                self.results.append(self._result(*node))
            told = self._answer(call, changes)
        guards = self.environment.guards[self.told :]
        self.told += len(guards)
        return *told, [self.reader.condition(guard.expr) for guard in guards]

    def _result(self, kind, *operands):
        if kind == "call":
            return self._call(operands)
        self.asked = None
        if kind == "input":
            with _Levels(_Outside()):
                return _made(operands[0], self.values, [])
        return _value(operands[0], self.values) if kind == "number" else None

    def _call(self, call):
        """What a node gives; it may be what was asked about before it was recorded."""
        asked, self.asked = self.asked, None
        target, args, kwargs = call
        if asked is not None and asked[0] is target and asked[1] == (args, kwargs):
            return asked[2]
        return target(*self._given(args), **self._given(kwargs))

    def _given(self, operand):
        """The objects that operands stand for."""
        if isinstance(operand, Node):
            return self.results[operand.index]
        if type(operand) in (tuple, list):
            return type(operand)(self._given(item) for item in operand)
        if type(operand) is dict:
            return {name: self._given(item) for name, item in operand.items()}
        if type(operand) is slice:
            return slice(*(self._given(part) for part in (operand.start, operand.stop, operand.step)))
        return operand

    def _answer(self, call, changes):
        target, args, kwargs = call
        tensors = list(_tensors([self._given(args), *self._given(kwargs).values()]))
        before = [self.reader.layout(tensor) for tensor in tensors] if changes else None
        given = self._call(call)
        self.asked = target, (args, kwargs), given
        if changes:
            return "changed", [self.reader.layout(tensor) == layout for tensor, layout in zip(tensors, before)]
        return _told(given, tensors, self.reader)


def _tensors(operands):
    """The tensors that nested operands hold, in order."""
    import torch

    for operand in operands:
        if isinstance(operand, torch.Tensor):
            yield operand
        elif type(operand) in (tuple, list):
            yield from _tensors(operand)


class _Outside:
    """No transform is under way."""

    def __init__(self):
        self.levels = []


class _Levels:
    """The transforms that are under way in a graph, in the place of those of the thread."""

    def __init__(self, graph):
        self.graph = graph

    def __enter__(self):
        self.outside = _taken()
        _put(self.graph.levels)

    def __exit__(self, *_):
        self.graph.levels = _taken()
        _put(self.outside)


def _taken():
    from torch._C._functorch import peek_interpreter_stack, pop_dynamic_layer_stack

    levels = []
    while peek_interpreter_stack() is not None:
        levels.append(pop_dynamic_layer_stack())
    return levels[::-1]


def _put(levels):
    from torch._C._functorch import push_dynamic_layer_stack

    for level in levels:
        push_dynamic_layer_stack(level)
