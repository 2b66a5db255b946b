"""`max` and `min` of tensors with one element: one of the tensors itself, which contents decide.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs

KEPT = []


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def of(function, make=leaf):
    """Each call has other numbers."""

    def arguments(number):
        with torch.no_grad():
            made = make()
            made.copy_(made.roll(number) * (-1) ** number)
        return [made]

    def use():
        KEPT.clear()
        return function, arguments, [lambda: list(KEPT)]

    return use


def of_a_list(x):
    return max([x.sum(), x.mean(), (x * 2).sum()]) * 2


def of_a_tuple(x):
    sums = (x.sum(), x.mean())
    return min(sums) + max(sums)


def of_arguments(x):
    return max(x.sum(), x.mean(), x.min()), min(x.sum(), x.mean())


def equal(x):
    """The first one has the gradient."""
    return max(x[0].sum() * 0, x[1].sum() * 0) + min([x[0].sum() * 0 + 1, x[1].sum() * 0 + 1])


def no_numbers(x):
    nan = x.sum() * float("nan")
    return max([nan, x.sum()]).isnan(), max([x.sum(), nan]).isnan(), min([x.mean(), nan, x.sum()])


def of_norms(x):
    return x / max([row.norm() for row in x.unbind()])


def compared(x):
    best = max(x.sum(), x.mean())
    return best * 2 if best > 1 else best - 1


def as_number(x):
    return max(x.sum(), x.mean()).item() + 1, x * int(min([x.sum(), x.mean()]))


def identity(x):
    first, second = x.sum(), x.mean()
    best = max(first, second)
    return best is first, best is second, best is best, {first: 1, second: 2}[best], best * 2


def also_given_back(x):
    first, second = x.sum(), x.mean()
    best = max(first, second)
    KEPT.append([number for number, other in enumerate((first, second)) if other is best])
    return first, second, best


def changed_after(x):
    first, second = x.detach().sum(), x.detach().mean()
    best = max(first, second)
    best.add_(1)
    return first, second, best * 2


def other_changed_after(x):
    first, second = x.detach().sum(), x.detach().mean()
    best = min(first, second)
    first.add_(10)
    return first, second, best * 2


def needed_after(x):
    first, second = x.detach().sum(), x.detach().mean()
    best = max(first, second)
    best.requires_grad_()
    return first.requires_grad, second.requires_grad, best.requires_grad, best.is_leaf


def attribute_after(x):
    first, second = x.sum(), x.mean()
    first.title, second.title = "first", "second"
    best = max(first, second)
    title = best.title
    best.title = "best"
    return title, first.title, second.title, best * 2


def hooked(x):
    first, second = x.sum(), x.mean()
    best = max(first, second)
    best.register_hook(lambda gradient: gradient * 3)
    return first * 2 + second, best.grad_fn is None


def and_backward(x):
    best = max(x.sum(), x.mean())
    best.backward()
    return best.detach()


def of_two_kinds(x):
    return max(x.sum(), x.detach().mean()), max(x.sum(), 0.5), min([x.sum().double(), x.mean()])


def of_many_elements(x):
    try:
        return max(x * 2, x + 1)
    except RuntimeError as error:
        return x, str(error)


def of_one(x):
    try:
        return max([x.sum()]) + min([x[:1, :1] * 2, x[1:, 1:2] * 1]), max([])
    except ValueError as error:
        return x, type(error).__name__


def with_a_key(x):
    return max([x.sum(), x.mean()], key=lambda tensor: -tensor), max([], default=x)


def without_gradients(x):
    first, second = x.sum(), x.mean()
    with torch.no_grad():
        best = max(first, second)
    return best * 2, best.requires_grad


def in_a_loop(x):
    best = x.sum()
    for number in range(3):
        best = max(best, (x * number).mean())
    return best * x


ROWS = [
    (of(of_a_list), 0),
    (of(of_a_list, matrix), 0),
    (of(of_a_tuple), 0),
    (of(of_arguments), 0),
    (of(equal), 0),
    (of(no_numbers), None),
    (of(of_norms), 0),
    (of(compared), None),
    (of(as_number), None),
    (of(identity), None),
    (of(also_given_back), None),
    (of(changed_after), None),
    (of(other_changed_after), None),
    (of(needed_after), None),
    (of(attribute_after), None),
    (of(hooked), 0),
    (of(and_backward), None),
    (of(of_two_kinds), None),
    (of(of_many_elements), None),
    (of(of_one), None),
    (of(with_a_key), None),
    (of(without_gradients), None),
    (of(in_a_loop), 0),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_with_a_backend_there_are_no_more_breaks(self):
        torch_programs.check(self, ROWS, slotrt.compile(backend="aot_eager"), counted=True)


if __name__ == "__main__":
    unittest.main()
