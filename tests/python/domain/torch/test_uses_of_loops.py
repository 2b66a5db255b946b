"""What stands around training steps: loaders that a program goes through, sums of numbers for logs, checkpoints with keywords,
distributions that validate what they get, indices that are tensors.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.utils import checkpoint, data


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def of(function, *makers, state=()):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], state)


def loader(count=5, **options):
    return data.DataLoader(data.TensorDataset(torch.arange(count * 3.0).reshape(count, 3), torch.arange(count)), batch_size=2, **options)


def loaded(**options):
    def use():
        linear, batches = nn.Linear(3, 3), loader(**options)

        def f(x):
            total = x.sum()
            for features, labels in batches:
                total = total + linear(features).sum() + labels.sum()
            return total

        return f, lambda number: [matrix()], [linear]

    return use


class Squares(data.Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return {"x": torch.full((2,), float(index)), "y": index, "name": f"item {index}"}


def loaded_dicts():
    batches = data.DataLoader(Squares(), batch_size=2)

    def f(x):
        seen = [(batch["x"] * 2 + x[0, 0], batch["y"], batch["name"]) for batch in batches]
        return seen, len(batches)

    return f, lambda number: [matrix()], []


def enumerated():
    batches = loader(drop_last=True)

    def f(x):
        for number, (features, labels) in enumerate(batches):
            x = x + features * number
            if number == 1:
                break
        return x

    return f, lambda number: [matrix()], []


def summed(x):
    total, count = 0.0, 0
    for row in x:
        total += row.sum().item()
        count += (row > 0.5).sum().item()
    return total / len(x), count, -total, 2 * total - 1, x * 2


def summed_in_an_object():
    class Meter:
        total, count = 0.0, 0

    meter = Meter()

    def f(x):
        meter.total += x.sum().item() * x.size(0)
        meter.count += x.size(0)
        return x * 2

    return f, lambda number: [matrix() * (number + 1)], [lambda: (meter.total, meter.count)]


def of_kinds(x):
    flag, number, real = (x > 1).any().item(), x.argmax().item(), x.sum().item()
    return flag + number, flag + real, number + real, number - 1, flag * 2.5, number * 2, real * real, number / 4, -flag


def divided(x):
    zero, real = (x - x).sum().item(), x.sum().item()
    try:
        return real / zero
    except ZeroDivisionError as error:
        return str(error), x * 2


def powers(x):
    real = x.sum().item()
    return real**2, real // 2, real % 2, abs(real), round(real, 2), max(real, 1.0), x * 2


def with_complex(x):
    number = torch.complex(x[0, 0], x[0, 1]).item()
    return number + 1, number * 2.0, x * 2


def with_others(x):
    real = x.sum().item()
    try:
        return real + "text"
    except TypeError as error:
        return str(error), real * x, [1, 2] * int(real > 0)


def checked(x):
    if not bool((x > -1).all()):
        raise ValueError("negative")
    if bool(torch.isnan(x).any()):
        raise ValueError("not a number")
    return x * 2


def refused(x):
    try:
        return checked(x)
    except ValueError as error:
        return str(error), x + 1


def decided(x):
    truth = bool((x > 1).all())
    return (x * 2 if truth else x * 3), truth, not truth


def of_a_matrix(x):
    try:
        return bool(x)
    except RuntimeError as error:
        return str(error)[:30], x * 2


def validated(x):
    normal = torch.distributions.Normal(x, x.abs() + 1)
    return normal.log_prob(x * 2), normal.entropy()


def refused_by_a_distribution(x):
    try:
        return torch.distributions.Normal(x, x - 100).log_prob(x)
    except ValueError as error:
        return str(error), x * 2


def policy():
    linear = nn.Linear(3, 2)

    def f(x):
        actions = torch.distributions.Categorical(logits=linear(x))
        chosen = actions.sample()
        return chosen, actions.log_prob(chosen), actions.entropy()

    return f, lambda number: [matrix()], [linear]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.dropout = nn.Linear(3, 3), nn.Dropout(0.2)

    def forward(self, x, mask=None, scale=1.0):
        y = self.dropout(self.linear(x)) * scale
        return y if mask is None else y * mask


def checkpointed():
    block = Block()

    def f(x, mask):
        y = checkpoint.checkpoint(block, x, mask=mask, scale=0.5, use_reentrant=False)
        return checkpoint.checkpoint(block, y, scale=2.0, use_reentrant=False)

    return f, lambda number: [leaf(), torch.ones(2, 3)], [block]


def checkpointed_the_old_way():
    block = Block()

    def f(x):
        try:
            return checkpoint.checkpoint(block, x, scale=2.0, use_reentrant=True)
        except ValueError as error:
            return str(error)[:30], x * 2

    return f, lambda number: [leaf()], [block]


def of_tensors(x):
    parts = [row.sum() for row in x]
    return torch.tensor(parts), torch.tensor([parts, parts]) * 2, torch.tensor([parts[0], 1.0])


def indexed(x):
    place = x.argmax() % 2
    y = x.clone()
    y[place] = 0.0
    y[place, 1:] += 1
    return x[place], x[place, :2], y, x.sort().indices[0]


ROWS = [
    (loaded(), 0),
    (loaded(drop_last=True), 0),
    (loaded(shuffle=True), None),
    (loaded_dicts, None),
    (enumerated, 0),
    (of(summed), 0),
    (summed_in_an_object, None),
    (of(of_kinds), None),
    (of(divided), None),
    (of(powers), None),
    (of(with_complex), None),
    (of(with_others), None),
    (of(checked), 0),
    (of(refused, lambda: -10 * matrix()), None),
    (of(decided), None),
    (of(of_a_matrix), None),
    (of(validated), 0),
    (of(refused_by_a_distribution), None),
    (policy, 0),
    (checkpointed, 0),
    (checkpointed_the_old_way, None),
    (of(of_tensors), 0),
    (of(indexed), 1),
]


class Loops(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def setUp(self):
        # TorchDynamo switches it off where it is loaded.
        self.addCleanup(torch.distributions.Distribution.set_default_validate_args, torch.distributions.Distribution._validate_args)
        torch.distributions.Distribution.set_default_validate_args(True)

    def test_with_a_backend_there_are_no_more_breaks(self):
        torch_programs.check(self, ROWS, slotrt.compile(backend="aot_eager"), counted=True)

    def test_what_a_check_refuses_later(self):
        f = slotrt.compile(checked)
        self.assertEqual(f(matrix()).tolist(), (matrix() * 2).tolist())
        with self.assertRaisesRegex(ValueError, "negative"):
            f(-10 * matrix())


if __name__ == "__main__":
    unittest.main()
