"""`DistributedDataParallel` in two processes: compiled steps do what steps do uncompiled, and are traced once."""

import os
import socket
import subprocess
import sys
import tempfile
import unittest

import torch

PROGRAM = """
import json, sys
import torch, slotrt
from torch import nn
from torch.nn.parallel import DistributedDataParallel

rank, place = int(sys.argv[1]), sys.argv[2]
torch.distributed.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=2)

def steps(make):
    torch.manual_seed(0)
    network = DistributedDataParallel(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)

    def step(x):
        optimizer.zero_grad()
        loss = network(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach() * 2

    step, found, traced = make(step), [], []
    for number in range(6):
        found.append(step(torch.full((2, 3), 1.0 + rank) / (number + 1)).item())
        traced.append(slotrt.stats()["instructions"])
    return found, [parameter.tolist() for parameter in network.parameters()], traced

plain, compiled = steps(lambda step: step)[:2], steps(slotrt.compile)
stats = slotrt.stats()
print(json.dumps({"same": list(plain) == list(compiled[:2]), "traced": compiled[2], "breaks": stats["graph_breaks"], "graphs": stats["graphs"]}))
torch.distributed.destroy_process_group()
"""


@unittest.skipUnless(torch.distributed.is_available() and torch.distributed.is_gloo_available(), "no gloo here")
class TwoProcesses(unittest.TestCase):
    def test_steps(self):
        import json

        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "meeting")
            command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
            settings = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": loopback()}
            ranks = [subprocess.Popen([*command, str(rank), place], env=settings, stdout=subprocess.PIPE, text=True) for rank in (0, 1)]
            try:
                found = [json.loads(process.communicate(timeout=300)[0].strip().splitlines()[-1]) for process in ranks]
            finally:
                for process in ranks:
                    process.kill()
        for row in found:
            self.assertTrue(row["same"])
            self.assertLessEqual(row["breaks"], 4)
            self.assertLessEqual(row["graphs"], 3)
            self.assertEqual(len(set(row["traced"][2:])), 1, "nothing is traced after the third step")


def loopback():
    return next((name for _, name in socket.if_nameindex() if name.startswith("lo")), "")


if __name__ == "__main__":
    unittest.main()
