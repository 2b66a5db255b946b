"""States that scripts pass from step to step and cut off from what they were computed from, in place: recurrent cells whose results PyTorch
itself was asked for.

A row is a use and how many graph breaks its calls have at most."""

import subprocess
import sys
import unittest

import torch
import torch_programs
from torch import nn


def matrix():
    return torch.arange(6.0).reshape(2, 3) / 9


def steps():
    return torch.arange(18.0).reshape(2, 3, 3) / 9


def with_cell(step, make=matrix, cell=nn.GRUCell):
    def use():
        module = cell(3, 3)
        return (lambda x: step(x, module)), lambda number: [make()], [module]

    return use


def in_a_loop(xs, cell):
    state, losses = torch.zeros(2, 3), []
    for x in xs.unbind(1):
        state = cell(x, state)
        losses.append(state.sum())
        state.detach_()
    return torch.stack(losses), state.requires_grad


def used_before_and_after(x, cell):
    state = cell(x, torch.zeros(2, 3))
    loss = state.sum()
    state.detach_()
    state.mul_(2)
    loss.backward()
    return loss.detach(), state, state.grad_fn is None


def kept_for_gradients(x, cell):
    state = cell(x, torch.zeros(2, 3))
    loss = (state * state).sum()
    state.detach_()
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)[:40], state


def leaf_afterwards(x, cell):
    state = cell(x, torch.zeros(2, 3))
    state.detach_()
    state.requires_grad_()
    y = (state * 2).sum()
    y.backward()
    return state.grad, state, y.detach()


def beside_a_view(x, cell):
    state = cell(x, torch.zeros(2, 3))
    first = state[0]
    state.detach_()
    return first * 2, state * 2, first.requires_grad, state.requires_grad, state.is_leaf


def beside_what_shares_memory(x, cell):
    state = cell(x, torch.zeros(2, 3))
    shared = state.detach()
    state.detach_()
    shared.add_(1)
    return shared * 2, state * 2, shared.requires_grad, state.is_leaf


def of_a_view(x, cell):
    state = cell(x, torch.zeros(2, 3))
    try:
        state[0].detach_()
    except RuntimeError as error:
        return str(error)[:30], state * 2


def of_two_states(x, cell):
    hidden, memory = cell(x)
    loss = hidden.sum()
    memory.detach_()
    hidden.detach_()
    loss.backward()
    return cell(x, (hidden, memory))


KEPT = with_cell(kept_for_gradients)

ROWS = [
    (with_cell(in_a_loop, steps), 0),
    # A cell that keeps what it gives for gradients.
    (with_cell(in_a_loop, steps, nn.RNNCell), 2),
    (with_cell(used_before_and_after), 1),
    (KEPT, None),
    (with_cell(leaf_afterwards), 1),
    (with_cell(beside_a_view), 1),
    (with_cell(beside_what_shares_memory), None),
    (with_cell(of_a_view), None),
    (with_cell(of_two_states, cell=nn.LSTMCell), None),
]


class UsesOfDetachedStates(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    # AOTAutograd computes gradients from what was there before.
    not_there = (KEPT,)


FIRST_CALL = """
import warnings
import slotrt, torch
compiled = slotrt.compile(lambda x: torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),)))
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    for _ in range(3):
        compiled(torch.ones(2))
assert any("torch.jit.script" in str(warning.message) for warning in heard)
print(slotrt.stats()["graphs"], slotrt.stats()["graph_breaks"])
"""


class FirstCalls(unittest.TestCase):
    def test_what_imports_a_part_of_pytorch_is_traced_at_the_next_call(self):
        run = subprocess.run([sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, check=False)
        self.assertEqual(run.stdout.split(), ["1", "0"], run.stderr)


if __name__ == "__main__":
    unittest.main()
