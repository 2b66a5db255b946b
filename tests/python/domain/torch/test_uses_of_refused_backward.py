"""A way back that PyTorch refuses when it has begun: leaves have been given gradients by then, which they get once, and the tensors that
held them before go on holding them.

A row is a use and how many graph breaks its calls have at most."""

import unittest
import warnings

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional as F


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def refused(tensor):
    """A loss that has a way back for tensors without contents, and none for those of the CPU."""
    return F.huber_loss(tensor.sum()[None], torch.tensor([3]), reduction="none").sum()


def attempt(loss):
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)[:40]
    return "taken"


def with_linear(step):
    """A use of `step(linear, linear(x), x)`; from its second call on there are gradients of an earlier one."""

    def use():
        linear = nn.Linear(3, 3)

        def f(x):
            y = linear(x)
            return step(linear, y, x), y.detach()

        return f, lambda number: [matrix() + number], [linear]

    return use


def after_another(linear, y, x):
    y.sum().backward()
    return attempt(refused(linear(x)))


def half_way(linear, y, x):
    return attempt(refused(linear.weight * 1) + (linear.bias * 2).sum())


def after_several(linear, y, x):
    for number in range(3):
        (linear(x) * number).sum().backward()
    return attempt(refused(linear(x)))


def cleared_first(linear, y, x):
    linear.zero_grad()
    y.sum().backward()
    return attempt(refused(linear(x)))


def with_a_change_on_the_way_out(linear, y, x):
    def leave():
        y.sum().backward()
        try:
            refused(linear(x)).backward()
        finally:
            x.add_(1)

    try:
        leave()
    except RuntimeError as error:
        return str(error)[:40], x * 2


def of_sparse_gradients():
    embedding = nn.Embedding(5, 3, sparse=True)

    def f(indices):
        embedding(indices).sum().backward()
        return attempt(refused(embedding(indices)))

    return f, lambda number: [torch.tensor([0, number])], [lambda: embedding.weight.grad.to_dense()]


def of_phases():
    """What comes in decides whether the way back is refused: it is in every second call."""
    weight = torch.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=torch.complex128, requires_grad=True)

    def f(counts):
        u, _, _ = torch.linalg.svd(weight)
        (weight.real * 2).sum().backward()
        return attempt((u.real * counts).sum() + (u.imag * counts).sum())

    return f, lambda number: [torch.full((2, 2), float(number % 2), dtype=torch.float64)], [lambda: weight.grad]


ROWS = [
    (with_linear(after_another), 0),
    (with_linear(half_way), 0),
    (with_linear(after_several), 0),
    (with_linear(cleared_first), 1),
    (with_linear(with_a_change_on_the_way_out), 0),
    (of_sparse_gradients, 1),
    (of_phases, 1),
]


class RefusedBackward(torch_programs.ThreeWays, unittest.TestCase):
    # AOTAutograd cannot go back where contents decide whether it can.
    rows, not_there = ROWS, (of_phases,)

    def test_gradients_stay_the_tensors_that_they_were(self):
        first, second = (torch.ones(2, requires_grad=True) for _ in range(2))
        first.grad = held = torch.ones(2)

        def f(first, second):
            (first * second).sum().backward()
            return attempt(refused(first))

        compiled = slotrt.compile(f)
        for number in range(3):
            version = held._version
            self.assertIn("Found dtype", compiled(first, second))
            self.assertIs(first.grad, held)
            self.assertEqual((held.tolist(), held._version - version), ([2.0 + number] * 2, 1))
            self.assertEqual(second.grad.tolist(), [1.0 + number] * 2)


def errors():
    return slotrt.stats()["backend_errors"]


class RefusedByBackends(unittest.TestCase):
    """A graph that no gradients go back through, and a backend that goes back when it compiles: the graph runs as it was recorded."""

    def setUp(self):
        slotrt.reset()

    def check(self, function, fails, backend="aot_eager"):
        """`function(linear, x)`, compiled and not, gives the same and leaves the same gradients; the backend raises in `fails` of three calls."""
        compiled = slotrt.compile(function, backend=backend)
        for number in range(3):
            seen = []
            for call in function, compiled:
                torch.manual_seed(number)
                linear = nn.Linear(3, 3)
                result = call(linear, matrix())
                seen.append((torch_programs.shown(result), torch_programs.shown(linear)))
            self.assertEqual(*seen)
        self.assertEqual(errors(), fails)

    def test_nobody_goes_back(self):
        def f(linear, x):
            h = linear(x).exp()
            loss = h.sum()
            h.mul_(2)
            return loss

        self.check(f, 1)
        self.check(f, 2, "inductor")

    def test_in_a_part(self):
        """What comes after is compiled."""

        def f(linear, x):
            h = linear(x).exp()
            loss = h.sum()
            h.mul_(2)
            scaled = torch.from_numpy(x.numpy() + 1)
            return attempt(loss), h + scaled

        self.check(f, 1)

    def test_a_parameter_that_changes(self):
        def f(linear, x):
            loss = (linear(x) * linear.weight[0, 0]).sum()
            with torch.no_grad():
                linear.weight.add_(1)
            return attempt(loss), linear(x)

        self.check(f, 1)

    def test_without_a_derivative(self):
        class Refused(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

        def f(linear, x):
            return attempt(torch.nextafter(linear(x), x).sum()), attempt(Refused.apply(linear(x)).sum())

        plain = f(nn.Linear(3, 3), matrix())
        self.assertEqual(slotrt.compile(f, backend="aot_eager")(nn.Linear(3, 3), matrix()), plain)

    def test_what_else_a_backend_raises_leaves(self):
        def raises(graph, inputs):
            raise RuntimeError("no")

        def f(linear, x):
            h = linear(x).exp()
            loss = h.sum()
            h.mul_(2)
            return loss, torch.from_numpy(x.numpy() + 1) * 2

        with self.assertRaisesRegex(RuntimeError, "^no$") as caught:
            slotrt.compile(f, backend=raises)(nn.Linear(3, 3), matrix())
        self.assertIn("placeholder", str(caught.exception.graph.graph))
        self.assertEqual(errors(), 1)

    def test_filters_of_warnings_are_left_as_they_were(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            before = list(warnings.filters)
            self.test_a_parameter_that_changes()
            self.assertEqual(warnings.filters, before)


if __name__ == "__main__":
    unittest.main()
