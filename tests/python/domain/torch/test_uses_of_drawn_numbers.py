"""Numbers that a program draws at random: layers left out, weights of mixtures, seeds in between, functions of the program that draw, too.

A row is a use and how many graph breaks its calls have at most. What is drawn is what eager execution draws, in the same order."""

import random
import unittest

import slotrt
import torch
import torch_programs
from torch import nn


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def of(function, *makers, state=(random.getstate,)):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], state)


def scaled(x):
    return x * random.random() + random.uniform(1, 2), random.random()


def chosen(x):
    if random.random() < 0.5:
        return x * 2
    return x * 3


def mixed(x):
    weight = random.random()
    return x * weight + x.flip(0) * (1 - weight), max(weight, 1 - weight)


def seeded_after(x):
    first = random.random()
    random.seed(3)
    return x * random.random(), first, random.randint(0, 9)


def read_between(x):
    first, state, second = random.random(), random.getstate(), random.random()
    random.setstate(state)
    return x * first, random.random() == second


def whole(x):
    return x * random.randint(0, 9) + random.randrange(1, 20, 3), random.getrandbits(5)


def mixed_kinds(x):
    first = random.random() + random.randint(1, 6)
    return x * first + random.uniform(0, random.randint(1, 3)), random.random()


def cropped(x):
    row, column = random.randint(0, 1), random.randint(0, 2)
    return x[row : row + 1, column : column + 1]


def flipped(x):
    if random.random() < 0.5:
        x = x.flip(0)
    if random.randint(0, 1):
        x = x.flip(1)
    return x


def picked(x):
    return x * random.choice([1.0, 2.0, 3.0]) + random.random()


def sampled(x):
    return x[:, random.sample(range(3), 2)] * random.randint(1, 3)


def shuffled_after(x):
    first, items = random.random(), [1, 2, 3, 4]
    random.shuffle(items)
    return x * first, items


def drawn_in_a_generator(x):
    drawn = (random.random() for _ in range(3))
    return [x * number for number in drawn]


def told(x):
    return f"{random.random():.3f}", x + 1


def dropped_layers():
    model = nn.ModuleList(nn.Linear(3, 3) for _ in range(6))

    def f(x):
        for layer in model:
            if random.random() < 0.3:
                continue
            x = layer(x)
        return x

    return f, lambda number: [matrix()], [model, random.getstate]


def generator_of_the_program():
    drawing = random.Random(5)
    return lambda x: (x * drawing.random(), drawing.gauss(0, 1)), lambda number: [matrix()], [drawing.getstate]


class Halved(random.Random):
    def random(self):
        return super().random() / 2


def generator_of_a_class_of_the_program():
    drawing = Halved(5)
    return lambda x: (x * drawing.random(), drawing.uniform(1, 2)), lambda number: [matrix()], [drawing.getstate]


@torch.library.custom_op("slotrt_tests::noise", mutates_args=())
def noise(x: torch.Tensor) -> torch.Tensor:
    return x * random.random()


@noise.register_fake
def _(x):
    return torch.empty_like(x)


def operator_that_draws(x):
    return noise(x) * random.random(), random.random()


def operator_after_a_draw(x):
    number = random.random()
    return torch.ops.slotrt_tests.noise(x) * number


class Drawing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * random.random()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * random.random()


def function_that_draws(x):
    number = random.random()
    y = Drawing.apply(x * 2)
    y.sum().backward()
    return y.detach() * number, x.grad.clone(), random.random()


class DrawingBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * random.random()


def way_back_that_draws(x):
    return DrawingBackward.apply(x + 1) * 3


class Noting(torch.autograd.Function):
    notes = []

    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor, x + 1

    @staticmethod
    def backward(ctx, gradient, other):
        (x,) = ctx.saved_tensors
        Noting.notes.append(float(ctx.factor))
        return gradient * ctx.factor + other * x.sign(), None


def way_back_that_notes():
    Noting.notes.clear()
    return lambda x: sum(Noting.apply(x * 2, 3.0)), lambda number: [leaf()], [lambda: list(Noting.notes)]


ROWS = [
    (of(scaled), 0),
    (of(scaled, leaf), 0),
    (of(chosen), 0),
    (of(mixed), 0),
    (of(seeded_after), 0),
    (of(whole), 0),
    (of(whole, leaf), 0),
    (of(mixed_kinds), 0),
    (of(cropped), 0),
    (of(flipped), 0),
    (of(picked), 1),
    (of(sampled), 1),
    (of(read_between), None),
    (of(shuffled_after), None),
    (of(drawn_in_a_generator), 0),
    (of(told), None),
    (dropped_layers, 0),
    (generator_of_the_program, 0),
    (generator_of_a_class_of_the_program, 0),
    (of(operator_that_draws), None),
    (of(operator_after_a_draw), None),
    (of(function_that_draws, leaf), None),
    (of(way_back_that_draws, leaf), 0),
    (way_back_that_notes, 0),
]


class UsesOfDrawnNumbers(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_branches_on_many_numbers_break_rather_than_be_traced_for_each(self):
        function, arguments, (model, _) = dropped_layers()
        results = []
        for called in (function, slotrt.compile(function)):
            slotrt.reset()
            random.seed(2)
            results.append([called(*arguments(0)).tolist() for _ in range(40)] + [random.getstate()])
        self.assertEqual(*results)
        self.assertEqual(slotrt.stats()["frames_skipped"], 0)


if __name__ == "__main__":
    unittest.main()
