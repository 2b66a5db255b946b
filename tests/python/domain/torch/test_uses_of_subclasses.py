"""What programs do with classes derived from `Tensor`, with classes that take over PyTorch's functions by `__torch_function__`, and with
attributes that they set on tensors.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import dataclasses
import typing
import unittest
import warnings

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional


def matrix(*shape, grad=False):
    shape = shape or (2, 3)
    return (torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape) / 4).requires_grad_(grad)


class Plain(torch.Tensor):
    scale = 3

    def doubled(self):
        return self * 2 * self.scale

    @property
    def half(self):
        return self / 2


class Derived(Plain):
    pass


class Told(torch.Tensor):
    """Tells what is called."""

    told = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        names = sorted(kind.__name__ for kind in types)
        cls.told.append((getattr(func, "__name__", str(func)), names, len(args), sorted(kwargs or {})))
        return super().__torch_function__(func, types, args, kwargs or {})


class Unit(torch.Tensor):
    """Keeps a unit."""

    @staticmethod
    def __new__(cls, data, unit="m"):
        made = torch.as_tensor(data).as_subclass(cls)
        made.unit = unit
        return made

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        unit = next((arg.unit for arg in args if isinstance(arg, cls) and hasattr(arg, "unit")), None)
        with torch._C.DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and unit is not None:
            result = result.as_subclass(cls)
            result.unit = unit
        return result


class Unwrapping(torch.Tensor):
    """What is done with it is a plain tensor; it does not take part in sums."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in (torch.sum, torch.Tensor.sum):
            return NotImplemented
        plain = [arg.as_subclass(torch.Tensor) if isinstance(arg, cls) else arg for arg in args]
        return func(*plain, **(kwargs or {}))


