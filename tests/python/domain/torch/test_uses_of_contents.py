"""What programs do with results that contents decide: tensors whose sizes nobody knows before the graph has run, and numbers of tensors.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback
import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional


def vector(*numbers, dtype=torch.float32):
    return torch.tensor(numbers or (1.0, 0.0, -2.0, 3.0, 0.0, 3.0), dtype=dtype)


def of(function, *arguments, state=(), needs=False):
    """A use of a function on copies of the arguments, the first of which may need gradients; later calls have other contents."""

    def given(number):
        first, *rest = [argument.clone().roll(number) for argument in arguments or (vector(),)]
        return [first.requires_grad_(needs), *rest]

    return lambda: (function, given, state)


# What it gives.


def indices(x):
    y = x * 2
    return y.nonzero(), torch.nonzero(y, as_tuple=True), torch.argwhere(y > 0), y + 1


def uniques(x):
    y = x + 1
    return torch.unique(y), y.unique(return_inverse=True, return_counts=True), torch.unique_consecutive(y), y * 2


def counted(x):
    n = x.abs().long()
    return torch.bincount(n), torch.bincount(n, minlength=9), torch.repeat_interleave(x, n), x.repeat_interleave(2)


def selected(x):
    y = x.sin()
    return y[x > 0], torch.masked_select(y, x < 0), y[(x > 0).nonzero()], y.cos()


def in_rows(x):
    y = x.reshape(2, 3) * 2
    return y[y > 0], y[y.sum(1) > -9], y[:, y[0] > 0], y[0, y[1] > 0], y[None, y > 100]


def in_containers(x):
    kept = {"mask": x[x > 0], "all": [x.nonzero(), (x < 0).nonzero()]}
    kept["all"].append(x * 2)
    return kept


class Keeps(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(6))

    def forward(self, x):
        y = x * self.weight
        self.chosen = y[x > 0]
        return y.relu()


def keeps():
    module = Keeps()
    return module, lambda number: [vector().roll(number)], [module, lambda: module.chosen]


# What is known of it.


def known_of_it(x):
    y = (x * 2)[x > 0]
    known = y.dtype, y.ndim, y.dim(), y.device, y.is_floating_point(), y.is_complex(), y.requires_grad, y.is_leaf
    return y, known, torch.is_tensor(y), isinstance(y, torch.Tensor), y.layout, y.is_cuda, y.element_size(), type(y)


def sizes_of_it(x):
    y = (x * 2)[x > 0]
    z = (x * 3)[x < 0]
    return y.shape, len(y), y.numel(), z.size(0), y * len(z)


def gone_through(x):
    return [float(number) for number in x[x > 0]] + x[x < 0].tolist()


def branched_on(x):
    y = x[x > 0]
    return y * 2 if y.sum() > 6.5 else y * 3


# What is done with it.


def reduced(x):
    y = x[x > 0]
    return y.sum(), y.mean() * 2, y.max() + x, (y * 2 + 1).amax(), y.exp().sum(0, keepdim=True), y.std()


def masked_loss(x, y):
    kept = y > 0
    error = (x[kept] - y[kept]).pow(2)
    return error.mean() + functional.relu(x).sum(), error.sqrt()


def of_two(x, y):
    return x[x > 0] * 2 + y[y > 100], x + 1


def broadcast(x):
    rows = x.reshape(3, 2)
    kept = rows[rows[:, 0] != 0]
    return kept * torch.tensor([1.0, 2.0]) + 1, kept.sum(0), kept.sum(1), kept > 0


def does_not_fit(x):
    y = x[x > 0]
    try:
        return y + torch.ones(7), x
    except RuntimeError as error:
        return str(error), y * 2


def masks_do_not_fit(x):
    try:
        return torch.masked_select(x, torch.ones(5, dtype=torch.bool)), x
    except RuntimeError as error:
        return str(error), x * 2


def changed_first(x):
    x.add_(1)
    y = x[x > 1]
    x.mul_(2)
    z = x[x > 2]
    x.zero_()
    return y, z, x + 1


def changed_itself(x):
    y = x[x > 0]
    y.mul_(2)
    y[0] = 9.0
    return y, x + 1


def raises_after_a_change(x):
    x.add_(1)
    try:
        return torch.bincount(x.long()), x * 2
    except RuntimeError as error:
        return str(error), x * 3


def without_gradients(x):
    with torch.no_grad():
        y = x[x > 0]
    return y, y.requires_grad, x[x > 0].requires_grad, x.nonzero().requires_grad


def views_of_it(x):
    y, rows = x[x > 0], x.reshape(3, 2)
    kept = rows[rows[:, 0] != 0]
    found = (x > 0).nonzero()
    return found[:, 0], y.reshape(-1), y.view(-1), kept.t(), kept[:, 1:], kept[..., None], y.unsqueeze(0), y.detach(), y.float() is y


def products_of_it(x):
    rows = x.reshape(3, 2)
    kept = rows[rows[:, 0] != 0]
    weight = torch.arange(4.0).reshape(2, 2)
    logits = functional.linear(kept, weight)
    return logits @ weight, logits.softmax(1).sum(), logits.log_softmax(-1), kept.double(), torch.cat([kept, rows]), kept.sort(1)[0]


def as_an_index(x):
    chosen = (x > 0).nonzero(as_tuple=True)
    rows = torch.argwhere(x > 0)
    return x[chosen], x[rows], x[rows].sum(), x[chosen] * 2


def random_beside(x):
    a = torch.rand(6)
    y = a[a > 0.5]
    return y, torch.rand(3), y + 1, torch.rand(2)


def under_autocast(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x.reshape(2, 3) @ x.reshape(3, 2)
        return y[y > 0], y[y > 0].sum(), (y[y > 0] * 2).float()


# Numbers.

SEEN = []


def numbers(x):
    y = x * 2
    return y.sum().item(), y.long().max().item(), (y > 0).any().item(), float(y.sum()), int(y.long().sum()), y + 1


def kept_outside(x):
    loss = (x * 2).sum()
    SEEN.append(loss.item())
    return loss + 1


def kept():
    SEEN.clear()
    return kept_outside, lambda number: [vector().roll(number)], [SEEN]


def in_all_kinds_of_containers(x):
    n, k = x.sum().item(), x.argmax().item()
    found = [n, k]
    found.append(n)
    found.extend((k, n))
    made = {"n": n, "more": (k, [n])}
    made["k"] = k
    made.update(other=n)
    return found, made, (*found, n), [number for number in found], x * 2


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.last, self.history = 0.0, []

    def forward(self, x):
        y = x * 2
        self.last = y.sum().item()
        self.history.append(self.last)
        return y.relu()


def counts():
    module = Counts()
    return module, lambda number: [vector().roll(number)], [module, lambda: module.history]


def computed_with(x):
    n = x.abs().max().item()
    return x / n, x * n + 1, n * x, 1 / n, n + 2, n > 2, -n, n == 3.0, str(n), f"{n:.2f}", {n: 1}


def as_operands(x):
    n, k = x.abs().max().item(), x.argmax().item()
    return x / n, x * n + 1, n * x, x - k, x > n, x.clamp(max=n), torch.where(x > 0, n, x), x ** k, x.long() * k


def as_a_size(x):
    return torch.zeros(x.argmax().item() + 1), x[: x.argmax().item()], x[x.argmax().item()], range(x.argmax().item())


def compared(x):
    n, truth = x.sum().item(), (x > 0).all().item()
    found = [n is None, n == None, isinstance(n, float), type(n), truth is True, n is n]  # noqa: E711
    return found, (1 if truth else 2), (3 if n else 4), not n, x * 2


def equal(x):
    return torch.equal(x, x + 0), torch.allclose(x, x + 1), x.equal(x * 2), x + 1


def of_two_elements(x):
    try:
        return x.item(), x
    except RuntimeError as error:
        return str(error), x * 2


def sorted_by_them(x):
    parts = [x[0], x[2], x[3] * 2]
    return sorted(parts, key=lambda part: part.item()), max(part.item() for part in parts), sum(p.item() for p in parts)


def passed_on(x, n=None):
    n = x.sum().item() if n is None else n
    return (lambda *args, **kwargs: (args, kwargs))(n, *[n], key=n, **{"other": n}), x + 1


def generated(x):
    def numbers():
        for index in range(3):
            yield x[index].item()

    return list(numbers()), [*numbers()], dict(enumerate(numbers())), list(zip(numbers(), numbers())), x * 2


def unpacked(x):
    a, (b, *rest) = x[0].item(), [x[number].item() for number in range(4)]
    a, b = b, a
    return a, b, rest, rest[::-1], rest[0], (a,) + (b,), rest * 2, len(rest)


ROWS = [
    (of(indices), 0),
    (of(uniques), 0),
    (of(counted), 0),
    (of(selected), 0),
    (of(selected, needs=True), 0),
    (of(in_rows), 0),
    (of(in_containers), 0),
    (keeps, 0),
    (of(known_of_it), 0),
    (of(known_of_it, needs=True), 0),
    (of(sizes_of_it), 1),
    (of(gone_through), 4),
    (of(branched_on), 1),
    (of(reduced), 0),
    (of(reduced, needs=True), 0),
    (of(masked_loss, vector(), vector(3.0, 1.0, -1.0, 2.0, 0.0, 5.0), needs=True), 0),
    (of(of_two, vector(), vector(0.0, 101.0)), 0),
    (of(of_two, vector(), vector(101.0, 101.0, 105.0)), 0),
    (of(broadcast), 0),
    (of(broadcast, needs=True), 0),
    (of(does_not_fit), 0),
    (of(masks_do_not_fit), 2),
    (of(changed_first), 0),
    (of(changed_itself), 1),
    (of(raises_after_a_change), 0),
    (of(without_gradients, needs=True), 0),
    (of(views_of_it), 0),
    (of(views_of_it, needs=True), 0),
    (of(products_of_it), 0),
    (of(products_of_it, needs=True), 0),
    (of(as_an_index), 0),
    (of(random_beside), 0),
    (of(under_autocast), 0),
    (of(numbers), 0),
    (kept, 0),
    (of(in_all_kinds_of_containers), 1),
    (counts, 0),
    (of(computed_with), 1),
    (of(as_operands), 2),
    (of(as_a_size), 6),
    (of(compared), 1),
    (of(equal), 0),
    (of(of_two_elements), 2),
    (of(sorted_by_them), 3),
    (of(passed_on), 0),
    (of(generated), 4),
    (of(unpacked), 0),
]


SAVED = """
import json, sys
import slotrt
import torch

