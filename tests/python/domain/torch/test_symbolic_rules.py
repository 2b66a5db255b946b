"""The rules of shapes over symbolic sizes: what they say holds for all sizes that satisfy the conditions which they relied on.

A rule is asked about a call with symbols for all sizes and integers that are at least 2. Then the sizes are changed: where the
conditions hold, the answer must be what the rule says of the constants, and what PyTorch gives.
"""

import random
import unittest

import shape_cases
import torch
from shape_calls import ALL, laid_out, random_call

rules = shape_cases.rules


class Binding:
    """Other sizes for the tensors and integers of a call, in the order in which symbols were made."""

    def __init__(self, numbers):
        self.numbers, self.values = numbers, []

    def number(self, number):
        if number < 2:
            return number
        self.values.append(self.numbers.get(number, number))
        return self.values[-1]

    def argument(self, argument):
        if isinstance(argument, torch.Tensor):
            return self.tensor(argument)
        if type(argument) in (tuple, list):
            return type(argument)(map(self.argument, argument))
        if type(argument) is int:
            return self.number(argument)
        return argument

    def tensor(self, tensor):
        shape = [self.number(size) for size in tensor.shape]
        strides, order = list(tensor.stride()), sorted(reversed(range(tensor.dim())), key=tensor.stride)
        for inner, outer in zip(order, order[1:]):
            if tensor.stride(outer) == tensor.stride(inner) * max(tensor.size(inner), 1):
                strides[outer] = strides[inner] * max(shape[inner], 1)
        memory = sum((size - 1) * stride for size, stride in zip(shape, strides)) + 1 if 0 not in shape else 0
        made = torch.zeros(max(memory, 0), dtype=tensor.dtype).as_strided(shape, strides)
        return made.requires_grad_(tensor.requires_grad)


def disagreement(target, args, said, numbers):
    """What is wrong about what a rule said, for other numbers; `None` if it is right; `False` if its conditions do not hold for them."""
    kind, tensors, conditions, hints = said
    binding = Binding(numbers)
    try:
        others = [binding.argument(argument) for argument in args]
    except RuntimeError:
        return False
    if len(binding.values) != len(hints):
        return f"{len(hints)} symbols instead of {len(binding.values)}"
    names = {f"s{index}": value for index, value in enumerate(binding.values)}
    value = lambda text: eval(text, names)  # noqa: E731
    if not all(value(condition) for condition in conditions):
        return False
    known = [(dtype, list(map(value, shape)), list(map(value, strides)), required) for dtype, shape, strides, required in tensors]
    constant = rules.answer(target, tuple(others), {})
    if constant is None or (constant[0], [tuple(item) for item in constant[1]]) != (kind, known):
        return f"{said} says {known} for {names} instead of {constant}"
    return shape_cases.wrong(target, tuple(others), {}) or None


def fitting_calls(generator, sizes):
    """Calls with several operands whose sizes fit each other."""
    a, b, c, d, n = sizes.values()
    nn, functions = torch._C._nn, torch._C._VariableFunctions
    some = lambda *shape: torch.randn(shape, dtype=generator.choice((torch.float32, torch.float64)))  # noqa: E731
    of = lambda letters: torch.randn([sizes[letter] for letter in letters])  # noqa: E731
    letters = [generator.sample("abcd", generator.randrange(1, 4)) for _ in range(2)]
    both = sorted({*letters[0], *letters[1]})
    result = generator.sample(both, generator.randrange(len(both) + 1))
    equation = ",".join("".join(own) for own in letters) + generator.choice(("->" + "".join(result), "->" + "".join(both), ""))
    image, kernel, reduction = torch.randn(a, b, c + 2, d + 2), generator.choice(((1, 2), (2, 2), (3, 1))), generator.randrange(3)
    windows = (kernel, (1, 1), (generator.randrange(2),) * 2, (generator.randrange(1, 3),) * 2)
    pads = tuple(generator.randrange(3) for _ in range(generator.choice((2, 4))))
    border = torch.randn(a, b, c + 2) if len(pads) == 2 else image
    yield functions.einsum, (equation, [of(own) for own in letters])
    for text, one, other in (("bij,bjk->bik", "abc", "acd"), ("bhid,bhjd->bhij", "abcd", "abnd"), ("i,j", "a", "b"), ("ij,kj->ik", "ab", "cb")):
        yield functions.einsum, (text, [of(one), of(other)])
    yield functions.cdist, (of("abc"), of("adc"), 2.0, None)
    yield torch.outer, (some(a), some(b))
    yield torch.Tensor.index_add, (of("abc"), 1, torch.zeros(n, dtype=torch.int64), of("anc"))
    yield nn.im2col, (image, *windows)
    columns = nn.im2col(image, *windows)
    yield nn.col2im, (columns, tuple(image.shape[2:]), *windows)
    yield torch.grid_sampler, (image, torch.zeros(a, n, d, 2), generator.randrange(3), generator.randrange(3), False)
    yield torch.affine_grid_generator, (torch.zeros(a, 2, 3), (a, b, c, d), True)
    yield nn.pad, (border, pads, generator.choice(("reflect", "replicate")))
    yield torch.pixel_unshuffle, (torch.randn(a, b, 2 * c, 2 * d), 2)
    yield torch.binary_cross_entropy_with_logits, (of("abc"), of("abc"), None, None, reduction)
    yield torch.kl_div, (of("abc"), of("abc"), reduction)
    yield torch.cosine_similarity, (of("abc"), of("abc"), generator.randrange(3), 1e-8)
    yield torch.bucketize, (of("ab"), of("c"))
    yield torch.searchsorted, (of("c"), of("ab"))
    yield torch.column_stack, ([of("ab"), of("ac"), of("a")],)
    yield torch.dstack, ([of("ab"), of("ab")],)
    yield torch.as_strided, (of("ab"), (min(a, b), 2), generator.choice(((1, 0), (0, 1), (1, 1))))
    yield torch.randperm, (n,)
    yield torch.randint, (0, n, (a, b))
    yield torch.bernoulli, (torch.rand(a, b),)
    yield torch.arange, (n, -generator.randrange(5), -generator.randrange(1, 3))
    yield torch.repeat_interleave, (of("abc"), n)
    yield torch.Tensor.new_tensor, (of("ab"), [n, 1.5])
    yield nn.upsample_nearest2d, (image, None, (1.5, generator.choice((2.0, 0.5, 2.25))))


