"""Numbers that tensors without dimensions hold: guards look at them, so that optimisers which count steps are in the graph.

Between the calls of a row something happens to what an optimiser keeps. Whatever that is, each call gives and leaves what it does uncompiled."""

import unittest

import slotrt
import torch
from torch import nn, optim
from torch.nn import functional
from training_programs import data, left, network, step, value


def to_all(number, change):
    """After a call, the count of steps of each parameter becomes another one."""

    def between(made, optimizer):
        for state in optimizer.state.values() if made == number else ():
            state["step"] = change(state["step"])

    return between


def filled(with_number):
    return to_all(2, lambda step: step.fill_(with_number))


def in_another(made, optimizer):
    """A count lies in the memory of what the step changes."""
    for state in optimizer.state.values() if made == 1 else ():
        state["exp_avg_sq"] = state["exp_avg_sq"].abs() + 1
        state["step"] = state["exp_avg_sq"].view(-1)[0]


def in_one(made, optimizer):
    """Counts lie one beside the other."""
    counts = torch.arange(8.0)
    for index, state in enumerate(optimizer.state.values()) if made == 1 else ():
        state["step"] = counts[index]


def shared(made, optimizer):
    count = torch.tensor(3.0)
    for state in optimizer.state.values() if made == 1 else ():
        state["step"] = count


def detached(made, optimizer):
    """Counts are other tensors in one memory."""
    count = torch.tensor(2.0)
    for state in optimizer.state.values() if made == 1 else ():
        state["step"] = count.detach()


def other_betas(made, optimizer):
    optimizer.param_groups[0]["betas"] = [(0.9, 0.999), (1.0, 0.5), (-0.5, 0.9), (1.5, 2.0)][made % 4]


def rates(made, optimizer):
    optimizer.param_groups[0]["lr"] = [0.1, 1, 0, -0.1, 1e-300, float("inf"), 10**30][made % 7]


def reading(net, optimizer, x, y):
    """The program changes counts by views of them, and takes them for what they are."""
    optimizer.zero_grad()
    functional.mse_loss(net(x), y).backward()
    seen = []
    for state in optimizer.state.values():
        seen.append(state["step"].item())
        state["step"].view(1).add_(2)
    optimizer.step()
    return x * 1, seen


def broken(net, optimizer, x, y):
    optimizer.zero_grad()
    functional.mse_loss(net(x), y).backward()
    slotrt.graph_break()
    optimizer.step()
    slotrt.graph_break()
    optimizer.step()
    return x * 1


def caught(net, optimizer, x, y):
    optimizer.zero_grad()
    functional.mse_loss(net(x), y).backward()
    try:
        optimizer.step()
    except ZeroDivisionError as error:
        return x * 2, str(error)
    return x * 1


# What is called, what happens between calls, and how many breaks there are at most.
ROWS = {
    "counts from -1 on": (step, filled(-1.0), 1),
    "fractions": (step, filled(-3.5), 1),
    "no number": (step, filled(float("nan")), 1),
    "without end": (step, filled(float("inf")), 0),
    "too large to count on": (step, filled(2.0**24), 0),
    "one for all": (step, shared, 1),
    "in another tensor": (step, in_another, 1),
    "in one tensor": (step, in_one, 0),
    "in one memory": (step, detached, 1),
    "integers": (step, to_all(1, lambda step: torch.tensor(2)), 1),
    "doubles": (step, to_all(1, torch.Tensor.double), 1),
    "halves": (step, to_all(1, torch.Tensor.half), 1),
    "numbers": (step, to_all(1, torch.Tensor.item), 1),
    "one dimension": (step, to_all(1, lambda step: step.reshape(1)), 1),
    "parameters": (step, to_all(1, lambda step: nn.Parameter(step, requires_grad=False)), 1),
    "betas": (step, other_betas, 2),
    "rates": (step, rates, 1),
    "read": (reading, None, 4),
    "broken": (broken, None, 2),
    "caught": (caught, filled(-1.0), 1),
}


