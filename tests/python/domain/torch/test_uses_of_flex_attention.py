"""`flex_attention`, with functions of the program for scores and masks: an operator of the graph that takes graphs.

A row is a use and how many graph breaks its calls have at most."""

import unittest
from unittest import mock

import slotrt
import torch
import torch_programs
from torch import nn
from torch._dynamo import guards
from torch.nn.attention import flex_attention as flex
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


def inputs(number, heads=2, length=32, dtype=torch.float32):
    """Of another batch, length or kind at each call."""
    batch, length = 1 + number % 2, length + 16 * (number // 2)
    generator = torch.Generator().manual_seed(number)
    made = (torch.randn(batch, heads, length, 8, generator=generator, dtype=dtype) for _ in range(3))
    return [tensor.requires_grad_(number != 1) for tensor in made]


def of(make, arguments=inputs):
    def use():
        function, state = make()
        return function, arguments, state

    return use


@of
def plain():
    return lambda q, k, v: flex_attention(q * 2, k, v) + 1, []


@of
def scaled():
    return lambda q, k, v: flex_attention(q, k, v, scale=0.5).sum(), []


def distance(score, batch, head, query, key):
    return score - (query - key).abs() * (head + 1)


@of
def score():
    return lambda q, k, v: flex_attention(q, k, v, score_mod=distance), []


@of
def bias_that_learns():
    bias = torch.linspace(-1, 1, 2 * 64).reshape(2, 64).requires_grad_()
    slopes = torch.tensor([0.5, 0.25])

    def biased(score, batch, head, query, key):
        return score + bias[head, query] - slopes[head] * (query - key)

    return lambda q, k, v: flex_attention(q, k, v, score_mod=biased) * 2, [bias, lambda: bias.grad]


@of
def computed_bias():
    weight = torch.linspace(-1, 1, 64).requires_grad_()

    def call(q, k, v):
        scaled = weight.sin() * 2
        return flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: score * scaled[i] + scaled[j])

    return call, [weight, lambda: weight.grad]


@of
def soft_cap():
    def capped(score, batch, head, query, key):
        return 20 * torch.tanh(score / 20)

    return lambda q, k, v: flex_attention(q, k, v, score_mod=capped), []


def causal(batch, head, query, key):
    return query >= key


@of
def masked():
    masks = {length: create_block_mask(causal, None, None, length, length, device="cpu", BLOCK_SIZE=16) for length in (32, 48)}

    def call(q, k, v):
        return flex_attention(q, k, v, block_mask=masks[q.shape[2]])

    return call, []


@of
def documents():
    ids = torch.arange(64) // 10

    def same(batch, head, query, key):
        return (ids[query] == ids[key]) & (query >= key)

    masks = {length: create_block_mask(same, None, None, length, length, device="cpu", BLOCK_SIZE=16) for length in (32, 48)}

    def call(q, k, v):
        return flex_attention(q, k, v, score_mod=distance, block_mask=masks[q.shape[2]])

    return call, [ids]


@of
def sums_of_scores():
    def call(q, k, v):
        out, aux = flex_attention(q, k, v, score_mod=distance, return_aux=flex.AuxRequest(lse=True))
        return out, aux.lse * 2, aux.max_scores

    return call, []


def grouped():
    def arguments(number):
        q, k, v = inputs(number, heads=4)
        return [q, k[:, :2], v[:, :2]]

    return lambda q, k, v: flex_attention(q, k, v, enable_gqa=True), arguments, []


def transposed():
    def arguments(number):
        return [tensor.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_() for tensor in inputs(number)]

    return lambda q, k, v: flex_attention(q, k, v).transpose(1, 2).flatten(2), arguments, []


def of_doubles():
    return lambda q, k, v: flex_attention(q, k, v, score_mod=distance), lambda number: inputs(number, dtype=torch.float64), []


