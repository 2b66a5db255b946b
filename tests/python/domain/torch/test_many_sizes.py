"""Small functions of sizes that change: views, parts, joins, factories, arithmetic, comparisons, texts, containers, loops.

Each is called with tensors of many sizes, from the first trace on symbolic or from the second, and does what it does uncompiled, errors with
their messages, too. `x` has the sizes (n,), `y` (n, 6), `z` (2, n), `w` (3, n, n + 1), `im` (1, 3, n, 8), `sq` (1, 4, n); `m` is 6."""

import collections
import math
import re
import types
import unittest
import warnings

import slotrt
import torch
import torch.nn.functional as F

torch.manual_seed(0)
LSTM, BN, EMB = torch.nn.LSTM(6, 4), torch.nn.BatchNorm1d(6).eval(), torch.nn.Embedding(5, 3)
GRU, MHA = torch.nn.GRU(6, 4, batch_first=True), torch.nn.MultiheadAttention(6, 2)
ENC = torch.nn.TransformerEncoderLayer(6, 2, 8, batch_first=True, dropout=0.0).eval()
PAIR = collections.namedtuple("PAIR", "first second")
POS = types.SimpleNamespace(pe=torch.randn(10, 6))

# A trace for each of the sizes 0 and 1, and two for all others.
FEW = r"""
y.view(-1)
y.view(-1, 3)
y.view(n, 2, 3)
y.reshape(6, -1)
y.t().reshape(-1)
y.reshape(2, 3, n).permute(2, 0, 1)
y.t().view(6, n)
w.view(-1, n + 1)
w.view(3 * n, n + 1)
w.flatten()
w.flatten(0, 1)
y.unflatten(0, (n, 1))
y.view(-1).unflatten(0, (-1, 6))
z.unflatten(1, (-1, 1))
torch.cat([y, y], 1)
torch.cat([x, torch.zeros(1)])
torch.cat([x, x[:0]])
torch.cat([y, y[:2]], 0)
torch.cat([x[:, None], y], -1)
torch.stack([x, x[:n]], 1)
torch.vstack([x, x])
x.split([n // 2, n - n // 2])
x.split(n)
x.chunk(3)
x.tensor_split(3)
F.pad(x, (1, 1))
F.pad(x, (0, n))
F.pad(x, (0, 8 - n))
F.pad(y, (0, 0, 0, (4 - n % 4) % 4)).view(-1, 4, 6)
torch.arange(n)
torch.arange(0, n, 2)
torch.arange(n, 2 * n) + x
torch.linspace(0, 1, n)
torch.linspace(0, n, 5)
torch.full((n, n), n)
torch.zeros(n, n + 1)
torch.ones((n // 2, 3))
torch.eye(n)
torch.tril(torch.ones(n, n))
torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
torch.tensor(n)
torch.tensor(n) * x
y.new_zeros(n)
y.new_ones(x.shape)
x[1:]
x[::2]
x[-2:]
x[:n // 2]
x[n // 3:-1]
x[-100:]
x[n - 2:n]
x[-4:-1:2]
x[1:-1:3]
y[::2, 1]
y[..., -1]
y[1:, 0] - y[:-1, 0]
y[n % 3:]
w[:, 1:, ::2]
w[..., n]
y[torch.arange(n), torch.arange(n) % 6]
x.index_select(0, torch.arange(n // 2))
y.gather(1, torch.arange(n).view(n, 1) % 6)
torch.zeros(n + 1).scatter(0, torch.arange(n), x)
y.flip(0)
x.repeat(2)
x.repeat(n)
y.repeat(2, n)
x.tile(3)
x.expand(n, n)
x.expand(2, -1)
x[:, None].expand(n, 4)
y[:, :1].expand(n, 6)
y.expand(2, *y.shape)
torch.broadcast_to(x, (4, n))
x[:, None] + x
y + x[:, None]
z + x
z * x[-1:]
x + torch.ones(1)
x + torch.ones(n, 1)
x * torch.arange(n).flip(0)
w + torch.arange(n + 1)
torch.where(y > x[:, None], y, 0)
z @ x
y.t() @ y
x @ x
torch.mm(z, y)
torch.bmm(w, w.transpose(1, 2))
torch.addmm(torch.zeros(2, 6), z, y)
torch.matmul(w, torch.ones(n + 1))
F.linear(y, torch.ones(4, 6))
F.linear(y, torch.ones(n, 6), x)
x * (n % 3)
x / n
x / (n - 1)
x + n / 2
x * -n
x + (n - 4) // 3
x + -n // 2
x * min(n, 4)
x[:min(n, 4)]
x[max(0, n - 4):]
x * sum(y.shape)
x * math.prod(y.shape)
x * y.numel()
x * (n << 1)
x * (n & 3)
x * (n ^ 5)
x * ~n
divmod(n, 2), x
x * (n > 4)
x + 1 if n > 4 else x - 1
x + 1 if n % 2 == 0 else x - 1
x * 2 if n else x
x * 2 if n == m else x
x * 2 if n * 2 <= m + 4 else x
x * 2 if y.shape[0] == x.shape[0] else x
[n, n + 1], x
{"n": n, "m": m}, x
[1, 2, 3][n], x
x.shape, x.stride(), y.stride(), w.stride()
y.t().stride(), y.t().is_contiguous(), x
w.shape[1:], w.shape[-1], x
y.is_contiguous(), y.t().contiguous()
y[1:].view(-1)
x.sum(), x.mean(), y.mean(0), y.sum(1)
x.max()
y.max(1).values
y.cumsum(0)
x.prod()
x.norm()
y.softmax(0), y.softmax(1)
x.sort()
y.sort(0).values
x.topk(min(n, 3))
x.median()
x.unsqueeze(0), x.unsqueeze(-1)
x[None].squeeze()
y[:1].squeeze(0)
w.squeeze()
w.transpose(0, 1), w.permute(2, 0, 1), w.movedim(0, -1)
w.diagonal(0, 1, 2)
F.interpolate(im, size=n * 2, mode="bilinear", align_corners=True)
F.adaptive_avg_pool2d(im, (2, 3))
F.pixel_shuffle(im.expand(4, 3, n, 8).reshape(1, 12, n, 8), 2)
F.layer_norm(y, (6,))
F.embedding(torch.arange(n) % 3, torch.ones(3, 4))
F.embedding(torch.arange(n), y)
F.one_hot(torch.arange(n), n)
F.nll_loss(y, torch.zeros(n, dtype=torch.long))
F.glu(y)
F.dropout(y, 0.0)
F.scaled_dot_product_attention(y[None], y[None], y[None])
F.scaled_dot_product_attention(y.view(1, n, 2, 3).transpose(1, 2), y.view(1, n, 2, 3).transpose(1, 2), y.view(1, n, 2, 3).transpose(1, 2)).transpose(1, 2).reshape(1, n, 6)
MHA(y, y, y)[0]
ENC(y[None])
EMB(torch.arange(n) % 5)
try:\n    r = x * (5 // (n - 3))\nexcept ZeroDivisionError as e:\n    r = str(e), x * 2
try:\n    r = x * (5 % (n - 3)) / (n - 5)\nexcept ZeroDivisionError as e:\n    r = str(e), x * 2
assert n % 2 == 0\nr = x * n
BOX.l.append(n)\nr = x * BOX.l.pop(), BOX.l
BOX.t = x[:n // 2]\nr = BOX.t.shape, BOX.t
c = x.clone()\nc[n // 2:] = 0\nr = c
c = y.clone()\nc[:, 0] = x\nr = c
c = x.clone()\nc.copy_(torch.arange(n))\nr = c
c = x.clone()\nc += c[:1]\nr = c
r = (lambda s: x[:s])(n // 2)
import itertools\nr = list(itertools.accumulate(y.shape)), x
B, C = y.shape\nr = y.view(B, 2, C // 2).transpose(1, 2).reshape(B, C)
B, C, L = sq.shape\nr = sq.view(B, 2, C // 2, L).permute(0, 3, 1, 2).reshape(B, L, C)
a, b = x.chunk(2)\nr = a.sum() + b.sum()
a, b = z\nr = a * b
k2 = {"a": n}.get("a", 0)\nr = x * k2
k2 = any(s == 5 for s in y.shape)\nr = x * k2
k2 = list(y.shape)\nk2[0] = -1\nr = y.reshape(k2), k2
k2 = float("inf") if n > 4 else 1.0\nr = x * k2
k2 = n if n < 4 else 4\nr = y[:k2]
k2 = n or m\nr = x * k2
k2 = n * 0, n - n, n // 1, n % 1, n ** 0, 0 // (n + 1)\nr = k2, x
k2 = -(-n // 3), (n - 10) // 4, (n - 10) % 4, (10 - n) // -3, (10 - n) % -3\nr = k2, x
k2 = 7 // (n + 1), 7 % (n + 1), -7 // (n + 1), -7 % (n + 1)\nr = k2, x
k2 = min(y.shape), max(y.shape), sum(y.shape, 1)\nr = k2, x
k2 = x.size()[0] == y.size(0) == w.size(1) == w.size(2) - 1\nr = k2, x
k2 = tuple(x.shape)[::-1], [*y.shape, *x.shape]\nr = k2, x
torch.nn.functional.ctc_loss if n < 0 else x.clone()
torch.randn(n, 2).shape
x.to(torch.float64).sum(), x.long()
torch.sum(y, dim=(0, 1)), y.sum((0,), keepdim=True)
y.masked_fill(torch.arange(n)[:, None] > 2, 0.0)
torch.arange(n)[None, :] < torch.arange(n)[:, None]
F.mse_loss(y, y * 2)
F.mse_loss(y.t(), (y * 2).t(), reduction="none")
F.mse_loss(x, y[:, 0], reduction="sum")
F.l1_loss(y, y + 1, reduction="none"), F.l1_loss(x, x * 2)
F.smooth_l1_loss(y, y * 2, beta=0.5)
F.huber_loss(x, x + 3, reduction="none"), F.huber_loss(y, y * 3, delta=2.0)
torch.broadcast_tensors(x, x[:, None], y[:1, :1])
k2 = torch.broadcast_tensors(x, x * 2, x[:1])\nr = k2[0] is x, k2[1] is x, k2
k2, k3 = torch.broadcast_tensors(x.clone(), x[:1] * 2)\nk2.add_(1)\nr = k2, k3 + k2
torch.roll(x, 1), y.roll(2)
y.roll(n // 2, 0), y.roll(n), w.roll(-1)
tuple(s * 2 for s in y.shape), y.new_zeros(tuple(s + 1 for s in y.shape))
list(s for s in x.shape), sum(s * 2 for s in y.shape), max(s + 1 for s in y.shape)
next(s for s in x.shape), list(zip((s for s in y.shape), x.shape)), list(map(abs, (-s for s in y.shape)))
tuple(t for t in (n, n > 2, None, n * 2))
x * n ** -0.5
x * math.floor(n / 2)
x / math.sqrt(n)
x * (1.0 / math.sqrt(n + 1)) * n ** 0.5
x[: math.ceil(n / 2)], x[: int(n * 0.5)], x[math.floor(n / 3) :]
torch.zeros(int(n * 1.5), round(n / 2)).shape, x
x.new_ones(math.trunc(n / 2) + 1) * int(n / 2)
k2 = int(n * 0.5)\nr = x[:k2].shape[0] == k2, x[k2:].numel(), x[:k2]
y[[0, -1]]
x * y.shape.numel()
k2 = torch.Size([n, 2])\nr = torch.ones(k2), k2.numel(), k2
torch.Size((n, n + 1)), x.new_zeros(torch.Size([2, n])), torch.Size(tuple(s + 1 for s in y.shape))
torch.Size([n]), x.view(torch.Size([n])), torch.Size(y.shape), torch.Size((n, 3))[::-1], x
k2 = torch.Size([n, 2]) + y.shape\nr = k2, k2.numel(), len(k2), x
torch.numel(y) * x
torch.einsum("ni,mi->nm", y, y * 2)
torch.einsum("nij,njk->nik", w.transpose(0, 1), w.transpose(0, 1).transpose(1, 2))
torch.meshgrid(x, torch.arange(4.0), indexing="xy")
torch.outer(x, torch.ones(3)), torch.column_stack([x, y]), torch.dstack([x, x])
torch.arange(n - 1, -1, -1) + x
torch.randperm(n).shape, torch.randint(0, n + 1, (4,)).shape, torch.bernoulli(x * 0).shape
F.cosine_similarity(y + 2, y + 3), F.kl_div(y, y.softmax(1), reduction="batchmean")
F.binary_cross_entropy_with_logits(x, torch.ones(n))
y.index_add(0, torch.arange(n), y), torch.repeat_interleave(x, 2)
torch.tensor(n / 2) + x, x.new_tensor([n, 1]), torch.as_tensor(n)
x.as_strided((n, 2), (1, 0))
torch.bucketize(x, torch.tensor([0.0, 1.0])), torch.atleast_2d(x)
import functools, operator\nr = functools.reduce(operator.mul, y.shape, 1) * x
k2 = PAIR(n, 2)\nr = x * k2.first, k2
pow(n, 2), x
torch.broadcast_shapes(y.shape, (n, 1)), torch.zeros(torch.broadcast_shapes(x.shape, (4, 1))) + x
torch.linalg.norm(y, dim=1), F.interpolate(im, scale_factor=1.5)
y.view(n, -1)
w.reshape(n, 3, -1)
torch.stack([x, x[1:]])
x.split(max(1, n // 2))
torch.tensor_split(x, (1, 3))
F.pad(x, (-1, 0))
F.pad(z[None], (1, 0), mode="circular")
x[n - 1]
x[n]
x[::n + 1]
x[::-1]
x.narrow(0, n // 2, 1)
x.take(torch.tensor([0, -1]))
x.clone().index_fill_(0, torch.arange(n // 2), 7)
y.rot90()
y + x
w + x
torch.cartesian_prod(x, x)
torch.einsum("ni,nj->nij", y, y)
w @ w
f"{n}", x * 2
"%d" % n, x
str(n), x
n.__index__(), x
y[::2].view(-1)
x.unfold(0, 2, 1)
y.amax(0), y.amin(1)
x.quantile(0.5)
F.interpolate(im, size=(n + 1, 4))
F.interpolate(im, scale_factor=1.5, mode="bilinear")
F.conv2d(im, torch.ones(2, 3, 3, 3), padding=1)
F.conv2d(im, torch.ones(2, 3, 2, 2), dilation=2)
F.conv1d(sq, torch.ones(2, 4, 3), padding=1, stride=2)
F.conv_transpose1d(sq, torch.ones(4, 2, 3))
F.avg_pool2d(im, 3, 2, 1)
F.adaptive_avg_pool1d(sq, n)
F.group_norm(sq, 2)
F.cosine_similarity(y, y + 1)
torch.cdist(y, y)
c = x.clone()\nc[-1] = n\nr = c
k2 = max([n, 4], key=lambda v: -v)\nr = x * k2
k2 = -1 if n == 0 else n\nr = x.new_zeros(k2)
k2 = pow(n, 2, 5)\nr = x * k2
k2 = math.log(n + 1)\nr = x * k2
torch.searchsorted(torch.arange(n).float(), x)
torch.multinomial(torch.ones(n), 1).shape
import functools\nr = functools.reduce(lambda a, b: a * b, y.shape), x
F.interpolate(im, scale_factor=0.7, mode="bilinear"), F.interpolate(im, scale_factor=1.3, mode="bicubic")
F.interpolate(sq, scale_factor=0.5), F.interpolate(sq, scale_factor=1.7, mode="linear"), F.interpolate(sq, size=n * 2, mode="nearest-exact")
F.interpolate(im, scale_factor=0.5, mode="bilinear", antialias=True)
F.interpolate(im[:, :, None], scale_factor=2), F.interpolate(im[:, :, None], scale_factor=1.5, mode="trilinear")
torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, (x,))
torch.cond(x.sum() > 0, lambda v: v * n, lambda v: v - n, (x,))
w.tril(n), y.triu(-n)
F.embedding(torch.arange(n) % 5, torch.ones(30, 3), padding_idx=n)
f"{n} rows", x * 2
[f"{i}: {n}" for i in range(2)], x * 2
w[:, ::n - 1], x
x[::n // 2 + 1]
"""

