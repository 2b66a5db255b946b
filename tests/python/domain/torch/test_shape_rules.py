"""What the rules of shapes say of a call is what PyTorch gives: for the samples of its own tests, in memory in all ways; for random
programs; in a first trace, which imports no compiler.

`SLOTRT_OP_DB=1` takes all samples of all operators and types; a part is the default.
"""

import random
import subprocess
import sys
import types
import unittest
import warnings

import shape_cases
import slotrt
import torch
from shape_calls import ALL, DTYPES, laid_out, random_call

# The samples of PyTorch's tests need a package for the texts that tests expect; nothing of it is used.
expecttest = types.ModuleType("expecttest")
expecttest.TestCase = unittest.TestCase
sys.modules.setdefault("expecttest", expecttest)

SAMPLES = 40 if ALL else 2

# Samples of these take seconds each, or print.
SLOW = ("linalg", "svd", "ormqr", "pca_lowrank", "svd_lowrank", "jiterator", "fft", "stft", "istft", "triplet", "ctc_loss")


def compare(call, compared, grad):
    """Runs a call, while all functions of C that it reaches are compared."""
    with torch.set_grad_enabled(grad), compared, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except Exception:
            pass  # It may be an error: then no rule said anything else.


class Samples(unittest.TestCase):
    maxDiff = None

    def samples(self, operator, dtype):
        for grad in (False, True) if dtype.is_floating_point else (False,):
            try:
                yield from operator.sample_inputs("cpu", dtype, requires_grad=grad)
            except Exception:
                continue

    def test_samples_of_operators(self):
        from torch.testing._internal.common_methods_invocations import op_db

        generator, wrong, ruled = random.Random(1), [], 0
        for operator in op_db:
            if operator.name.startswith(SLOW) and not ALL:
                continue
            for dtype in [dtype for dtype in DTYPES if dtype in operator.dtypes][: None if ALL else 2]:
                samples = list(self.samples(operator, dtype))
                for sample in generator.sample(samples, min(SAMPLES, len(samples))):
                    variants = {operator.op, operator.method_variant, operator.inplace_variant} - {None}
                    for variant in sorted(variants, key=repr):
                        try:
                            args = laid_out((sample.input, *sample.args), generator)
                            kwargs = laid_out(dict(sample.kwargs), generator)
                        except Exception:
                            continue
                        compared = shape_cases.Compared()
                        compare(lambda: variant(*args, **kwargs), compared, generator.random() < 0.7)
                        wrong += compared.wrong
                        ruled += sum(compared.ruled.values())
        self.assertEqual(wrong, [])
        self.assertGreater(ruled, 1_500)

    def test_errors_are_left_to_pytorch(self):
        from torch.testing._internal.common_methods_invocations import op_db

        wrong, errors = [], 0
        for operator in op_db:
            if operator.error_inputs_func is None or operator.name.startswith(SLOW):
                continue
            try:
                samples = list(operator.error_inputs("cpu"))
            except Exception:
                continue
            for sample in samples:
                compared = shape_cases.Compared()
                given = sample.sample_input
                compare(lambda: operator.op(given.input, *given.args, **given.kwargs), compared, True)
                wrong, errors = wrong + compared.wrong, errors + 1
        self.assertEqual(wrong, [])
        self.assertGreater(errors, 300)


class RandomCalls(unittest.TestCase):
    maxDiff = None

    def test_random_calls(self):
        generator, wrong, ruled = random.Random(7), [], 0
        for _ in range(200_000 if ALL else 8_000):
            target, args = random_call(generator)
            compared = shape_cases.Compared()
            compare(lambda: target(*args), compared, generator.random() < 0.7)
            wrong += compared.wrong
            ruled += sum(compared.ruled.values())
        self.assertEqual(wrong, [])
        self.assertGreater(ruled, 2_000)


def metadata(tensor):
    return tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad, tensor.is_leaf, tensor.grad_fn is None


