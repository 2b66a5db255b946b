"""Side effects of PyTorch code: tensors changed in place, modes of the thread, autocast; also whole modules and bound methods.

A program is one graph unless its test says otherwise, and it gives what it gives uncompiled."""

import unittest
import weakref

import torch
from torch import nn
from torch.nn import functional

import slotrt

LINEAR = nn.Linear(3, 3)
MIXED = nn.Sequential(nn.Linear(3, 8), nn.ReLU(inplace=True), nn.LayerNorm(8), nn.Linear(8, 3))
PLAIN = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 3))
PARAMETERS = [nn.Parameter(torch.ones(3, 3))]
WEIGHT = torch.ones(3, requires_grad=True)


def views_and_items(x):
    y = x.view(-1)
    y.add_(1)
    z = x * 2
    y[0] = 5
    x[:, 1] = 7
    x[x > 6] = 0
    x += z
    return x, y, z


def chains(x):
    y = x * 1
    functional.relu(y, inplace=True)
    y.copy_(torch.arange(3.0)).clamp_(0, 1)
    y[0, :2] += 3
    return functional.leaky_relu_(y), y


def unused_changes(x):
    x.zero_()
    x.fill_(3)
    return 1


def comes_to_require_gradients(x):
    y = torch.zeros(3)
    y.add_(x[0] * WEIGHT)
    return y, y.requires_grad


def nested_modes(x):
    with torch.no_grad():
        a = LINEAR(x)
        with torch.enable_grad():
            b = LINEAR(x)
        c = LINEAR(x)
    return a, b, c, LINEAR(x), torch.is_grad_enabled()


def mode_set_by_hand(x):
    torch.set_grad_enabled(False)
    y = x * WEIGHT
    torch.set_grad_enabled(True)
    return y, x * WEIGHT


def mode_and_exception(x):
    try:
        with torch.no_grad():
            y = x * WEIGHT
            raise ValueError(1)
    except ValueError as error:
        return y, torch.is_grad_enabled(), str(error)


@torch.no_grad()
def decorated(x):
    return LINEAR(x)


def calls_decorated(x):
    return decorated(x), LINEAR(x)


def update(x):
    with torch.no_grad():
        for parameter in PARAMETERS:
            parameter.add_(x, alpha=-0.5)
    result = PARAMETERS[0].sum()
    with torch.no_grad():
        for parameter in PARAMETERS:
            parameter.sub_(x, alpha=-0.5)
    return result


