"""Models whose batches and sequences change from call to call: two traces serve all, and results and gradients are eager's."""

import unittest

import slotrt
import torch
from torch import nn

SIZES = ((2, 3), (3, 5), (40, 100), (7, 9), (12, 64), (2, 17), (33, 4))


class Recurrent(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.out = layer(6, 5, 2, batch_first=True), nn.Linear(5, 3)

    def forward(self, x):
        y, state = self.layer(x)
        return self.out(y), state


class Attention(nn.Module):
    """Attention written by hand: slices of a mask, positions, views of sizes."""

    def __init__(self):
        super().__init__()
        self.embed, self.position, self.qkv, self.out = nn.Embedding(9, 8), nn.Embedding(128, 8), nn.Linear(8, 24), nn.Linear(8, 9)
        self.register_buffer("mask", torch.ones(128, 128).tril().bool())

    def forward(self, tokens):
        batch, length = tokens.shape
        x = self.embed(tokens) + self.position(torch.arange(length, device=tokens.device))[None]
        q, k, v = (part.view(batch, length, 2, -1).transpose(1, 2) for part in self.qkv(x).split(8, dim=-1))
        scores = (q @ k.transpose(-2, -1)) * q.size(-1) ** -0.5
        scores = scores.masked_fill(~self.mask[:length, :length], torch.finfo(scores.dtype).min).softmax(-1)
        y = (scores @ v).transpose(1, 2).reshape(*tokens.shape, 8)
        return self.out(torch.cat([x, y], 1)[:, length:].contiguous().view(batch, length, 8))


def tokens(batch, length):
    return torch.randint(0, 9, (batch, length))


def images(batch, length):
    return torch.randn(batch, 3, length + 8, length + 9)


MODELS = {
    "MLP": (lambda: nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Dropout(0.0), nn.LayerNorm(6), nn.Linear(6, 4)), lambda batch, length: torch.randn(batch, length, 8)),
    "convolutions": (
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(3, 2, 1), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 2)),
        images,
    ),
    "encoder": (lambda: nn.TransformerEncoderLayer(16, 2, 20, batch_first=True, dropout=0.0), lambda batch, length: torch.randn(batch, length, 16)),
    "LSTM": (lambda: Recurrent(nn.LSTM), lambda batch, length: torch.randn(batch, length, 6)),
    "GRU": (lambda: Recurrent(nn.GRU), lambda batch, length: torch.randn(batch, length, 6)),
    "attention": (Attention, tokens),
}


def leaves(objects):
    if isinstance(objects, torch.Tensor):
        return [objects]
    return [tensor for item in objects for tensor in leaves(item)] if isinstance(objects, (tuple, list)) else []


class Models(unittest.TestCase):
    def run_model(self, model, calls, call=None, grad=False, most=2, **options):
        call = call or model
        slotrt.reset()
        compiled = slotrt.compile(call, **options)
        parameters = [parameter for parameter in model.parameters() if grad and parameter.requires_grad]
        with torch.set_grad_enabled(grad):
            for args in calls:
                outcomes = []
                for function in (call, compiled):
                    results = leaves(function(*args))
                    total = sum(result.float().pow(2).mean() for result in results)
                    gradients = torch.autograd.grad(total, parameters, allow_unused=True) if grad else ()
                    outcomes.append((results, gradients))
                (want, wanted), (got, found) = outcomes
                for one, other in zip((*want, *wanted), (*got, *found), strict=True):
                    self.assertEqual(one is None, other is None)
                    if one is not None:
                        self.assertEqual((one.dtype, one.shape, one.stride()), (other.dtype, other.shape, other.stride()))
                        torch.testing.assert_close(other, one, rtol=1e-3, atol=1e-4)
        counts = slotrt.stats()
        self.assertEqual(counts["frames_skipped"], 0)
        self.assertLessEqual(counts["frames_compiled"], most * (1 + counts["graph_breaks"]))

    def run_all(self, **options):
        for name, (make, inputs) in MODELS.items():
            with self.subTest(name):
                torch.manual_seed(0)
                self.run_model(make(), [(inputs(*sizes),) for sizes in SIZES], **options)

    def test_results(self):
        self.run_all()

    def test_gradients(self):
        self.run_all(grad=True)

    def test_graph_modules(self):
        self.run_all(backend=lambda module, inputs: module.forward)

    def test_aot_autograd(self):
        from functorch.compile import make_boxed_func
        from torch._dynamo.backends.common import aot_autograd

        backend = aot_autograd(fw_compiler=lambda module, inputs: make_boxed_func(module.forward))
        for name in ("MLP", "convolutions", "attention"):
            with self.subTest(name):
                make, inputs = MODELS[name]
                torch.manual_seed(0)
                self.run_model(make(), [(inputs(*sizes),) for sizes in SIZES], grad=True, backend=backend)


