"""Branches on contents that nearly always go one way: experts that get no row, tokens that end a sequence, numbers that are not finite.

A row is a use and how many graph breaks its calls have at most. A trace goes on as contents most likely decide; where they do not, the call does
what it does uncompiled, and later traces end at such branches."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional as F

KEPT = []


def rows():
    return torch.arange(24.0).reshape(6, 4) / 9 - 1


def leaf():
    return rows().requires_grad_()


def of(function, *makers):
    """`makers` get the number of the call."""


    def use():
        KEPT.clear()
        return function, lambda number: [make(number) for make in makers], [lambda: list(KEPT)]

    return use


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.Dropout(0.2), nn.Linear(6, 4)) for _ in range(3))

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(2, dim=-1)
        total = torch.zeros_like(x)
        mask = F.one_hot(chosen, num_classes=3).permute(2, 1, 0)
        for number, expert in enumerate(self.experts):
            place, row = torch.where(mask[number])
            if row.numel() == 0:
                continue
            total.index_add_(0, row, expert(x[row]) * weights[row, place, None])
        return total


def experts(make=rows):
    def use():
        net = Experts()
        return net, lambda number: [make()], [net]

    return use


def idle_experts():
    """One expert gets nothing in the second call."""
    net = Experts()

    def routed(number):
        with torch.no_grad():
            net.router.bias[0] = -50.0 if number == 1 else 0.0
        return [rows()]

    return net, routed, [net]


def ids():
    return torch.tensor([[1, 2]])


def generated(end):
    def use():
        embed, head = nn.Embedding(10, 4), nn.Linear(4, 10)

        @torch.no_grad()
        def generate(tokens):
            for _ in range(4):
                logits = head(embed(tokens).mean(1))
                token = torch.multinomial(logits.softmax(-1), 1)
                tokens = torch.cat([tokens, token], 1)
                KEPT.append(tokens.shape[1])
                if (token == end).all():
                    break
            return tokens

        KEPT.clear()
        return generate, lambda number: [ids()], [lambda: list(KEPT)]

    return use


def finite(x):
    loss = (x / x.abs().sum()).mean()
    if torch.isnan(loss):
        return x, "not a number"
    if not torch.isfinite(x).all():
        return loss, "not finite"
    return loss * 2, "finite"


def finite_or_not(number):
    return [rows(), torch.zeros(2), torch.tensor([1.0, float("inf")])][number]


def finite_at_first(number):
    return rows() if number < 2 else torch.zeros(2)


def found(x):
    chosen = (x > 1).nonzero()
    if len(chosen) > 0:
        return x[chosen[:, 0]] * 2
    return x - 1


def fewer(number):
    return rows() - number * 9


def changed_after(x, y):
    KEPT.append("begun")
    noise = torch.rand(2)
    rest = x[x > 1]
    if not rest.shape[0]:
        KEPT.append("nothing")
        y.mul_(3)
        return noise, y * 2
    y.add_(1)
    KEPT.append("something")
    return noise, y * 2, rest


def changed_before(x, y):
    y.add_(1)
    if (x > 100).any():
        y.mul_(2)
    return y * x.sum()


def over_a_hundred(number):
    return rows() + (200 if number == 2 else 0)


def within_a_handler(x):
    try:
        if (x > 100).any():
            raise ValueError("too much")
        if x.isnan().any():
            return x
        return x * 2
    except ValueError as error:
        return str(error)


def in_what_is_called(x):
    def limited(y):
        if (y > 100).any().item():
            y = y.clamp(max=100)
        return y + 1

    return limited(x * 2), limited(x + 1)


def after_a_break(x):
    y = x * 2
    slotrt.graph_break()
    KEPT.append(1)
    if (y > 100).any():
        KEPT.append(2)
        return y - 1
    return y + 1


def until(x):
    """What the loop ends with is not guessed."""
    count = 0
    while not (x > 50).all():
        x = x * 3 + 4
        count += 1
    return x, count


def until_told(x):
    """The same, where a function looks."""

    def is_done(y):
        if (y > 50).all():
            return True
        return False

    count = 0
    while not is_done(x):
        x = x * 3 + 4
        count += 1
    return x, count


def both(x):
    if (x > 100).any() and x.sum() > 0 or (x < -100).any():
        return x + 1
    return x - 1


def gives(value):
    return lambda number: value()


ROWS = [
    (experts(), 0),
    (experts(leaf), 0),
    (idle_experts, None),
    (generated(100), 0),
    (generated(7), None),
    (of(finite, gives(rows)), 0),
    (of(finite, finite_or_not), None),
    (of(finite, finite_at_first), 1),
    (of(found, fewer), None),
    (of(found, gives(leaf)), 0),
    (of(changed_after, fewer, gives(rows)), None),
    (of(changed_after, gives(rows), gives(rows)), 0),
    (of(changed_before, over_a_hundred, gives(rows)), 1),
    (of(within_a_handler, over_a_hundred), None),
    (of(within_a_handler, gives(rows)), 0),
    (of(in_what_is_called, over_a_hundred), None),
    (of(in_what_is_called, gives(rows)), 0),
    (of(after_a_break, over_a_hundred), None),
    (of(until, gives(rows)), None),
    (of(until_told, gives(rows)), None),
    (of(both, over_a_hundred), None),
]


class UsesOfGuesses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_a_wrong_guess_ends_guessing(self):
        compiled = slotrt.compile(finite)
        slotrt.reset()
        self.assertEqual(compiled(rows())[1], "finite")
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)
        self.assertEqual(compiled(torch.zeros(6, 4))[1], "not a number")
        for value in (rows(), torch.zeros(6, 4), rows()):
            self.assertEqual(compiled(value)[1], finite(value)[1])
        breaks, frames = slotrt.stats()["graph_breaks"], slotrt.stats()["frames_compiled"]
        self.assertGreater(breaks, 0)
        compiled(rows()), compiled(torch.zeros(6, 4))
        self.assertEqual(slotrt.stats()["frames_compiled"], frames)

    def test_nothing_is_guessed_where_a_break_is_an_error(self):
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(finite, fullgraph=True)(rows())


if __name__ == "__main__":
    unittest.main()
