"""What surrounds tensors in models: checks that raise, warnings, settings of the process, enumerations, modules made and sliced, classes of
functions with gradients made within a call.

A row is a use and how many graph breaks its calls have at most."""

import unittest
import warnings

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel


def matrix(*shape):
    shape = shape or (2, 3)
    return torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape) / 4


def plain(function, *shape):
    """A use of a function of one tensor that needs gradients."""
    return lambda: (function, lambda number: [matrix(*shape).requires_grad_()], [])


def masked(operation, **options):
    return lambda: (lambda x, mask: operation(x * 2, 1, mask=mask, **options) + 1, lambda number: [matrix(), matrix() > 0.6], [])


def asserts(x):
    y = x * 2
    assert (y > 0).all(), "positive"
    torch._assert((y < 100).all(), "small")
    torch._check(y.shape[0] == 2, lambda: "two rows")
    if y.isnan().any() or not y.isfinite().all():
        raise ValueError(f"not finite: {y}")
    return y + 1


def attention(x):
    with sdpa_kernel(SDPBackend.MATH):
        y = functional.scaled_dot_product_attention(x * 1, x, x)
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH], set_priority=True):
        return y * 2 + functional.scaled_dot_product_attention(x, x, x, is_causal=True)


def deterministic(x):
    torch.use_deterministic_algorithms(True, warn_only=True)
    seen = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    y = x.cumsum(0)
    torch.use_deterministic_algorithms(False)
    return y + 1, seen, torch.are_deterministic_algorithms_enabled()


def precise(x):
    torch.set_float32_matmul_precision("high")
    seen, y = torch.get_float32_matmul_precision(), x @ x.T
    torch.set_float32_matmul_precision("highest")
    return y, seen, torch.get_float32_matmul_precision()


def warns(x):
    y = x * 2
    warnings.warn("first")
    warnings.warn("second", DeprecationWarning)
    return y + 1


def warns_in_torch(x):
    return functional.softmax(x * 2) + functional.tanh(x)


def profiled(x):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        y = x * 2
    return y + 1


class Breaks(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x):
        y = self.inner(x)
        return y * 2 if y.sum() > 0 else y * 3


def breaks_within():
    module = nn.Sequential(nn.Linear(3, 3), Breaks())
    return lambda x: module(x) + 1, lambda number: [matrix() - number], [module]


def sliced():
    layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))
    network = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))

    def f(x):
        for layer in layers[1:3]:
            x = layer(x)
        for layer in layers[:-2]:
            x = layer(x)
        return network[:2](x) + network[2:](x) * len(network[1:])

    return f, lambda number: [matrix()], [layers, network]


def lazy():
    network = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))
    return lambda x: network(x * 2) + 1, lambda number: [matrix(1, 2, 5, 5)], [network]


def lazy_within():
    def f(x):
        return nn.LazyLinear(2)(x * 2) * 2

    return f, lambda number: [matrix()], []


def hooks_on_gradients():
    network, seen = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3)), []
    network[1].register_full_backward_hook(lambda module, inner, outer: (inner[0] * 0.5,))
    network[2].register_full_backward_pre_hook(lambda module, outer: seen.append(outer[0].sum().item()))
    return lambda x: network(x * 2) + 1, lambda number: [matrix().requires_grad_()], [network, lambda: seen]


def accumulated():
    network = nn.Linear(3, 1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.1)

    def f(x):
        loss = network(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach() * 2

    return f, lambda number: [matrix()], [network, lambda: repr(optimizer.state_dict())]


def class_within(x):
    class Doubles(nn.Module):
        def forward(self, x):
            return x * 2

    return Doubles()(x + 1)


ATTENTION = plain(attention, 1, 2, 3, 4)

ROWS = [
    (plain(asserts), 0),
    (ATTENTION, 0),
    (plain(deterministic), 0),
    (plain(precise), 0),
    (plain(warns), 0),
    (plain(warns_in_torch), 0),
    (plain(profiled), 2),
    (plain(class_within), 0),
    (masked(torch.masked.sum), 0),
    (masked(torch.masked.softmax), 0),
    (masked(torch.masked.std, unbiased=False), 0),
    (masked(torch.masked.median), 0),
    (sliced, 0),
    # What makes the parameters runs natively, once.
    (lazy, 0),
    (lazy_within, None),
    # Before and after two modules.
    (hooks_on_gradients, 4),
    (accumulated, 1),
    # The module calls the one that breaks.
    (breaks_within, 1),
]


class Surroundings(unittest.TestCase):
    maxDiff = None

    def test_as_they_are(self):
        torch_programs.check(self, ROWS, slotrt.compile, counted=True)

    def test_beside_torchdynamo(self):
        # TorchDynamo puts functions of its own in the place of methods of `nn.Module`.
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
        torch_programs.check(self, [(sliced, 0), (plain(class_within), 0)], slotrt.compile, counted=True)

    def test_through_autograd(self):
        # AOTAutograd computes attention in other steps, which round otherwise.
        torch_programs.check(self, ROWS, slotrt.compile(backend="aot_eager"), left_out=(ATTENTION,))


class Checks(unittest.TestCase):
    """Branches whose other side raises."""

    def test_what_fails_raises(self):
        def f(x, log):
            x.add_(1)
            log.append("begun")
            y = x * 2
            assert (y > 0).all(), f"no: {y.sum().item()}"
            if (y > 10).any():
                raise ValueError("large")
            log.append("done")
            return y

        slotrt.reset()
        compiled = slotrt.compile(f)
        for value in (1.0, -5.0, 20.0, 2.0):
            found = []
            for function in (f, compiled):
                x, log = torch.full((3,), value), []
                try:
                    result = function(x, log).tolist()
                except (AssertionError, ValueError) as error:
                    result = type(error), str(error)
                found.append((result, x.tolist(), log))
            self.assertEqual(found[1], found[0])
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)
        self.assertEqual(slotrt.stats()["graphs"], 1)

    def test_what_the_frame_catches_is_no_check(self):
        def f(x):
            try:
                if (x > 0).any():
                    raise ValueError("positive")
            except ValueError:
                return x - 1
            return x + 1

        slotrt.reset()
        compiled = slotrt.compile(f)
        for value in (1.0, -1.0):
            self.assertEqual(compiled(torch.full((2,), value)).tolist(), f(torch.full((2,), value)).tolist())
        self.assertGreater(slotrt.stats()["graph_breaks"], 0)

    def test_several_elements_are_no_truth(self):
        def f(x):
            assert x > 0, "what"
            return x * 2

        for function in (f, slotrt.compile(f)):
            with self.assertRaisesRegex(RuntimeError, "ambiguous"):
                function(torch.ones(2))


class Settings(unittest.TestCase):
    def test_what_is_set_stays(self):
        def f(x):
            torch.use_deterministic_algorithms(True)
            return x * 2

        compiled = slotrt.compile(f)
        try:
            for _ in range(3):
                torch.use_deterministic_algorithms(False)
                compiled(torch.ones(2))
                self.assertTrue(torch.are_deterministic_algorithms_enabled())
        finally:
            torch.use_deterministic_algorithms(False)


if __name__ == "__main__":
    unittest.main()
