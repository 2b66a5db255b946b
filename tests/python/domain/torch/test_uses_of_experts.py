"""Mixtures of experts as scripts write them: rows are chosen by their contents, worked on, and put back or added where they came from.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional as F


def states():
    return torch.arange(24.0).reshape(2, 3, 4) / 9 - 1


def rows():
    return states().reshape(6, 4)


def leaf():
    return rows().requires_grad_()


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (rows,)], [])


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(4, 6, bias=False), nn.Linear(4, 6, bias=False), nn.Linear(6, 4, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    def __init__(self, make=Expert):
        super().__init__()
        self.router, self.experts = nn.Linear(4, 3), nn.ModuleList(make() for _ in range(3))

    def chosen(self, x):
        weights, chosen = torch.topk(F.softmax(self.router(x), dim=1, dtype=torch.float), 2, dim=-1)
        weights /= weights.sum(dim=-1, keepdim=True)
        return weights.to(x.dtype), chosen


class Added(Experts):
    """Results are added to the rows that they belong to."""

    def forward(self, states):
        batch, length, width = states.shape
        x = states.view(-1, width)
        weights, chosen = self.chosen(x)
        total = torch.zeros((batch * length, width), dtype=x.dtype, device=x.device)
        mask = F.one_hot(chosen, num_classes=3).permute(2, 1, 0)
        for number, expert in enumerate(self.experts):
            place, row = torch.where(mask[number])
            current = expert(x[None, row].reshape(-1, width)) * weights[row, place, None]
            total.index_add_(0, row, current.to(x.dtype))
        return total.reshape(batch, length, width), chosen


class Assigned(Experts):
    """Rows are read, added to, and written back."""

    def forward(self, x):
        weights, chosen = self.chosen(x)
        total = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            row, place = torch.where(chosen == number)
            total[row] += weights[row, place, None] * expert(x[row])
        return total


class Masked(Experts):
    """Rows are chosen by truths."""

    def forward(self, x):
        scores = self.router(x).softmax(-1)
        chosen, total = scores.argmax(-1), torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            mask = chosen == number
            total[mask] = F.dropout(expert(x[mask]), 0.2, self.training) * scores[mask, number].unsqueeze(-1)
        return total


def with_module(make, *makers):
    def use():
        module = make()
        return module, lambda number: [maker() for maker in makers], [module]

    return use


def written(x):
    y, where = torch.zeros(6, 4), (x > 0.6).nonzero()
    y[where[:, 0], where[:, 1]] = 1.0
    y[x > 1] = x[x > 1]
    y[x < -0.4] *= 2
    return y, x


def written_to_an_input(x, mask):
    x[mask] = x[mask] * 2
    x[~mask] -= 1
    return x.sum()


def written_to_a_view(x):
    y = x.clone()
    first = y[0]
    y[y > 0.5] = 0.5
    return first, y


def changed(x):
    chosen = x[x > 0.6]
    chosen += 1
    chosen.mul_(2).clamp_(max=4)
    flat = chosen.view(-1)
    flat.add_(1)
    return chosen, flat, x


def with_gradients(x):
    chosen = x.detach()[x[:, 0] > 0]
    chosen += x[x[:, 0] > 0] * 2
    return chosen.requires_grad, chosen.sum()


def view_with_gradients(x):
    # A view of what gradients are required of later has some, too.
    chosen = x.detach()[x[:, 0] > 0]
    view = chosen.view(-1)
    chosen += x[x[:, 0] > 0] * 2
    return view.requires_grad, view.sum(), chosen.sum()


def without_gradients(x):
    with torch.no_grad():
        total = torch.zeros_like(x)
        row = torch.where(x[:, 0] > 0)[0]
        total.index_add_(0, row, x[row] * 2)
    return total, total.requires_grad


def of_a_leaf(x):
    row = torch.where(x[:, 0] > 0)[0]
    try:
        x.index_add_(0, row, x[row] * 2)
    except RuntimeError as error:
        return str(error), x * 2


def of_another_length(x):
    total = torch.zeros(2, 4)
    row = torch.where(x[:, 0] > 0)[0]
    try:
        total[row] = x[row]
    except IndexError as error:
        return str(error)[:40], x * 2
    return total


def of_another_type(x):
    total = torch.zeros(6, 4, dtype=torch.long)
    row = torch.where(x[:, 0] > 0)[0]
    try:
        total.index_add_(0, row, x[row])
    except RuntimeError as error:
        return str(error)[:30], x * 2


def turned(x):
    chosen = x[x[:, 0] > 0]
    chosen.t_()
    return chosen, chosen.shape


def of_nothing(x):
    total, row = torch.zeros_like(x), torch.where(x[:, 0] > 100)[0]
    total[row] += x[row] * 2
    total.index_copy_(0, row, x[row])
    return total.index_fill_(0, row, 3.0)


def written_to_what_has_a_history(x, w):
    total = x * w
    slotrt.graph_break()
    chosen = x[:, 0] > 0
    total[chosen] += x[chosen] * w
    chosen = x[:, 1] > 0
    return total, chosen.any()


def of_another_number(x, w, others):
    """What raises has written nothing."""
    total = x * w
    slotrt.graph_break()
    chosen, doubled = x[:, 0] > 0, x * 2
    doubled.add_(1)
    try:
        total[chosen] = doubled[others] * w
    except (RuntimeError, IndexError) as error:
        return str(error)[:30], total * 2, total._version, doubled
    total[others] = 1.0
    return total * 2, total._version, doubled


def parameter():
    return torch.ones(4, requires_grad=True)


def others(number):
    return torch.tensor([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]][number]).bool()


def mask():
    return torch.tensor([True, False, True, True, False, False])


ROWS = [
    (with_module(Added, states), 0),
    (with_module(Assigned, rows), 0),
    (with_module(Masked, rows), 0),
    (with_module(lambda: Masked(lambda: nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Linear(4, 4))), leaf), 0),
    (of(written), 0),
    (of(written_to_an_input, rows, mask), 0),
    (of(written_to_a_view), 0),
    (of(changed), 0),
    (of(with_gradients, leaf), 1),
    (of(view_with_gradients, leaf), 3),
    (of(without_gradients, leaf), 0),
    (of(of_a_leaf, leaf), 2),
    (of(of_another_length), 0),
    (of(of_another_type), 2),
    (of(turned), 2),
    (of(of_nothing), 0),
    (of(of_nothing, leaf), 0),
    (of(written_to_what_has_a_history, rows, parameter), 1),
    (lambda: (of_another_number, lambda number: [rows(), parameter(), others(number)], []), None),
]


class UsesOfExperts(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


if __name__ == "__main__":
    unittest.main()
