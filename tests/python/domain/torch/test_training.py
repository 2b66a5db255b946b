"""Steps of training with the optimisers of PyTorch: what they give and leave behind, how often they break, that they are traced once."""

import unittest

import torch
from torch import nn
from torch.nn import functional

import slotrt


def value(result):
    """A comparable form of a result."""
    if isinstance(result, torch.Tensor):
        kind = type(result), result.dtype
        return *kind, tuple(result.shape), result.requires_grad, result.is_leaf, result.is_inference(), result.tolist()
    if isinstance(result, (tuple, list)):
        return type(result), [value(part) for part in result]
    return result


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.25), nn.Linear(8, 1))


def step(net, mean, optimizer, schedule, x, y):
    optimizer.zero_grad()
    loss = functional.mse_loss(net(x), y)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    with torch.no_grad():
        for old, new in zip(mean.parameters(), net.parameters()):
            old.mul_(0.9).add_(new, alpha=0.1)
    return loss.detach() * 1, norm


def train(step, make):
    """What twenty steps give and leave behind; how many instructions were traced after each."""
    net, mean = model(), model()
    optimizer = make(net.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.5)
    x, y = torch.randn(16, 3), torch.randn(16, 1)
    losses, traced = [], []
    for _ in range(20):
        losses.append(step(net, mean, optimizer, schedule, x, y))
        traced.append(slotrt.stats()["instructions"])
    states = net.state_dict(), mean.state_dict(), optimizer.state_dict(), schedule.state_dict()
    grads = [value(parameter.grad) for parameter in net.parameters()]
    return (value(losses), repr(states), grads, torch.rand(2).tolist()), traced


class Training(unittest.TestCase):
    def test_steps(self):
        optim = torch.optim
        cases = [(optim.SGD, {}), (optim.SGD, {"momentum": 0.9, "nesterov": True}), (optim.Adam, {})]
        cases += [(optim.AdamW, {"amsgrad": True}), (optim.RMSprop, {"centered": True}), (optim.Adagrad, {})]
        cases = cases + [(kind, {**options, "foreach": True}) for kind, options in cases]
        for kind, options in cases:
            with self.subTest(kind=kind.__name__, **options):
                slotrt.reset()
                make = lambda parameters: kind(parameters, lr=0.01, **options)
                plain, _ = train(step, make)
                result, traced = train(slotrt.compile(step), make)
                self.assertEqual(result, plain)
                # The first step, steps whose numbers differ, and the first at which the schedule takes the rate down.
                self.assertEqual(len(set(traced[4:])), 1, "nothing is traced after the fifth step")
                self.assertEqual(slotrt.stats()["graph_breaks"], 0)
                self.assertLessEqual(slotrt.stats()["graphs"], 3)

    def test_scaled_gradients(self):
        def scaled(net, mean, optimizer, schedule, x, y):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", torch.bfloat16):
                loss = functional.mse_loss(net(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            schedule.step()
            mean(x)
            return loss.detach() * 1, scaler.get_scale()

        slotrt.reset()
        make = lambda parameters: torch.optim.SGD(parameters, lr=0.01)
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=3)
        plain, _ = train(scaled, make)
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=3)
        result, traced = train(slotrt.compile(scaled), make)
        self.assertEqual(result, plain)
        self.assertEqual(len(set(traced[5:])), 1)
        self.assertLessEqual(slotrt.stats()["graphs"], 5)

    def test_averaged_model(self):
        def averaged(net, mean, optimizer, schedule, x, y):
            loss = functional.mse_loss(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            average.update_parameters(net)
            return loss.detach() * 1, average(x).detach()

        def run(function):
            global average
            average = torch.optim.swa_utils.AveragedModel(model(), multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
            average.eval()
            result, traced = train(function, lambda parameters: torch.optim.AdamW(parameters, lr=0.01))
            return (result, repr(average.state_dict())), traced

        slotrt.reset()
        plain, _ = run(averaged)
        result, traced = run(slotrt.compile(averaged))
        self.assertEqual(result, plain)
        self.assertEqual(len(set(traced[4:])), 1)

    def test_packed_sequences(self):
        lstm, head = nn.LSTM(3, 4, batch_first=True), nn.Linear(4, 1)

        def f(x, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(x * 2, lengths, batch_first=True, enforce_sorted=False)
            result, (hidden, _) = lstm(packed)
            padded, sizes = nn.utils.rnn.pad_packed_sequence(result, batch_first=True)
            return head(padded) * 2, head(hidden[-1]), sizes

        slotrt.reset()
        x, lengths, compiled = torch.randn(3, 5, 3), torch.tensor([5, 2, 4]), slotrt.compile(f)
        plain = f(x, lengths)
        for _ in range(3):
            self.assertEqual(value(compiled(x, lengths)), value(plain))
        self.assertLessEqual(slotrt.stats()["graph_breaks"], 6)

    def test_closures(self):
        def search(net, optimizer, x, y):
            def closure():
                optimizer.zero_grad()
                loss = functional.mse_loss(net(x), y)
                loss.backward()
                return loss

            return optimizer.step(closure).detach() * 2

        def steps(function):
            net = nn.Linear(3, 1)
            with torch.no_grad():
                for parameter in net.parameters():
                    parameter.fill_(0.5)
            optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1)
            x = torch.arange(12.0).reshape(4, 3)
            losses = [function(net, optimizer, x, x.sum(1, keepdim=True)) for _ in range(3)]
            return value(losses), repr(net.state_dict())

        self.assertEqual(steps(slotrt.compile(search)), steps(search))


if __name__ == "__main__":
    unittest.main()
