"""Several losses of one step, each gone back from after the other: what a backend compiles together is one node of the graph of gradients, which the
first of them would use up. It gets what they go through apart.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import torch
import torch_programs
from torch import nn
from torch.nn import functional


def rows(*shape):
    return lambda number: [(torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape) + number) / 16]


def generator_and_discriminator():
    maker, judge = nn.Linear(3, 3), nn.Linear(3, 1)
    of_maker, of_judge = torch.optim.SGD(maker.parameters(), 0.1), torch.optim.SGD(judge.parameters(), 0.1)

    def step(x):
        made, loss = maker(torch.randn(2, 3)), functional.binary_cross_entropy_with_logits
        judged = loss(judge(x), torch.ones(2, 1)) + loss(judge(made.detach()), torch.zeros(2, 1))
        of_judge.zero_grad()
        judged.backward()
        of_judge.step()
        fooled = loss(judge(made), torch.ones(2, 1))
        of_maker.zero_grad()
        fooled.backward()
        of_maker.step()
        return judged.item(), fooled.item()

    return step, rows(2, 3), [maker, judge]


def three_losses_of_images():
    """The discriminator goes back twice, after a break."""
    maker = nn.Sequential(nn.ConvTranspose2d(4, 4, 4, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.ConvTranspose2d(4, 1, 4, 2, 1), nn.Tanh())
    judge = nn.Sequential(nn.Conv2d(1, 4, 4, 2, 1), nn.BatchNorm2d(4), nn.LeakyReLU(0.2), nn.Conv2d(4, 1, 4), nn.Sigmoid(), nn.Flatten(0))

    def step(x):
        judge.zero_grad()
        label = torch.full((x.size(0),), 1.0)
        real = functional.binary_cross_entropy(judge(x), label)
        real.backward()
        made = maker(torch.randn(x.size(0), 4, 1, 1))
        false = functional.binary_cross_entropy(judge(made.detach()), label.fill_(0.0))
        false.backward()
        maker.zero_grad()
        fooled = functional.binary_cross_entropy(judge(made), label.fill_(1.0))
        fooled.backward()
        return (real + false).item(), fooled.item()

    return step, rows(2, 1, 8, 8), [maker, judge]


def actor_and_critic():
    """What both are given is made in the step, and needs no gradients."""
    actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)

    def step(states):
        states = states.double().float() * 2
        chances, values = actor(states).log_softmax(-1), critic(states).squeeze(-1)
        of_critic = (1 - values).pow(2).mean()
        of_actor = -(chances[:, 0] * values.detach()).mean()
        of_critic.backward()
        of_actor.backward()
        return of_critic.item(), of_actor.item()

    return step, rows(2, 3), [actor, critic]


def interleaved():
    one, other = nn.Linear(3, 3), nn.Linear(3, 3)

    def step(x):
        y, z = one(x), other(x)
        y, z = y.tanh(), z.sin()
        y.sum().backward()
        z.sum().backward()
        return y.detach() + z.detach()

    return step, rows(2, 3), [one, other]


def given_back():
    """The program goes on with what has nothing to do with the loss."""
    one, other = nn.Linear(3, 3), nn.Linear(3, 3)

    def step(x):
        kept = other(x).tanh()
        one(x).pow(2).sum().backward()
        return kept

    return step, rows(2, 3), [one, other]


def kept_for_another():
    model = nn.Linear(3, 3)

    def step(x):
        y = model(x).tanh()
        first, second = y.sum(), y.pow(2).sum()
        first.backward(retain_graph=True)
        second.backward()
        return first.detach()

    return step, rows(2, 3), [model]


def gone_back_twice():
    model = nn.Linear(3, 3)

    def step(x):
        y = model(x).tanh()
        y.sum().backward()
        try:
            y.pow(2).sum().backward()
        except RuntimeError as error:
            return str(error)[:40]

    return step, rows(2, 3), [model]


ROWS = [
    (generator_and_discriminator, 1),
    (three_losses_of_images, 5),
    (actor_and_critic, 1),
    (interleaved, 1),
    (given_back, 0),
    (kept_for_another, 1),
    (gone_back_twice, None),
]


class UsesOfSeveralLosses(torch_programs.ThreeWays, unittest.TestCase):
    rows, counted = ROWS, True


if __name__ == "__main__":
    unittest.main()