# More: they need numbers that are known, or PyTorch is asked what an operation gives.
MORE = r"""
y.view(4, -1)
[r.sum() for r in z.t()]
torch.arange(0, n, 0.5)
torch.tril_indices(n, n)
torch.tensor([1.0] * n)
[0] * n, x
list(range(n)), x
len(range(n)), x
[i for i in range(n) if i % 2], x
[0, 1, 2, 3][n % 4], x
"hello"[:n], x
F.max_pool2d(im, 2, ceil_mode=True)
GRU(y[None])[0]
i = 0\nwhile i < n:\n    x = x + i\n    i += 3\nr = x
try:\n    r = x[n + 1]\nexcept IndexError as e:\n    r = str(e), x * 2
h = n // 4 * 4\nr = y[:h].view(-1, 4, 6)
set(s for s in w.shape), sorted(s * 2 for s in y.shape), any(s > 3 for s in y.shape)
F.mse_loss(y, y[:1], reduction="none")
"-".join(str(s) for s in y.shape), bytes(s for s in y.shape), math.prod(s for s in y.shape)
math.fsum(s for s in y.shape), dict.fromkeys(s for s in y.shape), bytearray(s + 1 for s in y.shape)
torch.Size([n, 2.5])
torch.Size([n, True]), torch.Size([n, None])
torch.Size(n)
k2 = chr(n + 65), hex(n), bin(n)\nr = k2, x
k2 = y.shape == z.shape, y.shape != x.shape, y.shape < w.shape\nr = k2, x
k2 = range(n)\nr = k2[-1], n - 1 in k2, x
k2 = n.is_integer() if hasattr(n, "is_integer") else None\nr = k2, x
k2 = n % 2 == 0 and n > 2, n % 3 == 0 or n < 3\nr = k2, x
k2 = {n: n for n in y.shape}\nr = k2, x
torch.kron(x, x)
torch.vander(x, 3)
torch.stft(x, 4, 2, return_complex=True, window=torch.ones(4))
z.view(torch.float64)
x * 2 if n in (2, 5) else x
"""

