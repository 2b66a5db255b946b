"""Calls that run natively one after the other, with nothing for a graph between them: they are one graph break.

A row is a use and how many graph breaks its calls have at most."""

import dataclasses
import io
import pickle
import unittest

import numpy
import slotrt
import torch
import torch._dynamo
import torch_programs
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.masked import masked_tensor
from torch.utils import _pytree
from torch.utils.weak import WeakTensorKeyDictionary


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


class Wrapped(torch.Tensor):
    """A tensor that holds another one."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=inner.requires_grad)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        args, kwargs = _pytree.tree_map_only(Wrapped, lambda held: held.inner, (args, kwargs or {}))
        return _pytree.tree_map_only(torch.Tensor, Wrapped, function(*args, **kwargs))


def wrapped(x):
    held = Wrapped(x * 2)
    held = held * 2
    held = held + 1
    return held.inner * x


def of_several_lengths(x):
    nested = torch.nested.nested_tensor([x[0], x[1][:2]])
    nested = nested * 2
    return torch.nested.to_padded_tensor(nested, 0.0) + x


def jagged(x):
    nested = torch.nested.nested_tensor([x[0], x[1][:2]], layout=torch.jagged)
    return (nested * 2).values() + 1


def without_contents(x):
    z = x * 2
    with FakeTensorMode():
        y = torch.empty(3, 4) @ torch.empty(4, 5)
    return z, tuple(y.shape)


def drawn_by_numpy(x):
    generator = numpy.random.default_rng(0)
    return x + torch.from_numpy(generator.standard_normal((2, 3)))


def saved_and_loaded(x):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file) * 2


def listed(x):
    values, indices = x.sort(-1, descending=True)
    pairs = list(zip(values.tolist(), indices.tolist()))
    return pairs, values * 2


def branched(x, layout):
    """What ran natively in one call does so where another one has no need to: the rest is traced for both."""
    y = x.to_sparse() if layout == "sparse" else x
    y = y * 2
    return (y.to_dense() if y.is_sparse else y) + x


def pickled(x):
    y = x * 2
    return pickle.loads(pickle.dumps(y)) + 1


KEPT = WeakTensorKeyDictionary()
KEY = torch.ones(3)
KEPT[KEY] = 3


def weakly_kept(x):
    found = WeakTensorKeyDictionary()
    y = x * 2
    found[y] = 3
    found[x] = 4
    return y * found[y] + found[x], len(found), x in found


def weakly_kept_outside(x):
    return x * KEPT[KEY] + 1


def class_of_data(x):
    @dataclasses.dataclass(frozen=True)
    class Part:
        content: torch.Tensor
        number: int = 2

    part = dataclasses.replace(Part(x * 2), number=3)
    return part.content * part.number, [field.name for field in dataclasses.fields(part)], part == part


def masked(x):
    kept = masked_tensor(x, x > 0.7)
    return (kept + kept).get_data() * 2, kept.sum().get_data()


def masked_apart(x):
    y = x.exp()
    kept = masked_tensor(y, x > 0.7)
    return kept.sin().to_tensor(0.0) + y, kept.mean(dim=1).to_tensor(0.0)


@dataclasses.dataclass
class Parts:
    one: torch.Tensor
    other: dict


def as_plain_data(x):
    return dataclasses.asdict(Parts(x * 2, {"sum": x + 1})), dataclasses.astuple(Parts(x, {}))


def through_other_libraries(x):
    return torch.from_dlpack(x * 2) + 1


def of_no_contents(x):
    y = (x @ x.T).relu()
    return type(y).__name__, tuple(y.shape), y.dtype


SCRIPTED = torch.jit.trace(torch.nn.Linear(3, 2), torch.ones(2, 3))


def through_a_scripted_module(x):
    return SCRIPTED(x * 2) + 1


@torch._dynamo.nonstrict_trace
def not_traced_by_others(parts, factor):
    return parts["x"] * factor


def with_what_others_do_not_trace(x):
    return not_traced_by_others({"x": x}, 3) + 1


@torch.compiler.nested_compile_region
def region(x, y):
    return torch.cos(x) * y


@torch.compiler.nested_compile_region
@torch.compiler.nested_compile_region
def region_of_regions(x):
    return region(x, x).sin_()


def in_regions(x):
    for _ in range(3):
        x = region(x, x + 1)
    return region_of_regions(x)


ROWS = [
    (of(through_a_scripted_module), 1),
    (of(with_what_others_do_not_trace), 0),
    (of(in_regions), 0),
    (of(as_plain_data), 2),
    (of(through_other_libraries), 1),
    (of(masked), 2),
    (of(masked_apart), 2),
    (of(pickled), 1),
    (of(weakly_kept), 3),
    (of(weakly_kept_outside), 1),
    (of(class_of_data), 3),
    (of(wrapped), 2),
    (of(of_several_lengths), 1),
    (of(jagged), 2),
    (of(without_contents), 1),
    (of(drawn_by_numpy), 2),
    (of(saved_and_loaded), 1),
    (of(listed), 1),
    (lambda: (branched, lambda number: [matrix(), ("sparse", "strided", "sparse")[number]], []), None),
]


class UsesOfNativeCalls(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_fake_tensors_as_arguments(self):
        with FakeTensorMode():
            x = torch.empty(2, 3)
        for backend in (None, "aot_eager"):
            slotrt.reset()
            compiled = slotrt.compile(of_no_contents, backend=backend)
            for _ in range(3):
                self.assertEqual(compiled(x), of_no_contents(x))
            self.assertLessEqual(slotrt.stats()["graph_breaks"], 1)


if __name__ == "__main__":
    unittest.main()
