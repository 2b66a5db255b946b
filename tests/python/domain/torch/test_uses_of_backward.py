"""`backward` within a graph: it gives leaves their gradients where the program does, as often, and nothing that comes after it does so again.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional as F


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def of(function, *makers, state=()):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], state)


def with_module(step, make=lambda: nn.Linear(3, 3), *makers):
    """A use of `step(module, *arguments)`."""

    def use():
        module = make()
        return (lambda *args: step(module, *args)), lambda number: [maker() for maker in makers or (matrix,)], [module]

    return use


def once(linear, x):
    loss = linear(x).pow(2).mean()
    loss.backward()
    return loss.detach()


def in_a_loop(linear, x):
    for number in range(3):
        loss = linear(x * (number + 1)).pow(2).mean() / 3
        loss.backward()
    return loss.detach()


def accumulation():
    linear = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(linear.parameters(), lr=0.1)

    def f(x):
        optimizer.zero_grad()
        for number in range(2):
            loss = linear(x * (number + 1)).pow(2).mean() / 2
            loss.backward()
        optimizer.step()
        return loss.detach()

    return f, lambda number: [matrix()], [linear]


def penalty():
    critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1, bias=False))

    def f(x):
        between = x.detach().requires_grad_(True)
        (gradient,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        loss = ((gradient.norm(2, dim=1) - 1) ** 2).mean()
        loss.backward()
        return loss.detach()

    return f, lambda number: [matrix()], [critic]


def twice_through(linear, x):
    y = linear(x)
    y.pow(2).mean().backward(retain_graph=True)
    y.sum().backward()
    return y.detach()


def with_arguments(linear, x):
    y = linear(x)
    y.backward(gradient=torch.ones_like(y) * 0.5, inputs=[linear.weight])
    return y.detach() + 1


def of_several(linear, x):
    y = linear(x)
    torch.autograd.backward([y.sum(), y.pow(2)], [None, torch.ones_like(y)])
    return y.detach()


def and_the_argument(linear, x):
    linear(x).sum().backward()
    return x.detach() * 2


def read_after(linear, x):
    linear.zero_grad()
    linear(x).sum().backward()
    return linear.weight.grad * 2


def read_in_a_list(linear, x):
    linear(x).sum().backward()
    return torch.stack([parameter.grad.norm() for parameter in linear.parameters()])


def read_by_a_generator(linear, x):
    linear(x).sum().backward()
    return sum(parameter.grad.pow(2).sum() for parameter in linear.parameters()).sqrt() * 2


def read_before(linear, x):
    held = linear.weight.grad
    linear(x).sum().backward()
    return x * 2 if held is None else held * 2


def cleared_before(linear, x):
    for parameter in linear.parameters():
        if parameter.grad is not None:
            parameter.grad.zero_()
    linear(x).sum().backward()
    return x * 2


def set_before(linear, x):
    linear.weight.grad = torch.ones_like(linear.weight)
    linear(x).sum().backward()
    return x * 2


def set_after(linear, x):
    linear(x).sum().backward()
    linear.weight.grad = None
    return x * 2


def descended(linear, x):
    loss = linear(x).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for parameter in linear.parameters():
            parameter.add_(parameter.grad, alpha=-0.1)
            parameter.grad.zero_()
    return loss.detach()


def of_its_own_leaf(linear, x):
    own = x.detach().clone().requires_grad_()
    linear(own).sum().backward()
    return own.grad.abs()


def with_an_index_after(linear, x):
    linear(x).sum().backward()
    try:
        return x[torch.tensor([0, 5])]
    except IndexError as error:
        return str(error)[:20], x + 1


def with_classes_after(linear, x):
    linear(x).sum().backward()
    return F.cross_entropy(x, torch.tensor([0, 2]))


def twice_refused(linear, x):
    y = linear(x).pow(2).mean()
    y.backward()
    try:
        y.backward()
    except RuntimeError as error:
        return str(error)[:40], x + 1


def of_a_matrix(linear, x):
    try:
        linear(x).backward()
    except RuntimeError as error:
        return str(error)[:40], x + 1


def changed_in_place(linear, x):
    y = linear(x).exp()
    z = y * 2
    y.add_(1)
    try:
        z.sum().backward()
    except RuntimeError as error:
        return str(error)[:40], x + 1


def without_gradients(linear, x):
    with torch.no_grad():
        y = linear(x)
    try:
        y.sum().backward()
    except RuntimeError as error:
        return str(error)[:40], x + 1


def where_none_are_kept(linear, x):
    loss = linear(x).sum()
    with torch.no_grad():
        loss.backward()
    return x * 2


def of_an_earlier_result():
    linear, first = nn.Linear(3, 3), nn.Linear(3, 3)
    return (lambda y: linear(y).sum().backward()), lambda number: [first(matrix())], [linear, first]


def frozen(linear, x):
    linear.weight.requires_grad_(False)
    linear(x).sum().backward()
    return x * 2


def by_helpers(linear, x):
    def step(loss):
        loss.backward()
        return loss.detach()

    return sum(step(linear(x * number).mean()) for number in range(1, 3))


def hooked_before():
    linear, seen = nn.Linear(3, 3), []
    linear.weight.register_hook(lambda gradient: seen.append(tuple(gradient.shape)) or gradient * 3)
    return (lambda x: once(linear, x)), lambda number: [matrix()], [linear, lambda: seen]


def hooked_when_accumulated():
    linear, seen = nn.Linear(3, 3), []
    linear.weight.register_post_accumulate_grad_hook(lambda parameter: seen.append(tuple(parameter.grad.shape)))
    return (lambda x: once(linear, x)), lambda number: [matrix()], [linear, lambda: seen]


def hooked_later():
    """The argument of the first call has no hook, that of the second has one, that of the third had one."""
    linear, seen = nn.Linear(3, 3), []

    def arguments(number):
        x = leaf()
        handle = x.register_hook(lambda gradient: seen.append(number) or gradient * 3) if number else None
        if number == 2:
            handle.remove()
        return [x]

    return (lambda x: once(linear, x)), arguments, [linear, lambda: seen]


def hook_that_sees_a_count():
    """What the program has counted before `backward` is there for a hook."""
    linear, seen = nn.Linear(3, 3), []

    class Count:
        value = 0

    count = Count()
    linear.weight.register_hook(lambda gradient: seen.append(count.value))

    def f(x):
        count.value += 1
        once(linear, x)
        return x + count.value

    return f, lambda number: [matrix()], [linear, lambda: seen]


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 5


def through_a_function(linear, x):
    Doubled.apply(linear(x)).sum().backward()
    return x * 2


def with_dropout(model, x):
    loss = model(x).pow(2).mean()
    loss.backward()
    return loss.detach(), torch.rand(2)


def counted():
    """A use whose other changes come after the graph."""
    linear, log = nn.Linear(3, 3), []

    def f(x):
        log.append(len(log))
        once(linear, x)
        log.append("stepped")
        return x * 2

    return f, lambda number: [matrix()], [linear, lambda: log]


def anomaly(linear, x):
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        linear(x).sum().backward()
    return x * 2


def mixed(linear, x):
    with torch.autocast("cpu", torch.bfloat16):
        loss = linear(x).float().pow(2).mean()
    loss.backward()
    return loss.detach()


def embedded():
    embedding = nn.Embedding(5, 3)

    def f(indices):
        loss = embedding(indices).pow(2).sum()
        loss.backward()
        return loss.detach()

    return f, lambda number: [torch.tensor([[0, 2], [3, number]])], [embedding]


def hook_and_backward(linear, x):
    y = linear(x)
    y.register_hook(lambda gradient: gradient * 4)
    y.sum().backward()
    return x * 2


def deep():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2))


ROWS = [
    (with_module(once), 0),
    (with_module(in_a_loop), 0),
    (accumulation, 2),
    (penalty, 0),
    (with_module(twice_through), 0),
    (with_module(with_arguments), 0),
    (with_module(of_several), 0),
    (with_module(and_the_argument, lambda: nn.Linear(3, 3), leaf), 0),
    (with_module(read_after), 2),
    (with_module(read_in_a_list), 1),
    (with_module(read_by_a_generator), 1),
    (with_module(read_before), 0),
    (with_module(cleared_before), 0),
    (with_module(set_before), 1),
    (with_module(set_after), 1),
    (with_module(descended), 1),
    (with_module(of_its_own_leaf), 1),
    (with_module(with_an_index_after), None),
    (with_module(with_classes_after), 1),
    (with_module(twice_refused), None),
    (with_module(of_a_matrix), None),
    (with_module(changed_in_place), None),
    (with_module(without_gradients), None),
    (with_module(where_none_are_kept), 0),
    (of_an_earlier_result, None),
    (with_module(frozen), 0),
    (with_module(by_helpers), 0),
    (hooked_before, 1),
    (hooked_when_accumulated, 1),
    (hooked_later, 1),
    (hook_that_sees_a_count, 3),
    (with_module(through_a_function), 1),
    (with_module(with_dropout, deep), 0),
    (counted, 0),
    (with_module(anomaly), None),
    (with_module(mixed), None),
    (embedded, None),
    (with_module(hook_and_backward), 1),
]


class Backward(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_one_graph_has_it(self):
        linear = nn.Linear(3, 3)
        f = slotrt.compile(lambda x: in_a_loop(linear, x), fullgraph=True)
        f(matrix())
        f(matrix())
        expected = nn.Linear(3, 3)
        expected.load_state_dict(linear.state_dict())
        in_a_loop(expected, matrix())
        in_a_loop(expected, matrix())
        self.assertEqual(linear.weight.grad.tolist(), expected.weight.grad.tolist())

    def test_an_index_out_of_range_does_not_go_back_twice(self):
        """The index comes in: nothing tells before the graph runs whether it is in range."""
        for backend in None, "aot_eager":
            linear = nn.Linear(3, 3)

            def f(x, index):
                linear(x).sum().backward()
                return x[index]

            compiled = slotrt.compile(f) if backend is None else slotrt.compile(f, backend=backend)
            compiled(matrix(), torch.tensor([0, 1]))
            with self.assertRaises(IndexError):
                compiled(matrix(), torch.tensor([0, 7]))
            found = linear.bias.grad.tolist()
            self.assertEqual(found, [4.0, 4.0, 4.0])

    def test_a_hook_that_is_added_later_is_called(self):
        """Also where a graph asks for gradients by `torch.autograd.grad`."""
        linear, seen = nn.Linear(3, 3), []

        def f(x):
            return torch.autograd.grad(linear(x).sum(), [linear.weight])[0].sum()

        compiled = slotrt.compile(f)
        before = compiled(matrix())
        handle = linear.weight.register_hook(lambda gradient: seen.append(1) or gradient * 3)
        self.assertEqual(compiled(matrix()).item(), f(matrix()).item())
        self.assertEqual(len(seen), 2)
        handle.remove()
        self.assertEqual(compiled(matrix()).item(), before.item())
        self.assertEqual(len(seen), 2)


if __name__ == "__main__":
    unittest.main()
