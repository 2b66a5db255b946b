"""What backends of PyTorch's own kind get for inputs whose sizes differ from call to call: fake tensors with symbolic sizes.

PyTorch's machinery for symbolic sizes (`ShapeEnv`, SymPy) is imported only here, when a graph has such inputs and a backend wants it.
"""


def plan(value):
    """How the strides of a tensor follow from its sizes: each is a number, or lies around another dimension without a gap."""
    found = list(value.stride())
    order = sorted(reversed(range(value.dim())), key=value.stride)
    for inner, outer in zip(order, order[1:], strict=False):
        if value.stride(outer) == value.stride(inner) * max(value.size(inner), 1):
            found[outer] = "around", inner
    return found


class Symbols:
    """The symbols of one graph, and the inputs that a backend is shown. `sizes`: names and known sizes of each; `None`, where nothing differs."""

    def __init__(self, sizes, example_inputs):
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        self.environment = ShapeEnv()
        self.mode = FakeTensorMode(shape_env=self.environment)
        self.known = {}
        # Sizes before other numbers: a size is at least 2, which backends rely on.
        for known, value in zip(sizes, example_inputs, strict=True):
            if known is not None and not isinstance(value, (int, float)):
                for name, size in zip(known, value.shape, strict=True):
                    self._symbol(name, int(size), True)
        made = zip(sizes, example_inputs, strict=True)
        self.inputs = tuple(self._input(known, value) for known, value in made)

    def _symbol(self, name, hint, is_size):
        """The symbolic integer of a name; a number that is known is itself."""
        if isinstance(name, int):
            return name
        if name not in self.known:
            from torch._dynamo.source import ConstantSource
            from torch.fx.experimental.symbolic_shapes import DimDynamic

            environment, source = self.environment, ConstantSource(name)
            make = environment.create_symbol if is_size else environment.create_unspecified_symbol
            symbol = make(hint, source, dynamic_dim=DimDynamic.DYNAMIC)
            self.known[name] = symbol, environment.create_symintnode(symbol, hint=hint, source=source)
        return self.known[name][1]

    def _input(self, sizes, value):
        import torch

        if isinstance(value, int):
            return value if sizes is None else self._symbol(sizes[0], value, False)
        if not isinstance(value, torch.Tensor):
            return value
        if sizes is None:
            return self.mode.from_tensor(value, static_shapes=True)
        shape = [self._symbol(name, int(size), True) for name, size in zip(sizes, value.shape, strict=True)]
        with self.mode:
            fake = torch.empty_strided(shape, self._strides(shape, value), dtype=value.dtype, device=value.device)
        if isinstance(value, torch.nn.Parameter):
            return torch.nn.Parameter(fake, requires_grad=value.requires_grad)
        return fake.requires_grad_(value.requires_grad)

    @staticmethod
    def _strides(shape, value):
        """Those that the guard on the tensor lets follow from sizes, or else as they are: innermost first, each may lie around the last."""
        strides = list(value.stride())
        around = plan(value)
        for dim in sorted(reversed(range(value.dim())), key=value.stride):
            if isinstance(around[dim], tuple):
                inner = around[dim][1]
                strides[dim] = strides[inner] * (shape[inner] if value.size(inner) else 1)
        return strides

    def conditions(self):
        """Expressions over the symbols that the backend has relied on, as a function of their numbers, and the symbols; or `None`."""
        guards = [guard.expr for guard in self.environment.guards]
        if not guards:
            return None
        from torch.utils._sympy.printers import PythonPrinter

        used = {symbol for guard in guards for symbol in guard.free_symbols}
        names = [name for name, (symbol, _) in self.known.items() if symbol in used]
        parameters = {str(self.known[name][0]): f"v[{place}]" for place, name in enumerate(names)}
        printer = PythonPrinter()
        texts = []
        for guard in guards:
            text = printer.doprint(guard.xreplace({}))
            # Longer names first: one may begin like another.
            for symbol in sorted(parameters, key=len, reverse=True):
                text = text.replace(symbol, parameters[symbol])
            texts.append(f"({text})")
        import math

        return eval(f"lambda v: {' and '.join(texts)}", {"math": math}), names
