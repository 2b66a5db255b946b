"""The `torch.fx.GraphModule` that a backend gets is one that PyTorch's tools take: it can be printed, copied, pickled, traced anew and run
through passes, and its nodes say where they come from."""

import copy
import pickle
import subprocess
import sys
import unittest

import slotrt
import torch
from torch import nn
from torch.fx.passes.shape_prop import ShapeProp


def graph_of(function, *args):
    """The only graph of a call, what the backend got with it, and what the placeholders told it."""
    found = []

    def backend(graph, inputs):
        told = [node.meta["example_value"] for node in graph.graph.nodes if node.op == "placeholder"]
        found.append((graph, inputs, told))
        return graph

    slotrt.reset()
    slotrt.compile(function, backend=backend, fullgraph=True)(*args)
    (one,) = found
    return one


def program(x, y):
    z = (x * 2 - y).relu()
    z += 2 - x
    z = torch.einsum("ij,kj->ik", z, y).clamp_(0, 3)
    best = z.max(dim=1)
    return torch.nn.functional.gelu(best.values), z.T @ x, ~(z > 1), 3**z, z.split(1)[0], z[0, 1:], abs(-z)


class Sum(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Conv1d(1, 1, 1), nn.Softmax(-1))

    def forward(self, x):
        x = self.layers[1](self.layers[0](x))
        with torch.no_grad():
            y = x * 2
        with torch.device("cpu"):
            y = y + torch.ones(3)
        return self.layers[2:](x[:, None]) + y[:, None]


def cases():
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    yield program, (x, y)
    yield Sum(), (x,)


class Graphs(unittest.TestCase):
    def equal(self, graph, other, inputs):
        mine, theirs = (module(*[value.detach().clone() for value in inputs]) for module in (graph, other))
        torch.testing.assert_close(mine, theirs, rtol=0, atol=0, equal_nan=True)

    def test_copies(self):
        for function, args in cases():
            graph, inputs, _ = graph_of(function, *args)
            ways = {
                "deepcopy": copy.deepcopy,
                "copy": copy.copy,
                "pickle": lambda graph: pickle.loads(pickle.dumps(graph)),
                "trace": torch.fx.symbolic_trace,
                "transform": lambda graph: torch.fx.Transformer(graph).transform(),
                "interpret": lambda graph: torch.fx.Interpreter(graph).run,
            }
            for name, way in ways.items():
                with self.subTest(function=function, way=name):
                    self.equal(graph, way(graph), inputs)

    def test_pickled_for_another_process(self):
        graph, _, _ = graph_of(program, torch.randn(2, 3), torch.randn(2, 3))
        text = f"import pickle; print(pickle.loads({pickle.dumps(graph)!r})(*pickle.loads({pickle.dumps([torch.ones(2, 3)] * 2)!r}))[0])"
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.strip(), str(graph(torch.ones(2, 3), torch.ones(2, 3))[0]), done.stderr)

    def test_print_and_passes(self):
        for function, args in cases():
            graph, inputs, _ = graph_of(function, *args)
            graph.graph.lint()
            self.assertIn("def forward", graph.print_readable(print_output=False))
            ShapeProp(graph).propagate(*inputs)
            self.assertTrue(all("tensor_meta" in node.meta for node in graph.graph.nodes if node.op == "placeholder"))
            before = len(graph.graph.nodes)
            graph.graph.eliminate_dead_code()
            self.assertLessEqual(len(graph.graph.nodes), before)

    def test_operators_and_methods(self):
        graph, _, _ = graph_of(program, torch.randn(2, 3), torch.randn(2, 3))
        calls = [(node.op, getattr(node.target, "__name__", node.target)) for node in graph.graph.nodes]
        for call in ["mul", "sub", "iadd", "invert", "gt", "pow", "getitem", "neg", "abs", "matmul"]:
            self.assertIn(("call_function", call), calls)
        for call in ["relu", "clamp_", "max"]:
            self.assertIn(("call_method", call), calls)

    def test_examples(self):
        x, y = torch.randn(2, 3), torch.randn(2, 3)
        graph, _, told = graph_of(program, x, y)
        self.assertEqual([(type(value).__name__, value.shape) for value in told], [("FakeTensor", (2, 3))] * 2)
        self.assertIs(told[0].fake_mode, told[1].fake_mode)
        # Nobody has kept the inputs of a graph whose backend did not ask.
        kept = []
        slotrt.reset()
        slotrt.compile(lambda x: x + 1, backend=lambda graph, inputs: kept.append(graph) or graph)(x)
        meta = next(iter(kept[0].graph.nodes)).meta
        self.assertNotIn("example_value", meta)
        with self.assertRaises(KeyError):
            meta["example_value"]

    def test_a_parameter_of_any_name(self):
        def forward(self, torch, forward, device):
            return self * 2 + torch - forward * device

        x = torch.randn(2, 3)
        args = x, x + 1, x + 2, x + 3
        graph, inputs, _ = graph_of(forward, *args)
        self.assertEqual(len(inputs), 4)
        torch.testing.assert_close(graph(*args)[0], forward(*args), rtol=0, atol=0)

    def test_methods_of_tensors_after_a_break(self):
        def halved(x):
            return x // 2

        compiled = slotrt.compile(halved, backend=lambda graph, inputs: graph)
        for x in (torch.ones(2, 3), torch.ones(2, 3, dtype=torch.complex64), torch.ones(2, 2) * 5):
            try:
                expected = halved(x)
            except NotImplementedError as error:
                with self.assertRaisesRegex(NotImplementedError, str(error)):
                    compiled(x)
            else:
                self.assertEqual(compiled(x).tolist(), expected.tolist())

    def test_origins(self):
        graph, _, _ = graph_of(program, torch.randn(2, 3), torch.randn(2, 3))
        node = next(node for node in graph.graph.nodes if node.target == "max")
        self.assertIn(__file__, node.meta["stack_trace"])
        self.assertIn("best = z.max(dim=1)", node.meta["stack_trace"])
        self.assertEqual(node.meta["source_fn_stack"], [(node.name, node.target)])


