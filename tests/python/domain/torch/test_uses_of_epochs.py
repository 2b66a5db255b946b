"""Training loops that a program compiles as a whole: batches one after the other, gradients cleared, added up, changed and read, numbers for
logs in between, losses with weights that change from call to call.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import torch
import torch_programs
from torch import nn
from torch.nn import functional as F


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf(number=0):
    return (matrix() * (number + 1)).requires_grad_()


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def batches(count=3):
    drawn = torch.Generator().manual_seed(1)
    return [(torch.randn(4, 3, generator=drawn), torch.randn(4, 2, generator=drawn)) for _ in range(count)]


def trained(step, **options):
    """A use of `step(model, optimizer, batches)`."""

    def use():
        model, given = net(), batches()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, **options)
        return (lambda: step(model, optimizer, given)), lambda number: [], [model]

    return use


def epoch(model, optimizer, given):
    total = 0.0
    for x, y in given:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(given)


def epoch_of_tensors(model, optimizer, given):
    total = torch.zeros(())
    for x, y in given:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total


def set_to_zero(model, optimizer, given):
    for x, y in given:
        optimizer.zero_grad(set_to_none=False)
        F.mse_loss(model(x), y).backward()
    return [held.grad.clone() for held in model.parameters()]


def epoch_of_an_optimizer(model, optimizer, given):
    for x, y in given:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.detach()


def accumulated_and_stepped(model, optimizer, given):
    optimizer.zero_grad()
    for number, (x, y) in enumerate(given):
        (F.mse_loss(model(x), y) / 2).backward()
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
    return [held.grad is None for held in model.parameters()]


def cleared_and_read(model, optimizer, given):
    before = [held.grad is None for held in model.parameters()]
    optimizer.zero_grad()
    cleared = [held.grad is None for held in model.parameters()]
    x, y = given[0]
    F.mse_loss(model(x), y).backward()
    made = [held.grad.clone() for held in model.parameters()]
    optimizer.zero_grad(set_to_none=False)
    return before, cleared, made, [held.grad.sum() for held in model.parameters()]


class Noted(torch.optim.SGD):
    """Its methods are not those of the class before it alone."""

    cleared = 0

    def zero_grad(self, set_to_none=True):
        self.cleared += 1
        super().zero_grad(set_to_none)


def of_a_class_of_the_program():
    model, given = net(), batches()
    optimizer, log = Noted(model.parameters(), lr=0.1), []
    optimizer.register_step_post_hook(lambda *_: log.append(optimizer.cleared))

    def step():
        optimizer.zero_grad()
        F.mse_loss(model(given[0][0]), given[0][1]).backward()
        optimizer.step()

    return step, lambda number: [], [model, lambda: log]


def with_more_parameters():
    """Parameters come to an optimizer between calls."""
    model, given = net(), batches()
    optimizer = torch.optim.SGD(model[0].parameters(), lr=0.1)

    def arguments(number):
        if number == 1:
            optimizer.add_param_group({"params": model[2].parameters()})
        return given[number]

    def step(x, y):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        return [held.grad is None for held in model.parameters()]

    return step, arguments, [model]


def accumulated(model, optimizer, given):
    total = 0.0
    for x, y in given:
        loss = F.mse_loss(model(x), y) / len(given)
        loss.backward()
        total += loss.item()
    return total


def accumulated_and_halved(model, optimizer, given):
    for x, y in given:
        F.smooth_l1_loss(model(x), y).backward()
    for held in model.parameters():
        held.grad.mul_(0.5)
    x, y = given[0]
    F.mse_loss(model(x), y).backward()
    return [held.grad * 2 for held in model.parameters()]


def by_hand(model, optimizer, given):
    optimizer.zero_grad()
    for x, y in given:
        F.mse_loss(model(x), y).backward()
        with torch.no_grad():
            for held in model.parameters():
                held -= 0.1 * held.grad
                held.grad.zero_()
    return model(given[0][0]).detach()


def clipped_by_hand(model, optimizer, given):
    x, y = given[0]
    F.mse_loss(model(x), y).backward()
    norm = torch.stack([held.grad.norm() for held in model.parameters()]).norm()
    for held in model.parameters():
        held.grad.mul_((1.0 / (norm + 1e-6)).clamp(max=1.0))
    return norm


def with_history(model, optimizer, given):
    x, y = given[0]
    scale = model[0].weight.sum()
    F.mse_loss(model(x), y).backward()
    try:
        model[0].bias.grad.mul_(scale)
    except RuntimeError as error:
        return str(error)[:30]
    return model[0].bias.grad.requires_grad, model[0].bias.grad.detach()


def weighted():
    model = net()

    def f(x, weight, count):
        result = model(x)
        loss = result.pow(2).mean() + weight * result.abs().sum() + result.sum() * (count + 1)
        loss.backward()
        return loss.detach()

    return f, lambda number: [matrix(), 0.5 + number, number], [model]


def penalised(x, count):
    y = (x**3).sum() * count
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    return (gradient * count).sum() + y


def penalised_with_sizes(x):
    y = (x**3).sum()
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    return gradient.sum() + y


def penalised_by_position(x):
    y = (x**3).sum()
    (gradient,) = torch.autograd.grad(y, [x], None, None, True)
    return gradient.sum() + y


ROWS = [
    (trained(epoch), None),
    (trained(epoch, momentum=0.9), None),
    (trained(epoch_of_tensors), None),
    (trained(set_to_zero), None),
    (trained(epoch_of_an_optimizer), 4),
    (trained(accumulated_and_stepped), 3),
    (trained(accumulated_and_stepped, foreach=True), 3),
    (trained(cleared_and_read), None),
    (trained(cleared_and_read, foreach=True), None),
    (of_a_class_of_the_program, None),
    (with_more_parameters, 3),
    (trained(accumulated), 0),
    (trained(accumulated_and_halved), 0),
    (trained(by_hand), 1),
    (trained(clipped_by_hand), 0),
    (trained(with_history), None),
    (weighted, 0),
    (lambda: (penalised, lambda number: [leaf(number), number], []), 0),
    *[
        (lambda f=f: (f, lambda number: [torch.arange(2.0, 4.0 + number).requires_grad_()], []), None)
        for f in (penalised_with_sizes, penalised_by_position)
    ],
]


class UsesOfEpochs(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


if __name__ == "__main__":
    unittest.main()
