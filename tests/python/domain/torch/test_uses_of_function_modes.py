"""What programs do with modes of their own that take over calls of PyTorch's functions: `TorchFunctionMode`.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional
from torch.overrides import BaseTorchFunctionMode, TorchFunctionMode


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


class Counting(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.seen, self.number = [], 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.number += 1
        self.seen.append((getattr(function, "__name__", str(function)), [kind.__name__ for kind in types], sorted(kwargs or {})))
        return function(*args, **(kwargs or {}))


class Rewriting(TorchFunctionMode):
    def __init__(self, to):
        super().__init__()
        self.to = to

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.add:
            function = self.to
        return function(*args, **(kwargs or {}))


class Refusing(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.mul:
            raise ValueError("no products")
        return function(*args, **(kwargs or {}))


class Breaking(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.add:
            slotrt.graph_break()
        return function(*args, **(kwargs or {}))


class Scaled(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        result = super().__torch_function__(function, types, args, kwargs or {})
        return result * 2 if function is torch.add else result


def counted(function, *arguments):
    """A use of a function of a mode, which is told at the end, and of copies of the arguments."""

    def use():
        mode = Counting()
        return (
            lambda *args: function(mode, *args),
            lambda number: [argument.clone() for argument in arguments or (matrix(),)],
            [lambda: mode.seen, lambda: mode.number, torch._C._len_torch_function_stack],
        )

    return use


def of(function):
    return lambda: (function, lambda number: [matrix()], [torch._C._len_torch_function_stack])


def within(mode, x):
    y = x * 2
    with mode:
        y = functional.relu(torch.add(y, 1)) + torch.zeros(3)
        y = y.reshape(3, 2).sum(dim=0, keepdim=True)
        y[0] = 1
        length = len(y), y.shape, y.dtype, -y
    return y * 3, length


def in_each_other(mode, x):
    with mode, Rewriting(torch.sub), Rewriting(torch.mul) as inner:
        y = torch.add(x, x)
        inner.to = torch.div
        z = torch.add(x, x)
        depth = torch._C._len_torch_function_stack()
    return y, z, depth, torch.add(x, x)


def raises_within(mode, x):
    try:
        with mode, Refusing():
            y = torch.add(x, 1)
            torch.mul(y, 2)
    except ValueError as error:
        return str(error), y, torch.mul(x, 2)


def breaks_within(mode, x):
    with mode:
        y = torch.add(x, 1)
        slotrt.graph_break()
        y = torch.mul(y, 2)
    return y + 1


def asks_for_contents(mode, x):
    with mode:
        y = torch.add(x, 1)
        if y.sum() > 0:
            y = torch.mul(y, 2)
        z = y.sum().item()
    return y, z


def ends_and_begins(mode, x):
    with mode:
        with torch._C.DisableTorchFunction():
            y = torch.add(x, 1)
        with torch._C.DisableTorchFunctionSubclass():
            y = torch.add(y, 2)
        with torch.overrides._pop_mode_temporarily():
            y = torch.add(y, 3)
        y = torch.add(y, 4)
    return y


def with_module(mode, x, linear=nn.Linear(3, 3)):
    with mode:
        return functional.dropout(linear(x), training=False)


def with_subclass(mode, x):
    y = x.as_subclass(Scaled)
    with mode:
        z = torch.add(y, 1)
    return z, torch.add(y, 1)


def breaks_in_the_mode(x):
    with Breaking():
        y = torch.add(x, 1)
    return y * 2


def base(x):
    with BaseTorchFunctionMode():
        return torch.add(x, 1) * 2


ROWS = [
    (counted(within), 0),
    (counted(in_each_other), 0),
    (counted(raises_within), 0),
    (counted(breaks_within), 2),
    (counted(asks_for_contents), 6),
    (counted(ends_and_begins), 0),
    (counted(with_module), 0),
    (counted(with_subclass), 0),
    (of(breaks_in_the_mode), 2),
    (of(base), 0),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


class Around(unittest.TestCase):
    """Modes that are active where compiled code is called."""

    def compare(self, function, make, graphs):
        for backend in (None, lambda graph, inputs: graph, "aot_eager"):
            slotrt.reset()
            compiled = slotrt.compile(function, backend=backend) if backend else slotrt.compile(function)
            modes = [make() for _ in range(2)]
            for _ in range(3):
                told = []
                for mode, called in zip(modes, (function, compiled), strict=True):
                    torch.manual_seed(0)
                    with mode:
                        result = called(matrix())
                        depth = torch._C._len_torch_function_stack()
                    told.append((torch_programs.shown(result), vars(mode), depth, torch._C._len_torch_function_stack()))
                self.assertEqual(told[1], told[0])
            self.assertEqual((slotrt.stats()["graphs"], slotrt.stats()["graph_breaks"]), (graphs, 0))

    def test_counted(self):
        self.compare(lambda x: (functional.relu(x + 1) * torch.ones(3), x.shape), Counting, 2)

    def test_rewritten(self):
        self.compare(lambda x: torch.add(x, x) * 2, lambda: Rewriting(torch.mul), 1)

    def test_transforms(self):
        def each(x):
            enabled = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
            return torch.vmap(lambda row: (torch.relu(row) * 2).sum())(x), enabled

        self.compare(each, Counting, 2)

    def test_transforms_that_modes_see(self):
        def gradients(x):
            return torch.func.grad(lambda y: torch.mul(y, y).sum())(x), torch.func.jacrev(lambda y: torch.mul(y, y).sum(0))(x)

        def products(x):
            return torch.func.jvp(lambda y: torch.mul(y, y).sum(), (x,), (x,))

        for function in gradients, products:
            told = []
            for called in (function, slotrt.compile(function)):
                mode = Counting()
                with mode:
                    told.append((torch_programs.shown(called(matrix())), vars(mode)))
            self.assertEqual(told[1], told[0])

    def test_what_goes_through_something_else_in_its_place(self):
        """What a trace goes through faster where nobody looks."""
        weight = nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.1)

        def device(x):
            return torch.device("cpu"), torch.zeros(2, device=torch.device("cpu", 0)), torch.device(type="meta").type

        def beginning(x):
            with torch.device("meta"):
                return nn.Linear(2, 2).weight.is_meta

        def annotation(x):
            with torch.profiler.record_function("part"):
                return torch.mul(x, x)

        def zeroed(x):
            optimizer.zero_grad()
            (weight * x).sum().backward()
            optimizer.zero_grad(set_to_none=False)
            optimizer.step()
            return weight.grad.clone()

        def checkpointed(x):
            return torch.utils.checkpoint.checkpoint(torch.mul, x, x, use_reentrant=False)

        def chosen(x):
            return torch.cond(x.sum() > 0, lambda y: torch.mul(y, y), lambda y: y + 1, (x,))

        hooked = nn.Linear(3, 3)
        hooked.register_full_backward_hook(lambda module, given, got: None)

        for function in (device, beginning, annotation, zeroed, checkpointed, chosen, lambda x: hooked(x).sum()):
            told, compiled = [], slotrt.compile(function)
            for called in (function, function, compiled, compiled):
                mode = Counting()
                with mode:
                    given = called(matrix())
                told.append((torch_programs.shown(given), vars(mode)))
            with self.subTest(function=function.__name__):
                self.assertEqual(told[2:], [told[1]] * 2)

    def test_devices_that_a_mode_puts_in_place_of_others(self):
        class Elsewhere(TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):
                return torch.device("meta") if function is torch.device else function(*args, **(kwargs or {}))

        def f(x):
            return torch.device("cpu").type, torch.ones(2, device=torch.device("cpu")).is_meta

        compiled = slotrt.compile(f)
        for _ in range(2):
            with Elsewhere():
                self.assertEqual(compiled(matrix()), ("meta", True))
            self.assertEqual(compiled(matrix()), ("cpu", False))

    def test_another_within(self):
        def f(x):
            with Rewriting(torch.sub):
                y = torch.add(x, x)
            return y, torch.add(x, x)

        self.compare(f, lambda: Rewriting(torch.mul), 1)

    def test_ended_within(self):
        def f(x):
            mode = torch.overrides._pop_mode()
            y = torch.add(x, x)
            torch.overrides._push_mode(mode)
            return y, torch.add(x, x)

        self.compare(f, lambda: Rewriting(torch.mul), 1)

    def test_one_after_another(self):
        """Code that was compiled without a mode, or for another, does not run with this one."""

        def f(x):
            return torch.add(x, x)

        modes = None, Rewriting(torch.mul), Rewriting(torch.sub), None, Counting()
        for first in range(len(modes)):
            compiled, seen = slotrt.compile(f), []
            for mode in (*modes[first:], *modes):
                if mode is None:
                    seen.append(compiled(matrix()).tolist() == f(matrix()).tolist())
                else:
                    with mode:
                        one = compiled(matrix()).tolist()
                        seen.append(one == f(matrix()).tolist())
            with self.subTest(first=first):
                self.assertEqual(seen, [True] * len(seen))

    def test_graph_that_raises(self):
        def f(x):
            return torch.linalg.cholesky(torch.add(x, 1)[:, :2] - 9)

        seen, compiled = [], slotrt.compile(f)
        for called in (f, compiled, compiled):
            mode = Counting()
            with mode, self.assertRaises(RuntimeError):
                called(matrix())
            seen.append(mode.seen)
            self.assertEqual(torch._C._len_torch_function_stack(), 0)
        self.assertEqual(seen[1:], [seen[0]] * 2)


if __name__ == "__main__":
    unittest.main()
