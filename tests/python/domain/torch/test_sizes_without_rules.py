"""Operations that no rule of shapes knows: PyTorch's fake tensors say what becomes of symbolic sizes, and one trace serves them.

Each function is called with tensors of many sizes; what it gives, with the sizes and strides that the trace itself saw, is what eager gives.
"""

import re
import subprocess
import sys
import unittest
import warnings

import slotrt
import torch
import torch.fx.experimental.symbolic_shapes  # noqa: F401  what is here is asked at once
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
CELL, LAYERS = torch.nn.GRUCell(6, 4), torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU())


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.repeat(2)

    @staticmethod
    def backward(ctx, grad):
        return grad.view(2, -1).sum(0)


# A trace for each of the sizes 0 and 1, and two for all others.
FEW = """
F.prelu(y, torch.tensor([0.2]))
F.hardshrink(x), F.softshrink(x), F.threshold(x, 0.1, 20.0)
F.bilinear(y, y, torch.ones(2, 6, 6))
CELL(y)
F.embedding_bag(torch.arange(2 * n).view(2, n) % 10, torch.ones(10, 6)) if n else x
F.embedding_bag(torch.arange(2 * n) % 10, torch.ones(10, 6), torch.tensor([0, 2]), mode="sum") if n else x
F.adaptive_max_pool1d(y[None] if n else torch.ones(1, 2, 2), 2)
F.pad(y[None, None], (1, 1, 0, 0), mode="circular")
torch.nn.utils.rnn.pad_sequence([x, x[:n // 2], x[1:]], batch_first=True)
F.cross_entropy(y, y.softmax(-1))
F.nll_loss(y, torch.arange(n) % 6, reduction="none")
F.binary_cross_entropy(y.sigmoid(), (y > 0).float())
F.pairwise_distance(y, y * 2), F.triplet_margin_loss(y, y * 2, y + 1)
torch.take(x, torch.tensor([0, 0])) if n else x
x.index_fill(0, torch.tensor([0]), 2.0) if n else x
y.index_copy(0, torch.arange(n), y * 2)
y.index_put((torch.arange(n), torch.zeros(n, dtype=torch.long)), x)
torch.zeros(2, 64).index_copy_(1, torch.arange(n), y[:, :2].t().contiguous())
torch.zeros(2, 64).slice_scatter(torch.ones(2, n), 1, 0, n)
torch.cartesian_prod(x, torch.arange(3.0))
torch.fft.rfft(x, dim=0).abs() if n else x
torch.fft.irfft(torch.fft.rfft(x, 2 * n), n=2 * n)[:n] if n else x
torch.fft.fft2(y).real if n else y
torch.stft(x.repeat(8), 8, 4, window=torch.ones(8), return_complex=True).abs() if n else x
x.quantile(0.5) if n else x
torch.histc(x, 5, 0.0, 2.0)
x.msort(), x.cummax(0), x.logcumsumexp(0)
x.count_nonzero(), torch.trapezoid(x)
torch.linalg.inv(torch.eye(n) * 2), torch.linalg.cholesky(torch.eye(n) * 2)
torch.logaddexp(x, x), torch.hypot(x, x), torch.copysign(x, -x)
torch.complex(x, x), torch.view_as_real(torch.complex(x, x))
torch.tensordot(y, y, dims=([0], [0])), torch.inner(y, y)
torch.zeros(10, 6).index_reduce(0, torch.arange(n) % 10, y, "amax")
y.view(torch.int32), y.rot90(), y.fliplr(), y.trace()
Doubled.apply(x)
checkpoint(lambda t: LAYERS(t).relu(), y, use_reentrant=False)
checkpoint(lambda t: (t.view(t.shape[0], 6) * 2, t.sum()), y, use_reentrant=False)
checkpoint(lambda t: t * n + y[: n // 2].sum(), y, use_reentrant=False)
torch.arange(0.0, n), torch.arange(0, n * 3, n + 1)
torch.logspace(0, 1, n), torch.hann_window(n), torch.bartlett_window(n, False)
torch.fft.fftfreq(n + 1), torch.fft.rfftfreq(n + 2, 0.5)
"""


def metadata(value):
    if isinstance(value, torch.Tensor):
        return value.shape, value.stride(), value.is_contiguous(), value.dtype, value.requires_grad
    return [metadata(item) for item in value]


