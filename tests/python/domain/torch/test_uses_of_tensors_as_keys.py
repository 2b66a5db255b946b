"""Sets and dicts of tensors that the graph makes, and their `id()`: what a program has met already, what it keeps for which.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import collections
import copy
import unittest

import slotrt
import torch
import torch_programs
from torch import nn


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


def once(x):
    y, z = x * 2, x * 3
    seen, kept = set(), []
    for part in (y, z, y, x, z, x):
        if part not in seen:
            seen.add(part)
            kept.append(part.sum())
    return kept, len(seen), y in seen, x in seen


def by_id(x):
    parts = [x * number for number in range(3)]
    names = {id(part): f"part {place}" for place, part in enumerate(parts)}
    return [names[id(part)] for part in reversed(parts)], id(parts[0]) == id(parts[1]), id(x) in names


def kept_for(x):
    y = x * 2
    counts = {y: 1, x: 2}
    counts[y] += 5
    return [counts[key] for key in (x, y)], [key.sum() for key in counts], counts.pop(y), list(counts) == [x]


def views(x):
    y = x * 2
    first, again = y[0], y[0]
    return len({first, again, y}), hash(first) == hash(again), {first: 1}.get(again), y + 1


def changed(x):
    y = x * 2
    seen = {y}
    y.add_(1)
    z = y.mul_(2)
    return z in seen, len(seen | {z}), y


def given(x):
    """What leaves the graph is found again by its keys."""
    y = x * 2
    counts, seen = {y: 1, x: 2}, {y, x}
    return len(seen), y in seen, [key.sum() for key in counts], list(counts.values())


def let_go(x):
    ids = set()
    for number in range(4):
        ids.add(id(x * number))
    return x + 1


def copied():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))

    def f(x):
        twin = copy.deepcopy(model)
        with torch.no_grad():
            for name, weight in twin.named_parameters():
                weight.mul_(2 if name.endswith("weight") else 3)
        return twin(x), model(x), sum(weight.numel() for weight in twin.parameters())

    return f, lambda number: [matrix()], [model]


def tied():
    first, last = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
    last.weight = first.weight
    model = nn.ModuleDict({"first": first, "last": last})

    def f(x):
        twin = copy.deepcopy(model)
        return twin["last"](twin["first"](x)), len(list(twin.parameters())), twin["last"].weight is twin["first"].weight

    return f, lambda number: [torch.tensor([0, number, 2])], [model]


def weights():
    return [nn.Parameter(matrix()) for _ in range(2)]


def kept_by_kinds(weights):
    states = collections.defaultdict(list, {weights[0]: [1]})
    states[weights[1]].append(2)
    plain = dict.fromkeys(reversed(weights), 3)
    found = {weight: [kind[weight] for kind in (states, plain)] for weight in weights}
    return states, plain, set(weights), frozenset(weights[:1]), [found[weight] for weight in weights]


def stepped(weights):
    for weight in weights:
        optimiser = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
        for _ in range(2):
            optimiser.zero_grad()
            (weight * 2).sum().backward()
            optimiser.step()
    return optimiser.state_dict(), optimiser.state


ROWS = [
    (of(once), 0),
    (of(by_id), 0),
    (of(kept_for), 0),
    (of(views), None),
    (of(changed), 0),
    (of(given), 0),
    (of(let_go), None),
    (copied, 0),
    (tied, 0),
]


class UsesOfTensorsAsKeys(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_those_from_outside_are_keys_of_any_container(self):
        for function in (kept_by_kinds, stepped):
            mine, theirs = weights(), weights()
            number = {weight: index for given in (mine, theirs) for index, weight in enumerate(given)}

            def told(result):
                kinds = [{number[key]: value for key, value in kind.items()} if isinstance(kind, dict) and kind and
                         next(iter(kind)) in number else kind for kind in result]
                sets = [sorted(map(number.get, kind)) if isinstance(kind, set | frozenset) else kind for kind in kinds]
                return repr(sets)

            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function)
                for _ in range(2):
                    self.assertEqual(told(compiled(mine)), told(function(theirs)))
                self.assertEqual(slotrt.explain(function)(weights()).breaks, 0)

    def test_what_leaves_is_hashed_anew(self):
        def f(x):
            y, z = x * 2, x * 3
            return y, z, {y: "y", z: "z"}, {z}, frozenset([y, x])

        x = matrix()
        y, z, names, some, frozen = slotrt.compile(f)(x)
        self.assertEqual((names[y], names[z], x in names), ("y", "z", False))
        self.assertEqual((z in some, y in some, y in frozen, x in frozen, len(frozen)), (True, False, True, True, 2))


if __name__ == "__main__":
    unittest.main()
