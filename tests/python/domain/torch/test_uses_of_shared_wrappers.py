"""What programs do with wrappers that gradients follow, that share memory with others or that are changed in place: the graph calls PyTorch's
functions on them as they are.

A row is a use and how many graph breaks its calls have at most."""

import random
import unittest

import torch
import torch_programs
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map, tree_map_only


def matrix(*shape, grad=False):
    shape = shape or (2, 3)
    return (torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape) / 4).requires_grad_(grad)


class Held(torch.Tensor):
    """A wrapper of one tensor."""

    __torch_function__ = torch._C._disabled_torch_function_impl
    told = []

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(cls, held.size(), dtype=held.dtype, strides=held.stride())

    def __init__(self, held):
        self.held = held

    def __tensor_flatten__(self):
        return ["held"], None

    @classmethod
    def plain(cls, object):
        return object.held if isinstance(object, Held) else object

    @classmethod
    def tell(cls, func):
        pass

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.tell(func)
        made = func(*tree_map(cls.plain, args), **tree_map(cls.plain, kwargs or {}))
        return return_and_correct_aliasing(func, args, kwargs, tree_map_only(torch.Tensor, lambda plain: cls(plain), made))


class Telling(Held):
    @classmethod
    def tell(cls, func):
        Held.told.append(func.__name__)


class Drawing(Held):
    @classmethod
    def tell(cls, func):
        random.random()


class Refusing(Held):
    @classmethod
    def tell(cls, func):
        if func is torch.ops.aten.relu.default:
            raise ValueError("no relu")


class Setting(Held):
    """Gets another tensor where it is changed."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        made = func(*tree_map(lambda object: cls.plain(object).clone() if isinstance(object, Held) else object, args))
        if func is torch.ops.aten.add_.Tensor:
            args[0].held = made
            return args[0]
        return cls(made)


class Plain(Held):
    """Operations give plain tensors."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.detach.default:
            return cls(args[0].held.detach())
        return func(*tree_map(cls.plain, args), **tree_map(cls.plain, kwargs or {}))