class OtherGraphs(unittest.TestCase):
    def test_arrays_run_as_they_are(self):
        import numpy

        def f(x, a):
            return torch.from_numpy(numpy.sin(a) + 1) * x, x + 1

        x, a = torch.ones(3), numpy.arange(3.0)
        for name in ("aot_eager", "inductor"):
            slotrt.reset()
            torch.testing.assert_close(slotrt.compile(f, backend=name)(x, a), f(x, a))
            with slotrt.torch.frontend():
                torch.testing.assert_close(torch.compile(f, backend=name)(x, a), f(x, a))

    def test_modules_that_nodes_belong_to(self):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU())])

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x * 2

        model = Model()
        graph, *_ = graph_of(lambda x: model(x), torch.ones(2, 3))
        stacks = [list(node.meta["nn_module_stack"].values()) for node in graph.graph.nodes if node.op == "call_function"]
        root = ("L['model']", Model)
        first, second = ("L['model'].layers.0", nn.Linear), ("L['model'].layers.1", nn.Sequential)
        inner = [("L['model'].layers.1.0", nn.Linear), ("L['model'].layers.1.1", nn.ReLU)]
        self.assertEqual(stacks, [[root, first], [root, second, inner[0]], [root, second, inner[1]], [root]])

    def test_parameters_as_attributes(self):
        net, seen = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), []

        def backend(graph, inputs):
            seen.append(graph)
            self.assertEqual([tuple(value.shape) for value in inputs], [(2, 3)])
            return graph

        compiled = slotrt.compile(net, backend=slotrt.torch.parameters_as_attributes(backend), fullgraph=True)
        x = torch.arange(6.0).reshape(2, 3)
        for _ in range(2):
            torch.testing.assert_close(compiled(x), net(x))
        (graph,) = seen
        self.assertEqual([node.op for node in graph.graph.nodes].count("get_attr"), 4)
        self.assertEqual({id(held) for held in graph.parameters()}, {id(held) for held in net.parameters()})
        for other in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph)), torch.fx.symbolic_trace(graph)):
            torch.testing.assert_close(other(x)[0], net(x))
        net[0].weight = nn.Parameter(torch.ones(4, 3))
        torch.testing.assert_close(compiled(x), net(x))
        compiled(x).sum().backward()
        self.assertIsNotNone(net[0].weight.grad)

    def test_parameters_as_attributes_through_autograd(self):
        net = nn.Linear(3, 4)
        for name in ("aot_eager", "eager"):
            compiled = slotrt.compile(net, backend=slotrt.torch.parameters_as_attributes(name), fullgraph=True)
            x = torch.arange(6.0).reshape(2, 3)
            torch.testing.assert_close(compiled(x), net(x))
            net.zero_grad()
            compiled(x).sum().backward()
            torch.testing.assert_close(net.bias.grad, torch.full((4,), 2.0))


if __name__ == "__main__":
    unittest.main()
