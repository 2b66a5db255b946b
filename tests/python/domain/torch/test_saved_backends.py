"""Traces on disk whose graphs a backend compiles: the backend of the second process gets the same graphs, and nothing is traced."""

import tempfile
import unittest

from two_processes import check, run

HEAD = """
import sys
import torch, slotrt
from torch import nn
torch.manual_seed(0)
shown = []
def backend(graph, inputs):
    nodes = [(n.op, n.name, str(getattr(n.target, "__name__", n.target)), str(n.args)) for n in graph.graph.nodes]
    values = [str(n.meta["example_value"]) for n in graph.graph.nodes if n.op == "placeholder"]
    more = [(sorted(k for k in n.meta if k != "example_value"), n.meta.get("stack_trace"), [p for p, _ in n.meta.get("nn_module_stack", {}).values()]) for n in graph.graph.nodes]
    shown.append([nodes, values, more, [type(i).__name__ for i in inputs]])
    return graph
def more(): return shown
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 4)
        self.register_buffer("seen", torch.zeros(4))
    def forward(self, x, scale=2.0):
        y = self.second(torch.relu(self.first(x))) * scale
        self.seen += 1
        return y + self.seen
net = Net()
def trained(x):
    result = call(x)
    result.sum().backward()
    return result.sum().item(), net.first.weight.grad.sum().item(), net.seen.tolist()
"""


class Saved(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check(self, program, **others):
        return check(self, self.folder, HEAD + program, **others)

    PROGRAM = """
def parts(x, n):
    y = x[:, :n] * n
    slotrt.graph_break()
    return (y.view(-1, 2) + 1).sum() if n % 2 == 0 else y.sum()
def changed(x):
    x.add_(1)
    with torch.no_grad():
        y = x * 2
    return y, x.sum()
CALLS = [(f"net{n}", net, (torch.linspace(-1, 1, 4 * n).view(n, 4),)) for n in (2, 3, 5)]
CALLS += [(f"parts{n}", parts, (torch.ones(4, 4), n)) for n in (2, 3, 4, 4)] + [("changed", changed, lambda: (torch.ones(3),))]
OPTIONS = {"backend": BACKEND}
"""

    def test_graph_modules(self):
        first, second = self.check(self.PROGRAM.replace("BACKEND", "backend"))
        self.assertEqual(second["more"], first["more"])
        self.assertEqual(second["graphs"], first["graphs"])

    def test_aot(self):
        self.check("net.requires_grad_(False)\n" + self.PROGRAM.replace("BACKEND", "'aot_eager'"))

    def test_another_backend(self):
        """Graphs are the same for each: the second process need not have that of the first."""
        program = "net.requires_grad_(False)\n" + self.PROGRAM
        run(self.folder, "save", HEAD + program.replace("BACKEND", "backend"))
        second = run(self.folder, "load", HEAD + program.replace("BACKEND", "'aot_eager'"))
        plain = run(self.folder, "plain", HEAD + program.replace("BACKEND", "None"))
        self.assertEqual(second["said"], plain["said"])
        # What that backend relies on of sizes may ask for traces of its own.
        alone = run(self.folder, "trace", HEAD + program.replace("BACKEND", "'aot_eager'"))
        self.assertGreater(second["loaded"], 4)
        self.assertLess(second["traced"], alone["traced"] - 4)
        without = run(self.folder, "load", HEAD + program.replace("BACKEND", "'eager'"))
        self.assertEqual((without["loaded"], without["said"]), (0, plain["said"]))

    def test_conditions_of_the_backend(self):
        """What a backend relies on of sizes is a guard in the second process, too: relied on by the backend there."""
        program = """
def relies(graph, inputs):
    relied.append(isinstance(inputs[0].shape[0], torch.SymInt) and bool(inputs[0].shape[0] % REST == 0))
    return graph
relied = []
def more(): return relied
def f(x): return (x * 2).sum()
CALLS = [(str(n), f, (torch.ones(n, 3),)) for n in SIZES]
OPTIONS = {"backend": relies}
"""
        def having(sizes, rest): return HEAD + program.replace("SIZES", sizes).replace("REST", rest)
        first = run(self.folder, "save", having("(2, 4, 6, 8)", "2"))
        self.assertEqual((first["traced"], first["more"]), (2, [False, True]))
        second = run(self.folder, "load", having("(2, 4, 8, 7, 9)", "2"))
        self.assertEqual([said for _, said in second["said"]], [f"tensor({n * 6}.)" for n in (2, 4, 8, 7, 9)])
        self.assertEqual((second["loaded"], second["traced"], second["more"]), (2, 1, [False, True, False]))
        third = run(self.folder, "load", having("(2, 8, 6)", "4"))
        self.assertEqual((third["loaded"], third["traced"], third["more"]), (2, 1, [False, True, False]))

    def test_inductor(self):
        """Symbolic sizes, floats, texts and a graph break, with code that the first process's Inductor has kept."""
        program = """
def rows(x, factor):
    n = x.shape[0]
    padded = torch.nn.functional.pad(torch.relu(x) * factor, (0, 0, 0, -n % 4))
    return (padded.view(-1, 4, 4).sum(0) * n).tolist(), f"{n} rows"
def steps(x, k):
    y = x[::k] * k
    slotrt.graph_break()
    return (y.cumsum(0) + torch.full((y.shape[0], 1), 0.5 * k)).tolist()
def of(n): return torch.arange(n * 4.0).view(n, 4) / 8
CALLS = [(f"rows{n}", rows, (of(n), n / 4)) for n in (3, 4, 6)] + [(f"steps{k}", steps, (of(12), k)) for k in (2, 3, 4)]
OPTIONS = {"backend": "inductor"}
"""
        self.check(program, TORCHINDUCTOR_CACHE_DIR=f"{self.folder}/inductor")

    def test_a_backend_that_raises(self):
        program = """
def fails(graph, inputs):
    if sys.argv[1] == "load": raise ValueError("no such device")
    return graph
def f(x): return x * 2
CALLS = [("f", f, (torch.ones(2),))]
OPTIONS = {"backend": fails}
"""
        run(self.folder, "save", HEAD + program)
        self.assertIn("ValueError: no such device", run(self.folder, "load", HEAD + program)["said"][0][1])

    def test_parts_beside_a_backend(self):
        self.check("""
import numpy as np
def f(x, y):
    z = torch.sin(x) * 2
    array = z.detach().numpy() + y
    return torch.from_numpy(array) * z
CALLS = [("f", f, (torch.ones(3), np.arange(3.0)))] * 2
OPTIONS = {"backend": backend}
""")

    def test_training_steps(self):
        self.check("""
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
def step(x):
    optimizer.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()
CALLS = [("step", step, (torch.linspace(-1, 1, 8).view(2, 4),))] * 4
""")


if __name__ == "__main__":
    unittest.main()