def mixed_precision(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = MIXED(x)
        z = y.float() if y.dtype == torch.bfloat16 else y * 100
        low, high = torch.split(x @ x.T, 2)
    return y, z, low, high, x @ x.T, torch.is_autocast_enabled("cpu")


def regularised(x):
    weights = (value for name, value in PLAIN.named_parameters() if "weight" in name)
    return PLAIN(x).sum() + sum(weight.abs().sum() for weight in weights), len(set(PLAIN.parameters()))


def clashing_names(x, input, input_1, output):  # noqa: A002
    return x + input * input_1 - output


def told_apart(x):
    return torch.broadcast_tensors(x, x[0])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.last, self.calls = nn.BatchNorm1d(3), nn.Linear(3, 1), 0

    def forward(self, x):
        self.calls += 1
        return self.last(functional.relu_(self.norm(x)))

    def twice(self, x):
        return self(self.norm(x))


def plain(result):
    """A comparable form."""
    if isinstance(result, torch.Tensor):
        return result.dtype, tuple(result.shape), result.requires_grad, result.tolist()
    if isinstance(result, (tuple, list)):
        return type(result), [plain(item) for item in result]
    return result


def as_module(module, _):
    return module


def without_autograd(module, example_inputs):
    """Compiles the graph with the part of PyTorch that removes changes in place and modes."""
    from functorch.compile import aot_module_simplified, make_boxed_func

    return aot_module_simplified(module, example_inputs, fw_compiler=lambda module, _: make_boxed_func(module.forward))


class SideEffects(unittest.TestCase):
    PROGRAMS = (
        views_and_items,
        chains,
        unused_changes,
        comes_to_require_gradients,
        nested_modes,
        mode_set_by_hand,
        mode_and_exception,
        calls_decorated,
        update,
        mixed_precision,
        regularised,
        told_apart,
    )

    def setUp(self):
        slotrt.reset()
        torch.manual_seed(0)

    def test_they_are_done_in_the_graph(self):
        for program in self.PROGRAMS:
            for backend in ("eager", as_module, without_autograd):
                with self.subTest(program=program.__name__, backend=backend):
                    compiled = slotrt.compile(program, backend=backend, fullgraph=True)
                    for _ in range(2):
                        mine, theirs = (torch.arange(9.0).reshape(3, 3) / 4 - 1 for _ in range(2))
                        self.assertEqual(plain(compiled(mine)), plain(program(theirs)))
                        self.assertEqual(plain(mine), plain(theirs))
                        self.assertTrue(torch.is_grad_enabled())
                        self.assertFalse(torch.is_autocast_enabled("cpu"))

    def test_gradients_go_through_changes(self):
        def f(x):
            y = x * 2
            y += x.sin()
            y[0] = WEIGHT * 3
            return (y * y).sum()

        gradients = []
        for function in (f, slotrt.compile(f, fullgraph=True), slotrt.compile(f, backend=as_module, fullgraph=True)):
            x = torch.ones(3, 3, requires_grad=True)
            gradients.append(torch.autograd.grad(function(x), [x, WEIGHT]))
        self.assertEqual(*(plain(each) for each in gradients[:2]))
        self.assertEqual(*(plain(each) for each in gradients[1:]))

    def test_a_break_within_a_mode_leaves_it_in_force(self):
        def f(x):
            with torch.no_grad():
                y = x * WEIGHT
                slotrt.graph_break()
                z = y + WEIGHT
            return y, z, x * WEIGHT, torch.is_grad_enabled()

        x = torch.ones(3)
        report = slotrt.explain(f)(x)
        self.assertEqual((report.graphs, report.breaks), (2, 1), report)
        self.assertEqual(plain(slotrt.compile(f, backend=without_autograd)(x)), plain(f(x)))

    def test_what_others_see_runs_natively(self):
        def saved(x):
            kept = []
            with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(tuple(t.shape)) or t, lambda t: t):
                y = (x * WEIGHT).sin()
            return y, kept

        def mapped(x):
            return torch.vmap(lambda row: row.sin().sum())(x)

        def asks_more_of_an_input(x):
            x.add_(WEIGHT)
            return x * 2, x.requires_grad

        for function in (saved, mapped, asks_more_of_an_input):
            with self.subTest(function.__name__):
                compiled = slotrt.compile(function)
                for _ in range(2):
                    self.assertEqual(plain(compiled(torch.ones(2, 3))), plain(function(torch.ones(2, 3))))

    def test_parameters_of_a_graph_keep_apart(self):
        seen = []

        def backend(module, example_inputs):
            names = [node.target for node in module.graph.nodes if node.op == "placeholder"]
            seen.append((len(set(names)), len(example_inputs)))
            return module

        args = [torch.full((2,), float(number)) for number in range(1, 5)]
        self.assertEqual(plain(slotrt.compile(clashing_names, backend=backend)(*args)), plain(clashing_names(*args)))
        self.assertEqual(seen, [(4, 4)])

    def test_tensors_that_others_refer_to_weakly_are_hashed(self):
        told = []
        references = [weakref.ref(parameter, told.append) for parameter in PLAIN.parameters()]
        compiled = slotrt.compile(regularised, fullgraph=True)
        for _ in range(2):
            self.assertEqual(plain(compiled(torch.ones(3, 3))), plain(regularised(torch.ones(3, 3))))
        self.assertEqual((len(references), told), (4, []))

    def test_answers_are_other_objects_each_time(self):
        kept = []

        def keeps(x):
            device = x.device
            kept.extend([device, x.shape, torch.finfo(x.dtype), torch.iinfo(torch.int8), torch.device("cpu")])
            kept.append(device)
            return x.device

        compiled = slotrt.compile(keeps)
        for _ in range(3):
            # The first one is kept twice.
            before = len(kept)
            for function in (keeps, compiled):
                kept.append(function(torch.ones(2)))
            expected, got = kept[before : before + 7], kept[before + 7 :]
            self.assertEqual(got, expected)
            self.assertIs(got[0], got[5])
        self.assertEqual(len({id(answer) for answer in kept}), 6 * 6)

    def test_answers_are_other_objects_behind_a_break(self):
        kept = []

        def keeps(x):
            device, limits = x.device, torch.finfo(x.dtype)
            slotrt.graph_break()
            kept.extend([device, limits])

        compiled = slotrt.compile(keeps)
        for _ in range(3):
            compiled(torch.ones(2))
        self.assertEqual(len({id(answer) for answer in kept}), 6)

    def test_modules_and_methods_are_compiled(self):
        mine, theirs = Net(), Net()
        theirs.load_state_dict(mine.state_dict())
        x = torch.arange(6.0).reshape(2, 3)
        whole, method = slotrt.compile(mine, fullgraph=True), slotrt.compile(mine.twice, fullgraph=True)
        for _ in range(2):
            self.assertEqual(plain(whole(x)), plain(theirs(x)))
            self.assertEqual(plain(method(x)), plain(theirs.twice(x)))
        self.assertEqual(mine.calls, theirs.calls)
        for name, value in theirs.state_dict().items():
            self.assertEqual(plain(mine.state_dict()[name]), plain(value), name)
        self.assertEqual(slotrt.explain(mine)(x).graphs, 1)


if __name__ == "__main__":
    unittest.main()
