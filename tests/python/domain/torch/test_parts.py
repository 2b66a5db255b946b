"""Graphs with calls that no backend compiles: the backend gets what stands between them, and nothing breaks.

Compiled as it is, as a `GraphModule` and through AOTAutograd a use does what it does uncompiled."""

import unittest

import numpy as np
import slotrt
import torch
import torch_programs
from torch import nn


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers, state=()):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], state)


def arrays_between(x):
    y = x * 2
    a = np.sin(y.numpy()) + 1
    return torch.from_numpy(a).exp() + y, a.sum()


def scalars_between(x):
    return x / np.sqrt(x.shape[1]) + 1


def states(x):
    state = torch.get_rng_state()
    y = x + torch.rand(3)
    torch.set_rng_state(state)
    return y - torch.rand(3), state.sum()


def forked(x):
    y = torch.rand(3)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        z = torch.rand(2, 3)
    return x + y + z + torch.rand(2, 3)


def quantised(x):
    q = torch.quantize_per_tensor(x * 2, 0.1, 0, torch.quint8)
    return q.dequantize() + x


def under_a_mode(x):
    with torch.no_grad():
        y = x * 2
        torch.manual_seed(4)
        z = y + torch.rand(3)
    return z + x * 3, z.requires_grad


def defaults(x):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    y = torch.ones(3) + x
    torch.set_default_dtype(before)
    return y * 2, torch.ones(3)


def changed_on_both_sides(x):
    x.mul_(2)
    torch.manual_seed(2)
    y = torch.rand(3)
    x.add_(y)
    return x[0], y


def weights():
    linear = nn.Linear(3, 3)

    def f(x):
        y = linear(x).relu()
        torch.manual_seed(2)
        return (y * torch.rand(3)) @ linear.weight

    return f, lambda number: [matrix().requires_grad_()], [linear]


def data_replaced():
    linear = nn.Linear(3, 3)

    def f(x):
        before = linear(x)
        linear.weight.data = linear.weight.data * 0.5
        linear.bias.data = torch.ones(3)
        return linear(x) + before

    return f, lambda number: [matrix()], [linear]


def averaged():
    one, other = nn.Linear(3, 3), nn.Linear(3, 3)

    def f(x):
        for mean, new in zip(one.parameters(), other.parameters(), strict=True):
            mean.data = mean.data * 0.9 + new.data * 0.1
        return one(x)

    return f, lambda number: [matrix()], [one, other]


def data_shared(x, y):
    x.data = y.data
    x.add_(1)
    return y * 2


def data_of_another_shape(x):
    y = x * 2
    y.data = torch.ones(4)
    return y + 1


def data_refused(x):
    try:
        x.data = 3
    except TypeError as error:
        return type(error).__name__, x + 1


def data_and_an_exception(x, y, index):
    x.data = y.data
    x.mul_(3)
    try:
        return x[:, index]
    except IndexError:
        return x + 1


ROWS = [
    (of(arrays_between), 0),
    (of(scalars_between), 0),
    (of(states), 0),
    (of(forked), 0),
    (of(quantised), 0),
    (of(under_a_mode), 0),
    (of(defaults), 0),
    (of(changed_on_both_sides), 0),
    (weights, 0),
    (data_replaced, 0),
    (averaged, 0),
    (of(data_shared, matrix, matrix), 0),
    (of(data_of_another_shape), 1),
    (of(data_refused), None),
    (of(data_and_an_exception, matrix, matrix, lambda: torch.tensor([7])), None),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_a_backend_gets_the_parts(self):
        seen = []

        def backend(graph, inputs):
            seen.append(([str(node.target) for node in graph.graph.nodes if node.op.startswith("call")], len(inputs)))
            return graph

        compiled = slotrt.compile(arrays_between, backend=backend, fullgraph=True)
        for _ in range(3):
            torch.testing.assert_close(compiled(matrix())[0], arrays_between(matrix())[0])
        self.assertEqual(len(seen), 2)
        self.assertFalse(any("numpy" in target for targets, _ in seen for target in targets))

    def test_sizes_that_change(self):
        compiled = slotrt.compile(arrays_between, backend="aot_eager")
        for rows in (2, 3, 5, 4, 5):
            x = torch.arange(3.0 * rows).reshape(rows, 3) / 7
            torch.testing.assert_close(compiled(x)[0], arrays_between(x)[0])

    def test_a_backend_that_raises(self):
        def backend(graph, inputs):
            raise ValueError("no")

        with self.assertRaisesRegex(ValueError, "no") as caught:
            slotrt.compile(arrays_between, backend=backend)(matrix())
        self.assertIsInstance(caught.exception.graph, torch.fx.GraphModule)

    def test_memory_comes_back_where_a_graph_raises(self):
        for compiled in (data_and_an_exception, slotrt.compile(data_and_an_exception)):
            x, y, index = matrix(), matrix() * 2, torch.tensor([0])
            for index in (torch.tensor([0]), torch.tensor([7])):
                compiled(x, y, index)
            self.assertEqual(x.data_ptr(), y.data_ptr())
            torch.testing.assert_close(y, matrix() * 18)


if __name__ == "__main__":
    unittest.main()
