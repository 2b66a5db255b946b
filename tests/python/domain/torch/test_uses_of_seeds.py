"""Seeds that a program sets, locks that graphs may wait for, pruning within a function, numbers of numpy's beside tensors.

A row is a use and how many graph breaks its calls have at most."""

import os
import random
import threading
import unittest

import numpy
import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn.utils import prune


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


def seeded_all(x):
    random.seed(7)
    numpy.random.seed(7)
    torch.manual_seed(7)
    torch.cuda.manual_seed_all(7)
    os.environ["PYTHONHASHSEED"] = "7"
    return x + torch.randn(2, 3), random.random(), numpy.random.rand()


def seeded_first(x):
    # What was drawn before a seed is of no account.
    random.seed(3)
    drawn = random.random(), random.randint(0, 9), random.sample(range(9), 3)
    random.seed(4.5)
    return x * drawn[0], drawn, random.gauss(0, 1)


def seeded_after_numbers(x):
    drawn = random.random()
    random.seed(3)
    return x * random.random(), drawn


def seeded_by_what_is_no_number(x):
    random.seed("seed")
    drawn = random.random()
    random.seed(True)
    try:
        random.seed([1])
    except TypeError as error:
        return str(error)[:20], x * drawn, random.random()


def generator_of_the_program():
    drawing = random.Random(1)

    def f(x):
        drawing.seed(2)
        items = [1, 2, 3, 4]
        drawing.shuffle(items)
        return x * drawing.uniform(0, 1), items

    return f, lambda number: [matrix()], [drawing.random]


def seeded_by_an_argument(x, seed):
    random.seed(seed)
    return x * random.random(), random.random()


def seeded_devices(x):
    torch.cuda.manual_seed_all(3)
    torch.cuda.manual_seed(3)
    return x + torch.rand(2, 3)


def held_while_seeding():
    """PyTorch acquires a lock of its own to seed devices."""
    lock = threading.Lock()

    def f(x):
        torch.manual_seed(3)
        with lock:
            y = x + torch.rand(2, 3)
        torch.manual_seed(4)
        return y * torch.rand(2, 3), lock.locked()

    return f, lambda number: [matrix()], []


def seeded_under_its_lock():
    """The lock is free where the seed is set, and held where the trace ends."""
    lock = torch.cuda._initialization_lock

    def f(x):
        torch.manual_seed(3)
        with lock:
            slotrt.graph_break()
            held = lock.locked()
        torch.manual_seed(4)
        return x + torch.rand(2, 3), held, lock.locked()

    return f, lambda number: [matrix()], []


class Guarded(torch.autograd.Function):
    lock = threading.Lock()

    @staticmethod
    def forward(ctx, x):
        with Guarded.lock:
            return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def lock_of_a_function(x):
    with Guarded.lock:
        y = x + 1
    return Guarded.apply(y)


def lock_after_a_function(x):
    y = Guarded.apply(x)
    with Guarded.lock:
        return y + 1


def pruned(x, linear):
    prune.custom_from_mask(linear, "weight", torch.eye(3))
    y = linear(x)
    prune.remove(linear, "weight")
    return y, linear(x), linear.weight


def pruned_at_random(x, linear):
    prune.random_unstructured(linear, "weight", 0.5)
    y = linear(x)
    prune.remove(linear, "weight")
    return y, linear(x)


def with_module(step):
    def use():
        linear = nn.Linear(3, 3)
        return (lambda x: step(x, linear)), lambda number: [matrix()], [linear]

    return use


def registered_again(x, linear):
    weight = linear.weight
    del linear._parameters["weight"]
    linear.register_parameter("weight", weight)
    return linear(x), weight.grad_fn, weight.is_leaf


def added_to_numbers(x):
    array = numpy.asarray(x)
    return array.sum() + x, array.max() - x, x * array.mean(), numpy.float64(2.0) * x, array.min() / (x + 1)


def compared_to_numbers(x):
    array = numpy.asarray(x)
    return array.mean() < x, x >= array.max(), array.min() == x, array.mean() ** x


def integers_beside_numbers(x):
    array, number = numpy.asarray(x), x.to(torch.int64)
    return array.sum() + number, number * array.mean(), numpy.float64(1.5) - number


def array_before_a_tensor(x):
    array = numpy.asarray(x)
    try:
        return array + x
    except TypeError as error:
        return str(error)[:30], x * 2


ROWS = [
    (of(seeded_all), 3),
    (of(seeded_first), 0),
    (of(seeded_after_numbers), 1),
    (of(seeded_by_what_is_no_number), None),
    (generator_of_the_program, 0),
    (lambda: (seeded_by_an_argument, lambda number: [matrix(), number], [random.random]), None),
    (of(seeded_devices), 1),
    (held_while_seeding, 4),
    (seeded_under_its_lock, None),
    (of(lock_of_a_function, lambda: matrix().requires_grad_()), 1),
    (of(lock_after_a_function, lambda: matrix().requires_grad_()), 1),
    (with_module(pruned), 0),
    (with_module(pruned_at_random), 0),
    (with_module(registered_again), 0),
    (of(added_to_numbers), 0),
    (of(compared_to_numbers), 2),
    (of(integers_beside_numbers), 0),
    (of(array_before_a_tensor), None),
]


class UsesOfSeeds(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_seeds_that_change(self):
        def noise(seed, x):
            torch.manual_seed(seed * 3 - 1)
            return x + torch.randn(2, 3), torch.initial_seed() if seed > 99 else 0

        def refused(seed, x):
            try:
                torch.manual_seed(seed << 58)
            except (RuntimeError, ValueError, OverflowError) as error:
                return type(error), str(error).split("\n")[0]
            return torch.rand(2)

        def told(value):
            return [part.tolist() if isinstance(part, torch.Tensor) else part for part in value]

        for function, most in ((noise, 2), (refused, 3)):
            for backend in ("eager", lambda graph, inputs: graph, "aot_eager"):
                slotrt.reset()
                compiled = slotrt.compile(function, backend=backend)
                for seed in (4, 5, 9, 0, 1, 2, -7, 30, 64, 80, 3, 2.5):
                    with self.subTest(function=function.__name__, seed=seed, backend=backend):
                        if not isinstance(seed, int) and function is refused:
                            continue
                        torch.manual_seed(1)
                        plain = told(function(seed, matrix())), torch.rand(1).item()
                        torch.manual_seed(1)
                        self.assertEqual((told(compiled(seed, matrix())), torch.rand(1).item()), plain)
                with self.subTest(function=function.__name__, backend=backend):
                    # One more where a float comes.
                    self.assertLessEqual(slotrt.stats()["frames_compiled"], most + 1)
                    self.assertEqual(slotrt.stats()["graph_breaks"], 0)


if __name__ == "__main__":
    unittest.main()
