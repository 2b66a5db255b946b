"""Settings of TorchDynamo's, where slotrt is in its place."""

import unittest

import torch
from torch._dynamo import config, exc

import slotrt


def plus(x):
    return x + 1


class Settings(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def calls(self, compiled, sizes):
        for size in sizes:
            self.assertEqual(compiled(torch.zeros(size)).tolist(), [1] * size)

    def traces(self):
        return slotrt.stats()["frames_compiled"]

    def test_nothing_is_traced(self):
        with slotrt.torch.frontend():
            compiled = torch.compile(plus, backend="eager")
            with config.patch(disable=True):
                self.calls(compiled, [2, 3])
                self.assertEqual(self.traces(), 0)
            self.calls(compiled, [2])
            self.assertEqual(self.traces(), 1)
            with config.patch(disable=True):
                self.calls(compiled, [2, 5])
            self.assertEqual(self.traces(), 1)

    def test_a_limit_of_traces(self):
        with slotrt.torch.frontend(), config.patch(recompile_limit=2, automatic_dynamic_shapes=False):
            compiled = torch.compile(plus, backend="eager")
            with self.assertLogs("slotrt", "WARNING"):
                self.calls(compiled, range(2, 7))
            self.assertEqual(self.traces(), 2)
            own = torch.compile(lambda x: x + 1, backend="eager", recompile_limit=3)
            with self.assertLogs("slotrt", "WARNING"):
                self.calls(own, range(2, 7))
            self.assertEqual(self.traces(), 5)
            whole = torch.compile(lambda x: x + 1, backend="eager", fullgraph=True)
            self.calls(whole, [2, 3, 3])
            with self.assertRaisesRegex(exc.FailOnRecompileLimitHit, "2 times.*fullgraph=True"):
                whole(torch.zeros(4))
            self.calls(whole, [2, 3])
            with config.patch(fail_on_recompile_limit_hit=True):
                with self.assertRaisesRegex(exc.FailOnRecompileLimitHit, "fail_on_recompile_limit_hit is set"):
                    compiled(torch.zeros(9))
        slotrt.reset()
        with self.assertNoLogs("slotrt", "WARNING"):
            self.calls(slotrt.compile(lambda x: x + 1, dynamic=False), range(2, 7))

    def test_other_traces_are_errors(self):
        with slotrt.torch.frontend():
            compiled = torch.compile(plus, backend="eager")
            with config.patch(error_on_recompile=True):
                self.calls(compiled, [2, 2])
                with self.assertRaisesRegex(exc.RecompileError, "plus would be traced again.*\n.*size|shape"):
                    compiled(torch.zeros(3))
                self.calls(compiled, [2])
            self.calls(compiled, [3])
            self.assertEqual(self.traces(), 2)

    def test_sizes(self):
        with slotrt.torch.frontend():
            with config.patch(assume_static_by_default=False):
                self.calls(torch.compile(plus, backend="eager"), range(2, 7))
            self.assertEqual(self.traces(), 1)
            with config.patch(automatic_dynamic_shapes=False):
                self.calls(torch.compile(lambda x: x + 1, backend="eager"), range(2, 7))
            self.assertEqual(self.traces(), 6)

    def test_errors_of_backends(self):
        def broken(graph, inputs):
            raise LookupError("no such kernel")

        with slotrt.torch.frontend():
            with config.patch(suppress_errors=True), self.assertLogs("slotrt", "WARNING") as log:
                self.calls(torch.compile(plus, backend=broken), [2, 2])
            self.assertIn("no such kernel", log.output[0])
            with self.assertRaisesRegex(LookupError, "no such kernel"):
                torch.compile(lambda x: x + 1, backend=broken)(torch.zeros(2))

    def test_what_is_not_honoured_says_so(self):
        with slotrt.torch.frontend():
            for name, value in (("verify_correctness", True), ("minimum_call_count", 2), ("compiled_autograd", True)):
                with self.subTest(name=name), config.patch({name: value}):
                    with self.assertRaisesRegex(NotImplementedError, f"config.{name} = {value}.*slotrt"):
                        torch.compile(plus)
            self.assertTrue(slotrt.is_compiled(torch.compile(plus, backend="eager")))


if __name__ == "__main__":
    unittest.main()
