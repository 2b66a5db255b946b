"""Tensors whose sizes change from call to call: one symbolic trace serves them, and results are eager's."""

import random
import unittest

import slotrt
import torch
from torch import nn

torch.manual_seed(0)
LINEAR, NORM = nn.Linear(6, 6), nn.LayerNorm(6)

# Each takes a tensor of sizes (n, m, 6) with some of the names b (another such tensor), n and k (numbers); each gives such a tensor again.
STEPS = [
    "x + b",
    "x * k",
    "x - n",
    "x / (n + 1)",
    "torch.relu(x)",
    "LINEAR(x)",
    "NORM(x)",
    "x.view(x.shape[0], -1).view(x.shape)",
    "x.reshape(-1, 6).reshape(x.size(0), x.size(1), 6)",
    "x.view(n * m, 6).view(n, m, 6)",
    "x * x.shape[0] + x.size(-2)",
    "x.transpose(0, 1).contiguous().transpose(0, 1)",
    "x + x.sum(0)",
    "x - x.mean(dim=(0, 1))",
    "torch.cat([x, b], dim=0)[:n]",
    "x.flip(0)",
    "x[torch.arange(x.shape[0])]",
    "x + torch.zeros(x.shape)",
    "x + torch.arange(m).view(m, 1)",
    "x.masked_fill(x > k, 0.5)",
    "(x @ x.transpose(1, 2)) @ x * 0.01",
    "x.softmax(-1)",
    "torch.stack([x, b]).sum(0)",
    "x.unsqueeze(0).squeeze(0)",
    "x if n > 4 else -x",
    "x * len(x)",
    "x.expand(x.shape) + x.numel()",
    "torch.where(x > b, x, k)",
    "x.add(b, alpha=2).clamp(-k, k)",
    "x.view(*x.shape[:-1], -1, 2).reshape(x.shape[:-1] + (6,))",
    "x.reshape((-1,) + x.shape[1:])",
    "x.view(x.shape[:1] + x.shape[1:2] + (-1,))",
]


def program(seed):
    chance = random.Random(seed)
    lines = [f"    x = {chance.choice(STEPS)}" for _ in range(chance.randrange(1, 5))]
    result = chance.choice(["x", "x, x.shape", "x, n * m, x.shape[0] + k", "x.shape, x.size(1), list(x.shape)"])
    return "def program(x, b, k):\n    n, m = x.shape[:2]\n" + "\n".join(lines) + f"\n    return {result}"


def compiled_like(seeds, test, calls=6, **options):
    for seed in seeds:
        text = program(seed)
        scope = {"torch": torch, "LINEAR": LINEAR, "NORM": NORM}
        exec(text, scope)
        plain, compiled = scope["program"], slotrt.compile(scope["program"], **options)
        chance = random.Random(seed)
        for call in range(calls):
            n, m = chance.choice([(call + 2, 3), (3, call + 2), (call + 1, call + 2), (chance.randrange(0, 7), chance.randrange(1, 7))])
            x, b = torch.randn(n, m, 6), torch.randn(n, m, 6)
            if chance.random() < 0.2:
                x = torch.randn(m, n, 6).transpose(0, 1)
            k = chance.randrange(1, 8)
            outcomes = []
            for function in (plain, compiled):
                try:
                    outcomes.append(function(x.clone() if x.is_contiguous() else x, b, k))
                except RuntimeError as error:
                    outcomes.append(str(error))
            where = f"seed {seed}, call {call}, {(n, m, k)}\n{text}"
            test.assertTrue(same(*outcomes), f"{where}\n{outcomes[0]}\n{outcomes[1]}")


