"""Loops that show how far they are: what shows it runs natively as a whole, and the body of the loop is traced.

The package is `tqdm` where it is there, else a small one that looks at the clock, waits for a lock, writes, and counts its instances.

A row is a use and how many graph breaks its calls have at most."""

import io
import sys
import types
import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.utils import data

SHOWS = '''
import threading, time, weakref

LOCK = threading.RLock()
INSTANCES = weakref.WeakSet()


class tqdm:
    def __init__(self, iterable=None, desc=None, total=None, file=None, mininterval=0.0, disable=False):
        self.iterable, self.desc, self.file, self.disable, self.n = iterable, desc, file, disable, 0
        self.total = total if total is not None or iterable is None else len(iterable)
        self.started, self.postfix = time.time(), ""
        with LOCK:
            INSTANCES.add(self)
        self.display()

    def __len__(self):
        return self.total

    def __iter__(self):
        try:
            for item in self.iterable:
                yield item
                self.update()
        finally:
            self.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __del__(self):
        self.close()

    def update(self, n=1):
        self.n += n
        if time.time() >= self.started:
            self.display()

    def set_description(self, desc):
        self.desc = desc
        self.display()

    def set_postfix(self, **values):
        self.postfix = ", ".join(f"{name}={value:.3g}" for name, value in values.items())
        self.display()

    def display(self):
        if not self.disable:
            with LOCK:
                self.file.write(f"\\r{self.desc}: {self.n}/{self.total} {self.postfix}")
                self.file.flush()

    def close(self):
        with LOCK:
            INSTANCES.discard(self)


def trange(*bounds, **options):
    return tqdm(range(*bounds), **options)
'''


def package():
    try:
        import tqdm
    except ImportError:
        module = types.ModuleType("tqdm.std")
        exec(compile(SHOWS, "tqdm.std", "exec"), module.__dict__)
        return module.tqdm, module.trange
    return tqdm.tqdm, tqdm.trange


tqdm, trange = package()
FILE = io.StringIO()


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers, state=()):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], state)


def counted(x):
    for number in tqdm(range(4), file=FILE, desc="steps"):
        x = x * 2 + number
    return x


def with_numbers(x):
    bar = trange(3, file=FILE)
    for number in bar:
        x = x * 2 + number
        bar.set_description(f"step {number}")
        bar.set_postfix(loss=x.sum().item())
    return x, bar.n


def by_hand(x):
    with tqdm(total=3, file=FILE) as bar:
        for number in range(3):
            x = x * 2 + number
            bar.update(1)
    return x, bar.n


def enumerated(x):
    kept = []
    for number, row in enumerate(tqdm(x.unbind(0), file=FILE, total=2)):
        kept.append(row * number)
        if number == 1:
            break
    return kept


def off(x):
    for number in tqdm([1.0, 2.0, 3.0], file=FILE, disable=True):
        x = x + number
    return x


def raised(x):
    try:
        for number in tqdm(range(3), file=FILE):
            x = x * 2
            if number == 1:
                raise ValueError(number)
    except ValueError as error:
        return x, str(error)


def trained():
    features = data.TensorDataset(torch.arange(15.0).reshape(5, 3), torch.arange(5.0))
    linear, batches = nn.Linear(3, 1), data.DataLoader(features, batch_size=2)
    optimizer = torch.optim.SGD(linear.parameters(), lr=1e-4)

    def f(x):
        losses = []
        for epoch in range(2):
            bar = tqdm(batches, file=FILE, desc=f"epoch {epoch}")
            for inputs, targets in bar:
                optimizer.zero_grad()
                loss = (linear(inputs).squeeze(1) - targets).pow(2).mean()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                bar.set_postfix(loss=loss.item())
        return losses, x * 2

    return f, lambda number: [matrix()], [linear]


ROWS = [
    (of(counted), 6),
    (of(with_numbers), 8),
    (of(by_hand), 6),
    (of(enumerated), 6),
    (of(off), 6),
    (of(raised), None),
    (trained, None),
]


class UsesOfProgress(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_what_is_shown(self):
        for function in (counted, with_numbers, by_hand):
            shown = []
            for called in (function, slotrt.compile(function)):
                FILE.seek(0), FILE.truncate()
                called(matrix())
                shown.append(FILE.getvalue())
            if "tqdm" not in sys.modules:
                self.assertEqual(shown[0], shown[1])
            self.assertTrue(shown[1])

    def test_it_is_left_alone(self):
        report = slotrt.explain(with_numbers)(matrix())
        traced = [frame["name"] for frame in report.frames if frame["steps"] and not frame["skipped"]]
        self.assertEqual([name for name in traced if "tqdm" in name or "trange" in name], [])


if __name__ == "__main__":
    unittest.main()