class Raising(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.Tensor.relu:
            raise ValueError(f"no {func.__name__}")
        return super().__torch_function__(func, types, args, kwargs)


class Printing(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        slotrt.graph_break()
        return super().__torch_function__(func, types, args, kwargs)


class WithOperators(torch.Tensor):
    """Python finds its operators before PyTorch is asked."""

    def __mul__(self, other):
        return "product", self.shape

    def __getitem__(self, key):
        return "item", key

    def __len__(self):
        return 7

    def __eq__(self, other):
        return "equal"

    __hash__ = torch.Tensor.__hash__


class WithAttributes(torch.Tensor):
    def __getattr__(self, name):
        return f"no {name}"

    @property
    def shape(self):
        return "shape"


class OfInstances(torch.Tensor):
    """A plain method: PyTorch still calls it."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunction():
            return func(*args, **(kwargs or {})), type(self).__name__


class Weight(nn.Parameter):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


class OddWeight(nn.Parameter):
    def __mul__(self, other):
        return other - 1


@dataclasses.dataclass
class Box:
    """No tensor."""

    tensor: torch.Tensor
    name: str = "box"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        args = [[item.tensor for item in arg] if isinstance(arg, list) else arg for arg in args]
        args = [arg.tensor if isinstance(arg, Box) else arg for arg in args]
        result = func(*args, **(kwargs or {}))
        return cls(result, func.__name__) if isinstance(result, torch.Tensor) else result


@dataclasses.dataclass
class Diagonal:
    functions: typing.ClassVar = {}
    size: int
    value: int

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in cls.functions or not all(issubclass(kind, (torch.Tensor, Diagonal)) for kind in types):
            return NotImplemented
        return cls.functions[func](*args, **(kwargs or {}))


def full(x):
    return x.value * torch.eye(x.size) if isinstance(x, Diagonal) else x


Diagonal.functions[torch.mean] = lambda x: float(x.value) / x.size
Diagonal.functions[torch.add] = lambda x, y: full(x) + full(y)


def of(function, *makers, state=()):
    """A use of a function on what these make."""
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], state)


def instance(kind, *shape, grad=False):
    return lambda: matrix(*shape, grad=grad).as_subclass(kind)


def operations(x):
    y = torch.ones(2, 3)
    return x * 2, 2 - x, y + x, x / y, -x, abs(x), x > 1, x == y, x @ y.T, torch.add(x, y, alpha=2), x.relu().sum(), x**2


def parts(x):
    a, b = x
    first, last, *_ = [row for row in x]
    return x[0], x[:, 1:], a, last, len(x), x.T, x.shape, x.size(0), x.dtype, x.unbind(), torch.max(x, 1), x.split(1), x.ndim


def joined(x, y):
    return torch.stack([x, y]), torch.cat((y, x)), torch.where(x > 1, x, y), functional.linear(y, x), functional.relu(x)


def kinds(x):
    y = x.as_subclass(torch.Tensor)
    z = y.as_subclass(Derived)
    w = z * 2
    return type(x).__name__, type(y) is torch.Tensor, isinstance(w, Plain), isinstance(w, nn.Parameter), w, torch.is_tensor(z)


def changed(x):
    y = x + 1
    y += 2
    y.mul_(3)
    y[0] = 0
    x.add_(1)
    return y, x, x.clone(), x.detach(), x.data


def told():
    Told.told = []

    def f(x):
        y = torch.stack([x * 2, 2 - x]).relu_().sum(dim=0, keepdim=True)
        return functional.softmax(y, dim=-1), y.shape, torch.where(x > 1, x, 0.0)

    return f, lambda number: [instance(Told)()], [lambda: list(Told.told)]


def of_several_classes():
    Told.told = []

    def f(x, y, z):
        return x + y, torch.cat([z, x]), type(y * z).__name__

    return f, lambda number: [instance(Told)(), matrix(), instance(type("Further", (Told,), {}))()], [lambda: list(Told.told)]


def refuses(x, y):
    try:
        return x * 2 + torch.sum(x)
    except TypeError as error:
        return type(error), y + x


def raises(x):
    try:
        return (x + 1).relu()
    except ValueError as error:
        return str(error), torch._C._is_torch_function_enabled(), x * 2


def disabled(x):
    with torch._C.DisableTorchFunctionSubclass():
        y = x * 2
        within = torch._C._is_torch_function_enabled(), type(y).__name__
        with torch._C.DisableTorchFunction():
            z = x + 1
    return y, z, within, torch._C._is_torch_function_enabled(), x * 3


def breaks_disabled(x):
    with torch._C.DisableTorchFunctionSubclass():
        y = x * 2
        slotrt.graph_break()
        y = x + y
        within = torch._C._is_torch_function_enabled()
    return y, within, torch._C._is_torch_function_enabled(), x * 3


def raises_disabled(x):
    try:
        with torch._C.DisableTorchFunctionSubclass():
            y = x * 2
            raise ValueError("within")
    except ValueError as error:
        return y, str(error), x * 3, torch._C._is_torch_function_enabled()


def asked(x, box):
    has = torch.overrides.has_torch_function
    return has((x,)), has((box, 1)), has((torch.ones(2), None)), torch.overrides.is_tensor_like(box), torch.ones(2) * 2


def odd_operators(x):
    return x * 2, x[0], len(x), x == 1, torch.ones(2, 3) + 1


def odd_attributes(x):
    return x.shape, x.missing, (torch.ones(2, 3) + 1).shape


def weight():
    held = Weight(torch.ones(3))
    return lambda x: (x * held + held.sum(), held.shape), lambda number: [matrix()], [held, lambda: held.grad]


def odd_weight():
    held = OddWeight(torch.ones(3))
    return lambda x: (x + held, held * x), lambda number: [matrix()], [held]


def module():
    linear = nn.Linear(3, 4)
    linear.weight = Weight(linear.weight.detach().clone())
    return linear, lambda number: [matrix()], [linear]


def boxed(box, x):
    y = torch.mul(box, x)
    z = torch.stack([y, y])
    return y.tensor, y.name, z.tensor, functional.relu(box).name, (box @ x.T if hasattr(box, "__matmul__") else 0)


def diagonal(x, y):
    try:
        product = torch.mul(x, y)
    except TypeError:
        product = None
    return torch.mean(x), torch.add(x, y), torch.add(y, x), product


def units(x, y):
    z = (x + y) * 2
    return z, z.unit, Unit(z.sum(), "km").unit, getattr(y, "unit", None)


def tags(x):
    x.tag = 1
    x._info = {"a": [x.tag]}
    y = x * x.tag
    y.tag = "result"
    y.tag += "s"
    del x.tag
    z = y + 1
    z.other = y
    return y, y.tag, hasattr(x, "tag"), getattr(z, "tag", None), z, z.other is y


def deletes(x):
    y = x * 2
    y.tag = 1
    del y.tag
    try:
        del y.tag
    except AttributeError as error:
        return str(error), hasattr(y, "tag"), y


def tags_and_breaks(x):
    y = x * 2
    y.tag = [1]
    slotrt.graph_break()
    y.tag.append(2)
    return y + len(y.tag), y


def hides_a_method(x):
    y = x * 2
    y.sum = 3
    return y.sum, y


def tag_of_a_parameter():
    linear = nn.Linear(3, 3)

    def f(x):
        linear.weight.calls = getattr(linear.weight, "calls", 0) + 1
        return linear(x)

    return f, lambda number: [matrix()], [linear, lambda: linear.weight.calls]


ROWS = [
    (of(operations, instance(Plain)), 0),
    (of(operations, instance(Derived, grad=True)), 0),
    (of(parts, instance(Plain)), 0),
    (of(joined, instance(Plain), matrix), 0),
    (of(joined, matrix, instance(Plain)), 0),
    (of(joined, instance(Plain), instance(Derived)), 0),
    (of(lambda x: x.doubled() + x.half, instance(Plain)), 0),
    (of(kinds, instance(Plain)), 0),
    (of(kinds), 0),
    (of(changed, instance(Plain)), 1),
    (told, 0),
    (of_several_classes, 0),
    (of(refuses, instance(Unwrapping), matrix), 1),
    (of(raises, instance(Raising)), 0),
    (of(lambda x: x * 2 + 1, instance(Printing)), 4),
    (of(disabled, instance(Plain)), 0),
    (of(breaks_disabled, instance(Plain)), 1),
    (of(raises_disabled, instance(Plain)), 0),
    (of(asked, instance(Plain), lambda: Box(matrix())), 0),
    (of(odd_operators, instance(WithOperators)), 4),
    (of(odd_attributes, instance(WithAttributes)), 2),
    (weight, 0),
    (odd_weight, 2),
    (module, 0),
    (of(boxed, lambda: Box(matrix()), matrix), 0),
    (of(diagonal, lambda: Diagonal(3, 2), lambda: matrix(3, 3)), 1),
    (of(units, lambda: Unit(matrix()), matrix), 0),
    (of(tags), 0),
    (of(deletes), 0),
    (of(tags_and_breaks), 1),
    (of(hides_a_method), 0),
    (tag_of_a_parameter, 0),
    (of(lambda x: x * 2, instance(OfInstances)), 1),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_functions_with_gradients_of_their_own(self):
        class Bare(torch.Tensor):
            pass

        class Pair(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_non_differentiable(*[part for part in (x,) if not part.requires_grad])
                return x * x.shape[0], 3

            @staticmethod
            def backward(ctx, grad, unused):
                return grad

        class Alone(Pair):
            @staticmethod
            def forward(ctx, x):
                return (x,)

        for function in (Pair.apply, Alone.apply):

            def applied(x):
                result = function(x)
                return type(result), [type(part) for part in result], result[0].tolist()

            for x in (torch.ones(2).as_subclass(Bare), torch.ones(2).as_subclass(Bare).requires_grad_()):
                self.assertEqual(slotrt.compile(applied)(x), applied(x))

    def test_hooks_where_calls_are_handed_to_the_class(self):
        """The class is told of it once, and not again after the graph."""

        class Bare(torch.Tensor):
            pass

        weight = torch.ones(4, 4, requires_grad=True)

        def hooked(x):
            x.squeeze_(0)
            y = x * weight
            y.register_hook(lambda gradient: gradient * 2)
            y.retain_grad()
            torch.autograd.grad(y.sum(), weight, retain_graph=True)
            y.sum().backward()
            return y.grad_fn.name(), weight.grad.tolist()

        compiled = slotrt.compile(hooked)
        for _ in range(2):
            weight.grad = None
            expected = hooked(torch.ones(4, 4).as_subclass(Bare))
            weight.grad = None
            self.assertEqual(compiled(torch.ones(4, 4).as_subclass(Bare)), expected)

    def test_a_class_that_changes(self):
        kind = type("Changing", (torch.Tensor,), {})
        compiled = slotrt.compile(lambda x: x * 2)
        self.assertIs(type(compiled(instance(kind)())), kind)
        kind.__torch_function__ = classmethod(lambda cls, func, types, args=(), kwargs=None: "taken over")
        self.assertEqual(compiled(instance(kind)()), "taken over")
        self.assertIs(type(compiled(matrix())), torch.Tensor)
        with torch._C.DisableTorchFunctionSubclass():
            self.assertIs(type(compiled(instance(kind)())), torch.Tensor)

    def test_a_guard_calls_nothing(self):
        Told.told = []
        compiled = slotrt.compile(lambda x: x * 2)
        for shape in ((2, 3), (2, 3), (4, 3), (5, 3)):
            compiled(instance(Told, *shape)())
        self.assertEqual([name for name, *_ in Told.told], ["mul"] * 4)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
