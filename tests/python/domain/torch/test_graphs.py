"""PyTorch: what a trace records into the graph and where it breaks. Results and gradients are those of plain execution."""

import unittest

import torch
from torch import nn

import slotrt


def value(result):
    """A comparable form of a result."""
    if isinstance(result, torch.Tensor):
        return type(result), result.dtype, tuple(result.shape), result.requires_grad, result.tolist()
    if isinstance(result, (tuple, list)) and not isinstance(result, torch.Size):
        return type(result), [value(item) for item in result]
    return type(result), result


def outcome(function, *args):
    """The result, or the exception."""
    try:
        return value(function(*args))
    except Exception as error:
        return type(error), str(error)


class Torch(unittest.TestCase):
    def setUp(self):
        slotrt.reset()
        torch.manual_seed(0)

    def agree(self, function, *calls):
        """Compiled equals plain on each call's fresh arguments, and the arguments end up the same."""
        compiled = slotrt.compile(function)
        for make in calls:
            mine, theirs = make(), make()
            self.assertEqual(outcome(compiled, *mine), outcome(function, *theirs))
            self.assertEqual(value(list(mine)), value(list(theirs)))

    def recorded(self, function, *args):
        """The whole function is one graph."""
        report = slotrt.explain(function)(*args)
        self.assertEqual((report.graphs, report.breaks), (1, 0), report)
        return report

    def test_operators_are_one_graph(self):
        def f(a, b):
            c = (a + b) * 2 - 1 / (a.abs() + 1)
            return torch.relu(c @ a.T)[0], -c, c > b, 2 < c

        a, b = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
        self.agree(f, lambda: (a, b), lambda: (b, a), lambda: (a.double(), b))
        self.recorded(f, a, b)

    def test_metadata_is_known(self):
        def f(a):
            return a * len(a), a.dtype, a.ndim, a.shape[0] + 1, a.requires_grad, a.device.type

        self.agree(f, lambda: (torch.ones(2, 3),), lambda: (torch.ones(4),), lambda: (torch.ones(4, dtype=torch.int32),))

    def test_contents_are_never_baked_in(self):
        functions = [
            lambda a: 1 if a.sum() > 3 else 2,
            lambda a: a.sum().item() + 1,
            lambda a: int(a[0]),
            lambda a: a.tolist(),
            lambda a: a.nonzero(),
            lambda a: a[a > 1],
            lambda a: str(a),
            lambda a: 2 in a,
            lambda a: [x * 2 for x in a],
            lambda a: {a: 1}[a],
        ]
        for number, function in enumerate(functions):
            with self.subTest(number=number):
                self.agree(function, lambda: (torch.tensor([1.0, 2.0]),), lambda: (torch.tensor([5.0, 0.0]),))

    def test_in_place_changes_and_views(self):
        def f(a):
            view = a[1:]
            before = a * 2
            a += 1
            a[0] = 9
            a.mul_(2)
            torch.add(a, 1, out=a)
            return before, view + 0, a.contiguous() is a

        self.agree(f, lambda: (torch.arange(3.0),), lambda: (torch.arange(3.0) + 1,))

    def test_exceptions(self):
        functions = [lambda a: a + torch.ones(7), lambda a: a[10], lambda a: a @ "x", lambda a: a.nothing, lambda a: a()]
        for number, function in enumerate(functions):
            with self.subTest(number=number):
                self.agree(function, lambda: (torch.arange(3.0),), lambda: (torch.arange(3.0),))

    def test_gradients_equal_eager(self):
        def f(x, w):
            return (torch.tanh(x @ w) * x.sum()).sum()

        compiled = slotrt.compile(f)
        for _ in range(2):
            found = []
            for function in (compiled, f):
                x = torch.arange(4.0).reshape(2, 2).requires_grad_()
                w = torch.ones(2, 2, requires_grad=True)
                function(x, w).backward()
                found.append((value(x.grad), value(w.grad)))
            self.assertEqual(found[0], found[1])

    def test_grad_mode_is_guarded(self):
        def f(x):
            return x * 2

        def inside(x):
            with torch.no_grad():
                y = x * 2
            return y, x * 3

        compiled, x = slotrt.compile(f), torch.ones(2, requires_grad=True)
        self.assertTrue(compiled(x).requires_grad)
        with torch.no_grad():
            self.assertFalse(compiled(x).requires_grad)
        self.agree(inside, lambda: (x,), lambda: (x,))

    def test_overrides_are_respected(self):
        class Sub(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return func.__name__

        sub = torch.ones(2).as_subclass(Sub)
        self.agree(lambda a, b: a + b, lambda: (torch.ones(2), torch.ones(2)), lambda: (torch.ones(2), sub))
        self.agree(lambda a, b: torch.add(a, b), lambda: (torch.ones(2), sub))

    def test_a_break_in_the_middle(self):
        def f(a):
            b = a * 2
            slotrt.graph_break()
            return b + 1

        report = slotrt.explain(f)(torch.ones(2))
        self.assertEqual((report.graphs, report.breaks), (2, 1), report)
        self.agree(f, lambda: (torch.ones(2),), lambda: (torch.ones(3),))

    def test_random_numbers_come_in_order(self):
        def f(a):
            return nn.functional.dropout(a, 0.5), torch.rand(2), torch.bernoulli(a), torch.rand_like(a)

        compiled, results = slotrt.compile(f), []
        for function in (f, compiled, compiled):
            torch.manual_seed(7)
            results.append(value(function(torch.full((8,), 0.5))))
        self.assertEqual(results[1:], [results[0]] * 2)

    def test_backends_get_a_graph_module(self):
        seen = []

        def backend(module, example_inputs):
            seen.append((isinstance(module, torch.fx.GraphModule), [tuple(x.shape) for x in example_inputs]))
            return module

        def f(a, b):
            return torch.relu(a @ b + 1)[0] * 2

        a, b = torch.randn(2, 3), torch.randn(3, 2)
        compiled = slotrt.compile(f, backend=backend)
        for _ in range(2):
            self.assertEqual(value(compiled(a, b)), value(f(a, b)))
        self.assertEqual(seen, [(True, [(2, 3), (3, 2)])])

    def test_modules(self):
        model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))

        def f(x):
            return model(x)

        compiled = slotrt.compile(f)
        for _ in range(2):
            x = torch.randn(5, 3)
            self.assertEqual(value(compiled(x)), value(f(x)))
        encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
        x = torch.randn(2, 3, 8)
        self.assertEqual(value(slotrt.compile(lambda x: encoder(x))(x)), value(encoder(x)))

    def test_modules_are_one_graph(self):
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.project, self.out = nn.Linear(8, 24), nn.Linear(8, 8)

            def forward(self, x):
                batch, length, size = x.shape
                q, k, v = (part.view(batch, length, 2, 4).transpose(1, 2) for part in self.project(x).chunk(3, -1))
                hidden = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
                weights = (q @ k.transpose(-2, -1) / 2.0).masked_fill(hidden, float("-inf")).softmax(-1)
                return self.out((weights @ v).transpose(1, 2).reshape(batch, length, size))

        convolution = nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 2)
        )
        recurrent = nn.LSTM(4, 5, batch_first=True)
        models = [
            (nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.LayerNorm(4)), torch.randn(3, 4)),
            (convolution, torch.randn(2, 3, 8, 8)),
            (recurrent, torch.randn(2, 3, 4)),
            (nn.Sequential(nn.Embedding(9, 8), Attention(), nn.Dropout(0.5)), torch.randint(0, 9, (2, 5))),
            (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), torch.randn(2, 3, 8)),
        ]
        for model, x in models:
            with self.subTest(type(model).__name__):
                model.eval()
                self.assertEqual(value(slotrt.compile(lambda x: model(x), fullgraph=True)(x)), value(model(x)))
                self.recorded(lambda x: model(x), x)

    def test_results_of_several_tensors(self):
        seen = []

        def backend(module, example_inputs):
            seen.append(module.code)
            return module

        def f(a):
            low, high = a.chunk(2)
            most = high.max(dim=0)
            return low, [part * 2 for part in a.unbind()], most.values, most, torch.sort(a)[1]

        self.agree(f, lambda: (torch.arange(6.0).reshape(2, 3),), lambda: (torch.ones(4, 2),))
        self.recorded(f, torch.arange(6.0).reshape(2, 3))
        x = torch.randn(2, 3)
        self.assertEqual(value(slotrt.compile(f, backend=backend)(x)), value(f(x)))
        self.assertIn("chunk", seen[0])

    def test_methods_that_ask_for_metadata(self):
        def f(a):
            return a.dim(), a.size(), a.size(0) * 2, a.stride(), a.numel(), a.is_contiguous(), a.is_floating_point()

        self.agree(f, lambda: (torch.ones(2, 3),), lambda: (torch.ones(3, 2).T,), lambda: (torch.ones(4).int(),))
        self.assertEqual(value(slotrt.compile(f, fullgraph=True)(torch.ones(2, 3))), value(f(torch.ones(2, 3))))

    def test_tensors_made_from_nothing_are_new_each_time(self):
        def f(a):
            device = torch.device("cpu")
            made = [torch.zeros(2), torch.arange(4), torch.full((2,), 1.5), torch.tensor([1, a.size(0)])]
            return [*made, torch.ones(2, device=device), torch.zeros_like(a, device="cpu"), torch.eye(2, dtype=torch.int64)]

        self.agree(f, lambda: (torch.ones(2, 3),), lambda: (torch.ones(4),))
        self.recorded(f, torch.ones(2))
        compiled = slotrt.compile(f)
        compiled(torch.ones(2))[0].add_(1)
        self.assertEqual(compiled(torch.ones(2))[0].tolist(), [0.0, 0.0])

    def test_operations_that_have_nothing_to_do_give_the_operand(self):
        def f(a):
            b = a.contiguous()
            return b is a, torch.dropout(b, 0.5, False) is a, (a + 1) is a, a.T.contiguous() is a, b

        a = torch.ones(2, 3)
        self.agree(f, lambda: (a,))
        self.assertIs(slotrt.compile(f)(a)[-1], a)

    def test_settings_are_read_again(self):
        def f(a):
            return a * (2 if torch.is_autocast_enabled("cpu") else 3), torch.backends.cudnn.enabled

        compiled = slotrt.compile(f, fullgraph=True)
        a = torch.ones(2)
        before = torch.backends.cudnn.enabled
        try:
            for torch.backends.cudnn.enabled in (True, False, True):
                self.assertEqual(value(compiled(a)), value(f(a)))
                with torch.autocast("cpu"):
                    self.assertEqual(value(compiled(a)), value(f(a)))
        finally:
            torch.backends.cudnn.enabled = before


if __name__ == "__main__":
    unittest.main()
