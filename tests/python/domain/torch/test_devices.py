"""Tensors that are elsewhere than on the CPU: on a device that an extension registers. No code knows its name.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import host_device
import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional as F

HOST = host_device.NAME


def setUpModule():
    host_device.register()


def square():
    return (torch.arange(16.0).reshape(4, 4) / 7 - 1).to(HOST)


def of(function, state=()):
    """A use of a function on a tensor that is there."""
    return lambda: (function, lambda number: [square()], state)


def arithmetic(x):
    return x + 1, x * 2 - x.sum(), x @ x.T, x.softmax(-1), x > 0


def told(x):
    return x.device, str(x.device), x.get_device(), x.is_cpu, x.is_cuda, x.device.type == HOST, x.type(), x.cpu().is_cpu


def made(x):
    return (
        torch.zeros(3, device=x.device) + torch.arange(3, device=HOST).float(),
        torch.full_like(x, 2),
        x.new_ones(2),
        torch.tensor([1.0, 2.0], device=f"{HOST}:0"),
        torch.zeros(2),
    )


def moved(x):
    y = x.cpu() * 2
    return x.to("cpu").sum(), y, y.to(HOST), y.to(x), x.to(HOST) is x, x.to(torch.float64), x.to("cpu", torch.int64)


def decides_by_device(x):
    return x * 2 if x.device.type == HOST else x * 3


def with_numbers_of_the_cpu(x):
    return x + torch.tensor(2.0), torch.tensor(3.0) * x, torch.where(x > 0, x, torch.tensor(0.0))


def from_two_devices(x):
    try:
        return x + torch.ones(4, 4)
    except RuntimeError as error:
        return "two devices" in str(error) or "same device" in str(error)


def views(x):
    return x[1], x[:, None].expand(4, 2, 4), x.T.contiguous(), x[torch.tensor([0, 1], device=HOST)], x.view(2, 8)


def changed(x):
    y = x.clone()
    y[0] = 7
    y.mul_(2)
    y[:, 1].add_(x[0])
    x.sub_(1)
    return y


def of_contents(x):
    if x.sum() > 0:
        return x + 1
    return x - x.max().item()


def raises_after_a_change(x):
    x.add_(1)
    try:
        return x @ torch.ones(3, 3, device=HOST)
    except RuntimeError:
        return x * 2


def asks_the_module(x):
    host = torch.get_device_module(HOST)
    return x * host.device_count(), host.is_available()


def weighted():
    weight = nn.Parameter(torch.ones(4).to(HOST))

    def gradients(x):
        return (x * weight).relu().sum()

    return gradients, lambda number: [square()], [weight]


def layers():
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2)).to(HOST)
    return net, lambda number: [square()], [net]


def attention(x):
    q = x.view(1, 2, 4, 2)
    return F.scaled_dot_product_attention(q, q, q), F.dropout(x, 0.5, False), F.embedding(x[0].long().abs(), x)


def normalised(x):
    return F.layer_norm(x, (4,)), F.batch_norm(x, None, None, training=True), F.group_norm(x, 2)


ROWS = [
    (of(arithmetic), 0),
    (of(told), 0),
    (of(made), 0),
    (of(moved), 0),
    (of(decides_by_device), 0),
    (of(with_numbers_of_the_cpu), 0),
    (of(from_two_devices), 2),
    (of(views), 0),
    (of(changed), 0),
    (of(of_contents), 2),
    (of(raises_after_a_change), 2),
    (of(asks_the_module), 1),
    (weighted, 0),
    (layers, 0),
    (of(attention), 0),
    (of(normalised), 0),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


class Guards(unittest.TestCase):
    def test_another_device_is_another_trace(self):
        slotrt.reset()
        compiled = slotrt.compile(decides_by_device)
        there, here = compiled(square()), compiled(square().cpu())
        self.assertEqual((there.device.type, here.device.type), (HOST, "cpu"))
        self.assertEqual((there.cpu() * 3).tolist(), (here * 2).tolist())
        self.assertEqual(slotrt.stats()["graphs"], 2)

    def test_graphs_show_where_tensors_are(self):
        slotrt.reset()
        self.assertIn(f"[4, 4], {HOST}:0]", str(slotrt.explain(arithmetic)(square())))


if __name__ == "__main__":
    unittest.main()