def program(row):
    scope = dict(globals())
    exec(f"def f(x, y):\n    n = x.shape[0]\n    r = {row}\n    return r, metadata(r)", scope)
    return scope["f"]


def shown(value):
    if isinstance(value, torch.Tensor):
        return value.dtype, tuple(value.shape), value.stride(), value.requires_grad, str(value.tolist())
    return [shown(item) for item in value] if isinstance(value, (list, tuple)) else value


def outcome(function, n):
    x, y = torch.arange(n) * 0.7 + 0.25 - n * 0.2, (torch.arange(n * 6) * 1.3 % 5).view(n, 6) - 1
    try:
        return shown(function(x, y))
    except Exception as error:
        return type(error), str(error).split("\nException raised")[0]


# Nothing is imported for sizes that differ once; for those that go on to differ it is.
IMPORTS = """
import sys
import slotrt
import torch

@slotrt.compile
def f(x):
    return x.logcumsumexp(0)

imported = []
for n in range(4, 12):
    f(torch.ones(n))
    imported.append("sympy" in sys.modules)
assert imported == 2 * [False] + 6 * [True], imported
assert slotrt.stats()["frames_compiled"] == 3, slotrt.stats()
"""


class SizesWithoutRules(unittest.TestCase):
    maxDiff = None

    def check(self, **options):
        for row in FEW.strip().splitlines():
            slotrt.reset()
            plain, compiled = program(row), slotrt.compile(program(row), **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for n in (5, 8, 3, 13, 6, 2, 1, 0):
                    with self.subTest(row=row, n=n):
                        self.assertEqual(outcome(compiled, n), outcome(plain, n))
            with self.subTest(row=row):
                stats = slotrt.stats()
                self.assertLessEqual(stats["frames_compiled"], 5)
                self.assertEqual((stats["frames_skipped"], stats["graph_breaks"]), (0, 0))

    def test_second_trace_serves_all(self):
        self.check()

    def test_first_trace_serves_all(self):
        self.check(dynamic=True)

    def test_what_is_imported_when(self):
        subprocess.run([sys.executable, "-W", "ignore", "-c", IMPORTS], check=True)

    def test_nothing_of_the_question_is_left_behind(self):
        slotrt.reset()

        @slotrt.compile
        def f(x):
            return torch.fft.rfft(x), torch.is_grad_enabled(), torch.rand(1)

        torch.manual_seed(3)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            given = [f(torch.ones(n))[1:] for n in (4, 6, 8)]
        torch.manual_seed(3)
        self.assertEqual(given, [(True, torch.rand(1)) for _ in range(3)])
        self.assertEqual(caught, [])
        self.assertEqual(slotrt.stats()["frames_compiled"], 2)

    def test_results_lie_in_memory_as_kernels_lay_them_out(self):
        def strides(x):
            return [
                [part.stride() for part in torch.linalg.svd(x, full_matrices=False)],
                [part.stride() for part in torch.svd(x)],
                [part.stride() for part in torch.linalg.eig(x @ x.mT)],
                F.rrelu(x).stride(),
                torch.fft.fft(x.expand(2, *x.shape), dim=1).stride(),
                torch.fft.irfft(x[None].expand(2, *x.shape).mT, dim=1).stride(),
                F.pixel_unshuffle(x[None, None], 2).shape,
                F.pixel_unshuffle(x[None, None, :0], 2).shape,
            ]

        compiled = slotrt.compile(strides)
        for n in (6, 4, 8, 10):
            x = torch.rand(n, 4)
            self.assertEqual(compiled(x), strides(x))
            self.assertEqual(compiled(x.t().contiguous().t()), strides(x.t().contiguous().t()))

    def test_sizes_that_only_one_of_them_has_are_guarded(self):
        @slotrt.compile
        def f(x, y):
            return torch.logaddexp(x, y).stride(), torch.logaddexp(x, y)

        for sizes in ((4, 4), (6, 6), (8, 1), (5, 7), (7, 7), (1, 9)):
            x, y = (torch.arange(size) * 1.0 for size in sizes)
            try:
                expected = torch.logaddexp(x, y)
            except RuntimeError as error:
                with self.assertRaisesRegex(RuntimeError, re.escape(str(error).split("\n")[0])):
                    f(x, y)
                continue
            stride, given = f(x, y)
            self.assertEqual((stride, given.tolist()), (expected.stride(), expected.tolist()))


if __name__ == "__main__":
    unittest.main()
