"""Steps of training with a backend: what optimisers, schedules and clipping compute is computed as it is without one, and breaks no graph.

A row is a use and how many graph breaks its calls have at most, whichever way they are compiled."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn, optim
from torch.nn import functional as F
from torch.optim import lr_scheduler


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def trained(make, go, schedule=None, data=lambda: [matrix()], network=network):
    """A use of `go(network, optimizer, schedule, *data)`."""

    def use():
        net = network()
        optimizer = make(net.parameters())
        course = schedule and schedule(optimizer)
        groups = lambda: [{name: held for name, held in group.items() if name != "params"} for group in optimizer.param_groups]
        states = lambda: [dict(state) for state in optimizer.state.values()]
        return (lambda *args: go(net, optimizer, course, *args)), lambda number: data(), [net, groups, states]

    return use


def step(net, optimizer, schedule, x):
    optimizer.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def scheduled(net, optimizer, schedule, x):
    loss = step(net, optimizer, schedule, x)
    schedule.step()
    return loss, schedule.get_last_lr()


def cleared_late(net, optimizer, schedule, x):
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def set_to_zero(net, optimizer, schedule, x):
    optimizer.zero_grad(set_to_none=False)
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss.detach()


def set_to_zero_late(net, optimizer, schedule, x):
    loss = net(x).pow(2).mean()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    return loss.detach()


def clipped(net, optimizer, schedule, x):
    optimizer.zero_grad()
    net(x).pow(2).mean().backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    optimizer.step()
    return norm


def clipped_values(net, optimizer, schedule, x):
    optimizer.zero_grad()
    net(x).pow(2).mean().backward()
    nn.utils.clip_grad_value_(net.parameters(), 0.01)
    optimizer.step()
    return x * 1


def epochs(net, optimizer, schedule, x):
    losses = []
    for number in range(3):
        optimizer.zero_grad()
        loss = net(x * (number + 1)).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def tested(net, optimizer, schedule, x):
    net.train()
    loss = step(net, optimizer, schedule, x)
    net.eval()
    with torch.no_grad():
        return loss, net(x).argmax(1)


def decaying(net, optimizer, schedule, x):
    loss = step(net, optimizer, schedule, x)
    for group in optimizer.param_groups:
        group["lr"] *= 0.9
    return loss


def computed_before(net, optimizer, schedule, x):
    """What is computed before a step goes on after it: a backend gets both parts."""
    hidden = net[0](x)
    optimizer.zero_grad()
    net[2](hidden).pow(2).mean().backward()
    optimizer.step()
    return hidden.detach().exp(), net(x).detach()


def penalised(net, optimizer, schedule, x):
    """`torch.autograd.grad` after a `backward`."""
    optimizer.zero_grad()
    net(x).mean().backward()
    between = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(net(between).sum(), between, create_graph=True)
    penalty = (gradient.norm(2, dim=1) - 1).pow(2).mean()
    penalty.backward()
    optimizer.step()
    return penalty.detach()


def penalised_twice(net, optimizer, schedule, x):
    for number in range(2):
        optimizer.zero_grad()
        F.softplus(-net(x * (number + 1))).mean().backward()
        real = x.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(net(real).sum(), real, create_graph=True)
        gradient.pow(2).sum(1).mean().mul(5).backward()
        optimizer.step()
    return x * 2


def asked_after(net, optimizer, schedule, x):
    net(x).mean().backward()
    leaf = x.detach().requires_grad_()
    y = net(leaf).exp()
    first, second = torch.autograd.grad(y.sum(), [leaf, y])
    return first * 2, second


def refused_after(net, optimizer, schedule, x):
    net(x).mean().backward()
    leaf = x.detach().requires_grad_()
    try:
        torch.autograd.grad((leaf * 2).sum(), [net[0].weight])
    except RuntimeError as error:
        return str(error)[:30], x + 1


class Reconstruction(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.mean, self.spread, self.outer = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(4, 2), nn.Linear(2, 3)

    def forward(self, x):
        hidden = F.relu(self.inner(x))
        mean, spread = self.mean(hidden), self.spread(hidden)
        drawn = mean + torch.randn_like(spread) * torch.exp(0.5 * spread)
        return torch.sigmoid(self.outer(drawn)), mean, spread


def reconstructed(net, optimizer, schedule, x):
    optimizer.zero_grad()
    again, mean, spread = net(x / 2)
    loss = F.binary_cross_entropy(again, x / 2, reduction="sum") - 0.5 * torch.sum(1 + spread - mean.pow(2) - spread.exp())
    loss.backward()
    optimizer.step()
    return loss.item()


def with_words(net, optimizer, schedule, words, wanted):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(words), wanted)
    loss.backward()
    optimizer.step()
    return loss.item()


def words():
    return [torch.tensor([[1, 2], [3, 4]]), torch.tensor([5, 6])]


def of_words(sparse=False):
    return lambda: nn.Sequential(nn.EmbeddingBag(10, 4, sparse=sparse), nn.Linear(4, 10))


def sgd(**options):
    return lambda parameters: optim.SGD(parameters, lr=0.1, **options)


def adam(kind=optim.Adam, **options):
    return lambda parameters: kind(parameters, lr=0.01, **options)


KINDS = [
    sgd(),
    sgd(momentum=0.9, weight_decay=0.1, nesterov=True),
    sgd(maximize=True, foreach=True),
    adam(),
    adam(foreach=True),
    adam(fused=True),
    adam(optim.AdamW, amsgrad=True),
    adam(optim.RMSprop, centered=True, momentum=0.5),
    adam(optim.Adagrad),
    adam(optim.NAdam),
    adam(optim.Adamax),
    adam(optim.Adadelta),
]

ROWS = [
    *[(trained(kind, step), 0) for kind in KINDS],
    *[(trained(kind, go), 0) for kind in (sgd(momentum=0.9), adam()) for go in (cleared_late, set_to_zero, clipped, clipped_values, epochs, tested)],
    (trained(sgd(), decaying), 0),
    (trained(sgd(), set_to_zero_late), 1),
    (trained(sgd(), computed_before), 0),
    (trained(lambda parameters: optim.SGD(parameters, lr=torch.tensor(0.1)), step), None),
    *[(trained(make, go), 0) for make in (sgd(momentum=0.9), adam()) for go in (penalised, penalised_twice)],
    (trained(sgd(), asked_after), 0),
    (trained(sgd(), refused_after), None),
    (trained(adam(), reconstructed, network=Reconstruction), 0),
    (trained(adam(), with_words, data=words, network=of_words()), 0),
    (trained(sgd(), with_words, data=words, network=of_words(sparse=True)), None),
    (trained(sgd(), scheduled, lambda optimizer: lr_scheduler.StepLR(optimizer, 2)), 0),
    (trained(sgd(), scheduled, lambda optimizer: lr_scheduler.CosineAnnealingLR(optimizer, 5)), 0),
    (trained(sgd(), scheduled, lambda optimizer: lr_scheduler.OneCycleLR(optimizer, 0.2, total_steps=9)), 0),
]


class UsesOfSteps(torch_programs.ThreeWays, unittest.TestCase):
    rows, counted = ROWS, True

    def test_through_inductor(self):
        """Inductor computes a network with other last digits; the steps are those of the optimiser on its gradients."""
        for make in (sgd(momentum=0.9), adam()):
            courses = []
            for compile in (lambda function: function, slotrt.compile(backend="inductor")):
                torch.manual_seed(0)
                net = network()
                optimizer = make(net.parameters())
                function = compile(lambda x: step(net, optimizer, None, x))
                slotrt.reset()
                courses.append([function(matrix()) for _ in range(4)] + [parameter.tolist() for parameter in net.parameters()])
            self.assertEqual(slotrt.stats()["graph_breaks"], 0)
            plain, found = (torch.tensor([*course[:4], *torch.cat([torch.tensor(part).flatten() for part in course[4:]]).tolist()]) for course in courses)
            torch.testing.assert_close(found, plain)


if __name__ == "__main__":
    unittest.main()