def same(one, other):
    if isinstance(one, torch.Tensor):
        return type(one) is type(other) and one.dtype == other.dtype and one.shape == other.shape and one.stride() == other.stride() and torch.equal(one.nan_to_num(), other.nan_to_num())
    if isinstance(one, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


class Sizes(unittest.TestCase):
    """Sizes that change are symbolic in the second trace."""

    def test_random_programs(self):
        compiled_like(range(150), self)

    def test_random_programs_with_symbolic_sizes_from_the_first(self):
        compiled_like(range(150, 200), self, dynamic=True)

    def traces(self, function, calls):
        slotrt.reset()
        compiled = slotrt.compile(function)
        for args in calls:
            self.assertTrue(same(function(*args), compiled(*args)))
        counts = slotrt.stats()
        self.assertEqual(counts["frames_skipped"], 0)
        return counts["frames_compiled"]

    def test_two_traces(self):
        def batch(x):
            return LINEAR(x).view(x.shape[0], -1) * x.size(0)

        self.assertEqual(self.traces(batch, [(torch.randn(n, 6),) for n in range(2, 30)]), 2)
        self.assertEqual(self.traces(lambda x, y: torch.relu(x + y) * 2, [(torch.randn(n, m), torch.randn(m)) for n, m in [(2, 3), (4, 5), (6, 7), (9, 2)]]), 2)
        self.assertEqual(self.traces(lambda x: (x.shape, len(x), x.numel()), [(torch.randn(n, 3),) for n in range(2, 9)]), 2)

    def test_operations_that_give_their_operand(self):
        for function in (
            lambda x: nn.functional.dropout(x + 1, 0, False) * 2,
            lambda x: nn.functional.dropout(x + 1, 0, True) * 2,
            lambda x: torch.flatten(x + 1, 1) * 2,
            lambda x: (x + 1).contiguous().to("cpu").to(torch.float32) * 2,
            lambda x: (x + 1).squeeze(1) * 2,
        ):
            self.assertEqual(self.traces(function, [(torch.randn(n, 6),) for n in range(2, 8)]), 2)

    def test_layers_of_encoders(self):
        for first, activation in ((False, "relu"), (True, "gelu")):
            layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=first, activation=activation).eval()
            with torch.no_grad():
                self.assertEqual(self.traces(lambda x: layer(x) * 2, [(torch.randn(n, m, 16),) for n, m in [(2, 5), (3, 7), (4, 9), (6, 4), (2, 2)]]), 2)

    def test_the_operation_that_wants_a_size_is_named(self):
        for function, told in (
            (lambda x: [row + 1 for row in x.unbind()], "sizes decide what the operation gives: unbind at"),
            (lambda x: torch.histogram(x * 2, 4), "its sizes as constants, for no rule says what this gives: _VariableFunctionsClass.histogram at"),
        ):
            session = slotrt._slotrt.Session(record=True)
            compiled = session.compile(function, None, False)
            for size in (3, 5, 7):
                compiled(torch.ones(size, 4))
            first, second, _ = session.frames()
            self.assertNotIn(told, str([guard["reason"] for guard in first["guards"]]))
            self.assertIn(told, str([guard["reason"] for guard in second["guards"]]))

    def test_sizes_of_zero_and_one_stay_constants(self):
        self.assertEqual(self.traces(lambda x: x * x.shape[0], [(torch.randn(n, 3),) for n in [4, 5, 1, 0, 6, 7, 1, 0]]), 4)

    def test_relations_between_sizes(self):
        def add(x, y):
            return x + y

        calls = [(torch.randn(n), torch.randn(m)) for n, m in [(2, 2), (3, 3), (4, 4), (1, 5), (5, 1), (6, 6)]]
        self.assertLessEqual(self.traces(add, calls), 4)
        with self.assertRaisesRegex(RuntimeError, "must match the size"):
            slotrt.compile(add)(torch.randn(2), torch.randn(3))
        compiled = slotrt.compile(add)
        for n in (2, 3, 4):
            compiled(torch.randn(n), torch.randn(n))
        with self.assertRaisesRegex(RuntimeError, r"The size of tensor a \(7\) must match the size of tensor b \(8\)"):
            compiled(torch.randn(7), torch.randn(8))

    def test_sizes_that_are_returned(self):
        compiled = slotrt.compile(lambda x: x.shape)
        for n in range(2, 6):
            shape = compiled(torch.randn(n, 3))
            self.assertIs(type(shape), torch.Size)
            self.assertEqual(shape, (n, 3))


