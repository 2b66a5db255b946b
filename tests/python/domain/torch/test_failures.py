"""Graphs that raise after they have changed something: arguments, buffers, random state, modes and exceptions are what eager leaves."""

import itertools
import traceback
import unittest

import numpy
import slotrt
import torch
from torch import nn
from torch.nn import functional


def add_and_index(x, index):
    x.add_(1)
    y = x * 2
    return y[index]


def view_and_index(x, index):
    x[1:].t().mul_(3)
    return torch.index_select(x, 0, index)


def several(x, index):
    x.mul_(2)
    y = x.gather(0, index)
    x.view(-1)[0] = 7
    z = x.sum() + y.sum()
    x.sub_(z)
    return x[index]


def caught(x, index):
    seen = []
    try:
        x.add_(1)
        seen.append(x.sum() + 1)
        return x[index] * 2
    except IndexError as error:
        seen.append(str(error))
        x.add_(10)
    return seen


def put(x, index):
    x.add_(1)
    x[index] = 5
    return x * 2


def random(x, index):
    y = functional.dropout(x, 0.5)
    z = torch.rand(3)
    x.uniform_()
    return y[index], z


def seeded(x, index):
    y = torch.rand_like(x)
    x.copy_(y)
    return y[index] + torch.randn(2)


def through_data(x, index):
    x.detach().add_(1)
    return x[index] + 1


def mode(x, index):
    with torch.no_grad():
        x.add_(1)
        y = x * 2
        return y[index]


def autocast(x, index):
    with torch.autocast("cpu", torch.bfloat16):
        y = torch.mm(x, x)
        return y[index]


def inner(x, index):
    x.add_(1)
    return x[index]


def nested(x, index):
    x.mul_(2)
    return inner(x, index) + 1


def divided(x, index):
    whole = index * 1
    whole.add_(1)
    index.sub_(1)
    return whole // index


CASES = [add_and_index, view_and_index, several, caught, put, random, seeded, through_data, mode, autocast, nested, divided]


def where(error):
    """The program's lines that the exception came through."""
    return [(entry.name, entry.lineno) for entry in traceback.extract_tb(error.__traceback__) if entry.filename == __file__][1:]


def contents(result):
    if isinstance(result, torch.Tensor):
        return result.dtype, tuple(result.shape), result.tolist(), result.requires_grad
    return [contents(part) for part in result] if isinstance(result, (list, tuple)) else result


