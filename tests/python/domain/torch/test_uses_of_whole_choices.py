"""Loops over what was chosen: experts that get rows, classes that are there. Nearly always all are.

A row is a use and how many graph breaks its calls have at most. A trace goes on as if all were chosen; where not, the call does what it does
uncompiled, and later traces end at such loops."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional as F


def states(number=0):
    return torch.arange(24.0).reshape(2, 3, 4) / 9 - 1 + number / 3


def leaf(number=0):
    return states(number).requires_grad_()


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(4, 6), nn.SiLU(), nn.Linear(6, 4)) for _ in range(3))

    def forward(self, states):
        batch, length, width = states.shape
        x = states.view(-1, width)
        weights, chosen = torch.topk(F.softmax(self.router(x), dim=1, dtype=torch.float), 2, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        total = torch.zeros((batch * length, width), dtype=x.dtype, device=x.device)
        mask = F.one_hot(chosen, num_classes=3).permute(2, 1, 0)
        for number in self.hit(mask, chosen):
            expert = self.experts[number]
            place, row = torch.where(mask[number].squeeze(0))
            total.index_add_(0, row, expert(x[None, row].reshape(-1, width)) * weights[row, place, None])
        return total.reshape(batch, length, width), chosen

    def hit(self, mask, chosen):
        return torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()


class Skips(Experts):
    def hit(self, mask, chosen):
        for number in (mask.sum(dim=(-1, -2)) > 0).nonzero():
            number = number[0]
            if number == 3:
                continue
            yield number


class Lists(Experts):
    def hit(self, mask, chosen):
        return (mask.sum((-1, -2)) > 0).nonzero().squeeze(-1).tolist()


class Items(Experts):
    def hit(self, mask, chosen):
        return [number.item() for number in torch.where(mask.any(-1).any(-1))[0]]


class Counts(Experts):
    def hit(self, mask, chosen):
        counts = torch.bincount(chosen.flatten(), minlength=3)
        return [int(number) for number in counts.nonzero(as_tuple=True)[0].flip(0)]


def experts(make, of=states, idle=None, end=False):
    """In a call one expert gets nothing, and in another one it alone gets something."""

    def use():
        net = make()

        def routed(number):
            with torch.no_grad():
                net.router.bias[0] = -50.0 if number == idle else 0.0
                net.router.bias[1:] = -50.0 if end and number > 1 else 0.0
            return [of(number)]

        return net, routed, [net]

    return use


def of(function, *makers):
    return lambda: (function, lambda number: [make(number) for make in makers], [])


def mask(number):
    return torch.tensor([[0.0, 1.0], [2.0, -3.0], [float("nan"), 0.0]])


def partial(number):
    return mask(number) * torch.tensor([1.0, float(number == 0), 1.0])[:, None]


def changed_chosen(x):
    """What was chosen is changed before it is gone through."""
    chosen = (x != 0).any(-1).nonzero()
    chosen[0] = 7
    return [number.item() for number in chosen], x * 2


def changed_view(x):
    chosen = (x != 0).any(-1).nonzero()
    chosen.view(-1)[0].add_(4)
    return chosen.tolist(), x * 2


def changed_mask(x):
    """What is chosen from is changed after the choice."""
    truths = (x != 0).any(-1)
    chosen = truths.nonzero()
    truths.fill_(True)
    return chosen.squeeze(1).tolist(), x * 2, truths


def changed_after(x):
    chosen = (x != 0).any(-1).nonzero().squeeze(1)
    names = ["abc"[number] for number in chosen.tolist()]
    chosen.add_(1)
    return names, chosen, [number.item() for number in chosen]


def own_lists(x):
    chosen = (x != 0).any(-1).nonzero()
    first, second = chosen.tolist(), chosen.tolist()
    first.append(3)
    first[0][0] = 5
    return first, second, chosen, chosen.tolist() is chosen.tolist(), x + 1


def computed_with(x):
    chosen = (x != 0).any(-1).nonzero().flatten()
    parts = []
    for number in (chosen * 2 + 1).clamp(max=4):
        parts.append("abcdefgh"[number] * int(number))
    return parts, chosen[1:].tolist(), chosen.float().mean().item(), len(chosen), list(range(chosen[-1])), x[chosen]


def rarely_all(x):
    return [number.tolist() for number in (x.flatten() > 0).nonzero()], x * 2


def random_beside(x):
    a = torch.rand(2)
    parts = [torch.rand(2) + number for number in ((x != 0).sum(-1) > 0).nonzero()]
    return a, parts, torch.rand(2)


KEPT = []


def changes_first(x, y):
    y.add_(1)
    for number in (x != 0).any(-1).nonzero():
        y[number] *= 2
    return y.sum()


def within_a_handler(x):
    chosen = (x != 0).any(-1).nonzero().squeeze(1)
    try:
        return [{0: "a", 1: "b"}[number] for number in chosen.tolist()]
    except KeyError as error:
        return str(error), x * 2


def zeros_later(number):
    return mask(number) * (number < 2)


ROWS = [
    *((experts(make), 0) for make in (Experts, Skips, Lists, Items)),
    (experts(Counts), None),
    *((experts(make, leaf), 0) for make in (Experts, Lists)),
    *((experts(make, idle=1), None) for make in (Experts, Skips, Lists, Items, Counts)),
    *((experts(make, leaf, idle=1), None) for make in (Experts, Lists)),
    *((experts(make, end=True), None) for make in (Experts, Lists, Counts)),
    *((of(function, mask), None) for function in (changed_chosen, changed_view, changed_mask, changed_after, rarely_all)),
    *((of(function, mask), 0) for function in (own_lists, computed_with, random_beside, within_a_handler)),
    *(
        (of(function, make), None)
        for function in (changed_chosen, changed_view, changed_mask, changed_after, own_lists, computed_with, random_beside)
        for make in (partial, zeros_later)
    ),
    *((of(within_a_handler, make), None) for make in (partial, zeros_later)),
    *((of(changes_first, make, mask), None) for make in (mask, partial, zeros_later)),
]


class UsesOfWholeChoices(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_a_wrong_guess_ends_guessing(self):
        compiled = slotrt.compile(within_a_handler)
        slotrt.reset()
        for value in (mask(0), partial(1), mask(0), partial(1), mask(0)):
            self.assertEqual(repr(compiled(value)), repr(within_a_handler(value)))
        frames = slotrt.stats()["frames_compiled"]
        compiled(mask(0)), compiled(partial(1))
        self.assertEqual(slotrt.stats()["frames_compiled"], frames)

    def test_nothing_is_guessed_where_a_break_is_an_error(self):
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(within_a_handler, fullgraph=True)(mask(0))


if __name__ == "__main__":
    unittest.main()
