"""Generators of random numbers that a program holds, gives to a function, or makes there: operations draw from them, and their state is what it
is without a compiler.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn

HELD, OTHER = torch.Generator(), torch.Generator()


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 8


def states(generators):
    return [generator.get_state().sum().item() for generator in generators]


def of(function, arguments=lambda number: [matrix()]):
    """A use of the two generators above."""

    def use():
        HELD.manual_seed(5)
        OTHER.manual_seed(6)
        return function, arguments, [lambda: states([HELD, OTHER])]

    return use


def leaf(number):
    return [matrix().requires_grad_()]


def rows_of_several_sizes(number):
    return [torch.arange(1.0, 13.0 + 3 * number).reshape(-1, 3) / 24]


def new_tensors(x):
    y = x + torch.rand(2, 3, generator=HELD) + torch.randn(3, generator=OTHER)
    y = y + torch.randint(0, 9, (2, 3), generator=HELD) + torch.randint(9, (3,), generator=HELD)
    return y[:, torch.randperm(3, generator=OTHER)], torch.rand(2, generator=HELD, dtype=torch.float64, requires_grad=True)


def drawn_by_contents(x):
    chosen = torch.multinomial(x, 2, generator=HELD)
    y = torch.bernoulli(x, generator=HELD) + torch.poisson(x, generator=OTHER) + torch.normal(x, x, generator=HELD)
    return chosen, y + torch.normal(0.0, 2.0, (2, 3), generator=HELD), torch.rand_like(x, generator=HELD)


def in_place(x):
    made = [x.clone() for _ in range(7)]
    made[0].normal_(generator=HELD)
    made[1].uniform_(-1, 2, generator=HELD)
    made[2].bernoulli_(0.5, generator=OTHER)
    made[3].random_(3, generator=HELD)
    made[4].exponential_(generator=HELD)
    made[5].log_normal_(generator=HELD).add_(made[6].cauchy_(generator=OTHER))
    return made


def argument_in_place(x):
    x.uniform_(generator=HELD)
    x[0].normal_(generator=HELD)
    return x * 2


def initialised(x):
    weight = torch.empty(3, 3)
    nn.init.kaiming_uniform_(weight, generator=HELD)
    y = x @ weight
    nn.init.xavier_normal_(weight, generator=OTHER)
    nn.init.normal_(weight, generator=HELD)
    return y @ weight


def functional_dropout(x, rate=0.5):
    kept = torch.rand(x.shape, generator=HELD) > rate
    scale = torch.empty_like(x).bernoulli_(1 - rate, generator=HELD).div_(1 - rate)
    return x * kept / (1 - rate) + x * scale


def made_within(x):
    generator = torch.Generator(device="cpu").manual_seed(0)
    again = generator.manual_seed(1)
    return x + torch.rand(2, 3, generator=generator), again is generator, again == generator, generator is HELD, HELD == OTHER, bool(generator)


def made_and_given(x):
    generators = [torch.Generator().manual_seed(number) for number in range(3)]
    y = torch.stack([torch.rand(3, generator=generator) for generator in generators])
    return x + y.sum(0), states(generators), generators[0].device


def seeded_again(x):
    HELD.manual_seed(4)
    y = torch.rand(2, 3, generator=HELD)
    seed = HELD.manual_seed
    seed(-3)
    return x + y * torch.rand(3, generator=HELD)


def read_and_put_back(x):
    state = HELD.get_state()
    y = torch.rand(2, 3, generator=HELD)
    same = HELD.clone_state()
    HELD.set_state(state)
    return x + y - torch.rand(2, 3, generator=HELD), torch.rand(2, generator=same), state.dtype


def refused_state(x):
    try:
        HELD.set_state(torch.zeros(5, dtype=torch.uint8))
    except RuntimeError as error:
        return x + torch.rand(3, generator=HELD), str(error)


def refused_seed(x):
    try:
        HELD.manual_seed("seed")
    except (RuntimeError, TypeError) as error:
        return x + torch.rand(3, generator=HELD), str(error)


def refused_by_operation(x):
    try:
        return torch.dropout(x, 0.5, True, generator=HELD)
    except TypeError as error:
        return x, str(error)


def in_a_loop(x):
    for _ in range(3):
        x = x + torch.rand(2, 3, generator=HELD)
    return x


def around_a_break(x):
    state = HELD.get_state()
    made = torch.Generator().manual_seed(2)
    y = torch.rand(2, 3, generator=HELD) + torch.rand(3, generator=made)
    slotrt.graph_break()
    HELD.set_state(state)
    return x + y - torch.rand(2, 3, generator=HELD) + torch.rand(3, generator=made)


def raised_after(x):
    try:
        y = x + torch.rand(2, 3, generator=HELD)
        raise ValueError("after")
    except ValueError:
        return y + torch.rand(3, generator=HELD)


def graph_that_raises(x):
    y = torch.rand(2, 2, generator=HELD)
    made = torch.Generator().manual_seed(3)
    OTHER.manual_seed(9)
    try:
        return torch.linalg.cholesky(y - 9 - torch.rand(2, 2, generator=made))
    except RuntimeError:
        return x + torch.rand(3, generator=HELD) + torch.rand(3, generator=OTHER)


def graph_that_raises_and_puts_back(x):
    state = HELD.get_state()
    x.uniform_(generator=HELD)
    try:
        torch.linalg.cholesky(x[:, :2] - 9)
    except RuntimeError:
        HELD.set_state(state)
    return x + torch.rand(3, generator=HELD)


def default_and_others(x):
    torch.manual_seed(3)
    y = torch.rand(3) + torch.rand(3, generator=torch.default_generator) + torch.rand(3, generator=HELD)
    state = torch.default_generator.get_state()
    z = torch.rand(3)
    torch.set_rng_state(state)
    return x + y + z * torch.rand(3, generator=torch.default_generator), torch.rand(3, generator=None)


def chosen(x):
    generator = None or HELD
    if generator:
        x = x + torch.rand(3, generator=generator or OTHER)
    return [x * number for number in torch.randperm(3, generator=OTHER).tolist()]


def by_size(x):
    y = x + torch.rand(x.shape, generator=HELD) * torch.empty_like(x).uniform_(generator=OTHER)
    return y[torch.randperm(x.shape[0], generator=HELD)], torch.rand(x.shape[0], 3, generator=HELD)


def gradients(x):
    weight = torch.rand(2, 3, generator=HELD)
    y = (x * weight).sin()
    with torch.no_grad():
        y = y * torch.rand(3, generator=OTHER)
    return y + x * torch.empty_like(x).bernoulli_(0.5, generator=HELD)


def and_backward(x):
    (x.sin() * torch.rand(2, 3, generator=HELD)).sum().backward()
    return torch.rand(2, generator=HELD)


def unused(x):
    torch.rand(3, generator=HELD)
    return x + 1


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = torch.Generator().manual_seed(3)
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x) * (torch.rand(x.shape, generator=self.generator) > 0.5)


def attribute():
    module = Noisy()
    return module, leaf, [module, lambda: states([module.generator])]


def attribute_set_within():
    module = nn.Linear(3, 3)

    def f(x):
        if not hasattr(module, "generator"):
            module.generator = torch.Generator().manual_seed(3)
        return module(x) * torch.rand(3, generator=module.generator)

    return f, leaf, [lambda: states([module.generator])]


def closure():
    generator = torch.Generator().manual_seed(3)
    return (lambda x: x + torch.rand(2, 3, generator=generator)), lambda number: [matrix()], [lambda: states([generator])]


def drawn(x, generator=None):
    if generator is None:
        return x + torch.randn(x.shape)
    return x + torch.randn(x.shape, generator=generator, device=generator.device, dtype=x.dtype)


def new_argument():
    return drawn, lambda number: [matrix(), torch.Generator().manual_seed(number)], []


def same_argument():
    generator = torch.Generator().manual_seed(7)
    return drawn, lambda number: [matrix(), generator], [lambda: states([generator])]


def argument_or_none():
    generator = torch.Generator().manual_seed(7)
    return drawn, lambda number: [matrix(), generator if number % 2 else None], [lambda: states([generator])]


def list_as_argument():
    generators = [torch.Generator().manual_seed(number) for number in range(2)]

    def f(x, generators):
        return x + torch.cat([torch.randn(1, 3, generator=generator) for generator in generators])

    return f, lambda number: [matrix(), generators], [lambda: states(generators)]


def two_arguments():
    first, second = (torch.Generator().manual_seed(number) for number in range(2))
    pairs = [(first, second), (first, first), (second, first)]

    def f(x, one, other):
        one.manual_seed(3)
        return x + torch.rand(3, generator=other) * torch.rand(3, generator=one), one is other

    return f, lambda number: [matrix(), *pairs[number]], [lambda: states([first, second])]


def seed_as_argument():
    def f(x, seed):
        return x + torch.rand(3, generator=torch.Generator().manual_seed(seed))

    return f, lambda number: [matrix(), 7 * number + 3], []


def drawn_seed(x):
    seed = torch.randint(0, 9, (1,), generator=HELD).item()
    return x + torch.rand(3, generator=torch.Generator().manual_seed(seed)), torch.rand(2, generator=OTHER.manual_seed(int(x[0, 0] * 8)))


def tensor_as_seed():
    def f(x, seed):
        generator = torch.Generator()
        generator.manual_seed(seed.item())
        return x + torch.rand(3, generator=generator)

    return f, lambda number: [matrix(), torch.tensor([-7, 2**62, 3][number])], []


ROWS = [
    (of(new_tensors), 0),
    (of(drawn_by_contents), 0),
    (of(in_place), 0),
    (of(argument_in_place), 0),
    (of(initialised), 0),
    (of(functional_dropout), 0),
    (of(functional_dropout, leaf), 0),
    (of(made_within), 0),
    (of(made_and_given), 1),
    (of(seeded_again), 0),
    (of(read_and_put_back), 0),
    (of(refused_state), None),
    (of(refused_seed), None),
    (of(refused_by_operation), None),
    (of(in_a_loop), 0),
    (of(around_a_break), 1),
    (of(raised_after), 0),
    (of(graph_that_raises), 0),
    (of(graph_that_raises_and_puts_back), 0),
    (of(default_and_others), 0),
    (of(chosen), 0),
    (of(by_size, rows_of_several_sizes), 0),
    (of(gradients, leaf), 0),
    (of(and_backward, leaf), 0),
    (of(unused), 0),
    (attribute, 0),
    (attribute_set_within, 0),
    (closure, 0),
    (new_argument, 0),
    (same_argument, 0),
    (argument_or_none, 0),
    (list_as_argument, 0),
    (two_arguments, 0),
    (seed_as_argument, 0),
    (of(drawn_seed), 1),
    (tensor_as_seed, 0),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_with_a_backend_there_are_no_more_breaks(self):
        rows = [(use, breaks) for use, breaks in ROWS if use is not ROWS[23][0]]
        torch_programs.check(self, rows, slotrt.compile(backend="aot_eager"), counted=True)

    def test_a_generator_that_a_function_gives_goes_on(self):
        def f(x):
            generator = torch.Generator().manual_seed(4)
            return x + torch.rand(3, generator=generator), generator

        for options in {}, {"backend": "aot_eager"}:
            given = [function(torch.ones(3)) for function in (f, slotrt.compile(f, **options))]
            (plain, first), (compiled, second) = given
            self.assertTrue(torch.equal(plain, compiled))
            self.assertTrue(torch.equal(torch.rand(3, generator=first), torch.rand(3, generator=second)))

    def test_what_raises_leaves_the_state_that_it_leaves_uncompiled(self):
        def f(x):
            x.uniform_(generator=HELD)
            OTHER.manual_seed(2)
            torch.linalg.cholesky(x[:, :2] - 9)
            HELD.manual_seed(1)

        seen = []
        for function in (f, slotrt.compile(f), slotrt.compile(f, backend="aot_eager")):
            HELD.manual_seed(5)
            OTHER.manual_seed(6)
            x = matrix()
            for _ in range(2):
                with self.assertRaises(RuntimeError):
                    function(x)
            seen.append((x.tolist(), states([HELD, OTHER])))
        self.assertEqual(seen[1:], seen[:1] * 2)


if __name__ == "__main__":
    unittest.main()
