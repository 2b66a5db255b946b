"""Loops that break the graph at each step: what is another number at each step is symbolic from the first continuation on.

A row is a use and how many graph breaks its calls have at most: one where the loop is reached, and one for all its steps."""

import collections
import random
import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional as F


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers, state=()):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], state)


def counted(x):
    total = x.sum() * 0
    for step in range(5):
        total = total + x[0, 1] * step
        slotrt.graph_break()
        total = total * (step + 2)
    return total, step


def summed(x):
    """Floats that a loop sets, also where the program branches on them."""
    best, bad, seen = 100.0, 0, 0.0
    for step in range(6):
        x = x * 1.5
        value = x.sum().item()
        slotrt.graph_break()
        seen = seen + value
        if value < best - 0.5:
            best = value
        else:
            bad += 1
    return x + seen, best, bad


def of_parts(x):
    """Numbers in tuples that the loop goes over."""
    for number, (shift, scale) in enumerate([(1, 2.5), (3, 0.5), (2, 4.5), (6, 1.25)]):
        slotrt.graph_break()
        x = x * scale + shift - number
    return x


def in_nested_loops(x):
    for row in range(3):
        for column in range(4):
            slotrt.graph_break()
            x = x + row * 10 + column
    return x


def in_while(x):
    step, rate = 0, 0.5
    while step < 5:
        slotrt.graph_break()
        x, rate, step = x * rate, rate * 0.75, step + 1
    return x, rate, step


def as_sizes(x):
    """Numbers that must be known stay constants."""
    found = []
    for size in range(2, 6):
        slotrt.graph_break()
        found.append(torch.zeros(size).sum() + x[size % 2, size % 3] * [3, 5, 7, 9][size - 2])
    return found


def big_numbers(x):
    number = 2**61
    for step in range(5):
        slotrt.graph_break()
        number *= 3
        x = x + step
    return x, number


def odd_floats(x):
    seen = []
    for value in [1.5, float("nan"), float("inf"), -0.0, 0.0, 2.0]:
        slotrt.graph_break()
        seen.append((value * 2, value == value))
        x = x + value
    return x, seen


def raising(x):
    seen = []
    try:
        for number in [4, 2, 1, 0, 3]:
            slotrt.graph_break()
            seen.append(12 // number)
            x = x + seen[-1]
    except ZeroDivisionError as error:
        seen.append(str(error))
    return x, seen


def scaled(x, *, scale, names=("a", "b")):
    slotrt.graph_break()
    return x * scale, names


def with_keywords(x):
    """The names of keywords lie on the stack where a call breaks."""
    seen = []
    for step in range(4):
        seen.append(sorted([step, 2, -step], key=lambda number: scaled(x, scale=number)[0].sum().item()))
        x, names = scaled(x, scale=step, names=("c", "d"))
        x = x + len(names)
    return x, seen


def decoded(x):
    """Tokens in a list that grows, of which the last is looked at."""
    tokens = [1]
    for _ in range(8):
        x = (x * (tokens[-1] + 1)).sin()
        tokens.append(x.argmax().item())
        if len(tokens) > 2 and tokens[-1] == tokens[-2] == 7:
            break
    return tokens, x


def evaluated(x):
    """Lists that are extended, and a history of which the last is looked at."""
    found, history = [], []
    for step in range(6):
        x = x * 1.25
        found.extend(x.argmax(1).tolist())
        slotrt.graph_break()
        if history and history[-1] > 1e6:
            break
        history.append(x.sum().item())
    return found, history, len(found)


def remembered(x):
    """A memory that gets full."""
    memory = collections.deque(maxlen=5)
    for step in range(9):
        memory.append((x + step, float(step)))
        slotrt.graph_break()
        if len(memory) >= 3:
            x = x + 1
    return list(memory), x


def mixed_up():
    net = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def function(x):
        losses = []
        for _ in range(5):
            share = random.gammavariate(0.5, 1.0)
            slotrt.graph_break()
            loss = (share * F.mse_loss(net(x), x[:, :2])).clamp(max=4)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return losses

    return function, lambda number: [matrix()], [net, random.getstate]


class BreakingLoops(torch_programs.ThreeWays, unittest.TestCase):
    rows = [
        (of(counted), 2),
        (of(summed), 3),
        (of(of_parts), 2),
        (of(in_nested_loops), 3),
        (of(in_while), 2),
        (of(as_sizes), None),
        (of(big_numbers), None),
        (of(odd_floats), None),
        (of(raising), None),
        (of(with_keywords), None),
        (of(decoded), 4),
        (of(evaluated), 6),
        (of(remembered), 4),
        (mixed_up, None),
    ]


def halted(x):
    y = x * 2
    tokens = [1]
    token = y.argmax().item()
    tokens.append(token)
    if token == 3:
        return tokens, y + 1
    return tokens, y


def kept_best(x):
    best, seen = 100.0, {}
    value = (x * 2).sum().item()
    seen["value"] = value
    if value < best - 0.5:
        best = value
    return best, seen, x + best


def compared_with_another(x):
    first, second = x.max().item(), x.min().item()
    if first > second * 2:
        x = x + 1
    return x, first


def compared_with_array(x):
    number = x.max().item()
    if number > x[0, 0]:
        x = x + 1
    return x


class BranchesOnContents(torch_programs.ThreeWays, unittest.TestCase):
    rows = [(of(halted), 1), (of(kept_best), 1), (of(compared_with_another), 1), (of(compared_with_array), None)]

    def test_traced_once(self):
        """The trace ends before the comparison, and is not made again for that."""
        slotrt.reset()
        slotrt.compile(self.broken)(matrix())
        if slotrt.stats()["repeated"]:
            self.skipTest("a build for development makes traces again to compare them")
        for use, _ in self.rows[:3]:
            function, arguments, _ = use()
            with self.subTest(function=function.__name__):
                slotrt.reset()
                slotrt.compile(function)(*arguments(0))
                self.assertEqual(slotrt.stats()["repeated"], 0)

    @staticmethod
    def broken(x):
        slotrt.graph_break()
        return x + 1


class LeftAlone(unittest.TestCase):
    """A loop whose steps each need a trace of their own runs as it is from some step on, and reports tell so."""

    @staticmethod
    def different(x, words):
        seen = []
        for word in words:
            slotrt.graph_break()
            size = len(word)
            slotrt.graph_break()
            seen.append(x * size + ord(word[0]))
        return seen

    @staticmethod
    def alike(x, words):
        for _ in words:
            slotrt.graph_break()
            x = x * 2
        return x

    def test_each_step_is_another(self):
        slotrt.reset()
        words = [chr(97 + number) * (number + 1) for number in range(26)]
        compiled = slotrt.compile(self.different)
        for _ in range(2):
            for one, other in zip(compiled(matrix(), words), self.different(matrix(), words), strict=True):
                self.assertTrue(torch.equal(one, other))
        stats = slotrt.stats()
        self.assertLessEqual(stats["frames_compiled"], 12)
        self.assertGreaterEqual(stats["frames_skipped"], 1)
        self.assertIn("its loops were traced again 8 times", str(slotrt.explain(self.different)(matrix(), words)))

    def test_steps_are_alike(self):
        slotrt.reset()
        compiled = slotrt.compile(self.alike)
        for _ in range(3):
            self.assertTrue(torch.equal(compiled(matrix(), "x" * 20), self.alike(matrix(), "x" * 20)))
        self.assertEqual(slotrt.stats()["frames_skipped"], 0)


if __name__ == "__main__":
    unittest.main()