def course(kind, options, row, compile):
    function, between, _ = row
    net = network()
    optimizer = kind(net.parameters(), lr=0.1, **options)
    function, course = compile(function), []
    for number in range(8):
        try:
            found = value(function(net, optimizer, *data()))
        except Exception as error:
            found = type(error), str(error)
        held = [state.values() for state in optimizer.state.values()]
        versions = [tensor._version for tensors in held for tensor in tensors if isinstance(tensor, torch.Tensor)]
        course.append((found, left(net, optimizer), versions))
        if between is not None:
            between(number, optimizer)
    return course


class UsesOfHeldNumbers(unittest.TestCase):
    def test_rows(self):
        for name, row in ROWS.items():
            for options in {}, {"foreach": True}:
                with self.subTest(name, **options):
                    plain = course(optim.Adam, options, row, lambda function: function)
                    slotrt.reset()
                    self.assertEqual(course(optim.Adam, options, row, slotrt.compile), plain)
                    self.assertLessEqual(slotrt.stats()["graph_breaks"], row[2])

    def test_branches(self):
        """What an optimiser does depends on how often it was called: one trace for each way."""
        for kind, options, graphs in (optim.RAdam, {}, 2), (optim.ASGD, {"t0": 3.0}, 3):
            with self.subTest(kind.__name__):
                row = step, None, 0
                plain = course(kind, options, row, lambda function: function)
                slotrt.reset()
                self.assertEqual(course(kind, options, row, slotrt.compile), plain)
                self.assertEqual([slotrt.stats()[name] for name in ("graphs", "graph_breaks")], [graphs, 0])

    def test_arithmetic(self):
        """Powers and quotients of numbers that tensors hold need no break; where Python raises, it raises."""

        def powers(x, count):
            number = count.item()
            return x * 0.5**number, 1 / number, number**0.5, x / (1 - 0.5**number)

        x = torch.arange(3.0)
        slotrt.reset()
        compiled = slotrt.compile(powers)
        for number in 2.0, 3.0, 4.5, 1e-300, 7.0:
            count = torch.tensor(number, dtype=torch.float64)
            self.assertEqual(value(compiled(x, count)), value(powers(x, count)))
        self.assertEqual([slotrt.stats()[name] for name in ("graphs", "graph_breaks")], [1, 0])
        for number in 0.0, -2.0, -0.5, float("nan"):
            count = torch.tensor(number, dtype=torch.float64)
            found = []
            for function in compiled, powers:
                try:
                    found.append(repr(function(x, count)))
                except ZeroDivisionError as error:
                    found.append(str(error))
            self.assertEqual(*found)

    def test_factors(self):
        """A factor that a tensor without dimensions holds is read where the operation runs."""

        def scaled(x, y, factor):
            z = torch.add(x, y, alpha=factor) + torch.sub(x, y, alpha=factor).addcmul_(x, y, value=factor)
            return z, torch._foreach_add([x, y], [y, x], alpha=factor), z.sum() * 2

        tensors = [torch.tensor(number) for number in (0.5, -2.0, 3, 2.5)]
        wrong = [torch.tensor([0.5]), torch.tensor([1.0, 2.0]), torch.tensor(0.5).requires_grad_(), torch.tensor(1j)]
        ways = {"plain": slotrt.compile, "aot_eager": slotrt.compile(backend="aot_eager")}
        for name, compiled in ways.items():
            for dtype in torch.float32, torch.float64, torch.int64:
                slotrt.reset()
                function = compiled(scaled)
                for factor in tensors + wrong + tensors:
                    x = torch.arange(3).to(dtype)
                    outcomes = []
                    for call in function, scaled:
                        leaf = x.clone().requires_grad_(dtype.is_floating_point)
                        try:
                            outcomes.append(value(call(leaf, x + 1, factor)))
                        except (RuntimeError, TypeError) as error:
                            outcomes.append(type(error))
                    self.assertEqual(*outcomes, f"{name}, {dtype}, {factor}")
        slotrt.reset()
        function = slotrt.compile(scaled)
        for factor in tensors[0], tensors[1], tensors[3]:
            function(torch.ones(3), torch.ones(3), factor)
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)


if __name__ == "__main__":
    unittest.main()
