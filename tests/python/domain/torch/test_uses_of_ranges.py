"""Numbers that contents decide, and between which it is known that they lie: indices that are drawn choose what is there, squares of floats of
32 bits are floats, and sums are what `sum` makes of them.

A row is a use and how many graph breaks its calls have at most."""

import itertools
import math
import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional as F
from torch.utils import data


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def pairs(count=6):
    drawn = torch.Generator().manual_seed(1)
    return data.TensorDataset(torch.randn(count, 3, generator=drawn), torch.randn(count, 2, generator=drawn))


def norm_of_gradients(find):
    def use():
        model = net()

        def f(x):
            F.mse_loss(model(x), torch.ones(2, 2)).backward()
            return find(model.parameters())

        return f, lambda number: [matrix()], [model]

    return use


def summed_squares(parameters):
    total = 0.0
    for held in parameters:
        total += held.grad.data.norm(2).item() ** 2
    return total**0.5


def summed_squares_by_math(parameters):
    total = 0.0
    for held in parameters:
        if held.grad is not None:
            total += held.grad.detach().norm(2).item() ** 2.0
    return math.sqrt(total), total / 4, -total


def powers(x):
    single, double = x.sum().item(), x.double().sum().item()
    return single**3, (-single) ** 2, abs(single) ** 0.5, (single**2 + 1) ** 1.5, double * 2


def powers_that_raise(x):
    try:
        return (x.sum().item() * 1e200) ** 2
    except OverflowError as error:
        return str(error), x * 2


def roots_that_are_no_floats(x):
    return (x.sum().item() - 100) ** 0.5, x * 2


def trained(sampler):
    def use():
        model, pairs_ = net(), pairs()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        batches = data.DataLoader(pairs_, batch_size=2, sampler=sampler(pairs_))

        def f():
            total = 0.0
            for x, y in batches:
                optimizer.zero_grad()
                loss = F.mse_loss(model(x), y)
                loss.backward()
                optimizer.step()
                total += loss.item()
            return total / len(batches)

        return f, lambda number: [], [model]

    return use


def loaded(**options):
    def use():
        model, pairs_ = net(), pairs(7)
        batches = data.DataLoader(pairs_, batch_size=2, shuffle=True, **options)

        def f():
            seen = []
            for x, y in batches:
                seen.append((x, model(x).detach() - y))
            return seen, len(batches)

        return f, lambda number: [], [model]

    return use


def sampled(make):
    """A sampler that a program goes through itself."""

    def use():
        sampler, rows = make(range(5)), torch.arange(10.0).reshape(5, 2)

        def f():
            total, seen = torch.zeros(2), []
            for chosen in sampler:
                total = total * 2 + rows[chosen].sum(0)
                seen.append(chosen)
            return total, seen

        return f, lambda number: [], []

    return use


def named(x):
    names, weights = ["first", "second", "third"], (0.5, 1.5)
    return names[x[0].argmax().item()], f"it is {names[int(x[1].argmin())]}", weights[x.argmax(0)[1].item()] * x


def named_out_of_range(x):
    try:
        return ["first", "second"][x[0].argmax().item()]
    except IndexError as error:
        return str(error), x * 2


def named_among_others(x):
    return ["first", 2, None][x[0].argmax().item()], x * 2


def random(pairs_):
    return data.RandomSampler(pairs_)


def repeated(pairs_):
    return data.RandomSampler(pairs_, True, 5)


def more(pairs_):
    return data.RandomSampler(pairs_, num_samples=9)


def subset(pairs_):
    return data.SubsetRandomSampler([0, 2, 3, 5])


def with_generator(pairs_):
    return data.RandomSampler(pairs_, generator=torch.Generator().manual_seed(3))