@slotrt.compile
def f(x):
    y = x * 2
    return y[y > 0], (y[y > 0] * 2).mean(), y.sum().item(), float(y.max()), torch.equal(x, y)

path, loads = sys.argv[1], sys.argv[2] == "load"
if loads:
    slotrt.load(path)
found = [[value.tolist() if isinstance(value, torch.Tensor) else value for value in f(torch.tensor(numbers))]
         for numbers in ([1.0, -2.0, 3.0], [-1.0, -2.0, 3.0])]
if not loads:
    slotrt.save(path)
stats = slotrt.stats()
print(json.dumps([found, stats["frames_compiled"], stats["traces_loaded"], stats["graph_breaks"]]))
"""


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows, not_there = ROWS, ()


class Traces(unittest.TestCase):
    def test_sizes_are_symbolic(self):
        """Sizes of operands stay symbolic where contents decide those of the result."""

        def f(x):
            return (x * 2)[x > 0], x.nonzero(), x.sum().item()

        compiled = slotrt.compile(f, dynamic=True, fullgraph=True)
        slotrt.reset()
        for size in range(2, 9):
            x = torch.arange(float(size)) - 2
            for one, other in zip(compiled(x), f(x), strict=True):
                self.assertTrue(torch.equal(torch.as_tensor(one), torch.as_tensor(other)))
        self.assertEqual(slotrt.stats()["graphs"], 1)

    def test_no_contents_make_another_trace(self):
        def f(x):
            return x[x > 0], x.max().item()

        compiled = slotrt.compile(f, fullgraph=True)
        slotrt.reset()
        for number in range(6):
            x = torch.arange(6.0) - number
            kept, most = compiled(x)
            self.assertEqual((kept.tolist(), most), (x[x > 0].tolist(), x.max().item()))
            self.assertEqual(type(most), float)
        self.assertEqual(slotrt.stats()["graphs"], 1)

    def test_an_error_is_at_the_line_of_the_program(self):
        def f(x):
            y = x[x > 0]
            return y + torch.ones(7)

        told = []
        for function in (f, slotrt.compile(f, fullgraph=True)):
            try:
                function(vector())
            except RuntimeError as error:
                lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.name == "f"]
                told.append((str(error), lines))
        self.assertEqual(told[0], told[1])
        self.assertEqual(told[0][1], [f.__code__.co_firstlineno + 2])

    def test_saved(self):
        """A trace with such nodes is loaded in another process, which traces nothing."""
        with tempfile.TemporaryDirectory() as folder:
            program, path = pathlib.Path(folder, "program.py"), pathlib.Path(folder, "traces")
            program.write_text(SAVED)
            rows = []
            for what in ("save", "load"):
                environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
                command = [sys.executable, str(program), str(path), what]
                run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                rows.append(json.loads(run.stdout))
            self.assertEqual(rows[1][0], rows[0][0])
            self.assertEqual(rows[0][1:], [1, 0, 0])
            self.assertEqual(rows[1][1:], [0, 1, 0])

    def test_never_more_breaks(self):
        """Where what is done with a result would break further in, the operation breaks that gives it."""
        import itertools
        import types

        def sizes(y):
            return y.shape[0], functional.mse_loss(y, y + 1)

        functions = [
            (lambda x: (list(itertools.accumulate([x.max().item(), 1.0])), x * 2), 1),
            (lambda x: (types.SimpleNamespace(a=x.max().item()) == types.SimpleNamespace(a=3.0), x * 2), 1),
            (lambda x: (sizes(x[x > 0]), x * 2), 1),
            (lambda x: (sorted([x[0], x[1]], key=lambda part: part.item()), x * 2), 1),
        ]
        for function, breaks in functions:
            slotrt.reset()
            compiled = slotrt.compile(function)
            for number in range(2):
                x = vector().roll(number)
                self.assertEqual(torch_programs.shown(compiled(x)), torch_programs.shown(function(x)))
            self.assertLessEqual(slotrt.stats()["graph_breaks"], breaks)

    def test_gradients_flow(self):
        def f(x):
            return (x[x > 0] * x.detach().max().item()).sum()

        grads = []
        for function in (f, slotrt.compile(f, fullgraph=True)):
            x = vector().requires_grad_()
            function(x).backward()
            grads.append(x.grad.tolist())
        self.assertEqual(grads[0], grads[1])


if __name__ == "__main__":
    unittest.main()