class Failures(unittest.TestCase):
    def observed(self, function, *args):
        """What a call gives or raises and where, and what it leaves."""
        torch.manual_seed(3)
        try:
            outcome = contents(function(*args))
        except Exception as error:
            outcome = type(error), str(error), where(error)
        depth = torch.autocast_increment_nesting()
        torch.autocast_decrement_nesting()
        modes = torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"), depth
        return outcome, contents(list(args)), modes, torch.get_rng_state().tolist()

    def compares(self, function, make, backends=(None, "eager", "aot_eager")):
        for backend in backends:
            slotrt.reset()
            compiled = slotrt.compile(function, backend=backend) if backend else slotrt.compile(function)
            for bad in (False, False, True, True, False):
                self.assertEqual(self.observed(compiled, *make(bad)), self.observed(function, *make(bad)), (function, backend, bad))

    def test_a_change_happens_once(self):
        for function in CASES:
            make = lambda bad: (torch.arange(16.0).view(4, 4) + 1, torch.tensor([9 if bad else 3, 2]))
            if function is several:
                make = lambda bad: (torch.arange(16.0).view(4, 4), torch.tensor([[9 if bad else 3, 2]]))
            if function is divided:
                make = lambda bad: (torch.ones(2), torch.tensor([1 if bad else 3, 2]))
            self.compares(function, make)

    def test_a_change_that_gradients_follow(self):
        def follow(x, index):
            y = x * 2
            return change(y, index)

        def change(y, index):
            y.mul_(3)
            return y[index].sum()

        def leaf(bad):
            return (torch.arange(4.0) + 1).requires_grad_(), torch.tensor([9 if bad else 1])

        self.compares(follow, leaf)
        self.compares(change, lambda bad: ((torch.arange(4.0) + 1).requires_grad_() * 1, torch.tensor([9 if bad else 1])))

    def test_indices_that_are_lists(self):
        """A gradient that is added to, and a change: both happen once."""

        def goes_back(x, weight, other):
            (x * weight.sum()).sum().backward()
            x.add_(1)
            return other[[0, 1]], weight.grad

        def make(bad):
            weight = (torch.arange(4.0) + 1).requires_grad_()
            weight.grad = torch.ones(4)
            return torch.ones(3), weight, torch.ones(0 if bad else 2, 4)

        def makes_none(bad):
            x, weight, other = make(bad)
            weight.grad = None
            return x, weight, other

        def seen(function, *args):
            outcome = self.observed(function, *args)
            return outcome, args[1].grad.tolist()

        for given in (make, makes_none):
            slotrt.reset()
            compiled = slotrt.compile(goes_back)
            for bad in (False, False, True, True, False):
                self.assertEqual(seen(compiled, *given(bad)), seen(goes_back, *given(bad)))

    def test_inputs_that_share_memory(self):
        def change(x, y, index):
            x.add_(1)
            y.mul_(2)
            return x[index]

        def make(bad):
            x = torch.arange(6.0)
            return x, x[1:4], torch.tensor([9 if bad else 1])

        self.compares(change, make)

    def test_elements_that_are_one_in_memory(self):
        def clamps(x, y):
            seen = []
            y.add_(1)
            try:
                x.clamp_(0, 1)
            except RuntimeError as error:
                seen.append(str(error))
            return seen

        self.compares(clamps, lambda bad: (torch.arange(4.0).view(1, 4).expand(4, 4), torch.ones(2)))

    def test_annotations_that_an_exception_leaves(self):
        def annotated(x, index):
            seen = []
            try:
                with torch.profiler.record_function("mine"):
                    x.add_(1)
                    y = x[index]
                    print(end="")
                    y.unflatten(0, (7, 7))
            except RuntimeError as error:
                seen.append(str(error))
            return seen

        self.compares(annotated, lambda bad: (torch.ones(3), torch.tensor([9 if bad else 1])))

    def test_buffers_of_modules(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.drop = nn.BatchNorm1d(4), nn.Dropout(0.5)
                self.register_buffer("calls", torch.zeros(()))

            def forward(self, x, target):
                self.calls += 1
                return functional.cross_entropy(self.drop(self.norm(x)), target)

        one, two = Net(), Net()
        compiled = slotrt.compile(one)
        for bad in (False, True, True, False):
            args = torch.randn(3, 4, generator=torch.Generator().manual_seed(1)), torch.tensor([1, 9 if bad else 2, 0])
            self.assertEqual(self.observed(compiled, *args), self.observed(two, *args), bad)
            self.assertEqual(repr(one.state_dict()), repr(two.state_dict()), bad)

    def test_inputs_of_one_storage_on_the_way_back(self):
        """A change of one is, to PyTorch, a change of all that lie there: gradients are refused halfway, and some leaves have theirs."""
        weight, bias = nn.Parameter(torch.ones(4, 4)), nn.Parameter(torch.ones(4))

        def changes(x, y):
            loss = functional.mse_loss(functional.linear(y, weight, bias), y * 0)
            x.detach().mul_(2)
            loss.backward()

        def made(kind):
            base = torch.arange(16.0).view(4, 4)
            kinds = {"apart": (base[0], base.clone()[1]), "overlap": (base[0], base[:, 0]), "beside": (base[0], base[1])}
            return kinds[kind]

        def seen(function, kind):
            weight.grad = bias.grad = None
            outcome = self.observed(function, *made(kind))
            return outcome, contents([weight.grad, bias.grad])

        # AOTAutograd does not refuse.
        for backend in (None, "eager"):
            for kinds in itertools.permutations(("apart", "overlap", "beside")):
                slotrt.reset()
                compiled = slotrt.compile(changes, backend=backend) if backend else slotrt.compile(changes)
                for kind in (*kinds, *kinds):
                    with self.subTest(backend=backend, kinds=kinds, kind=kind):
                        self.assertEqual(seen(compiled, kind), seen(changes, kind))
            slotrt.reset()
            report = slotrt.explain(changes, **({"backend": backend} if backend else {}))(*made("apart"))
            self.assertEqual([frame["break"] for frame in report.frames], [None], backend)

    def test_frames_of_what_cannot_be_taken_back(self):
        """The exception leaves the frame from where the graph is called: it has passed through the frame once, at its line."""

        class Derived(torch.Tensor):
            pass

        def derived(*shape):
            return torch.ones(shape).as_subclass(Derived)

        def follows(wrap):
            net, other = nn.Linear(4, 4), nn.Linear(4, 4)

            def changes(x):
                y = net(x)
                net.register_full_backward_hook(lambda module, given, got: None)
                with torch.no_grad():
                    other.weight.copy_(x)
                y += y + 1

            called, seen = wrap(changes), []
            for make in (torch.ones, torch.ones, torch.ones, derived, derived):
                try:
                    called(make(4, 4))
                except RuntimeError as error:
                    variables = [sorted(frame.f_locals) for frame, _ in traceback.walk_tb(error.__traceback__)][1]
                    seen.append((str(error), where(error), variables))
            return seen

        expected = follows(lambda function: function)
        self.assertEqual(len(expected), 4)
        self.assertEqual(follows(slotrt.compile), expected)

    def test_arrays_after_what_raises(self):
        steps, weight = torch.zeros(()), torch.ones(4, 4)

        def stepped(x):
            steps.add_(1)
            try:
                weight @ x
            except RuntimeError:
                pass
            return numpy.zeros(4, "f4")

        compiled = slotrt.compile(stepped)
        for count in range(1, 4):
            compiled(torch.ones(4, dtype=torch.bool))
            self.assertEqual(steps.item(), count)

    def test_one_graph(self):
        # What is taken back is no reason to break.
        for function in (add_and_index, several, put, random):
            make = torch.arange(16.0).view(4, 4), torch.tensor([[3, 2]] if function is several else [3, 2])
            report = slotrt.explain(function)(*make)
            self.assertEqual([frame["break"] for frame in report.frames], [None], function)


if __name__ == "__main__":
    unittest.main()
