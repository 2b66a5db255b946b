"""TorchDynamo beside slotrt: a frame belongs to the compiler through whose compiled callable it was entered."""

import itertools
import os
import subprocess
import sys
import threading
import unittest

import slotrt
import torch
from torch._C._dynamo.eval_frame import get_eval_frame_callback
from torch._higher_order_ops import while_loop
from torch.nn.attention.flex_attention import flex_attention


def add_one(x):
    return x + 1


def fail(x):
    raise ValueError(f"of {x.numel()} items")


def broken(function):
    def call(x):
        y = function(x)
        slotrt.graph_break()
        torch._dynamo.graph_break()
        return y + 1

    return call


def doubled(function):
    return lambda x: function(x) * 2


STEPS = {
    "TorchDynamo": lambda function: torch.compile(function, backend="eager"),
    "slotrt": slotrt.compile,
    "break": broken,
    "plain": doubled,
}
COMPILERS = {"TorchDynamo", "slotrt"}


def built(steps, function):
    for step in steps:
        function = STEPS[step](function)
    return function


def outcome(function, x):
    try:
        return function(x).tolist()
    except ValueError as error:
        return str(error)


def differences(length):
    """The nestings of this many steps whose outcome is not the plain one, at the first or the second call."""
    found, x = [], torch.ones(2)
    for function, steps in itertools.product((add_one, fail), itertools.product(STEPS, repeat=length)):
        want = outcome(built([step for step in steps if step not in COMPILERS], function), x)
        try:
            compiled = built(steps, function)
        except AssertionError:
            # TorchDynamo does not compile what wraps its own wrapper.
            continue
        got = [outcome(compiled, x), outcome(compiled, x)]
        if got != [want, want]:
            found.append((steps, want, got))
        if get_eval_frame_callback() is not None:
            found.append((steps, "TorchDynamo is left on"))
    return found


def raise_limit():
    """TorchDynamo gives a code object up that it compiled often; the tests share theirs."""
    before, torch._dynamo.config.recompile_limit = torch._dynamo.config.recompile_limit, 10_000
    return before


class TestNesting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        before = raise_limit()
        cls.addClassCleanup(setattr, torch._dynamo.config, "recompile_limit", before)

    def setUp(self):
        torch._dynamo.reset()
        slotrt.reset()

    def test_every_order_of_four(self):
        self.assertEqual(differences(4), [])

    def test_on_three_threads(self):
        found = []
        threads = [threading.Thread(target=lambda: found.extend(differences(3))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [])

    def test_the_hook_is_gone_after_reset(self):
        self.assertEqual(differences(2), [])
        slotrt.reset()
        self.assertFalse(slotrt.hook.installed())

    def test_under_a_debug_allocator(self):
        run = [sys.executable, "-X", "dev", "-W", "ignore", __file__, "3"]
        ended = subprocess.run(run, env={**os.environ, "PYTHONMALLOC": "debug"}, capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout.strip()), (0, "[]"), ended.stderr[-2000:])


class TestOwnership(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        slotrt.reset()

    def test_a_trace_goes_through_what_torch_compile_made(self):
        graphs = []

        def backend(graph, inputs):
            graphs.append(graph)
            return graph.forward

        inner = torch.compile(add_one, backend=backend)
        outer = slotrt.compile(lambda x: inner(x) * 2)
        for _ in range(3):
            self.assertEqual(outer(torch.ones(2)).tolist(), [4.0, 4.0])
        self.assertEqual((len(graphs), slotrt.stats()["graph_breaks"]), (0, 0))

    def test_what_slotrt_made_is_its_own(self):
        inner = slotrt.compile(add_one)
        outer = torch.compile(lambda x: inner(x) * 2, backend="eager")
        for _ in range(3):
            self.assertEqual(outer(torch.ones(2)).tolist(), [4.0, 4.0])
        self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_fullgraph_names_the_reason(self):
        inner = torch.compiler.disable(add_one)
        outer = slotrt.compile(lambda x: inner(x) * 2, fullgraph=True)
        with self.assertRaisesRegex(slotrt.GraphBreak, "TorchDynamo"):
            outer(torch.ones(2))


class TestCompilersOfPyTorch(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        slotrt.reset()

    def assert_same(self, function, *args):
        want, compiled = function(*args), slotrt.compile(function)
        for _ in range(3):
            torch.testing.assert_close(compiled(*args), want)

    def test_higher_order_operators(self):
        x = torch.ones(2)
        self.assert_same(lambda x: torch.cond(x.sum() > 0, lambda t: t + 1, lambda t: t - 1, (x,)), x)
        self.assert_same(lambda x: while_loop(lambda t: t.sum() < 10, lambda t: (t + 1,), (x,))[0], x)
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_flex_attention(self):
        q = torch.randn(1, 2, 16, 8)
        self.assert_same(lambda q: flex_attention(q, q, q), q)

    def test_export_and_the_jit(self):
        module, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
        self.assert_same(lambda x: torch.export.export(module, (x,)).module()(x), x)
        self.assert_same(lambda x: torch.jit.script(module)(x), x)
        self.assert_same(lambda x: torch.jit.trace(module, (x,))(x), x)
        self.assert_same(lambda x: torch.fx.symbolic_trace(module)(x), x)

    def test_modules(self):
        module, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
        optimised = torch.compile(module, backend="eager")
        self.assert_same(lambda x: optimised(x) + 1, x)
        self.assert_same(lambda x: torch.compiler.disable(module)(x) + 1, x)
        module.compile(backend="eager")
        self.assert_same(lambda x: module(x) + 1, x)

    def test_they_go_through_what_slotrt_compiled(self):
        inner, x = slotrt.compile(add_one), torch.ones(2)

        class Calls(torch.nn.Module):
            def forward(self, x):
                return inner(x)

        module = Calls()
        compiled = torch.compile(module, backend="eager")
        for made in (torch.fx.symbolic_trace(module), torch.jit.trace(module, (x,)), compiled):
            self.assertEqual(made(x).tolist(), [2.0, 2.0])


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].isdigit():
        raise_limit()
        print(differences(int(sys.argv[1])))
    else:
        unittest.main()