def weighted(pairs_):
    return data.WeightedRandomSampler([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 6)


def chosen_after_backward(draw):
    def use():
        model, rows = nn.Linear(3, 2), torch.arange(12.0).reshape(4, 3)

        def f():
            chosen = draw()
            model(rows[chosen[0]]).sum().backward()
            model(rows[chosen[1]]).sum().backward()
            return chosen

        return f, lambda number: [], [model]

    return use


def permuted():
    return torch.randperm(4).tolist()


def drawn():
    return torch.multinomial(torch.ones(4), 3, True).tolist()


def drawn_by_name():
    return torch.randint(high=4, size=(2,)).tolist()


def drawn_below():
    return torch.randint(-4, 4, (2,)).tolist()


def out_of_range():
    model, rows = nn.Linear(3, 2), torch.arange(12.0).reshape(4, 3)

    def f():
        chosen = torch.randint(4, 9, (2,)).tolist()
        model(rows[0]).sum().backward()
        try:
            return rows[chosen[0]]
        except IndexError:
            return chosen

    return f, lambda number: [], [model]


def changed_after():
    """What was drawn is changed before it chooses."""
    model, rows = nn.Linear(3, 2), torch.arange(12.0).reshape(4, 3)

    def f():
        order = torch.randperm(4)
        order.add_(9)
        model(rows[0]).sum().backward()
        try:
            return rows[order[0].item()]
        except IndexError:
            return order

    return f, lambda number: [], [model]


def items(x):
    first, second = torch.randperm(2).tolist()
    return x[first], x[second, 1:], x[[first, second]], x[first] + x[second], torch.stack([x[first], x[1]], 0, out=None)


def doubles():
    return torch.tensor([0.1] * 10, dtype=torch.float64)


def sums(x):
    told, read = x.tolist(), [v.item() for v in x]
    flags = (x > 0).tolist()
    return sum(told), sum(read), sum(read, 0.5), sum(read[:3]) / 3, sum([1, *read]), sum([True, *flags]), sum(read[:2]), sum([], 1.5)


def sums_of_generators(x):
    return sum(v.item() for v in x), sum((v > 0.05).item() for v in x), sum((v for v in x), start=x[0]), sum(range(3))


def sums_of_views(x):
    held = {number: v.item() for number, v in enumerate(x)}
    return sum(held.values()), sum(held.keys()), sum(map(lambda v: v.item(), x))


def sums_of_others(x):
    try:
        return sum([x[0].item(), "text"])
    except TypeError as error:
        return str(error), sum([x[0].item(), x[1], 2.0]), sum([[1], [2]], [])


def passed_on(x):
    numbers = (v.item() for v in x)
    first, rest = [*itertools.islice(numbers, 3)], list(numbers)
    again = (v.item() for v in x)
    return first, rest, tuple(zip(again, again)), list(itertools.accumulate(v.item() for v in x))


def sums_of_arguments():
    def f(x, a, b, c):
        return sum([a, b, c, 0.1]), sum([a, b]), sum((n for n in (a, b, c)), 0.5), x * a

    return f, lambda number: [matrix(), 0.1 * number, 0.1, 0.1 + number], []


ROWS = [
    (norm_of_gradients(summed_squares), 1),
    (norm_of_gradients(summed_squares_by_math), 1),
    (of(powers), 0),
    (of(powers_that_raise), None),
    (of(roots_that_are_no_floats), None),
    *[(trained(sampler), 0) for sampler in (weighted, random, repeated, more, subset)],
    (trained(with_generator), None),
    (loaded(), 0),
    (loaded(drop_last=True), 3),
    (sampled(random), 0),
    (sampled(repeated), 0),
    (sampled(lambda held: data.BatchSampler(data.RandomSampler(held), 2, False)), 0),
    (sampled(lambda held: data.BatchSampler(data.RandomSampler(held), 2, True)), None),
    (sampled(with_generator), None),
    (of(named), 0),
    (of(named_out_of_range), None),
    (of(named_among_others), None),
    (chosen_after_backward(permuted), 0),
    (chosen_after_backward(drawn), 0),
    (chosen_after_backward(drawn_by_name), 0),
    (chosen_after_backward(drawn_below), 0),
    (out_of_range, None),
    (changed_after, None),
    (of(items), 0),
    (of(sums, doubles), 0),
    (of(sums_of_generators, doubles), 0),
    (of(sums_of_views, doubles), 1),
    (of(sums_of_others, doubles), None),
    (of(passed_on, doubles), 1),
    (sums_of_arguments, None),
]


class UsesOfRanges(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_a_sum_is_exact(self):
        self.assertEqual(slotrt.compile(sums)(doubles()), sums(doubles()))


if __name__ == "__main__":
    unittest.main()
