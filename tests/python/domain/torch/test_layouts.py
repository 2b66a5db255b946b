"""How results lie in memory where kernels decide it: convolutions, pools, normalisation, attention, recurrent layers, of tensors that lie in
memory in all ways. A program that asks is told what is so."""

import random
import unittest
import warnings

import slotrt
import torch
from torch import nn
from torch.nn import functional as F

CALLS = 14
FLOATS = (torch.float32, torch.float32, torch.float16, torch.bfloat16)


class Maker:
    """Makes calls: a function, its arguments, those with names."""

    def __init__(self, seed):
        self.generator = random.Random(seed)
        self.choice = self.generator.choice
        torch.manual_seed(0)

    def tensor(self, *shape, dtype=None, grad=None):
        """One that is transposed, has its channels last, has gaps, or is contiguous."""
        made = torch.randn(*shape).to(dtype or self.choice(FLOATS))
        way, rank = self.generator.random(), len(shape)
        if way < 0.25:
            order = self.generator.sample(range(rank), rank)
            made = made.permute(order).contiguous().permute([order.index(dim) for dim in range(rank)])
        elif way < 0.55 and rank in (4, 5):
            made = made.contiguous(memory_format=torch.channels_last if rank == 4 else torch.channels_last_3d)
        elif way < 0.65:
            made = torch.stack([made, made], -1)[..., 0]
        needs = self.generator.random() < 0.4 if grad is None else grad
        return made.detach().requires_grad_(needs)

    def convolution(self):
        dtype, dims = self.choice(FLOATS), self.choice((1, 2, 2, 3))
        inputs, outputs, size = self.choice((1, 3, 8, 16)), self.choice((1, 4, 8)), self.choice((1, 2, 3))
        groups = inputs if outputs % inputs == 0 and self.generator.random() < 0.3 else 1
        image = self.tensor(self.choice((1, 2, 5)), inputs, *(self.choice((5, 8)),) * dims, dtype=dtype)
        weight = self.tensor(outputs, inputs // groups, *(size,) * dims, dtype=dtype)
        bias = self.choice((None, torch.randn(outputs, dtype=dtype)))
        options = self.choice((1, 2)), self.choice((0, 1)), self.choice((1, 1, 2)), groups
        return getattr(torch, f"conv{dims}d"), (image, weight, bias, *options), {}

    def transposed_convolution(self):
        dtype, dims = self.choice(FLOATS), self.choice((1, 2, 3))
        inputs, outputs = self.choice((1, 3, 8)), self.choice((1, 4, 8))
        image = self.tensor(2, inputs, *(self.choice((4, 6)),) * dims, dtype=dtype)
        return getattr(torch, f"conv_transpose{dims}d"), (image, self.tensor(inputs, outputs, *(3,) * dims, dtype=dtype)), {}

    def pool(self):
        dims, kind = self.choice((1, 2, 3)), self.choice(("max", "avg"))
        shape = self.choice(((2, 3), (3,), (2, 8)))
        return getattr(F, f"{kind}_pool{dims}d"), (self.tensor(*shape, *(self.choice((6, 8)),) * dims), self.choice((2, 3))), {}

    def adaptive_pool(self):
        dims = self.choice((1, 2, 3))
        return getattr(F, f"adaptive_avg_pool{dims}d"), (self.tensor(2, self.choice((3, 8)), *(8,) * dims), self.choice((1, 2, 4))), {}

    def normalisation(self):
        kind, channels = self.choice(("layer", "rms", "group", "batch", "instance")), self.choice((4, 8))
        dims = self.choice((1, 2, 3))
        image = self.tensor(4, channels, *(6,) * dims)
        weight = self.choice((None, torch.randn(channels, dtype=image.dtype)))
        last = self.choice((None, torch.randn(6, dtype=image.dtype)))
        if kind == "batch":
            state = torch.zeros(channels), torch.ones(channels)
            return F.batch_norm, (image, *state), {"training": self.choice((True, False))}
        return {
            "layer": (F.layer_norm, (image, (6,), last), {}),
            "rms": (F.rms_norm, (image, (6,), last), {}),
            "group": (F.group_norm, (image, self.choice((1, 2, 4)), weight), {}),
            "instance": (F.instance_norm, (image,), {}),
        }[kind]

    def attention(self):
        dtype, heads, width = self.choice(FLOATS), self.choice((1, 2, 4)), self.choice((8, 16, 32))
        batch, length, other = self.choice((1, 2)), self.choice((4, 8, 33)), self.choice((8, 16))
        grad, swapped = self.generator.random() < 0.4, self.generator.random() < 0.5

        def part(count):
            shape = (batch, count, heads, width) if swapped else (batch, heads, count, width)
            made = self.tensor(*shape, dtype=dtype, grad=False)
            return (made.transpose(1, 2) if swapped else made).detach().requires_grad_(grad)

        mask = self.choice((None, None, torch.ones(length, other, dtype=torch.bool).tril()))
        return F.scaled_dot_product_attention, (part(length), part(other), part(other), mask), {}

    def recurrent(self):
        kind = self.choice((nn.LSTM, nn.GRU, nn.RNN))
        net = kind(8, 6, self.choice((1, 2)), batch_first=self.choice((True, False)), bidirectional=self.choice((True, False)))
        return net, (self.tensor(3, 5, 8, dtype=torch.float32, grad=False),), {}

    def image(self):
        image = self.tensor(2, 3, 5, 5)
        mode = self.choice(("nearest", "bilinear", "bicubic"))
        return F.interpolate, (image,), {"scale_factor": 2, "mode": mode}


FAMILIES = [name for name, made in vars(Maker).items() if callable(made) and not name.startswith("_") and name != "tensor"]

# Operations that lay out dimensions of length one in their own ways.
SINGLES = """
torch.msort(x)
x.sort(0)
x.flip(0)
torch.rot90(x)
x.roll(1, 0)
x.renorm(2, 0, 1.0)
F.prelu(x, torch.ones(1))
F.hardshrink(x)
F.hardtanh(x)
F.relu6(x)
F.glu(x, -1)
F.glu(x, 0)
torch.frexp(x)
torch.nan_to_num(x)
torch.isreal(x)
torch.diff(x)
torch.fft.irfft(x)
torch.fft.hfft(x)
torch.fft.rfft(x)
torch.linalg.svd(x)
torch.linalg.qr(x)
""".strip().splitlines()


def leaves(value):
    return [value] if isinstance(value, torch.Tensor) else [leaf for item in value for leaf in leaves(item)]


def told(tensor):
    return tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad, tensor.is_contiguous()


class Layouts(unittest.TestCase):
    maxDiff = None

    def test_what_is_told_is_so(self):
        for family in FAMILIES:
            maker, compared = Maker(family), 0
            for number in range(CALLS):
                function, args, named = getattr(maker, family)()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        function(*args, **named)
                    except (RuntimeError, NotImplementedError):
                        continue

                    def program(*args):
                        result = function(*args, **named)
                        return result, [told(leaf) for leaf in leaves(result)]

                    slotrt.reset()
                    result, said = slotrt.compile(program)(*args)
                with self.subTest(family=family, number=number, function=function):
                    self.assertEqual(said, [told(leaf) for leaf in leaves(result)])
                    self.assertEqual(slotrt.stats()["graph_breaks"], 0)
                compared += 1
            self.assertGreater(compared, CALLS // 3, family)

    def test_dimensions_of_length_one(self):
        # Nothing lies along them: what kernels make of their strides is up to each of them.
        shapes = (1, 4), (4, 1), (1, 1), (6, 1, 4), (2, 4, 1)
        for name in SINGLES:
            function = eval(f"lambda x: {name}", globals())

            def program(x):
                return [told(leaf) for leaf in leaves(function(x))]

            for shape in shapes:
                for made in self.laid_out(shape):
                    try:
                        want = program(made)
                    except RuntimeError:
                        continue
                    slotrt.reset()
                    with self.subTest(function=name, shape=shape, strides=made.stride()):
                        self.assertEqual(slotrt.compile(program)(made), want)

    def laid_out(self, shape):
        """The same tensor with all kinds of strides."""
        plain = torch.rand(*shape)
        yield plain.mT.contiguous().mT
        yield torch.rand(*shape[::-1]).permute(*reversed(range(len(shape))))
        yield torch.stack([plain, plain], -1)[..., 0]
        yield plain.as_strided(shape, [1 if size == 1 else stride for size, stride in zip(shape, plain.stride())])
        yield plain.as_strided(shape, [24 if size == 1 else stride for size, stride in zip(shape, plain.stride())])

    def test_what_is_asked_of_kernels_warns_of_nothing_and_draws_nothing(self):
        def program(x):
            return torch.multinomial(x.mT, 1), torch.frexp(x).mantissa.stride(), torch.rand(2)

        x = torch.ones(4, 1)
        torch.manual_seed(3)
        want = program(x)
        torch.manual_seed(3)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            got = slotrt.compile(program)(x)
        self.assertEqual((got[0].tolist(), got[1], got[2].tolist()), (want[0].tolist(), want[1], want[2].tolist()))
        self.assertEqual(caught, [])


if __name__ == "__main__":
    unittest.main()
