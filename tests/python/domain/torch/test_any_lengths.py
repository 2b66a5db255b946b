"""What is known of tensors whose sizes contents decide: the sizes that are the same whatever the contents. Lists of such numbers; where a graph
ends that needs one; what backends get of it."""

import unittest

import slotrt
import torch
from contents_cases import CONTENTS, outcome, vector
from torch import nn
from torch.nn import functional


def rows(x):
    return (x[:, None] * torch.arange(1.0, 5.0))[x > 0]


def squeezed(x):
    index = (x > 1).nonzero().squeeze(1)
    return x[index] * 2, x.index_select(0, index), index.unsqueeze(1).shape[1]


def of_experts(x):
    hidden, out = x[:, None] * torch.ones(6, 4), torch.zeros(6, 4)
    for expert in range(3):
        index = (x % 3 == expert).nonzero().squeeze(-1)
        out.index_add_(0, index, hidden[index] * (expert + 1))
    return out


def columns(x):
    y = rows(x)
    first, second = y.chunk(2, 1)
    return first + second, y.unbind(-1), torch.stack(y.unbind(1)[:2], -1), y.shape[1], y.size(-1)


def viewed(x):
    y = rows(x)
    n, width = y.shape
    return y.view(n, 2, width // 2), y.flatten(), y.permute(1, 0), y[..., 1:3], y[0:0], y.t()[0], y[:, None].squeeze(1)


def read_only(x):
    y = rows(x)
    scores = functional.scaled_dot_product_attention(y[None], y[None], y[None])
    normed = functional.layer_norm(y, (4,)), torch.einsum("nd,md->nm", y, y)
    return scores, normed, y @ torch.ones(4, 2), functional.linear(y, torch.ones(3, 4)).softmax(-1), y.tril(), torch.isin(y, y[:1])


def alike(x):
    y = rows(x)
    return torch.empty_like(y).fill_(1), torch.zeros_like(y), y.new_ones(y.shape), torch.cat([y, y]), torch.zeros(len(y), 4) + y


def lists(x):
    a, b, c = x[:3].tolist()
    items = x.tolist()
    return a + b, sum(items), max(items), min(items), items, x.view(2, 3).tolist(), torch.tensor([a, b]), [i * 2 for i in items], c


def split(x):
    lengths = x.abs().tolist()
    y = torch.arange(sum(lengths))
    return [part.sum() for part in y.split(lengths)], [torch.zeros(n) for n in lengths]


def grouped(x):
    hidden, parts, start = torch.ones(x.abs().sum().item(), 4), [], 0
    for n in x.abs().tolist():
        parts.append(hidden[start : start + n] @ torch.ones(4, 2))
        start += n
    return torch.cat(parts)


def by_number(x):
    n = x.abs()[1].item() % 6
    return x[n], x.select(0, n), torch.ones(n, n).tril(), x.repeat(n, 2), x.tile((n,)), torch.arange(n * 6).view(6, n)


def drawn(x):
    n = x.abs()[0].item()
    return torch.randperm(n), torch.randint(0, 5, (n,)), functional.interpolate(x[None, None].float(), size=n + 1)


def does_not_fit(x):
    y = rows(x)
    return y.view(2, 4), y + torch.ones(2, 4)


def truths(x):
    return (x > 2).tolist(), x.double().tolist(), x[0].tolist()


USES = [squeezed, of_experts, columns, viewed, read_only, alike, lists, split, grouped, by_number, drawn, does_not_fit, truths]


def seeded(function):
    def call(*args):
        torch.manual_seed(3)
        return function(*args)

    return call


class AnyLengths(unittest.TestCase):
    maxDiff = None

    def check(self, **options):
        for use in USES:
            slotrt.reset()
            compiled = slotrt.compile(use, fullgraph=True, **options)
            for contents in CONTENTS:
                with self.subTest(use=use.__name__, contents=contents):
                    found, plain = (outcome(seeded(function), vector(*contents)) for function in (compiled, use))
                    self.assertEqual(found, plain)
            with self.subTest(use=use.__name__):
                self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_one_graph(self):
        self.check()

    def test_one_graph_with_a_backend(self):
        self.check(backend=lambda graph, inputs: graph)

    def test_one_graph_through_autograd(self):
        self.check(backend="aot_eager")

    def test_ends_where_contents_began_to_decide(self):
        """What needs a number ends the graph at the number, and leaves others in it."""

        def use(x):
            return torch.zeros(x[0].item()), x[: x[1].item()], x * 2, range(x[2].item())

        slotrt.reset()
        compiled = slotrt.compile(use)
        for contents in ((3, 1, 4), (2, 2, 4), (5, 0, 4)):
            self.assertEqual(outcome(compiled, vector(*contents)), outcome(use, vector(*contents)))
        self.assertEqual(slotrt.stats()["graph_breaks"], 1)

    def test_changes_with_sizes_that_change(self):
        def use(x):
            out = torch.zeros_like(x)
            index = x[:, 0].gt(0).nonzero().squeeze(-1)
            out.index_add_(0, index, x[index].sin())
            out[index] += 1
            return out

        for options in ({}, {"backend": "aot_eager"}):
            slotrt.reset()
            compiled = slotrt.compile(use, fullgraph=True, **options)
            for length in range(2, 12):
                torch.manual_seed(length)
                x = torch.randn(length, 4)
                self.assertEqual(outcome(compiled, x), outcome(use, x))
            self.assertEqual(slotrt.stats()["frames_compiled"], 2)

    def test_gradients_flow(self):
        layer = nn.Linear(4, 3)

        def use(x):
            y = x[x[:, 0] > 0]
            first, second = layer(y).relu().split([1, 2], 1)
            return first.sum() + second.pow(2).sum() + y.unbind(1)[1].sum()

        for options in ({}, {"backend": "aot_eager"}):
            compiled = slotrt.compile(use, fullgraph=True, **options)
            for seed in range(6):
                found = []
                for function in (use, compiled):
                    torch.manual_seed(seed)
                    x = torch.randn(3 + seed, 4, requires_grad=True)
                    layer.zero_grad()
                    function(x).backward()
                    found.append((x.grad.tolist(), layer.weight.grad.tolist()))
                self.assertEqual(*found)


class PartsForBackends(unittest.TestCase):
    def test_parts_are_compiled_once_for_sizes_that_differ(self):
        sizes = []

        def backend(graph, inputs):
            sizes.append([tuple(map(str, value.shape)) for value in inputs])
            return graph

        def use(x):
            y = x[x > 0]
            return (y * 2 + 1).relu().sum(), y.exp() - 1

        slotrt.reset()
        compiled = slotrt.compile(use, backend=backend, fullgraph=True)
        for count in (3, 5, 4, 9, 7, 2, 8, 1, 0, 6, 1, 0, 3):
            x = torch.tensor([1.0] * count + [-1.0] * (9 - count))
            self.assertEqual(outcome(compiled, x), outcome(use, x))
        # The comparison; what follows for three elements, for any number of them, for one, and for none.
        self.assertEqual(len(sizes), 5)
        self.assertEqual(sizes[1], [("3",)])
        self.assertTrue(sizes[2][0][0].startswith("s"))

    def test_what_a_backend_relies_on_is_checked(self):
        calls = []

        def backend(graph, inputs):
            calls.append(bool(inputs[0].shape[0] % 2 == 0))
            return graph

        def use(x):
            return x[x > 0].exp()

        compiled = slotrt.compile(use, backend=backend, fullgraph=True)
        for count in (3, 5, 4, 8, 7, 6, 9):
            x = torch.tensor([1.0] * count + [-1.0] * (9 - count))
            self.assertEqual(outcome(compiled, x), outcome(use, x))
        self.assertLessEqual(len(calls), 5)
        self.assertIn(True, calls[2:])

    def test_floats_that_backends_do_not_take(self):
        def clamped(x, k):
            return x.clamp(-k, k) * 2 + 1

        def lerped(x, k):
            return torch.lerp(x, x + 1, k).sin(), torch.addcdiv(x, x, x + 3, value=k)

        def powers(x, k):
            return x.abs() ** k, torch.add(x, x, alpha=k), x.norm(k)

        def losses(x, k):
            return functional.huber_loss(x, x + 1, delta=k), functional.softplus(x, beta=k), functional.layer_norm(x, (4,), eps=k)

        torch.manual_seed(1)
        x = torch.randn(3, 4)
        for use in (clamped, lerped, powers, losses):
            for options in ({}, {"backend": lambda graph, inputs: graph}, {"backend": "aot_eager"}):
                slotrt.reset()
                compiled = slotrt.compile(use, **options)
                for k in (0.5, 0.25, 1.5, 2.0, 0.125):
                    with self.subTest(use=use.__name__, options=options, k=k):
                        found, plain = outcome(compiled, x, k), outcome(use, x, k)
                        if options.get("backend") == "aot_eager" and use in (powers, losses):
                            self.assertEqual(found[0], plain[0])
                        else:
                            self.assertEqual(found, plain)
                self.assertEqual((slotrt.stats()["frames_compiled"], slotrt.stats()["graph_breaks"]), (2, 0))


class NumbersThatChange(unittest.TestCase):
    def check(self, use, values, *tensors):
        for options in ({}, {"backend": "aot_eager"}):
            slotrt.reset()
            compiled = slotrt.compile(use, **options)
            for value in values:
                with self.subTest(options=options, value=value):
                    self.assertEqual(outcome(compiled, *tensors, value), outcome(use, *tensors, value))
            self.assertLessEqual(slotrt.stats()["frames_compiled"], 3)

    def test_powers_of_fractions(self):
        self.check(lambda x, k: (x / (1 - 0.9**k), 0.9**k, 1.0**k), (3, 5, 2, 7, 400, 10**6), torch.ones(3))

    def test_negative_powers_of_fractions_raise_in_time(self):
        self.check(lambda k: 0.5**k, (3, 5, 2, -3, 7))
        self.assertEqual(outcome(slotrt.compile(lambda k: 0.5**k), -(10**5))[1], OverflowError)

    def test_comparisons_of_powers(self):
        self.check(lambda x, k: x * min(k**-0.5, k * 4**-1.5), (5, 7, 2, 9, 3, 100, 4), torch.ones(3))

    def test_tensors_of_numbers(self):
        self.check(lambda x, k: torch.arange(12)[None] < torch.tensor([k, k + 1, 3])[:, None], (5, 7, 2, 9), torch.ones(3))

    def test_rows_that_lie_otherwise(self):
        for channels in (3, 1):
            layer, up = nn.Conv1d(channels, 5, 3, padding=1), nn.ConvTranspose1d(channels, 5, 3, stride=2)

            def use(x, layer=layer, up=up):
                y = x.transpose(1, 2)
                return layer(y), up(y), layer(y.contiguous())

            slotrt.reset()
            compiled = slotrt.compile(use)
            for length in (5, 7, 9, 4, 12, 6):
                x = torch.arange(2.0 * length * channels).reshape(2, length, channels)
                self.assertEqual(outcome(compiled, x), outcome(use, x))
            if channels == 3:
                self.assertEqual(slotrt.stats()["frames_compiled"], 2)


if __name__ == "__main__":
    unittest.main()