TENSORS = {
    "x": (0, lambda n: torch.arange(n) * 0.7 + 0.25 - n * 0.2),
    "y": (0, lambda n: (torch.arange(n * 6) * 1.3 % 5).view(n, 6) - 1),
    "z": (1, lambda n: (torch.arange(2 * n) * 0.9 % 4).view(2, n)),
    "w": (1, lambda n: (torch.arange(3 * n * (n + 1)) * 0.77 % 3).view(3, n, n + 1)),
    "im": (2, lambda n: (torch.arange(24 * n) * 0.33 % 2).view(1, 3, n, 8)),
    "sq": (2, lambda n: (torch.arange(4 * n) * 0.21 % 3).view(1, 4, n)),
}


def program(row):
    """The function of a row, the names of its tensors, and the object that it may change."""
    body = row.replace("\\n", "\n")
    used = lambda name: re.search(rf"\b{name}\b", body)  # noqa: E731
    names = [name for name in TENSORS if used(name)] or ["x"]
    lines = [f"n = {names[0]}.shape[{TENSORS[names[0]][0]}]"] if used("n") else []
    if used("m"):
        names += [] if "y" in names else ["y"]
        lines.append("m = y.shape[1]")
    lines += (body if re.search(r"\br = ", body) else f"r = {body}").split("\n")
    box = types.SimpleNamespace(n=0, l=[1], d={}, t=None)
    scope = {**globals(), "BOX": box}
    exec(f"def f({', '.join(names)}):\n    " + "\n    ".join([*lines, "return r"]), scope)
    return scope["f"], names, box