class SizeTuples(unittest.TestCase):
    """Parts and sums of sizes, which are sizes themselves."""

    def test_like_eager(self):
        def parts(x):
            sizes, more = x.shape, (1, *x.shape)
            return sizes[1:], sizes[:-1] + (2,), (-1,) + sizes[1:], sizes + sizes, sizes[::-1], sizes[0], sizes + (True,), more[1:]

        def wrong(x):
            try:
                return x.shape + [1]
            except TypeError as error:
                return str(error)

        def text(x):
            try:
                return x.shape[:1] + ("a",)
            except TypeError as error:
                return str(error)

        for function in (parts, wrong, text):
            compiled = slotrt.compile(function)
            for sizes in ((2, 3), (4, 5), (6, 5), (7, 9), (0, 1)):
                expected, found = function(torch.ones(sizes)), compiled(torch.ones(sizes))
                self.assertEqual(found, expected)
                self.assertEqual([type(part) for part in found], [type(part) for part in expected])

    def test_two_traces(self):
        compiled = slotrt.compile(lambda x: (x * 2).view((-1,) + x.shape[1:]).reshape(*x.shape[:-1], -1, 2))
        before = slotrt.stats()["frames_compiled"]
        for sizes in ((2, 3, 4), (5, 7, 4), (6, 9, 4), (8, 2, 4)):
            self.assertEqual(compiled(torch.ones(sizes)).shape, (*sizes[:2], 2, 2))
        self.assertEqual(slotrt.stats()["frames_compiled"] - before, 2)


class Backends(unittest.TestCase):
    """Backends get inputs with symbolic sizes, as PyTorch's own front end gives them."""

    def run_sizes(self, function, sizes, backend, numbers=None):
        slotrt.reset()
        compiled = slotrt.compile(function, backend=backend)
        for index, n in enumerate(sizes):
            args = (torch.randn(n, 6, requires_grad=True), *([numbers[index]] if numbers else []))
            expected, found = function(*args), compiled(*args)
            self.assertTrue(torch.equal(expected, found))
            if found.requires_grad:
                gradients = [torch.autograd.grad(result.sum(), args[0])[0] for result in (expected, found)]
                self.assertTrue(torch.equal(*gradients))
        return slotrt.stats()["frames_compiled"]

    def test_examples(self):
        examples = []

        def backend(module, inputs):
            examples.append([list(x.shape) if isinstance(x, torch.Tensor) else x for x in inputs])
            return module.forward

        traces = self.run_sizes(lambda x: x * 2 + x.shape[0], [2, 3, 4, 5], backend)
        self.assertEqual((traces, examples[0]), (2, [[2, 6]]))
        shape, size = examples[1]
        self.assertIsInstance(size, torch.SymInt)
        self.assertIsInstance(shape[0], torch.SymInt)
        self.assertEqual(shape[1], 6)

    def test_what_a_backend_relies_on(self):
        asked = []

        def backend(module, inputs):
            size = inputs[0].shape[0]
            if isinstance(size, torch.SymInt) and size % 2 == 0:
                asked.append(size)
                return lambda x: (x * 2,)
            return module.forward

        self.assertEqual(self.run_sizes(lambda x: x + x, [3, 4, 6, 5, 7, 8, 9, 10], backend), 3)
        self.assertEqual(len(asked), 1)

    def test_aot_autograd(self):
        from functorch.compile import make_boxed_func
        from torch._dynamo.backends.common import aot_autograd

        backend = aot_autograd(fw_compiler=lambda module, inputs: make_boxed_func(module.forward))

        def f(x, k):
            return torch.relu(LINEAR(x)).view(x.shape[0], -1) * x.size(0) * k

        self.assertEqual(self.run_sizes(f, [2, 3, 4, 5, 9], backend, [1, 2, 3, 0, -4]), 2)

    def test_changes_in_place(self):
        def f(x, y):
            x += y
            return x * y.shape[0]

        compiled = slotrt.compile(f, backend=lambda module, inputs: module.forward)
        for n in range(2, 6):
            x, y = torch.randn(n), torch.randn(n)
            copy = x.clone()
            self.assertTrue(torch.equal(compiled(x, y), f(copy, y)))
            self.assertTrue(torch.equal(x, copy))