class Edges(unittest.TestCase):
    """Sizes of nothing, indices from the end, numbers that do not fit, memory that overlaps: right, or eager's own error."""

    def alike(self, function, calls, **options):
        compiled = slotrt.compile(function, **options)
        for args in calls:
            outcomes = []
            for called in (function, compiled):
                try:
                    outcomes.append(("gives", [(t.shape, t.stride(), t.tolist()) if isinstance(t, torch.Tensor) else t for t in called(*args)]))
                except Exception as error:
                    # Some messages tell where they were raised in C++.
                    outcomes.append((type(error), str(error).split("\n")[0]))
            self.assertEqual(*outcomes)

    def test_empty_dimensions(self):
        self.alike(lambda x: (x.view(x.shape[0], -1), x.sum(0), x.unsqueeze(0)), [(torch.ones(n, 3, m),) for n, m in ((4, 2), (5, 3), (0, 2), (6, 0), (1, 1), (0, 0), (7, 5))])

    def test_indices_from_the_end(self):
        def f(x, k):
            return x[-k:], x[:, :-k], x.select(0, -k), x.narrow(0, 0, k), x[k - 1]

        self.alike(f, [(torch.arange(n * 6.0).view(n, 6), k) for n, k in ((4, 2), (5, 3), (6, 4), (3, 5), (2, 7), (8, 2), (3, 0), (4, -1))])

    def test_numbers_that_do_not_fit(self):
        def f(x, k):
            return (x.expand(x.shape[0], k, k)[:, :2, :2], x.shape[0] * k * k)

        self.alike(f, [(torch.ones(n, 1, 1), k) for n, k in ((2, 3), (3, 4), (4, 5), (5, 2**40), (6, 2**31), (7, 6), (8, 2**62), (9, 2**63))])

    def test_memory_that_overlaps(self):
        def f(x, y):
            y += x.sum()
            return x, y, x + y

        memory = torch.arange(40.0)
        for lengths in ((4, 5, 6, 7, 9),):
            calls = [(memory[:n].clone(), memory[n : 2 * n].clone()) for n in lengths]
            self.alike(lambda x, y: f(x.clone(), y.clone()), calls)
        compiled = slotrt.compile(f, backend=lambda module, inputs: module.forward)
        for n in (4, 5, 6, 7):
            for start in (0, n, 2, 20):
                one, other = memory.clone(), memory.clone()
                want = f(one[:n], one[start : start + n])
                got = compiled(other[:n], other[start : start + n])
                self.assertEqual([t.tolist() for t in (*want, one)], [t.tolist() for t in (*got, other)])
        self.alike(lambda x: (x.expand(3, x.shape[-1]).add_(1),), [(torch.ones(1, n),) for n in (2, 3, 4, 5)])

    def test_marks_that_do_not_hold(self):
        def f(x):
            return (x.unbind(0)[0] * 2, x.shape[0])

        calls = []
        for n in (3, 4, 1, 5):
            x = torch.ones(n, 2)
            slotrt.mark_dynamic(x, 0, min=2, max=4)
            calls.append((x,))
        self.alike(f, calls)
        self.alike(lambda x, k: (x.chunk(k)[0], x.split(k)[0]), [(torch.ones(n, 2), k) for n, k in ((4, 2), (5, 3), (6, 4), (7, 0), (8, -1), (9, 20))], dynamic=True)

    def test_contents_decide_sizes(self):
        def f(x):
            found = (x > 0).nonzero()
            return found + 1, x[x > 0], x.sum().item() + x.shape[0]

        self.alike(f, [(torch.arange(-2.0, n),) for n in (1, 2, 3, 5)])


if __name__ == "__main__":
    unittest.main()