class Symbols(unittest.TestCase):
    maxDiff = None

    def test_random_calls(self):
        generator, wrong, other = random.Random(11), [], 0
        for _ in range(60_000 if ALL else 4_000):
            target, args = random_call(generator)
            other += self.compare(target, args, generator, wrong)
        self.assertEqual(wrong, [])
        self.assertGreater(other, 500)

    def compare(self, target, args, generator, wrong):
        said = rules.symbolic_answer(target, tuple(args), {})
        if said is None:
            return 0
        held = 0
        # Sizes that are equal stay equal for the most part, so that many conditions hold.
        for numbers in ({}, *({size: generator.randrange(2, 12) for size in range(2, 7)} for _ in range(6))):
            found = disagreement(target, args, said, numbers)
            held += found is None and numbers != {}
            if found or numbers == {} and found is False:
                wrong.append((getattr(target, "__name__", target), shape_cases.described(args), numbers, found))
        return held

    def test_conditions_say_what_was_decided(self):
        shape = lambda *sizes: torch.zeros(sizes)  # noqa: E731
        said = lambda target, *args: rules.symbolic_answer(target, args, {})  # noqa: E731
        kind, ((_, sizes, strides, _),), conditions, hints = said(torch.Tensor.view, shape(4, 6), (-1, 3))
        self.assertEqual((kind, hints), ("view", [4, 6, 3]))
        self.assertEqual((sizes, strides), (["((s0*s1) // s2)", "s2"], ["s2", "1"]))
        self.assertIn("s0*s1 == s2*((s0*s1) // s2)", conditions)
        _, ((_, sizes, _, _),), conditions, _ = said(torch.conv1d, shape(2, 3, 9), shape(4, 3, 5))
        self.assertEqual(sizes, ["s0", "s3", "s2 - s5 + 1"])
        self.assertIn("s1 == s4", conditions)
        self.assertEqual(said(torch.Tensor.add, shape(3, 4), shape(5, 4)), None)
        # A number of results is known: a condition says so.
        kind, parts, conditions, _ = said(torch.Tensor.unbind, shape(3, 4), 0)
        self.assertEqual((kind, len(parts)), ("views", 3))
        self.assertIn("s0 == 3", conditions)

    def test_operands_that_fit_each_other(self):
        generator, wrong, held = random.Random(7), [], {}
        for seed in range(3_000 if ALL else 300):
            sizes = {letter: generator.choice((1, 2, 3, 4, 5)) for letter in "abcdn"}
            for target, args in fitting_calls(generator, sizes):
                args = laid_out(args, generator) if generator.random() < 0.5 else args
                name = target.__name__
                held[name] = held.get(name, 0) + self.compare(target, args, generator, wrong)
        self.assertEqual(wrong, [])
        self.assertEqual([name for name, count in held.items() if not count], [])

    def test_recurrent_layers(self):
        for layer in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
            for layers, both, first, biases in ((1, False, False, True), (2, True, True, True), (2, False, True, False), (1, True, False, False)):
                for grad in (False, True):
                    model = layer(4, 3, layers, bidirectional=both, batch_first=first, bias=biases)
                    with torch.set_grad_enabled(grad), shape_cases.Compared() as compared:
                        model(torch.randn(2, 5, 4))
                    self.assertEqual(compared.wrong, [])
                    self.assertTrue({"lstm", "gru", "rnn_tanh"} & set(compared.ruled), (layer, compared.asked))


if __name__ == "__main__":
    unittest.main()
