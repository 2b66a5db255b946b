"""The older kind of checkpoint goes back by a `backward` of its own: what its function uses beside its arguments gets gradients there."""

import unittest

import slotrt
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

LEAF = torch.ones(3, requires_grad=True)
LAYER = nn.Linear(3, 3)


def beside_itself(x, reentrant):
    checkpoint(lambda y: y.sin() * LEAF, x, use_reentrant=reentrant).sum().backward()


def twice(x, reentrant):
    y = checkpoint(LAYER, x, use_reentrant=reentrant)
    checkpoint(LAYER, y, use_reentrant=reentrant).sum().backward()


def used_outside_too(x, reentrant):
    (checkpoint(lambda y: y * LEAF, x, use_reentrant=reentrant) * LEAF).sum().backward()


def asked_for(x, reentrant):
    y = checkpoint(lambda y: y.sin() * LEAF, x, use_reentrant=reentrant)
    return torch.autograd.grad(y.sum(), [LEAF])[0].tolist()


def given(x, reentrant):
    return checkpoint(lambda a, b: a * LEAF + b, x, torch.ones(3), use_reentrant=reentrant).tolist()


class Checkpoints(unittest.TestCase):
    def observed(self, function, argument, reentrant):
        leaves = [LEAF, *LAYER.parameters()]
        for leaf in leaves:
            leaf.grad = None
        seen = []
        for _ in range(3):
            x = argument()
            try:
                seen.append(function(x, reentrant))
            except RuntimeError as error:
                seen.append(str(error))
            # How often they were added to is told by their versions.
            grads = [leaf.grad for leaf in [x, *leaves]]
            seen.append([(grad.tolist(), grad._version) if grad is not None else None for grad in grads])
        return seen

    def test_gradients(self):
        for function in (beside_itself, twice, used_outside_too, asked_for, given):
            compiled = slotrt.compile(function)
            for reentrant in (True, False):
                for argument in (lambda: torch.arange(3.0).requires_grad_(), lambda: LEAF):
                    with self.subTest(function=function.__name__, reentrant=reentrant):
                        plain = self.observed(function, argument, reentrant)
                        self.assertEqual(self.observed(compiled, argument, reentrant), plain)


if __name__ == "__main__":
    unittest.main()
