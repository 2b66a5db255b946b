"""Schedules of learning rates, scalers of gradients that are switched off, and samplers of many items, in loops that a program compiles as a whole.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import numpy
import slotrt
import torch
import torch_programs
from torch import nn
from torch.optim import lr_scheduler, swa_utils
from torch.utils import data


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def scheduled(make, steps=3, **options):
    def use():
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, **options)
        schedule = make(optimizer)

        def f(x):
            rates = []
            for _ in range(steps):
                optimizer.zero_grad()
                model(x).pow(2).mean().backward()
                optimizer.step()
                schedule.step()
                rates.append(optimizer.param_groups[0]["lr"])
            return rates, schedule.get_last_lr()

        return f, lambda number: [torch.ones(2, 3) + number], [model, lambda: schedule.last_epoch]

    return use


def switched_off():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", enabled=False)

    def f(x):
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
        return loss.detach(), scaler.get_scale()

    return f, lambda number: [torch.ones(2, 3) + number], [model]


def shuffled(count, epochs):
    def use():
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        given = data.TensorDataset(torch.arange(count * 3.0).reshape(count, 3) / count, torch.arange(count * 2.0).reshape(count, 2) / count)
        loader = data.DataLoader(given, batch_size=count // 3, shuffle=True)

        def f():
            total = 0.0
            for _ in range(epochs):
                for x, y in loader:
                    loss = nn.functional.mse_loss(model(x), y)
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    total += loss.item()
            return total

        return f, lambda number: [], [model]

    return use


def chosen(make):
    def use():
        sampler, rows = make(), torch.arange(100.0)
        return lambda x: [rows[i] * x for i in sampler], lambda number: [torch.ones(())], []

    return use


def of_epochs():
    """What counts epochs is looked up."""
    milestones, drops = {2: 0.5, 5: 0.25}, {3, 6}

    class Counts:
        epoch = 0

    counts = Counts()

    def f(x):
        counts.epoch += 1
        return x * 2 if counts.epoch in milestones else x * 3 if counts.epoch in drops else x

    return f, lambda number: [torch.ones(2)], [lambda: counts.epoch]


ROWS = [
    (scheduled(lambda o: lr_scheduler.StepLR(o, 2)), 0),
    (scheduled(lambda o: lr_scheduler.MultiStepLR(o, [2, 4])), 0),
    (scheduled(lambda o: lr_scheduler.ExponentialLR(o, 0.9)), 0),
    (scheduled(lambda o: lr_scheduler.CosineAnnealingLR(o, 10)), 0),
    (scheduled(lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3)), 0),
    (scheduled(lambda o: lr_scheduler.OneCycleLR(o, 0.5, total_steps=30), momentum=0.9), 0),
    (scheduled(lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, step_size_up=3), momentum=0.9), 0),
    (scheduled(lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.9**epoch)), 0),
    (scheduled(lr_scheduler.LinearLR), 0),
    (scheduled(lr_scheduler.PolynomialLR), 0),
    (scheduled(lambda o: swa_utils.SWALR(o, swa_lr=0.05)), 0),
    (scheduled(lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.LinearLR(o), lr_scheduler.ExponentialLR(o, 0.9)], [3])), 0),
    (switched_off, 0),
    (shuffled(12, 2), 0),
    (shuffled(99, 2), 0),
    (chosen(lambda: data.SubsetRandomSampler(list(range(99)))), 0),
    (chosen(lambda: data.WeightedRandomSampler([0.1] * 100, 70)), 0),
    (of_epochs, 0),
]


class UsesOfSchedules(torch_programs.ThreeWays, unittest.TestCase):
    maxDiff = None
    rows = ROWS

    def test_rates_that_numpy_computes_make_no_trace_each(self):
        for make in (torch.optim.SGD, torch.optim.AdamW, lambda weights, lr: torch.optim.Adam(weights, lr=lr, fused=True)):
            seen = []
            for compiled in (False, True):
                slotrt.reset()
                torch.manual_seed(0)
                model, inputs = net(), torch.randn(4, 3)
                optimizer = make(model.parameters(), lr=0.1)

                def step(model=model, inputs=inputs, optimizer=optimizer):
                    optimizer.zero_grad()
                    loss = model(inputs).square().sum()
                    loss.backward()
                    optimizer.step()
                    return loss.item()

                use, losses = slotrt.compile(step) if compiled else step, []
                for number in range(7):
                    for group in optimizer.param_groups:
                        group["lr"] = 0.05 * (1 + numpy.cos(number / 9))
                    losses.append((use(), [weight.tolist() for weight in model.parameters()], repr(optimizer.state_dict())))
                seen.append(losses)
            self.assertEqual(*seen)
            self.assertLessEqual(slotrt.stats()["recompiles"], 2)
            self.assertLessEqual(slotrt.stats()["graph_breaks"], 2)

    def test_epochs_make_no_trace_each(self):
        for make in (lambda o: lr_scheduler.MultiStepLR(o, [4, 9]), lambda o: lr_scheduler.CosineAnnealingLR(o, 20)):
            slotrt.reset()
            f, arguments, _ = scheduled(make, 1)()
            plain, given, _ = scheduled(make, 1)()
            compiled = slotrt.compile(f)
            for number in range(14):
                self.assertEqual(compiled(*arguments(number)), plain(*given(number)))
            self.assertLessEqual(slotrt.stats()["recompiles"], 5)
            self.assertEqual(slotrt.stats()["frames_skipped"], 0)


if __name__ == "__main__":
    unittest.main()