class Keeping(Held):
    """`detach` gives what holds the same tensor."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.detach.default:
            return cls(args[0].held)
        return super().__torch_dispatch__(func, types, args, kwargs)


class Changing(Held):
    scale = 1.0

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        made = func(*tree_map(cls.plain, args), **tree_map(cls.plain, kwargs or {}))
        return tree_map_only(torch.Tensor, lambda plain: cls(plain * cls.scale), made)


class Two(torch.Tensor):
    @staticmethod
    def __new__(cls, a, b):
        options = {"strides": a.stride(), "storage_offset": a.storage_offset(), "dtype": a.dtype, "device": a.device}
        return torch.Tensor._make_wrapper_subclass(cls, a.size(), **options, requires_grad=a.requires_grad)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        first, second = (
            func(*tree_map_only(Two, take, args), **tree_map_only(Two, take, kwargs or {}))
            for take in (lambda two: two.a, lambda two: two.b)
        )
        made = tree_map(lambda a, b: cls(a, b) if isinstance(a, torch.Tensor) else a, first, second)
        return return_and_correct_aliasing(func, args, kwargs, made)


def made(kind, *shape, grad=True):
    return lambda: kind(matrix(*shape)).requires_grad_(grad)


def plain(kind):
    return made(kind, grad=False)


def two(grad=True):
    return lambda: Two(matrix(), matrix() + 1).requires_grad_(grad)


def of(function, *makers, state=()):
    return lambda: (function, lambda number: [make() for make in makers or (made(Held),)], state)


def told():
    Held.told = []
    return lambda x: (x * 2 + 1).sum(), lambda number: [made(Telling)()], [lambda: list(Held.told)]


def drawn():
    return lambda x: x * 2 + 1, lambda number: [made(Drawing)()], [lambda: random.random()]


def changed_class():
    def arguments(number):
        Changing.scale = 1.0 + number
        return [made(Changing)()]

    return lambda x: (x * 2).sum(), arguments, []


class Count:
    def __init__(self):
        self.count = 0


def counted():
    count = Count()

    def f(x):
        count.count += 1
        y = x * 2
        count.count += 1
        return y + count.count

    return f, lambda number: [made(Held)()], [lambda: count.count]


class Counted(Held):
    """Looks at what a function that is compiled changes."""

    count = Count()

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        made = func(*tree_map(cls.plain, args), **tree_map(cls.plain, kwargs or {}))
        return tree_map_only(torch.Tensor, lambda plain: cls(plain * cls.count.count), made)


def looked_at():
    Counted.count.count = 0

    def f(x):
        Counted.count.count += 1
        return (x * 2).view(-1)

    return f, lambda number: [made(Counted)()], [lambda: Counted.count.count]


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, scale=1.0):
        ctx.save_for_backward(x, weight)
        ctx.scale = scale
        return x @ weight.held.t() * scale

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        return gradient @ weight.held * ctx.scale, gradient.t() @ x * ctx.scale, None


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class Marked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.held * 2
        ctx.mark_non_differentiable(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        return None


def functions(x, weight):
    y = Product.apply(x, weight)
    with torch.no_grad():
        z = Product.apply(x, weight, 2.0)
    return y, y.requires_grad, y.is_leaf, z, z.requires_grad, Product.apply(x * 2, weight * 2)


def weight():
    layer = nn.Linear(3, 4)
    layer.weight = nn.Parameter(Plain(matrix(4, 3)))
    return lambda x: layer(x).relu().sum(), lambda number: [matrix()], [layer.weight]


def optimised():
    weight = made(Held)()

    def f(x):
        with torch.no_grad():
            weight.add_(x, alpha=-0.1)
        return (weight * x).sum()

    return f, lambda number: [matrix()], [weight]


def fails_later():
    def f(x, index):
        try:
            x.add_(1)
            return torch.zeros(3).index_select(0, index), x
        except IndexError as error:
            return str(error), x

    return f, lambda number: [plain(Held)(), torch.tensor([0, 1 if number < 2 else 7])], []


def sizes():
    return lambda x: (x * 2).t().sum(0), lambda number: [Held(matrix(2 + number, 3)).requires_grad_()], []


def numbers():
    return lambda x, k: (x * k).view(-1) + k, lambda number: [made(Held)(), number + 0.5], []


def composites(x):
    return functional.softmax(x, -1), functional.layer_norm(x, [3]), functional.gelu(x), functional.dropout(x), torch.rand(2)


def views(x):
    return x.t() + 1, x.view(-1) * 2, x[0], x[:, 1:], x.unsqueeze(0).expand(4, 2, 3).permute(2, 0, 1), x.chunk(3, 1)


def attributes(x):
    y = x * 2
    return y.a + 1, y.b.sum(), y.a is y.a, y


def same_attributes(x):
    y = x.detach()
    return y.held is x.held, y.held.sum(), y


def in_place(x):
    y = x * 2
    y.add_(1)
    y += 1
    y[0] = 5
    v = y.view(-1)
    v.mul_(2)
    return y, v, y._version, v._version, y + 1


def in_place_of_argument(x):
    before = x._version
    x.add_(1)
    return before, x._version, x * 2, x.held


def raises(x):
    try:
        return x.relu()
    except ValueError as error:
        return str(error), x + 1


def without_gradients(x):
    with torch.no_grad():
        y, v = x * 2, x.view(-1)
    return y.requires_grad, v.requires_grad, y, v


def metadata(x):
    y = x * 2
    return y.requires_grad, y.is_leaf, y.t().stride(), y._version, y.shape, y.storage_offset()


def made_within(x):
    w = Held(x * 2)
    v = w.view(-1)
    v.add_(1)
    return w, v, w.held, v.held + 1, v.held.requires_grad


def largest(x):
    found = x.max(1)
    return found, found.values + 1, x.sort(1)[0], x.argmax()


def several(x, y):
    return torch.cat([x, y]), torch.stack([x, y]).sum(0), torch.where(x > 1, x, y)


ROWS = [
    (of(lambda x: x * x + 1), 0),
    (of(lambda x: (x * x).sum(), two()), 0),
    (of(lambda x, y: x * y + y, two(), lambda: matrix(grad=True)), 0),
    (of(lambda x, y: (x @ y.t(), (y * 2).view(-1)), lambda: matrix(grad=True), made(Held)), 0),
    (of(composites), 0),
    (of(views), 0),
    (of(views, plain(Held)), 0),
    (of(views, two()), 0),
    (of(attributes, two()), 0),
    (of(same_attributes, made(Keeping)), 0),
    (of(same_attributes, plain(Keeping)), 0),
    (of(in_place), 0),
    (of(in_place, plain(Held)), 0),
    (of(in_place_of_argument, plain(Held)), 0),
    (of(lambda x, y: x.copy_(y), two(False), two(False)), 0),
    (of(lambda x, y: torch.add(x, 1, out=y), plain(Held), plain(Held)), 0),
    (of(lambda x: (x.detach() * 2 + x, x.detach().add_(1))), 0),
    (of(without_gradients), 0),
    (of(metadata), 0),
    (of(made_within), 0),
    (of(made_within, lambda: matrix(grad=True)), 0),
    (of(lambda x: (Two(x * 2, x) * 3).a, lambda: matrix(grad=True)), 0),
    (of(lambda x: (x + 1, x.t()), lambda: Held(matrix(grad=True))), 0),
    (of(lambda x: (x * 2).t().a.b + 1, lambda: Two(two(False)(), two(False)()).requires_grad_()), 0),
    (of(largest), 0),
    (of(largest, plain(Held)), 0),
    (of(several, made(Held), made(Held)), 0),
    (of(several, made(Held), lambda: matrix(grad=True)), 0),
    (of(lambda x: (x * 2, x.sum()), made(Plain)), 0),
    (of(raises, made(Refusing)), 0),
    (weight, 0),
    (optimised, 0),
    (fails_later, 0),
    (sizes, 0),
    (numbers, 0),
    (drawn, 0),
    (changed_class, 0),
    (counted, 0),
    (of(functions, lambda: matrix(grad=True), made(Held)), 0),
    (of(functions, matrix, plain(Held)), 0),
    # What runs natively.
    (told, None),
    (looked_at, None),
    (of(lambda x: Same.apply(x) * 2), None),
    (of(lambda x: (Marked.apply(x), Marked.apply(x).requires_grad)), None),
    (of(lambda x: x.add_(1), plain(Setting)), None),
    (of(lambda x: (x * 2).add_(1), made(Setting)), None),
    (of(lambda x: x.mul_(2) + 1, lambda: made(Held)() * 2), None),
    (of(lambda x: (x.view(-1)._base is x, x.t()._is_view()), made(Held)), None),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


if __name__ == "__main__":
    unittest.main()
