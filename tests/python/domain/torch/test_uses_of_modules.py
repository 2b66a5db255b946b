"""What programs do with modules beside calling them: they make, copy, parametrise, prune and initialise them, set hooks between calls,
keep state in attributes, load state, and pass containers and arrays.

A row is a use and how many graph breaks its calls have at most."""

import copy
import dataclasses
import functools
import typing
import unittest

import numpy
import torch
import torch_programs
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations, parametrize, prune, rnn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


def matrix(*shape):
    shape = shape or (2, 3)
    return torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape) / 4


def of(make, *shape):
    """A use of a module that is made anew."""

    def use():
        module = make()
        return module, lambda number: [matrix(*shape)], [module]

    return use


class Doubled(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.seen = []

    def forward(self, x):
        return self.inner(x) * 2


class Symmetric(nn.Module):
    def forward(self, weight):
        return weight.triu() + weight.triu(1).T


class Lists(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))
        self.named = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.ReLU()})
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(3)) for _ in range(2)])
        self.shifts = nn.ParameterDict({"k": nn.Parameter(torch.ones(3))})

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = layer(x) + index
        for layer in self.named.values():
            x = layer(x)
        for scale in self.scales:
            x = x * scale
        return x + self.shifts["k"] + sum(parameter.sum() for parameter in self.layers[:2].parameters())


class Attention(nn.Module):
    """It keeps keys, values, a counter, a list and a buffer."""

    def __init__(self):
        super().__init__()
        self.k, self.v = nn.Linear(3, 3), nn.Linear(3, 3)
        self.cache, self.steps, self.log = None, 0, []
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        k, v = self.k(x), self.v(x)
        if self.cache is not None:
            k, v = torch.cat([self.cache[0], k]), torch.cat([self.cache[1], v])
        self.cache, self.last = (k, v), x
        self.steps += 1
        self.count += 1
        self.log.append(self.steps)
        return functional.softmax(x @ k.T, -1) @ v + self.count


class Static(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.register_buffer("kept", torch.zeros(8, 3), persistent=False)

    def forward(self, x, position):
        self.kept.index_copy_(0, position, self.inner(x).detach())
        self.kept[position] = self.kept[position] * 2
        return self.kept * 1


@dataclasses.dataclass
class Batch:
    a: torch.Tensor
    b: typing.Any = None
    n: int = 0


def parametrised():
    module = nn.Linear(3, 3)
    parametrize.register_parametrization(module, "weight", Symmetric())
    return module


def pruned():
    module = nn.Linear(3, 3)
    prune.l1_unstructured(module, "weight", 0.3)
    return module


def kept_by_hooks():
    module = Doubled()
    module.inner.register_forward_hook(lambda inner, args, result: module.seen.append(result.detach()))
    return module, lambda number: [matrix()], [module, lambda: module.seen]


def hooks_between_calls():
    module, handles = Doubled(), []

    def arguments(number):
        if number == 1:
            handles.append(module.inner.register_forward_hook(lambda inner, args, result: result + 1))
        if number == 2:
            handles.pop().remove()
        return [matrix()]

    return module, arguments, [module]


def loaded_between_calls():
    module = Doubled()
    states = [{name: torch.randn_like(held) for name, held in module.state_dict().items()} for _ in range(3)]

    def arguments(number):
        module.load_state_dict(states[number])
        return [matrix()]

    return module, arguments, [module]


def loaded_inside():
    one, other = Doubled(), Doubled()

    def f(x):
        other.load_state_dict(one.state_dict())
        return other(x) + one(x)

    return f, lambda number: [matrix()], [one, other]


def keeps_keys():
    module = Attention()
    return module, lambda number: [matrix()], [module, lambda: (module.cache, module.steps, module.log, module.last)]


def keeps_a_buffer():
    module = Static()
    return module, lambda number: [matrix(), torch.arange(2) + 2 * number], [module]


def made_inside():
    def f(x):
        return nn.Linear(3, 3)(x * 2)

    return f, lambda number: [matrix()], []


def copied_inside():
    module = nn.Linear(3, 3)
    return lambda x: copy.deepcopy(module)(x * 2) + module(x), lambda number: [matrix()], [module]


def switched():
    module = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1d(3))

    def f(x):
        a = module(x)
        module.eval()
        b = module(x)
        module.train()
        return a + b

    return f, lambda number: [matrix()], [module]


