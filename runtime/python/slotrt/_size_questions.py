"""What operations of PyTorch make of sizes that differ from call to call, as its fake tensors say: asked where no rule of slotrt's knows.

PyTorch's machinery for symbolic sizes (`ShapeEnv`, SymPy) is imported only here, when an operation is first asked about.
"""

import contextlib
import logging
import threading

# Who tells of what a fake tensor cannot do.
LOGGERS = "torch._subclasses.fake_tensor", "torch.fx.experimental.symbolic_shapes"


class Tensor:
    """Stands for a tensor among the operands: sizes and strides are integers, or texts of expressions over the symbols."""

    def __init__(self, dtype, device, requires_grad, sizes, strides):
        self.dtype, self.device, self.requires_grad, self.sizes, self.strides = dtype, device, requires_grad, sizes, strides
        self.made = None


class Number:
    """Stands for a symbolic integer or float among the operands."""

    def __init__(self, text):
        self.text = text


class Unanswered(Exception):
    """What PyTorch says is not in words that slotrt has."""


def ask(target, args, kwargs, symbols, changes):
    """What `target(*args, **kwargs)` gives: its kind and what it consists of; and the conditions for that.

    `symbols`: by name, what each is now and whether it is the size of a dimension, which is at least 2. `changes`: nothing else than that
    the layouts of the operands stay is of interest.
    """
    import torch
    from torch._dispatch.python import enable_python_dispatcher
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    environment = ShapeEnv()
    values = {name: _symbol(environment, name, now, is_size) for name, (now, is_size) in symbols.items()}
    names = {str(value.node.expr): name for name, value in values.items()}
    reader = _Reader(names)
    tensors = []
    keeping = torch.no_grad() if changes else contextlib.nullcontext()
    with _silence(), FakeTensorMode(shape_env=environment), enable_python_dispatcher(), keeping:
        given = target(*_made(args, values, tensors), **_made(kwargs, values, tensors))
        if changes:
            told = "changed", [reader.layout(tensor.made) == tensor.layout(values, reader) for tensor in tensors]
        else:
            told = _told(given, [tensor.made for tensor in tensors], reader)
    return *told, [reader.condition(guard.expr) for guard in environment.guards]


def _told(given, tensors, reader):
    """What the result is."""
    import torch

    for index, tensor in enumerate(tensors):
        if tensor is given:
            return "same", index
    if isinstance(given, torch.Tensor):
        return "tensors", [reader.layout(given)]
    if isinstance(given, (tuple, list)) and all(item is None or isinstance(item, torch.Tensor) for item in given):
        return "tensors", [item if item is None else reader.layout(item) for item in given]
    if type(given) is bool:
        return "known", given
    raise Unanswered(type(given))


class _OtherThreads(logging.Filter):
    """Lets through what other threads log."""

    def __init__(self):
        super().__init__()
        self.own = threading.get_ident()

    def filter(self, record):
        return record.thread != self.own


@contextlib.contextmanager
def _silence():
    """What fails here is no failure of the program: nobody is told of it."""
    others = _OtherThreads()
    loggers = [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.addFilter(others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(others)


def _symbol(environment, name, now, is_size):
    """A symbolic integer or float."""
    from torch.fx.experimental.symbolic_shapes import DimDynamic

    source = _place(name)
    make = environment.create_symbol if is_size else environment.create_unspecified_symbol
    symbol = make(now, source, dynamic_dim=DimDynamic.DYNAMIC)
    make = environment.create_symfloatnode if type(now) is float else environment.create_symintnode
    return make(symbol, hint=now, source=source)


def _place(name):
    """Where PyTorch is told that a number comes from."""
    from torch._guards import GuardSource, Source

    class Place(Source):
        guard_source = GuardSource.CONSTANT
        _name_template = name

    return Place()


def _made(operand, values, tensors):
    """The object that an operand stands for, among fake tensors."""
    if isinstance(operand, Tensor):
        import torch

        shape, strides = operand.sizes_of(values)
        operand.made = torch.empty_strided(shape, strides, dtype=operand.dtype, device=operand.device)
        operand.made.requires_grad_(operand.requires_grad)
        tensors.append(operand)
        return operand.made
    if isinstance(operand, Number):
        return _value(operand.text, values)
    if type(operand) in (tuple, list):
        return type(operand)(_made(item, values, tensors) for item in operand)
    if type(operand) is dict:
        return {name: _made(item, values, tensors) for name, item in operand.items()}
    if type(operand) is slice:
        return slice(*(_made(part, values, tensors) for part in (operand.start, operand.stop, operand.step)))
    return operand


def _value(size, values):
    return eval(size, {"__builtins__": {}, "abs": abs}, values) if isinstance(size, str) else size


def _sizes_of(self, values):
    return [[_value(size, values) for size in sizes] for sizes in (self.sizes, self.strides)]


def _layout(self, values, reader):
    return tuple([reader.size(size) for size in sizes] for sizes in self.sizes_of(values))


Tensor.sizes_of, Tensor.layout = _sizes_of, _layout


class _Reader:
    """Reads PyTorch's expressions as nested tuples: an integer, the name of a symbol, or an operation and its operands."""

    BINARY = {"FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%"}
    RELATIONS = {
        "Equality": "==",
        "Unequality": "!=",
        "StrictLessThan": "<",
        "LessThan": "<=",
        "StrictGreaterThan": ">",
        "GreaterThan": ">=",
    }

    def __init__(self, names):
        self.names = names

    def layout(self, tensor):
        return [self.size(size) for size in tensor.shape], [self.size(stride) for stride in tensor.stride()]

    def size(self, size):
        return size if type(size) is int else self.expression(size.node.expr)

    def expression(self, expression):
        kind = type(expression).__name__
        if expression.is_Integer:
            return int(expression)
        if expression.is_Float:
            return float(expression)
        if expression.is_Symbol and str(expression) in self.names:
            return self.names[str(expression)]
        operands = expression.args
        if expression.is_Add or expression.is_Mul:
            return self._folded("+" if expression.is_Add else "*", operands)
        if expression.is_Pow and operands[1].is_Integer and 1 <= operands[1] <= 8:
            return self._folded("*", [operands[0]] * int(operands[1]))
        if kind in ("Max", "Min"):
            return self._folded(kind.lower(), operands)
        if kind in self.BINARY:
            return self.BINARY[kind], self.expression(operands[0]), self.expression(operands[1])
        raise Unanswered(kind)

    def _folded(self, operation, operands):
        first, *rest = operands
        told = self.expression(first)
        for operand in rest:
            told = operation, told, self.expression(operand)
        return told

    def condition(self, expression):
        """All parts of a conjunction, or one comparison."""
        kind = type(expression).__name__
        if kind == "And":
            return "and", [self.condition(part) for part in expression.args]
        if kind in self.RELATIONS:
            left, right = expression.args
            return self.RELATIONS[kind], self.expression(left), self.expression(right)
        raise Unanswered(kind)