def shown(value):
    if isinstance(value, torch.Tensor):
        return value.dtype, tuple(value.shape), value.stride(), value.requires_grad, str(value.tolist())
    if isinstance(value, (list, tuple)):
        return type(value), [shown(item) for item in value]
    if isinstance(value, dict):
        return [(shown(key), shown(item)) for key, item in value.items()]
    return type(value), str(value)


def outcome(function, names, box, n):
    args = [TENSORS[name][1](n) for name in names]
    torch.manual_seed(1)
    try:
        told = "gave", shown(function(*args))
    except Exception as error:
        # Some messages end with where C++ found the error.
        told = "raised", type(error), str(error).split("\nException raised")[0]
    return told, shown(args), shown(vars(box))


class ManySizes(unittest.TestCase):
    maxDiff = None

    def check(self, rows, most, **options):
        for row in rows.strip().splitlines():
            slotrt.reset()
            (plain, names, box), (function, _, other) = program(row), program(row)
            compiled = slotrt.compile(function, **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for n in (0, 1, 2, 3, 5, 8):
                    with self.subTest(row=row, n=n):
                        self.assertEqual(outcome(compiled, names, other, n), outcome(plain, names, box, n))
            with self.subTest(row=row):
                stats = slotrt.stats()
                self.assertLessEqual(stats["frames_compiled"], most)
                self.assertEqual(stats["frames_skipped"], 0)

    def test_few_traces(self):
        self.check(FEW, 4)

    def test_few_traces_when_symbolic_from_the_first(self):
        self.check(FEW, 4, dynamic=True)

    def test_more_traces(self):
        self.check(MORE, 40)

    def test_more_traces_when_symbolic_from_the_first(self):
        self.check(MORE, 40, dynamic=True)


if __name__ == "__main__":
    unittest.main()
