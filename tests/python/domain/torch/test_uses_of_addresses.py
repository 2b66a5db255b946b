"""Where contents of tensors lie, and how often these were changed: numbers of objects, which nobody knows before there are the objects.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import torch
import torch_programs


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


def compared(x):
    view, copy = x.view(-1), x.clone()
    first = x.data_ptr() == view.data_ptr()
    return first, x.data_ptr() == copy.data_ptr(), view[3:].data_ptr() - view.data_ptr(), copy + 1


def kept_by_changes(x):
    before = x.data_ptr()
    x.add_(1)
    y = x * 2
    y.mul_(2)
    return before == x.data_ptr(), y, y.data_ptr() == x.data_ptr()


def aligned(x):
    return x.data_ptr() % 4 == 0, (x * 2).data_ptr() % 4 == 0, x + 1


def of_gradients(x):
    (x * 2).sum().backward()
    return x.grad.data_ptr() == x.data_ptr(), x.grad * 2


def copied_where_shared(x):
    y = x.contiguous()
    if y.data_ptr() == x.data_ptr():
        y = y.clone()
    return y.add_(1), x


def of_nothing(x):
    return x[:0].data_ptr(), x.new_empty(0).data_ptr(), x + 1


def without_contents(x):
    return x.data_ptr(), (x + 1).shape


def within_a_transform(x):
    try:
        return torch.vmap(lambda row: row * 2 if row.data_ptr() else row)(x)
    except RuntimeError as error:
        return str(error)[:30]


def noted(x):
    known = {(x.data_ptr(), x._version): x * 2}
    x.add_(1)
    return (x.data_ptr(), x._version) in known


def counted(x):
    before = x._version
    view = x.view(-1)
    view.add_(1)
    y = x * 2
    y.mul_(2)
    y[0] = 1
    return x._version - before, view._version - before, y._version, y


def counted_without_gradients(x):
    before = x._version
    with torch.no_grad():
        x.mul_(2)
    x.data.add_(1)
    return x._version - before, x.detach()._version - before, x * 1


def not_counted(x):
    with torch.inference_mode():
        y = x * 2
        try:
            within = y._version
        except RuntimeError as error:
            within = str(error)[:40]
    try:
        return within, y._version
    except RuntimeError as error:
        return within, str(error)[:40], x * 2


COUNTED = [of(counted), of(counted_without_gradients, leaf)]

ROWS = [
    (of(compared), 0),
    (of(kept_by_changes), 0),
    (of(aligned), 0),
    (of(of_gradients, leaf), 0),
    (of(copied_where_shared), 1),
    (of(of_nothing), 0),
    (of(without_contents, lambda: torch.ones(2, device="meta")), 0),
    (of(within_a_transform), None),
    (of(noted), None),
    *[(use, 0) for use in COUNTED],
    (of(not_counted), None),
]


class UsesOfAddresses(torch_programs.ThreeWays, unittest.TestCase):
    # AOTAutograd changes tensors as often as it likes.
    rows, not_there = ROWS, COUNTED


if __name__ == "__main__":
    unittest.main()
