"""Recurrent modules and cells, packed sequences, seeded generators, averaged weights, scaled gradients, and training in two processes."""

import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

import slotrt
import torch
from torch import nn
from torch.nn.utils import rnn


def sequences():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(3, 5, 4, generator=generator), torch.tensor([5, 3, 2])


def value(result):
    if isinstance(result, torch.Tensor):
        return result.dtype, tuple(result.shape), result.requires_grad, result.tolist()
    return [value(part) for part in result] if isinstance(result, (tuple, list)) else result


class Recurrent(unittest.TestCase):
    def compares(self, function, most, *args):
        """Equal results at three calls, random state included, no trace after the first, and few breaks."""
        slotrt.reset()
        compiled, traced = slotrt.compile(function), []
        for _ in range(3):
            torch.manual_seed(7)
            expected = value(function(*args)), torch.rand(1).item()
            torch.manual_seed(7)
            self.assertEqual((value(compiled(*args)), torch.rand(1).item()), expected)
            traced.append(slotrt.stats()["instructions"])
        self.assertEqual(traced, traced[:1] * 3)
        self.assertLessEqual(slotrt.stats()["graph_breaks"], most)

    def test_modules(self):
        x, _ = sequences()
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            for options in ({}, {"num_layers": 2, "dropout": 0.5}, {"bidirectional": True, "batch_first": True}):
                self.compares(kind(4, 3, **options), 0, x)

    def test_cells(self):
        x, _ = sequences()
        for cell in (nn.LSTMCell(4, 3), nn.GRUCell(4, 3), nn.RNNCell(4, 3)):
            def steps(x, cell=cell):
                state = None
                for part in x:
                    state = cell(part, state)
                return state

            self.compares(steps, 0, x)

    def test_packed_sequences(self):
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            module = kind(4, 3, batch_first=True)

            def packed(x, lengths, module=module):
                packed = rnn.pack_padded_sequence(x * 2, lengths, batch_first=True, enforce_sorted=False)
                result, _ = module(packed)
                padded, lengths = rnn.pad_packed_sequence(result, batch_first=True)
                return padded * 2, lengths

            self.compares(packed, 3, *sequences())

    def test_averaged_weights(self):
        def average(old, new):
            with torch.no_grad():
                for one, two in zip(old.parameters(), new.parameters()):
                    one.lerp_(two, 0.1)

        pairs = []
        for call in (average, slotrt.compile(average)):
            torch.manual_seed(0)
            old, new = nn.Linear(4, 4), nn.Linear(4, 4)
            for _ in range(3):
                call(old, new)
            pairs.append([value(parameter) for parameter in old.parameters()])
        self.assertEqual(*pairs)


WORKER = '''
import sys
import torch
from torch import distributed, nn
import slotrt

rank, path = int(sys.argv[1]), sys.argv[2]
distributed.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=2)
found = []
for kind in ("plain", "module", "wrapper", "step"):
    slotrt.reset()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    wrapper = nn.parallel.DistributedDataParallel(slotrt.compile(net) if kind == "module" else net)
    optimizer = torch.optim.SGD(wrapper.parameters(), 0.1)
    run = slotrt.compile(wrapper) if kind == "wrapper" else wrapper
    generator = torch.Generator().manual_seed(rank)

    def step(x, y):
        optimizer.zero_grad()
        loss = ((run(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    call = slotrt.compile(step) if kind == "step" else step
    losses, traced = [], []
    for _ in range(6):
        losses.append(call(torch.randn(4, 3, generator=generator), torch.randn(4, 1, generator=generator)).item())
        traced.append(slotrt.stats()["instructions"])
    found.append((losses, [parameter.tolist() for parameter in net.parameters()]))
    assert found[-1] == found[0], (kind, found)
    if kind == "module":
        assert len(set(traced)) == 1, traced
distributed.destroy_process_group()
print("equal")
'''


def sockets_open():
    """Whether a socket of this machine can be listened at, which gloo needs."""
    try:
        with socket.socket() as made:
            made.bind(("127.0.0.1", 0))
            made.listen()
        return True
    except OSError:
        return False


@unittest.skipUnless(torch.distributed.is_available() and torch.distributed.is_gloo_available(), "this PyTorch has no gloo")
@unittest.skipUnless(sockets_open(), "no socket can be opened")
class TwoProcesses(unittest.TestCase):
    def test_distributed_data_parallel(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "worker.py"
            script.write_text(WORKER, encoding="utf-8")
            start = [sys.executable, "-W", "ignore", str(script)]
            shared = str(pathlib.Path(folder) / "rendezvous")
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            workers = [subprocess.Popen([*start, str(rank), shared], **pipes) for rank in range(2)]
            try:
                for worker in workers:
                    out, said = worker.communicate(timeout=300)
                    self.assertEqual((out, worker.returncode), ("equal\n", 0), said)
            finally:
                for worker in workers:
                    worker.kill()


if __name__ == "__main__":
    unittest.main()
