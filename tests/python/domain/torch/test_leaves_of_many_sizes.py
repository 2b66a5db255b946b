"""Gradients of tensors that a program makes of tensors whose sizes change from call to call: results are eager's, a few traces serve all."""

import unittest
import warnings

import slotrt
import torch
from torch import nn

torch.manual_seed(0)
MLP = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 6))
SIZES = 6, 9, 4, 12, 7, 3, 2, 1, 0, 8

# Where `backward` is in the graph, whatever is known of sizes.
WHOLE = [size for size in SIZES if size != 1]


def penalty(x):
    leaf = x.clone().requires_grad_()
    (grad,) = torch.autograd.grad(MLP(leaf).sum(), leaf, create_graph=True)
    return (grad.norm(2, 1) - 1).pow(2).mean().detach()


def attack(x):
    changed = x.detach().clone()
    for _ in range(2):
        changed.requires_grad_()
        (grad,) = torch.autograd.grad(MLP(changed).pow(2).sum(), changed)
        changed = (changed + 0.1 * grad.sign()).detach()
    return changed, changed.stride(), changed.requires_grad


def gradient(x):
    leaf = x.clone().requires_grad_()
    (leaf * leaf).sum().backward()
    return leaf.grad, leaf.grad.stride(), leaf.shape


def gradient_of_a_part(x):
    leaf = x[: x.shape[0] // 2].clone()
    leaf.requires_grad = True
    return torch.autograd.grad(MLP(leaf).sum(), leaf)[0], leaf.is_leaf, leaf.requires_grad


def begun_and_ended(x):
    leaf = x.clone().requires_grad_()
    seen = leaf.requires_grad, leaf.is_leaf
    made = leaf * leaf.shape[0]
    return made.requires_grad, seen, leaf.requires_grad_(False) + 1, made.detach_().requires_grad, made


def used_outside(x):
    leaf = x.clone().requires_grad_()
    return leaf, (leaf * x.shape[0]).sum()


PROGRAMS = penalty, attack, gradient, gradient_of_a_part, begun_and_ended


def told(value):
    if isinstance(value, torch.Tensor):
        return repr(value.detach().tolist()), value.stride(), value.requires_grad, value.is_leaf
    return [told(item) for item in value] if isinstance(value, tuple) else value


class Leaves(unittest.TestCase):
    maxDiff = None

    def compared(self, program, sizes=SIZES, **options):
        slotrt.reset()
        compiled = slotrt.compile(program, recompile_limit=16, **options)
        for size in sizes:
            x = torch.arange(6.0 * size).view(size, 6).sin()
            with self.subTest(program=program.__name__, size=size, **options), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.assertEqual(told(compiled(x)), told(program(x)))
        return slotrt.stats()

    def test_like_eager(self):
        for program in PROGRAMS:
            # Sizes of zero and one have traces of their own.
            stats = self.compared(program)
            self.assertLess(stats["frames_compiled"], 6, program)
            self.assertEqual(stats["graph_breaks"], 0, program)

    def test_one_graph(self):
        # What breaks with symbolic sizes is one graph with known ones.
        for program in PROGRAMS:
            self.assertEqual(self.compared(program, WHOLE, fullgraph=True)["graph_breaks"], 0, program)

    def test_symbolic_from_the_first(self):
        for program in PROGRAMS:
            self.compared(program, WHOLE, fullgraph=True, dynamic=True)
            self.compared(program, dynamic=True)

    def test_backends(self):
        for program in PROGRAMS:
            self.compared(program, backend="eager")
            if program is not begun_and_ended:
                self.compared(program, backend="aot_eager")

    def test_used_outside(self):
        for options in {}, {"backend": "aot_eager"}:
            slotrt.reset()
            compiled = slotrt.compile(used_outside, **options)
            for size in SIZES:
                x = torch.ones(size, 6)
                leaf, total = compiled(x)
                with self.subTest(size=size, **options):
                    total.backward()
                    self.assertEqual((leaf.grad.tolist(), leaf.is_leaf), ((x * size).tolist(), True))

    def test_bytes(self):
        slotrt.reset()
        compiled = slotrt.compile(lambda x: (x.nbytes, x.half().nbytes, x.t()[1:].nbytes))
        for size in SIZES:
            x = torch.ones(size, 6)
            self.assertEqual(compiled(x), (24 * size, 12 * size, 20 * size))
        self.assertLess(slotrt.stats()["frames_compiled"], 6)


if __name__ == "__main__":
    unittest.main()
