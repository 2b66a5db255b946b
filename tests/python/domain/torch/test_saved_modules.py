"""Traces of modules and of functions of PyTorch and numpy on disk."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """
import json, sys
import numpy as np
import torch
from torch import nn
import slotrt

class Block(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.first, self.second, self.act = nn.Linear(width, 2 * width), nn.Linear(2 * width, width), act
        self.register_buffer("mean", torch.zeros(width))

    def forward(self, x, *, scale=1.0):
        y = self.second(self.act(self.first(x)))
        return (x + y - self.mean) * scale

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(4, act) for act in (nn.ReLU(), nn.GELU(), torch.tanh))
        self.norm = nn.LayerNorm(4)
        self.conv = nn.Sequential(nn.Conv1d(2, 2, 3, padding=1), nn.BatchNorm1d(2), nn.ReLU(inplace=True))

    def forward(self, x):
        for block in self.blocks:
            x = block(x, scale=0.5)
        return self.conv(self.norm(x)).view(-1, 4).softmax(-1)

torch.manual_seed(0)
net = Net().eval()
other = Net().eval()

def attention(q, k, mask=None):
    scores = q @ k.transpose(-1, -2) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    return scores.softmax(-1, dtype=torch.float32).to(q.dtype)

def factories(x):
    return torch.cat([x, torch.zeros(2, dtype=torch.int64), torch.arange(2)]), torch.ones(x.shape, device=x.device)

def without_gradients(x):
    with torch.no_grad():
        return x * 2

def arrays(x, y):
    return np.where(x > y, x + y, np.sqrt(np.abs(x))).astype("float32"), x.sum(axis=0)

def in_place(x):
    x += 1
    return x.relu_()

def parts(x):
    shape = (*x.shape[:-1], -1, 2)
    return x[..., 1:3], x[:, ::2].flip(0), x[:, None, :2].view(shape), [x[0, 0, number] for number in range(1, 3)]

x = torch.linspace(-1, 1, 16).view(2, 2, 4)
CALLS = [
    (parts, (x,)),
    (net, (x,)), (other, (x,)), (attention, (x, x)), (attention, (x, x, torch.eye(2, dtype=torch.bool))),
    (factories, (torch.arange(3),)), (without_gradients, (x.clone().requires_grad_(),)),
    (arrays, (np.arange(4.0), np.ones(4))), (arrays, (np.arange(6.0).reshape(2, 3), np.ones(3))), (in_place, (x.clone(),)),
]
mode, path = sys.argv[1:3]
loaded = slotrt.load(path) if mode == "load" else None
compiled = {f: slotrt.compile(f) for f, _ in CALLS}
CHANGE
said = [repr(compiled[f](*args)) for f, args in CALLS]
torch.manual_seed(0)
plain = [repr(f(*args)) for f, args in CALLS[:-1]]
stats = slotrt.stats()
print(json.dumps({
    "said": said, "plain": plain, "traced": stats["frames_compiled"], "loaded": stats["traces_loaded"],
    "unfit": loaded and loaded.unfit, "saved": slotrt.save(path) if mode == "save" else None,
    "compilers": [name for name in ("torch._dynamo", "torch._inductor", "sympy") if name in sys.modules],
}))
"""


class SavedModules(unittest.TestCase):
    def run_program(self, mode, change=""):
        """In a process of its own. Texts have other hashes in each: nothing that runs here looks at the order of a set."""
        script = pathlib.Path(self.folder.name, "program.py")
        script.write_text(PROGRAM.replace("CHANGE", change))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, filter(None, sys.path))), "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": {"save": "1", "load": "2"}[mode]}
        command = [sys.executable, "-W", "ignore", script, mode, pathlib.Path(self.folder.name, "traces")]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(said["said"][: len(said["plain"])], said["plain"])
        return said

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.first = cls.run_program(cls(), "save")

    def test_second_process_traces_nothing(self):
        self.assertEqual(self.first["saved"]["left_out"], {})
        second = self.run_program("load")
        self.assertEqual(second["unfit"], {})
        self.assertEqual(second["said"], self.first["said"])
        self.assertEqual((second["traced"], second["loaded"]), (0, len(second["said"])))
        self.assertEqual(second["compilers"], [])

    def test_changed_modules(self):
        """Guards look at what another process has made otherwise."""
        for change in (
            "net.blocks[0].act = nn.Sigmoid()",
            "net.train(); net.conv[1].momentum = 0.5; net.eval(); net.conv[1].eps = 1.0",
            "net.norm.forward = lambda x: x",
            "net.blocks[1].second.bias = None",
            "nn.Linear.forward = lambda self, x: torch.nn.functional.linear(x, self.weight * 2, self.bias)",
            "torch.set_default_dtype(torch.float64)",
            "net.double(); net.float(); net.blocks[0].first.register_forward_hook(lambda module, args, result: result + 1)",
            "nn.functional.linear = lambda x, weight, bias=None: x @ weight.T * 2",
        ):
            with self.subTest(change=change):
                self.run_program("load", change)


if __name__ == "__main__":
    unittest.main()