class Programs(unittest.TestCase):
    def test_random_programs(self):
        # Programs read the metadata of all their tensors as they go: a trace answers from what it knows.
        for seed in range(60):
            generator = random.Random(seed)
            steps = [self.step(generator) for _ in range(6)]

            def program(x, y):
                seen = []
                for step in steps:
                    try:
                        z = step(x, y)
                    except (RuntimeError, IndexError):
                        continue
                    for tensor in z if isinstance(z, tuple) else (z,):
                        seen.append((tensor.dtype, tensor.shape, tensor.stride(), tensor.requires_grad, tensor.is_contiguous()))
                    x, y = (z[0] if isinstance(z, tuple) else z), x
                seen.append((x.requires_grad, y.requires_grad))
                return seen, x, y

            def operands():
                x, y = torch.arange(12.0).reshape(3, 4), torch.ones(4, 3).t()
                return x, y.detach().requires_grad_(seed % 3 == 0)

            with self.subTest(seed=seed):
                want, wanted_x, wanted_y = program(*operands())
                got, x, y = slotrt.compile(program)(*operands())
                self.assertEqual(got, want)
                self.assertEqual((metadata(x), metadata(y)), (metadata(wanted_x), metadata(wanted_y)))

    def step(self, generator):
        steps = (
            lambda x, y: x + y,
            lambda x, y: x.t() if x.dim() == 2 else x * 2,
            lambda x, y: x.clone().add_(y),
            lambda x, y: x.reshape(-1),
            lambda x, y: x.sum(0, keepdim=True),
            lambda x, y: x.unsqueeze(0).expand(2, *x.shape),
            lambda x, y: x.split(2),
            lambda x, y: x[..., ::2],
            lambda x, y: x.max(-1),
            lambda x, y: x.to(torch.float64),
            lambda x, y: torch.cat([x, y]),
            lambda x, y: x.detach(),
            lambda x, y: x @ y.transpose(-1, -2),
            lambda x, y: torch.where(x > 0, x, y),
        )
        return generator.choice(steps)

    def test_a_change_reaches_views(self):
        def change(x, weight):
            whole = torch.zeros(4, 4)
            view, copy = whole[1:], whole * 1
            before = view.requires_grad, whole.is_leaf
            whole[:, 0] = weight
            return before, view.requires_grad, view.is_leaf, copy.requires_grad, whole.requires_grad, view * x, whole

        def operands():
            return torch.ones(4), torch.ones(4, requires_grad=True)

        want, got = change(*operands()), slotrt.compile(change)(*operands())
        self.assertEqual(got[:-2], want[:-2])
        self.assertEqual([metadata(tensor) for tensor in got[-2:]], [metadata(tensor) for tensor in want[-2:]])


FIRST_TRACE = """
import sys, torch, slotrt
from torch import nn
{program}
slotrt.reset()
slotrt.compile(model)(*args)
counts = slotrt.stats()
assert counts["metadata_by_rule"] > 0 and counts["metadata_asked"] == 0, slotrt.stats(by_operator=True)
print([name for name in ("sympy", "torch._dynamo", "torch._inductor") if name in sys.modules])
"""

PROGRAMS = {
    "convolutions": """
model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(8, 4))
args = (torch.ones(2, 3, 8, 8),)
""",
    "attention": """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.qkv, self.out = nn.Embedding(9, 8), nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 9)
    def forward(self, tokens):
        x = self.norm(self.embed(tokens))
        q, k, v = (part.unflatten(-1, (2, 4)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        mask = torch.ones(tokens.shape[1], tokens.shape[1]).tril() == 0
        scores = (q @ k.transpose(-2, -1) / 2.0).masked_fill(mask, float("-inf")).softmax(-1)
        y = scores @ v + nn.functional.scaled_dot_product_attention(q, k, v)
        y = y.transpose(1, 2).reshape(x.shape)
        return nn.functional.gelu(self.out(torch.cat([x, y], -1)[..., :8] + y)).mean()
model = Attention()
args = (torch.arange(6).reshape(2, 3),)
""",
    "a function": """
def model(x, y):
    total = torch.zeros_like(x)
    total[0] = x[0] * y
    for part in x.split(1):
        total = total + torch.where(part > 0, part, 0.0)
    return total.sum(), total.max(dim=1), total.std(), total.to(torch.float64), x.new_ones(3), torch.arange(4)
args = (torch.ones(2, 3), torch.ones(3))
""",
}


class FirstTrace(unittest.TestCase):
    def test_it_imports_no_compiler(self):
        for name, program in PROGRAMS.items():
            with self.subTest(name):
                code = FIRST_TRACE.format(program=program)
                done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
                self.assertEqual((done.returncode, done.stdout.strip()), (0, "[]"), done.stderr)


class Counts(unittest.TestCase):
    def test_counts_by_operator(self):
        slotrt.reset()
        slotrt.compile(lambda x: torch.fft.fft(x + 1).real)(torch.ones(4))
        counts = slotrt.stats(by_operator=True)["operators"]
        self.assertEqual(counts["__add__"], {"by_rule": 1, "asked": 0})
        self.assertEqual(counts["fft_fft"], {"by_rule": 0, "asked": 1})
        self.assertEqual(slotrt.stats()["metadata_by_rule"], 1)
        slotrt.reset()
        self.assertEqual(slotrt.stats(by_operator=True)["operators"], {})


if __name__ == "__main__":
    unittest.main()