def changed_inside():
    module = Doubled()

    def f(x):
        module.apply(lambda inner: inner.weight.data.mul_(1.5) if isinstance(inner, nn.Linear) else None)
        module.requires_grad_(False)
        y = module(x)
        module.requires_grad_(True)
        return y

    return f, lambda number: [matrix()], [module]


def averaged():
    module = nn.Linear(3, 3)
    average = AveragedModel(module, multi_avg_fn=get_ema_multi_avg_fn(0.9))

    def f(x):
        y = module(x)
        average.update_parameters(module)
        return y, average(x)

    return f, lambda number: [matrix()], [module, average]


def packed():
    network = nn.LSTM(3, 4, batch_first=True)

    def f(x):
        given = rnn.pack_padded_sequence(x * 2, torch.tensor([3, 2]), batch_first=True)
        results, (hidden, cell) = network(given)
        padded, lengths = rnn.pad_packed_sequence(results, batch_first=True)
        return padded * 2, hidden + cell, lengths

    return f, lambda number: [matrix(2, 3, 3)], [network]


def loader():
    data, module = torch.utils.data.TensorDataset(matrix(6, 3), torch.arange(6)), nn.Linear(3, 3)
    batches = torch.utils.data.DataLoader(data, batch_size=2)

    def f():
        total = 0
        for x, y in batches:
            total = total + module(x).sum() + y.sum()
        return total

    return f, lambda number: [], [module]


def dataclasses_and_trees():
    def f(batch):
        doubled = torch.utils._pytree.tree_map(lambda x: x * 2, {"a": batch.a, "b": [batch.b["k"], (batch.a,)]})
        return Batch(batch.a * 2, [batch.b["k"] + 1], batch.n + 1), dataclasses.replace(batch, a=batch.a + 1), doubled

    return f, lambda number: [Batch(matrix(), {"k": matrix()}, 3)], []


def arrays():
    def f(x):
        made = numpy.sin((x * 2).numpy()) + 1
        return torch.from_numpy(made) * 2, made

    return f, lambda number: [matrix()], []


def cached():
    @functools.lru_cache
    def mask(count):
        return torch.triu(torch.ones(count, count), 1).bool()

    return lambda x: (x.T @ x).masked_fill(mask(x.shape[1]), 0.0), lambda number: [matrix()], []


def hooks_of_all_modules():
    module, seen, handles = nn.Linear(3, 2), [], []

    def arguments(number):
        if number == 1:
            handles.append(nn.modules.module.register_module_forward_hook(lambda module, *rest: seen.append(type(module).__name__)))
        if number == 2:
            handles.pop().remove()
        return [matrix()]

    return lambda x: module(x) * 2, arguments, [module, lambda: list(seen)]


def moved():
    module = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))

    def f(x):
        module.to("cpu").to(torch.device("cpu"), non_blocking=True).float()
        return module.to(torch.float32)(x.to("cpu"))

    return f, lambda number: [matrix()], [module]


def moved_to_other_numbers():
    module = nn.Linear(3, 2)

    def f(x):
        return module.to(torch.float64)(x.double())

    return f, lambda number: [matrix()], [module]


ROWS = [
    (hooks_of_all_modules, 0),
    (moved, 0),
    (moved_to_other_numbers, 1),
    (of(lambda: parametrizations.weight_norm(nn.Linear(3, 3))), 0),
    (of(lambda: parametrizations.spectral_norm(nn.Linear(3, 3))), 0),
    (of(lambda: parametrizations.orthogonal(nn.Linear(3, 3))), 0),
    (of(parametrised), 0),
    (of(pruned), 0),
    (of(lambda: nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(2))), 4),
    (of(Lists), 0),
    (kept_by_hooks, 0),
    (hooks_between_calls, 0),
    (loaded_between_calls, 0),
    (loaded_inside, 0),
    (keeps_keys, 0),
    (keeps_a_buffer, 0),
    (made_inside, 1),
    (copied_inside, 1),
    (switched, 0),
    (changed_inside, 2),
    (averaged, 3),
    (packed, 4),
    (loader, 4),
    (dataclasses_and_trees, 0),
    (arrays, 2),
    (cached, 0),
]


# AOTAutograd computes these in other steps, which round otherwise.
ROUNDED = (switched,)


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows, not_there = ROWS, ROUNDED


if __name__ == "__main__":
    unittest.main()
