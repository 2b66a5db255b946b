"""What programs do with tensors beside plain operations: operators by name, results whose sizes need contents, types and layouts, modes,
subclasses, devices, random state, annotations, checks.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import torch
import torch_programs
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


def matrix(*shape, dtype=torch.float32):
    shape = shape or (2, 3)
    return (torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape) / 4).to(dtype)


def of(function, *arguments, state=()):
    """A use of a function on copies of the arguments."""
    return lambda: (function, lambda number: [argument.clone() for argument in arguments or (matrix(),)], state)


@torch.library.custom_op("slotrt_tests::scaled", mutates_args=())
def scaled(x: torch.Tensor, k: float) -> torch.Tensor:
    return x * k


@scaled.register_fake
def _(x, k):
    return torch.empty_like(x)


@torch.library.custom_op("slotrt_tests::bump", mutates_args=("x", "z"))
def bump(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> None:
    x.add_(y)
    z.mul_(2)


class Weight(nn.Parameter):
    pass


class Counting(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen.append(getattr(function, "__name__", ""))
        return function(*args, **(kwargs or {}))


class Dispatched(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.append(str(function))
        return function(*args, **(kwargs or {}))


def written_to(x):
    y, z = x * 2, torch.empty(2, 3)
    torch.mul(y, 2, out=z)
    torch.ops.aten.add_(y, 1)
    torch.add(x, 1, out=x)
    return y, z, x * 3


def written_by_an_operator(x):
    y, z = x * 2, x + 1
    torch.ops.slotrt_tests.bump(y, x, z)
    bump(x, y, z)
    return y * 3, z, x + 1


def larger_than_its_place(x):
    z = torch.empty(0)
    torch.mul(x, 2, out=z)
    return z + 1


def resized(x):
    y = x * 2
    y.resize_(3, 2)
    return y + 1


def sparse(x):
    s = (x * 2).to_sparse()
    return torch.sparse.mm(s, x.T) * 2, s.is_sparse, s.layout


def quantised(x):
    q = torch.quantize_per_tensor(x * 2, 0.1, 10, torch.quint8)
    return q.dequantize() + 1, torch.relu(q.dequantize()), q.is_quantized, q.dtype


def made_sparse(x):
    s = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 2]]), x[0, :2], (2, 3))
    return s.to_dense() * 2, s.is_sparse, s.layout


def on_the_cpu(x):
    with torch.device("cpu"):
        y = torch.zeros(2, 3) + x
        with torch.device(type="cpu"):
            z = torch.arange(3) * y
    return y * 2, z, torch.ones(2)


def elsewhere(x):
    with torch.device("meta"):
        y = torch.zeros(2, 3) + 1
    return x * 2 + y.shape[0], y.device


def raises_on_the_cpu(x):
    try:
        with torch.device("cpu"):
            y = torch.zeros(2, 3) + x
            raise ValueError("within")
    except ValueError as error:
        return y * 2, str(error), torch._C._len_torch_function_stack()


def default_dtype(x):
    torch.set_default_dtype(torch.float64)
    y = torch.zeros(2, 3) + 1
    torch.set_default_dtype(torch.float32)
    return y * x, torch.zeros(2)


def kernels(x):
    q = x[None, None]
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        y = functional.scaled_dot_product_attention(q, q, q)
    return y + functional.scaled_dot_product_attention(q, q, q)


def functions_seen():
    mode = Counting()

    def f(x):
        y = x * 2
        with mode:
            y = (y + 1).relu()
        return y * 3, x.shape

    return f, lambda number: [matrix()], [lambda: mode.seen]


def dispatches_seen():
    mode = Dispatched()

    def f(x):
        y = x * 2
        with mode:
            y = y + 1
        return y * 3

    return f, lambda number: [matrix()], [lambda: mode.seen]


def annotated(x):
    with torch.profiler.record_function("mine"):
        y = x * 2
    with torch.autograd.profiler.record_function("inner"):
        y = y + 1
    return y * 3


def profiled(x):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        with torch.profiler.record_function("mine"):
            y = x * 2
    return y, any(event.name == "mine" for event in profile.events())


def checked(x):
    torch._check(x.shape[0] == 2, lambda: f"bad {x.shape}")
    torch._assert(x.shape[1] == 3, "three")
    torch._assert_async((x > 0).all(), "positive")
    return x * 2


def saved_random_state(x):
    state = torch.get_rng_state()
    a = torch.rand(2, 3) * x
    torch.set_rng_state(state)
    return a, torch.rand(2, 3) + x, torch.randn_like(x), torch.randperm(4)


def shares_memory(x):
    y, z = x.view(-1), x[0]
    y[0] = 7.0
    z.add_(1)
    return x, y, z, torch.as_strided(x, (2, 2), (1, 1))


def parameter_of_a_class():
    weight = Weight(torch.ones(3))
    return lambda x: x * weight + 1, lambda number: [matrix()], [weight, lambda: weight.grad]


def half(x, y):
    return (x @ y.T).float() + x.to(torch.float16).sum(dtype=torch.float32)


def complex_numbers(x):
    z = torch.complex(x, x * 2)
    return (z * z.conj()).real, torch.view_as_real(z), z.abs() + z.angle(), z.imag


def named(x):
    most, best, order = x.max(dim=1), torch.topk(x, 2), x.sort(dim=1, descending=True)
    return most.values + best.indices[:, 0] + best[0][:, 1], most, order.values


def fake_quantised(x):
    return torch.fake_quantize_per_tensor_affine(x * 2, 0.1, 0, 0, 255) + 1


def formatted(x):
    y = x * 2
    return y + len(f"{y.shape} {y.dtype}"), f"{y}", f"{y.sum():.3f}"


def copied(x):
    import copy

    given = {"a": x, "b": [x * 2]}
    deep, shallow = copy.deepcopy(given), copy.copy(given)
    deep["a"].add_(1)
    return shallow["a"] * 1, deep["a"], deep["b"][0]


def begins_a_history(x):
    weight = torch.ones(3, requires_grad=True)
    return (x * weight).relu().sum(), weight


ROWS = [
    (of(begins_a_history), 0),
    (of(lambda x: torch.ops.aten.add(x, 1) * torch.ops.aten.mul.Tensor(x, x)), 0),
    (of(lambda x: scaled(x * 2, 3.0) + torch.ops.slotrt_tests.scaled.default(x, 2.0)), 0),
    (of(written_to), 0),
    (of(written_by_an_operator), 0),
    (of(larger_than_its_place), 1),
    (of(resized), 1),
    (of(sparse), 4),
    (of(quantised), 5),
    (of(made_sparse), 5),
    (of(fake_quantised), 0),
    (of(lambda x: (x * 2)[x > 0.5] + 1), 1),
    (of(lambda x: torch.linalg.lstsq(x.T @ x + torch.eye(3), x.T).solution * 2), 1),
    (of(on_the_cpu), 0),
    (of(elsewhere), 6),
    (of(raises_on_the_cpu), 1),
    (of(default_dtype), 0),
    (of(kernels), 14),
    (functions_seen, 1),
    (dispatches_seen, 1),
    (of(annotated), 0),
    (of(profiled), None),
    (of(checked), 0),
    (of(saved_random_state), 2),
    (of(shares_memory), 0),
    (parameter_of_a_class, 0),
    (of(half, matrix(dtype=torch.bfloat16), matrix(dtype=torch.bfloat16)), 0),
    (of(complex_numbers), 0),
    (of(lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2, n=3) + 1), 0),
    (of(named), 0),
    (of(formatted), 2),
    (of(copied), 1),
]

# Through AOTAutograd these do not come: their modes see what it does, or it refuses what they do.
NOT_THERE = (functions_seen, dispatches_seen)


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows, not_there = ROWS, NOT_THERE


if __name__ == "__main__":
    unittest.main()
