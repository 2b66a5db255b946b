"""slotrt in the place of TorchDynamo, backends by name, and backends that raise."""

import unittest

import torch
from torch import nn

import slotrt


class Frontend(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def test_compile_uses_slotrt(self):
        dynamo = torch.compile
        x = torch.ones(2, 3)
        with slotrt.torch.frontend():
            with slotrt.torch.frontend():
                pass
            self.assertIsNot(torch.compile, dynamo)
            net = nn.Linear(3, 3)
            in_place = nn.Linear(3, 3)
            in_place.compile(backend="eager", fullgraph=True)

            @torch.compile(backend="eager")
            def f(x):
                return net(x) * 2

            compiled = [
                (f, lambda x: net(x) * 2),
                (torch.compile(net, backend="aot_eager"), net),
                (torch.compile(net, backend=lambda graph, inputs: graph, dynamic=False), net),
                (torch.compiler.compile(torch.sin, backend="eager"), torch.sin),
                (torch._dynamo.optimize("eager")(lambda x: x + 1), lambda x: x + 1),
                (torch._dynamo.optimize_assert("eager")(lambda x: x + 1), lambda x: x + 1),
                (in_place, lambda x: nn.functional.linear(x, in_place.weight, in_place.bias)),
            ]
            for number, (made, plain) in enumerate(compiled):
                with self.subTest(number=number):
                    graphs = slotrt.stats()["graphs"]
                    self.assertTrue(slotrt.is_compiled(made))
                    torch.testing.assert_close(made(x), plain(x))
                    self.assertEqual(slotrt.stats()["graphs"], graphs + 1)
            self.assertIs(torch.compile(net, disable=True), net)
        self.assertIs(torch.compile, dynamo)
        torch.testing.assert_close(f(x), net(x) * 2)

    def test_uninstall_without_install(self):
        with self.assertRaisesRegex(RuntimeError, "nothing is installed"):
            slotrt.torch.uninstall()

    def test_inductor(self):
        def f(x):
            return (x * 2 + 1).relu().sum(0)

        with slotrt.torch.frontend():
            x = torch.randn(8, 3)
            for arguments in ({}, {"mode": "max-autotune-no-cudagraphs"}, {"options": {"shape_padding": True}}):
                torch.testing.assert_close(torch.compile(f, **arguments)(x), f(x))

    def test_what_programs_ask_for(self):
        x = torch.arange(3.0)
        calls = []

        @torch.compiler.allow_in_graph
        def outside(x):
            return x * 3

        with slotrt.torch.frontend():

            @torch.compiler.disable
            def disabled(x):
                calls.append(slotrt.is_compiling())
                return x + 1

            @torch._dynamo.disable(recursive=False, reason="a test")
            def left_alone(x):
                calls.append(slotrt.is_compiling())
                return x - 1

            @torch._dynamo.allow_in_graph
            def node(x):
                if type(x.sum()) is torch.Tensor:
                    return x.sin() * 2
                return x

            def f(x):
                y = disabled(x * 2)
                torch._dynamo.graph_break()
                return left_alone(node(y)) * 2

            compiled = torch.compile(f, backend="eager")
            for _ in range(2):
                torch.testing.assert_close(compiled(x), ((x * 2 + 1).sin() * 2 - 1) * 2)
            self.assertEqual(calls, [False] * 4)
            # The second break comes right after the first.
            self.assertEqual(slotrt.stats()["graph_breaks"], 2)
            seen = []
            torch.compile(lambda x: node(x) + 1, backend=lambda graph, inputs: seen.append(str(graph.code)) or graph)(x)
            self.assertIn("node(", seen[0])
            self.assertNotIn("sin", seen[0])
            torch._dynamo.maybe_mark_dynamic(x, 0)
            torch._dynamo.mark_static(torch.ones(2), 0)
            torch.compiler.reset()
            self.assertEqual(slotrt.stats()["graphs"], 0)
            with self.assertRaises(slotrt.GraphBreak):
                torch.compile(f, backend="eager", fullgraph=True)(x)

    def test_stances(self):
        def f(x):
            return x * 2

        x, y = torch.ones(2), torch.ones(3)
        with slotrt.torch.frontend():
            compiled = torch.compile(f, backend="eager")
            with torch.compiler.set_stance("force_eager"):
                compiled(x)
                self.assertEqual(slotrt.stats()["frames_compiled"], 0)
            with torch.compiler.set_stance("fail_on_recompile"):
                self.assertRaisesRegex(RuntimeError, "fail_on_recompile", compiled, x)
            compiled(x)
            self.assertEqual(slotrt.stats()["frames_compiled"], 1)
            torch.compiler.set_stance("fail_on_recompile")
            compiled(x)
            self.assertRaisesRegex(RuntimeError, "fail_on_recompile", compiled, y)
            torch.compiler.set_stance("eager_on_recompile")
            torch.testing.assert_close(compiled(y), y * 2)
            torch.compiler.set_stance("default")
            self.assertEqual(slotrt.stats()["frames_compiled"], 1)

            @torch.compiler.set_stance("eager_then_compile")
            def twice():
                lazily = torch.compile(lambda x: x + 1, backend="eager")
                lazily(x)
                first = slotrt.stats()["frames_compiled"]
                lazily(x)
                return first, slotrt.stats()["frames_compiled"]

            self.assertEqual(twice(), (1, 2))
            torch.compiler.set_stance("force_eager")
        compiled(x)
        self.assertEqual(slotrt.stats()["cache_hits"], 2)
        with slotrt.torch.frontend(), self.assertRaisesRegex(RuntimeError, "stance"):
            torch.compiler.set_stance("sideways")

    def test_marks_of_sizes(self):
        with slotrt.torch.frontend():
            slotrt.reset()
            compiled = torch.compile(lambda x: x * x.shape[0], backend="eager", fullgraph=True)
            for size in range(3, 9):
                x = torch.ones(size)
                torch._dynamo.mark_dynamic(x, 0)
                self.assertEqual(compiled(x).tolist(), [size] * size)
            self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_unbacked_sizes_are_symbolic(self):
        with slotrt.torch.frontend():
            compiled = torch.compile(lambda x: x * x.shape[0], backend="eager")
            for size in range(3, 9):
                x = torch.ones(size)
                torch._dynamo.decorators.mark_unbacked(x, 0, min=2)
                self.assertEqual(compiled(x).tolist(), [size] * size)
            self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_breaks_that_are_errors(self):
        def f(x, error, inner):
            y = x * 2
            torch._dynamo.graph_break()
            with torch._dynamo.error_on_graph_break(error):
                y = y + 1
                if inner:
                    torch._dynamo.graph_break()
            torch._dynamo.graph_break()
            return y * 2

        @torch._dynamo.error_on_graph_break(True)
        def strict(x):
            y = x * 2
            torch._dynamo.graph_break()
            return y

        def calls_it(x):
            return strict(x + 1)

        for inner in (slotrt.compile, lambda function: torch.compile(function, backend="eager")):
            with slotrt.torch.frontend():
                x, compiled = torch.ones(2), inner(f)
                for _ in range(2):
                    self.assertEqual(compiled(x, True, False).tolist(), [6, 6])
                    self.assertEqual(compiled(x, False, True).tolist(), [6, 6])
                    for function, arguments in ((compiled, (x, True, True)), (inner(strict), (x,)), (inner(calls_it), (x,))):
                        with self.assertRaises(slotrt.GraphBreak):
                            function(*arguments)
                    self.assertFalse(torch._dynamo.utils._error_on_graph_break)

    def test_a_recompile_limit(self):
        with slotrt.torch.frontend():
            slotrt.reset()
            compiled = torch.compile(lambda x: x + 1, backend="eager", dynamic=False, recompile_limit=3)
            with self.assertLogs("slotrt", "WARNING") as log:
                for size in range(2, 9):
                    self.assertEqual(compiled(torch.zeros(size)).tolist(), [1] * size)
            self.assertIn("traced 3 times with different guards", log.output[0])
            self.assertEqual(slotrt.stats()["frames_compiled"], 3)

    def test_what_is_not_honoured_says_so(self):
        x = torch.ones(2)
        with slotrt.torch.frontend():
            refused = [
                lambda: torch.compile(torch.sin, isolate_recompiles=True),
                lambda: torch.compile(torch.sin, options={"guard_filter_fn": len}),
                lambda: torch._dynamo.optimize("eager", guard_fail_fn=print),
                lambda: torch._dynamo.decorators.mark_unbacked(x, 0, strict=True),
                lambda: torch.compiler.set_stance("default", force_backend="eager"),
                lambda: torch.compiler.set_stance(skip_guard_eval_unsafe=True),
                lambda: torch.compiler.set_stance("aot_eager_then_compile"),
            ]
            for number, call in enumerate(refused):
                with self.subTest(number=number), self.assertRaisesRegex(NotImplementedError, "slotrt.*does not do this; "):
                    call()
            with self.assertRaisesRegex(RuntimeError, "Either mode or options"):
                torch.compile(torch.sin, mode="default", options={"shape_padding": True})


class Backends(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def test_by_name(self):
        def f(x):
            return x.sin() + 1

        x = torch.ones(3, requires_grad=True)
        for name in ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor"):
            with self.subTest(name=name):
                y = slotrt.compile(f, backend=name)(x)
                torch.testing.assert_close(y, f(x))
                torch.testing.assert_close(torch.autograd.grad(y.sum(), x), torch.autograd.grad(f(x).sum(), x))

    def test_registered(self):
        seen = []

        def mine(graph, example_inputs):
            seen.append(graph)
            return graph.forward

        torch._dynamo.register_backend(mine, name="slotrt_mine")
        x = torch.ones(3)
        torch.testing.assert_close(slotrt.compile(lambda x: x * 2, backend="slotrt_mine")(x), x * 2)
        self.assertIsInstance(seen[0], torch.fx.GraphModule)

    def test_unknown(self):
        with self.assertRaisesRegex(ValueError, "unknown backend 'nobody'.*'inductor'"):
            slotrt.compile(torch.sin, backend="nobody")
        with self.assertRaisesRegex(ValueError, "unknown backend 3"):
            slotrt.compile(torch.sin, backend=3)

    def test_one_that_raises(self):
        def broken(graph, example_inputs):
            raise LookupError("no such kernel")

        compiled = slotrt.compile(lambda x: x.sin() * 2, backend=broken)
        for count in (1, 2):
            with self.assertRaisesRegex(LookupError, "no such kernel") as caught:
                compiled(torch.ones(2))
            self.assertIsInstance(caught.exception.graph, torch.fx.GraphModule)
            self.assertIn("broken", caught.exception.__notes__[0])
            self.assertIn("sin", caught.exception.__notes__[0])
            self.assertEqual(slotrt.stats()["backend_errors"], count)


if __name__ == "__main__":
    unittest.main()