class Marks(unittest.TestCase):
    """What programs say of sizes."""

    def traces(self, sizes, mark, function=lambda x: x * 2 + x.shape[0], **options):
        slotrt.reset()
        compiled = slotrt.compile(function, **options)
        for n in sizes:
            x = torch.randn(n, 3)
            mark(x)
            self.assertTrue(same(function(x), compiled(x)))
        return slotrt.stats()["frames_compiled"]

    def test_symbolic_from_the_first(self):
        for mark in (slotrt.mark_dynamic, slotrt.maybe_mark_dynamic):
            self.assertEqual(self.traces([3, 4, 5, 6], lambda x: mark(x, 0)), 1)
            self.assertEqual(self.traces([3, 4, 5, 6], lambda x: mark(x, -2)), 1)
        self.assertEqual(self.traces([3, 4, 5, 6], lambda x: torch._dynamo.mark_dynamic(x, 0)), 1)
        self.assertEqual(self.traces([3, 4, 5, 6], lambda x: slotrt.mark_dynamic(x, 0), dynamic=False), 1)

    def test_a_range(self):
        self.assertEqual(self.traces([3, 4, 9, 8, 10, 3], lambda x: slotrt.mark_dynamic(x, 0, min=3, max=9), dynamic=False), 2)

    def test_constants(self):
        self.assertEqual(self.traces([3, 4, 5, 6], lambda x: slotrt.mark_static(x, 0)), 4)
        self.assertEqual(self.traces([3, 4, 5, 6], slotrt.mark_static, dynamic=True), 4)

    def test_another_number_changes(self):
        # Each place of an argument, and each size of the first: none of them is taken for another one.
        for place in range(1, 5):
            sizes = []

            def backend(graph, inputs):
                sizes.extend(type(size) for given in inputs if isinstance(given, torch.Tensor) for size in given.shape)
                return graph

            parameters = ["x", *(f"n{number}" for number in range(1, place + 1))]
            scope = {}
            exec(f"def f({', '.join(parameters)}): return x.sum() * n{place}", scope)
            f = slotrt.compile(scope["f"], backend=backend)
            for number in range(3):
                x = torch.ones(2, 3, 4, 5, 6)
                self.assertEqual(f(x, *[0] * (place - 1), number + 2), x.sum() * (number + 2))
            self.assertEqual(set(sizes), {int})

    def test_bad_marks(self):
        x = torch.randn(2, 3)
        slotrt.mark_static(x, 0)
        with self.assertRaisesRegex(ValueError, "dimension 0 is marked as static already"):
            slotrt.mark_dynamic(x, 0)
        slotrt.mark_dynamic(x, 1)
        with self.assertRaisesRegex(ValueError, "dimension 1 is marked as dynamic already"):
            slotrt.mark_static(x, 1)
        with self.assertRaisesRegex(IndexError, "dimension 2 of a tensor that has 2"):
            slotrt.mark_dynamic(x, 2)
        with self.assertRaisesRegex(TypeError, "a dimension is an int, not str"):
            slotrt.mark_dynamic(x, "0")
        with self.assertRaisesRegex(ValueError, "min=5 is greater than max=4"):
            slotrt.mark_dynamic(torch.randn(5), 0, min=5, max=4)
        with self.assertRaisesRegex(TypeError, "min is an int or None, not float"):
            slotrt.mark_dynamic(torch.randn(5), 0, min=2.5)
        for mark in (slotrt.mark_dynamic, slotrt.maybe_mark_dynamic, slotrt.mark_static):
            with self.assertRaisesRegex(TypeError, "sizes of a tensor are marked, not of int"):
                mark(3, 0)
        with self.assertRaisesRegex(TypeError, "sizes of a tensor are marked, not of list"):
            slotrt.mark_static([3])


if __name__ == "__main__":
    unittest.main()
