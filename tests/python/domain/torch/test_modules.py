"""Modules given to `compile` and `disable`: they stay modules; and what torch's own questions for a compiler give in a trace."""

import copy
import gc
import io
import pickle
import types
import unittest
import unittest.mock
import warnings

import torch
import torch.utils.checkpoint
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune

import slotrt


class Counting(nn.Module):
    """Changes itself, calls itself, and has hooks of its own."""

    def __init__(self, size=2):
        super().__init__()
        self.size = size
        self.linear = nn.Linear(size, size)
        self.norm = nn.BatchNorm1d(size)
        self.calls = 0
        self.register_buffer("scale", torch.ones(size))

    def forward(self, x):
        self.calls += 1
        return self.norm(self.linear(x)) * self.scale

    def twice(self, x):
        return self(self(x))

    def other(self):
        return type(self)(self.size + 1), self.__class__(self.size)


class Double(nn.Module):
    def forward(self, x):
        return x * 2


def sequential():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 3))


def counting():
    torch.manual_seed(0)
    return Counting()


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.ReLU())


def pruned(net):
    prune.l1_unstructured(net[0], "weight", 0.5)
    return net(X), list(net.state_dict())


def normed(net):
    parametrizations.weight_norm(net[0])
    return net(X)


def grown(net):
    same = net
    net += nn.Sequential(nn.Tanh())
    return net is same, len(net), net(X)


def shrunk(net):
    del net[1]
    net.insert(0, nn.Identity())
    return repr(net), net(X), [type(part).__name__ for part in net.modules()], net[0] in net


def hooked(net):
    seen = []
    net.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    net.register_full_backward_hook(lambda module, given, out: seen.append(out[0].sum()))
    net.register_state_dict_post_hook(lambda module, state, prefix, local: state.update(extra=1))
    net(X).sum().backward()
    return *seen, sorted(net.state_dict())


