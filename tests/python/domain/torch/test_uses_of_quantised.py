"""What programs do with quantised tensors: they make them of others, and others of them.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import torch
import torch_programs
from torch import nn
from torch.ao import quantization


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def quantised():
    return torch.quantize_per_tensor(matrix(), 0.1, 10, torch.quint8)


def of(function, make=matrix):
    return lambda: (function, lambda number: [make()], ())


def there_and_back(x):
    q = torch.quantize_per_tensor(x, 0.1, 10, torch.quint8)
    return q.dequantize() + 1, q.is_quantized, q.shape, q.dtype, q.int_repr() + 1, q, x.is_quantized


def by_channel(x):
    return torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([0, 1]), 0, torch.qint8).dequantize() * 2


def given(q):
    return q.dequantize() * 2, q.is_quantized, q.size(0)


def operations(q):
    return torch.relu(q).dequantize() + 1, q.reshape(-1).int_repr()


def views(q):
    return q[0].int_repr(), q.view(-1), q.t().dequantize(), torch.cat([q, q]).int_repr(), q.permute(1, 0), q.contiguous() is q


def numbers(q):
    return q.relu().int_repr(), q.q_scale(), q.q_zero_point(), q.max().item()


def changed(q):
    r = q.clone()
    r[0] = 1.0
    return r, q, r.int_repr()


def operator(q):
    return torch.ops.quantized.add(q, q, 0.2, 1).int_repr(), torch.ops.quantized.mul(q, q, 0.2, 1).dequantize()


def refused(q):
    try:
        return q + q
    except NotImplementedError as error:
        return str(error)[:40], q.int_repr()


def of_many_scales():
    return (
        lambda q: (q.relu().dequantize(), q.view(-1).int_repr()),
        lambda number: [torch.quantize_per_tensor(matrix(), 0.1 + number, number, torch.quint8)],
        [],
    )


def of_module(make, *shape, grad=False):
    def use():
        torch.manual_seed(1)
        net = torch.ao.quantization.quantize_dynamic(make(), {nn.Linear, nn.LSTM}, dtype=torch.qint8)
        arguments = lambda number: [torch.ones(shape or (2, 3)).requires_grad_(grad) / (number + 1)]
        return lambda x: net(x * 2), arguments, []

    return use


def of_changed_weights():
    nets = [torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(3, 4 + number)), {nn.Linear}) for number in range(3)]
    return lambda net, x: net(x) + 1, lambda number: [nets[number], matrix()], []


def mlp():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def twice(q):
    try:
        return torch.quantize_per_tensor(q, 0.1, 10, torch.quint8)
    except RuntimeError as error:
        return str(error)[:50], q.dequantize()


def observed(by_channel):
    """What rounds as a quantised tensor would, and counts extremes: those of channels have no sizes before the first call."""

    def use():
        symmetric = dict(quant_min=-128, quant_max=127, dtype=torch.qint8, qscheme=torch.per_channel_symmetric, ch_axis=0)
        observer = quantization.MovingAveragePerChannelMinMaxObserver if by_channel else quantization.MovingAverageMinMaxObserver
        fake = quantization.FusedMovingAvgObsFakeQuantize(observer=observer, **(symmetric if by_channel else {}))

        def f(x):
            y = fake(x)
            first = fake.scale * 2
            return y + fake(x * 2), first, fake.scale * 2, fake.scale.shape

        return f, lambda number: [matrix().requires_grad_()], [fake]

    return use


def watched(make, use=lambda observer, x: observer(x) * 2):
    """What looks at contents, and keeps their extremes."""

    def of_observer():
        observer = make()
        return (lambda x: use(observer, x)), lambda number: [matrix() + number], [observer]

    return of_observer


def scaled(observer, x):
    y = x.exp()
    return y * observer(x), observer.calculate_qparams()[0] * 2


ROWS = [
    (watched(lambda: quantization.FakeQuantize(quantization.MovingAverageMinMaxObserver)), 1),
    (watched(quantization.PerChannelMinMaxObserver), 1),
    (watched(quantization.HistogramObserver), 1),
    (watched(quantization.MinMaxObserver), 0),
    (watched(quantization.MinMaxObserver, scaled), 1),
    (observed(False), 0),
    (observed(True), 1),
    (of(there_and_back), 0),
    # What it warns of once in a process cannot be asked again without the contents of its scales.
    (of(by_channel), 1),
    (of(given, quantised), 0),
    (of(given), 1),
    (of(operations, quantised), 2),
    (of(twice, quantised), 2),
    (of(views, quantised), None),
    (of(numbers, quantised), None),
    (of(changed, quantised), None),
    (of(operator, quantised), None),
    (of(refused, quantised), None),
    (of_many_scales, None),
    (of_module(mlp), 0),
    (of_module(mlp, grad=True), None),
    (of_module(lambda: nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2))), None),
    (of_module(lambda: nn.LSTM(3, 4), 2, 1, 3), 0),
    (of_changed_weights, 0),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


if __name__ == "__main__":
    unittest.main()