@of
def compiled_by_the_program():
    attention = torch.compile(flex_attention, backend="eager")
    return lambda q, k, v: attention(q, k, v, score_mod=distance) * 2, []


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.slopes = nn.Parameter(torch.tensor([0.5, 0.25]))

    def biased(self, score, batch, head, query, key):
        return score + self.slopes[head] * (key - query)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4)
        return self.out(flex_attention(q, k, v, score_mod=self.biased).transpose(1, 2).flatten(2))


def module():
    made = Attention()
    return made, lambda number: [torch.linspace(-1, 1, 16 * (32 + number)).reshape(1, -1, 16)], [made]


def refused():
    def call(q, k, v):
        try:
            return flex_attention(q, k[..., :4], v)
        except ValueError as error:
            return q + len(str(error))

    return call, inputs, []


@of
def mask_made_inside():
    def attend(q, k, v):
        length = q.shape[-2]
        mask = create_block_mask(lambda batch, head, query, key: query >= key, None, None, length, length, device="cpu")
        return flex_attention(q, k, v, block_mask=mask) + 1

    return attend, []


@of
def mask_of_documents_made_inside():
    documents = torch.arange(64) // 20

    def attend(q, k, v):
        def same(batch, head, query, key):
            return (documents[query] == documents[key]) & (query >= key)

        mask = create_block_mask(same, 1, 1, q.shape[-2], q.shape[-2], device="cpu")
        return flex_attention(q, k, v, block_mask=mask), mask.kv_num_blocks

    return attend, []


@of
def mask_of_documents_that_are_given():
    def attend(q, k, v):
        documents = torch.arange(q.shape[-2]) // (3 + q.shape[1])
        length = documents.shape[0]

        def same(batch, head, query, key):
            return documents[query] == documents[key]

        mask = create_block_mask(same, None, None, length, length, device="cpu")
        return flex_attention(q, k, v, block_mask=mask)

    return attend, []


@of
def mask_of_documents_and_a_prefix():
    prefixes = torch.tensor([[3, 5], [7, 9]])

    def attend(q, k, v):
        def prefixed(batch, head, query, key):
            return (key <= prefixes[batch, head]) | (key <= query)

        mask = create_block_mask(prefixed, 2, 2, q.shape[-2], q.shape[-2], device="cpu")
        return flex_attention(q, k, v, block_mask=mask), mask.kv_indices

    return attend, []


ROWS = [
    (plain, 0),
    (scaled, 0),
    (score, 0),
    (bias_that_learns, 0),
    (computed_bias, 0),
    (soft_cap, 0),
    (masked, 0),
    (documents, 0),
    (sums_of_scores, 0),
    (compiled_by_the_program, 0),
    (grouped, 0),
    (transposed, 0),
    (of_doubles, 0),
    (module, 0),
    (refused, 0),
    (mask_made_inside, 0),
    (mask_of_documents_made_inside, 0),
    (mask_of_documents_that_are_given, 0),
    (mask_of_documents_and_a_prefix, 0),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    @classmethod
    def setUpClass(cls):
        # Without a compiler it calls TorchDynamo itself, which gives code up that it compiled often, and has warnings of its own.
        for name, value in (("recompile_limit", 10_000), ("accumulated_recompile_limit", 10_000)):
            cls.addClassCleanup(setattr, torch._dynamo.config, name, getattr(torch._dynamo.config, name))
            setattr(torch._dynamo.config, name, value)
        quiet = mock.patch.object(guards, "warnings")
        quiet.start()
        cls.addClassCleanup(quiet.stop)
        # It refuses tensors on a CPU that require gradients, though its operator has some for them.
        unchecked = mock.patch.object(flex, "_validate_device", lambda query, key, value: None)
        unchecked.start()
        cls.addClassCleanup(unchecked.stop)


class InductorTest(unittest.TestCase):
    def test_an_operator_with_sizes_that_are_known(self):
        use, arguments, _ = documents()
        compiled = slotrt.compile(use, backend="inductor")
        slotrt.reset()
        for number in (1, 3):
            args = [tensor.detach() for tensor in arguments(number)]
            torch.testing.assert_close(compiled(*args), use(*args))
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)


if __name__ == "__main__":
    unittest.main()