def trained(net):
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(X).pow(2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


def fails(net):
    texts = []
    for call in (lambda: net(torch.ones(3, 5)), lambda: net(), lambda: net.nothing, lambda: net[7]):
        try:
            call()
        except Exception as error:
            texts.append((type(error), str(error)))
    return texts


# What libraries do with modules.
USES = {
    "functional_call": lambda net: torch.func.functional_call(net, {"0.weight": torch.ones(2, 2)}, (X,)),
    "pruned": pruned,
    "normed": normed,
    "grown": grown,
    "shrunk": shrunk,
    "hooked": hooked,
    "trained": trained,
    "fails": fails,
    "copied within another": lambda net: copy.deepcopy(nn.Sequential(net, nn.Tanh()))(X),
    "averaged": lambda net: torch.optim.swa_utils.AveragedModel(net)(X),
    "symbolically traced": lambda net: torch.fx.symbolic_trace(net.eval())(X),
    "parallel": lambda net: nn.DataParallel(net)(X),
    "checkpointed": lambda net: torch.utils.checkpoint.checkpoint(net, X, use_reentrant=False),
    "mapped": lambda net: torch.vmap(net.eval())(X[None]),
    "differentiated": lambda net: torch.func.grad(lambda x: net.eval()(x).sum())(X),
    "sliced": lambda net: (repr(net[:2]), repr(net + net), net.get_parameter("0.weight")),
    "moved": lambda net: list(net.to_empty(device="meta").state_dict()["0.weight"].shape),
    "compared": lambda net: (net == net, net in [net], {net: 1}[net], sorted(vars(net)), net.extra_repr()),
}

X = torch.tensor([[1.0, -2.0], [0.5, 3.0]])
REPLACED = [slotrt.compile, slotrt.disable]


class Modules(unittest.TestCase):
    def equal(self, one, other):
        self.assertTrue(torch.equal(one, other), (one, other))

    def test_it_is_a_module_with_the_same_parts(self):
        for make in (sequential, counting):
            for replace in REPLACED:
                model = make()
                replaced = replace(model)
                self.assertIsInstance(replaced, nn.Module)
                self.assertIsInstance(replaced, type(model))
                self.assertIs(replaced.__class__, type(model))
                self.assertEqual((repr(replaced), dir(replaced)), (repr(model), dir(model)))
                self.assertEqual(replaced.forward, model.forward)
                for parts in ("named_parameters", "named_buffers", "named_children"):
                    own, its = list(getattr(model, parts)()), list(getattr(replaced, parts)())
                    self.assertEqual([name for name, _ in own], [name for name, _ in its])
                    self.assertTrue(all(a is b for (_, a), (_, b) in zip(own, its)))
                self.assertEqual([name for name, _ in replaced.named_modules()], [name for name, _ in model.named_modules()])
                own, its = model.state_dict(), replaced.state_dict()
                self.assertEqual(list(own), list(its))
                self.assertTrue(all(torch.equal(own[name], its[name]) for name in own))
                self.assertTrue(slotrt.is_compiled(replaced) is (replace is slotrt.compile))
                self.assertFalse(slotrt.is_compiled(model))

    def test_what_libraries_do_with_it(self):
        def plain(found):
            """Tensors as data, so that results can be compared."""
            if isinstance(found, torch.Tensor):
                return found.tolist(), found.requires_grad
            return [plain(item) for item in found] if isinstance(found, (list, tuple)) else found

        for name, use in USES.items():
            expected = plain(use(network()))
            for replace in REPLACED:
                with self.subTest(name, replace=replace):
                    self.assertEqual(plain(use(replace(network()))), expected)

    def test_results_gradients_and_state(self):
        plain, model = counting(), counting()
        compiled = slotrt.compile(model)
        for x in (X, X * 2):
            results = [plain(x), compiled(x)]
            self.equal(*results)
            for result in results:
                result.sum().backward()
        for one, other in zip(plain.parameters(), compiled.parameters()):
            self.equal(one.grad, other.grad)
        self.assertEqual((compiled.calls, model.calls), (2, 2))
        self.equal(plain.norm.running_mean, compiled.norm.running_mean)
        with torch.no_grad():
            self.equal(plain.twice(X), compiled.twice(X))
        self.assertEqual(model.calls, plain.calls)

    def test_switches_give_the_compiled_one(self):
        for replace in REPLACED:
            model = counting()
            replaced = replace(model)
            self.assertIs(replaced.eval(), replaced)
            self.assertEqual((replaced.training, model.training, model.norm.training), (False, False, False))
            self.assertIs(replaced.train(), replaced)
            self.assertTrue(model.training)
            self.assertIs(replaced.to(torch.float64), replaced)
            self.assertEqual(replaced(X.double()).dtype, torch.float64)
            self.assertIs(replaced.requires_grad_(False), replaced)
            self.assertFalse(model.linear.weight.requires_grad)
            self.assertIs(replaced.apply(lambda module: None), replaced)
            self.assertEqual([type(made) for made in replaced.other()], [Counting, Counting])

    def test_attributes_are_those_of_the_module(self):
        model = sequential()
        compiled = slotrt.compile(model)
        self.assertIs(compiled[0], model[0])
        self.assertEqual(len(compiled), 3)
        self.assertEqual(list(compiled), list(model))
        compiled[1] = nn.Tanh()
        self.assertIsInstance(model[1], nn.Tanh)
        self.equal(compiled(X), model(X))
        compiled.append(nn.Sigmoid())
        self.assertEqual((len(model), len(compiled)), (4, 4))
        self.equal(compiled(X), model(X))
        compiled.note = 3
        self.assertEqual(model.note, 3)
        del compiled.note
        self.assertFalse(hasattr(model, "note"))
        compiled.extra = nn.Parameter(torch.ones(1))
        self.assertIs(dict(model.named_parameters())["extra"], compiled.extra)
        with self.assertRaisesRegex(AttributeError, "^'Sequential' object has no attribute 'nothing'"):
            compiled.nothing
        compiled.forward = types.MethodType(lambda self, x: x + 1, model)
        self.equal(compiled(X), X + 1)
        self.equal(model(X), X + 1)

    def test_hooks(self):
        seen = []
        for register_on_compiled in (True, False):
            model = sequential()
            compiled = slotrt.compile(model)
            where = compiled if register_on_compiled else model
            handle = where.register_forward_hook(lambda module, args, result: seen.append(module) or result * 2)
            expected = model(X)
            self.equal(compiled(X), expected)
            self.assertIs(seen[-1], model)
            handle.remove()
            self.equal(compiled(X) * 2, expected)

    def test_state_is_loaded(self):
        one, other = counting(), Counting()
        compiled = slotrt.compile(other)
        compiled.load_state_dict(slotrt.compile(one).state_dict())
        self.equal(compiled.eval()(X), one.eval()(X))
        file = io.BytesIO()
        torch.save(compiled.state_dict(), file)
        file.seek(0)
        again = Counting()
        again.load_state_dict(torch.load(file))
        self.equal(again.eval()(X), compiled(X))

    def test_copies_and_pickles(self):
        for replace in REPLACED:
            model = counting()
            replaced = replace(model)
            shallow, deep = copy.copy(replaced), copy.deepcopy(replaced)
            pickled = pickle.loads(pickle.dumps(replaced))
            file = io.BytesIO()
            torch.save(replaced, file)
            file.seek(0)
            saved = torch.load(file, weights_only=False)
            for copied in (shallow, deep, pickled, saved):
                self.assertIs(slotrt.is_compiled(copied), replace is slotrt.compile)
                self.assertIsInstance(copied, Counting)
                self.equal(copied(X), counting()(X))
                self.assertIsNot(copied.__wrapped__, model)
            self.assertIs(shallow.linear, model.linear)
            for copied in (deep, pickled, saved):
                self.assertIsNot(copied.linear.weight, model.linear.weight)
            self.assertEqual(model.calls, 0)

    def test_within_other_modules(self):
        inner = slotrt.compile(counting())
        outer = nn.Sequential(inner, nn.ReLU())
        plain = nn.Sequential(counting(), nn.ReLU())
        self.assertEqual(list(outer.state_dict()), list(plain.state_dict()))
        self.equal(outer(X), plain(X))
        self.assertIs(outer.eval()[0].training, False)
        self.assertIs(inner.__wrapped__.training, False)
        plain.eval()
        report = slotrt.explain(outer)(X)
        self.equal(report.result, plain(X))
        self.assertEqual((report.graphs, report.breaks), (1, 0))

    def test_a_compiled_function_inlines_it(self):
        for make, graphs in ((sequential, 1), (counting, 1)):
            plain, compiled = make(), slotrt.compile(make())

            def step(model, x):
                result = model(x)
                count = getattr(model, "calls", 0)
                return result, count, model.training, [name for name, _ in model.named_parameters()]

            report = slotrt.explain(step)(compiled, X)
            self.assertEqual((report.graphs, report.breaks), (graphs, 0), report)
            for found, expected in zip(report.result, step(plain, X)):
                self.equal(found, expected) if isinstance(found, torch.Tensor) else self.assertEqual(found, expected)

    def test_both_in_one_trace(self):
        def step(model, compiled, x):
            compiled.calls = 5
            compiled(x)
            model.note = model.calls
            return compiled.note, model.calls, compiled.calls

        results = []
        for run in (step, slotrt.compile(step, fullgraph=True)):
            model = counting()
            results.append(run(model, slotrt.compile(model), X))
        self.assertEqual(*results)

    def test_a_disabled_one_breaks_the_graph(self):
        alone = slotrt.disable(Double())

        def step(x):
            return alone(x) + 1

        report = slotrt.explain(step)(X)
        self.equal(report.result, X * 2 + 1)
        self.assertEqual([reason["kind"] for reason in report.reasons], ["explicit"])

    def test_compiled_anew_or_not(self):
        model = sequential()
        compiled = slotrt.compile(model)
        self.assertIs(slotrt.compile(compiled), compiled)
        whole = slotrt.compile(compiled, fullgraph=True)
        self.assertIsNot(whole, compiled)
        self.assertIs(whole.__wrapped__, model)
        self.equal(whole(X), model(X))
        self.assertEqual(slotrt.explain(compiled)(X).graphs, 1)
        self.assertEqual(slotrt.explain(model)(X).graphs, 1)

    def test_a_backend_gets_its_graph(self):
        graphs = []

        def backend(graph, inputs):
            graphs.append(isinstance(graph, torch.fx.GraphModule))
            return graph

        model = sequential()
        self.equal(slotrt.compile(model, backend=backend)(X), model(X))
        self.assertEqual(graphs, [True])

    def test_in_place(self):
        plain, model = counting(), counting()
        self.assertIs(slotrt.compile(model, inplace=True), model)
        self.assertTrue(slotrt.is_compiled(model))
        self.assertFalse(slotrt.is_compiled(slotrt.disable(model)))
        before = slotrt.stats()["frames_compiled"]
        self.equal(model(X), plain(X))
        self.assertGreater(slotrt.stats()["frames_compiled"], before)
        self.assertEqual(list(model.state_dict()), list(plain.state_dict()))
        self.equal(copy.deepcopy(model)(X), copy.deepcopy(plain)(X))
        self.equal(pickle.loads(pickle.dumps(model))(X), pickle.loads(pickle.dumps(plain))(X))
        self.assertIs(slotrt.compile(inplace=True, fullgraph=True)(model), model)
        self.equal(model(X), plain(X))
        report = slotrt.explain(lambda x: model(x))(X)
        self.equal(report.result, plain(X))
        self.assertEqual(report.breaks, 0)
        with self.assertRaisesRegex(TypeError, "takes a torch.nn.Module, not Tensor"):
            slotrt.compile(X, inplace=True)

    def test_parametrized_later(self):
        for through in (False, True):
            model = nn.Linear(2, 2, bias=False)
            compiled = slotrt.compile(model)
            compiled(X)
            parametrize.register_parametrization(compiled if through else model, "weight", Double())
            self.equal(compiled(X), model(X))
            self.equal(compiled.weight, model.weight)
            self.assertTrue(parametrize.is_parametrized(compiled))

    def test_a_lazy_module(self):
        model = nn.LazyLinear(3)
        compiled = slotrt.compile(model)
        result = compiled(X)
        self.equal(result, model(X))
        self.assertIs(type(model), nn.Linear)
        self.assertIs(compiled.__class__, nn.Linear)

    def test_a_module_that_sets_its_attributes_by_object(self):
        class Odd(nn.Module):
            def keep(self, value):
                object.__setattr__(self, "kept", value)
                return self

            def forward(self, x):
                return x * self.kept

        model = Odd()
        compiled = slotrt.compile(model)
        self.assertIs(compiled.keep(3), compiled)
        self.assertEqual((model.kept, compiled.kept), (3, 3))
        self.equal(compiled(X), X * 3)

    def test_functions_and_classes_of_torch(self):
        self.equal(slotrt.compile(torch.add)(X, 1), X + 1)
        self.equal(slotrt.compile(torch.Tensor.exp)(X), X.exp())
        self.equal(slotrt.compile(X.exp)(), X.exp())
        self.equal(slotrt.compile(torch.ops.aten.sin.default)(X), X.sin())
        self.assertEqual(slotrt.compile(nn.Linear)(2, 3).weight.shape, (3, 2))
        self.assertIsInstance(nn.Linear(2, 3), slotrt.compile(nn.Linear))


class IsCompiling(unittest.TestCase):
    def setUp(self):
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)

    def test_true_in_a_trace_alone(self):
        def asks(x):
            told = (
                slotrt.is_compiling(),
                torch.compiler.is_compiling(),
                torch.compiler.is_dynamo_compiling(),
                torch._dynamo.is_compiling(),
                [torch.compiler.is_compiling() for _ in range(2)],
                list(iter(torch.compiler.is_compiling, slotrt.is_compiling())),
            )
            return x * 2 if torch.compiler.is_compiling() else x * 3, told

        never = (False, False, False, False, [False, False], [])
        self.assertEqual(asks(X)[1], never)
        compiled = slotrt.compile(asks, fullgraph=True)
        for _ in range(2):
            result, told = compiled(X)
            self.assertTrue(torch.equal(result, X * 2))
            self.assertEqual(told, (True, True, True, True, [True, True], []))
        self.assertEqual(asks(X)[1], never)

    def test_others_stay_as_they_are(self):
        def asks():
            return torch.jit.is_scripting(), torch.jit.is_tracing(), torch.compiler.is_exporting()

        self.assertEqual(slotrt.compile(asks, fullgraph=True)(), (False, False, False))

    def test_false_in_what_runs_natively(self):
        alone = slotrt.disable(torch.compiler.is_compiling)

        def asks():
            before = torch.compiler.is_compiling()
            slotrt.graph_break()
            return before, alone(), torch.compiler.is_compiling()

        compiled = slotrt.compile(asks)
        for _ in range(2):
            self.assertEqual(compiled(), (True, False, True))

    def test_compiled_themselves(self):
        for ask in (torch.compiler.is_compiling, torch.compiler.is_dynamo_compiling, torch._dynamo.is_compiling):
            compiled = slotrt.compile(ask)
            self.assertEqual([compiled(), compiled(), ask()], [True, True, False])

    def test_what_was_asked_before_stays(self):
        before = torch.compiler.is_compiling()
        self.assertEqual(slotrt.compile(lambda: (before, torch.compiler.is_compiling()))(), (False, True))

    def test_a_function_of_the_same_name_is_another(self):
        def is_compiling():
            return "another"

        is_compiling.__qualname__, is_compiling.__module__ = "is_compiling", "torch.compiler"
        self.assertEqual(slotrt.compile(lambda: is_compiling())(), "another")

    def test_a_replaced_one_answers_for_itself(self):
        with unittest.mock.patch("torch.compiler.is_compiling", lambda: "patched"):
            self.assertEqual(slotrt.compile(lambda: torch.compiler.is_compiling())(), "patched")

    def test_wrong_calls(self):
        with self.assertRaisesRegex(TypeError, r"is_compiling\(\) takes 0 positional arguments but 1 was given"):
            slotrt.compile(lambda: torch.compiler.is_compiling(1))()

    def test_deprecated_names_warn_as_ever(self):
        def asks():
            return torch._utils.is_compiling()

        compiled = slotrt.compile(asks)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertTrue(compiled())
        self.assertIn("deprecated", str(caught[0].message))

    def test_transformers(self):
        try:
            from transformers.utils import is_torchdynamo_compiling
        except ImportError:
            self.skipTest("needs transformers")
        self.assertFalse(is_torchdynamo_compiling())
        self.assertTrue(slotrt.compile(lambda: is_torchdynamo_compiling())())


if __name__ == "__main__":
    unittest.main()
