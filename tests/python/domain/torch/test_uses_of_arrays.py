"""What programs do with arrays of numpy beside tensors: one is made of the other, in the same memory or as a copy.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import numpy
import slotrt
import torch
import torch_programs


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def array():
    return numpy.arange(6, dtype=numpy.float32).reshape(2, 3)


def of(function, *makers):
    """A use of a function on what the makers make."""
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], ())


def taken(x):
    y = x.detach().cpu().numpy()
    return y.shape, y.mean(), (x * 2).numpy().sum() + 1, x.T.numpy().strides


def there_and_back(x):
    made = numpy.sin((x * 2).numpy()) + 1
    return torch.from_numpy(made) * 2, made, torch.as_tensor(made).dtype, torch.tensor(made, dtype=torch.float64)


def beside(x, a):
    return x * 2 + torch.from_numpy(numpy.exp(a)), a + 1, torch.as_tensor(a) @ x.T


def of_a_list(x):
    index = numpy.array([0, 1])
    return x[torch.as_tensor(index)] * 2, torch.from_numpy(numpy.array([[1.0], [2.0]])) + x


def scaled(x, s):
    return x * s, x - s, s * 2


def changed_array(x, a):
    y = torch.from_numpy(a)
    y.add_(1)
    return y.sum() + x, a, y.data_ptr() == a.ctypes.data


def changed_tensor(x):
    seen = x.numpy()
    copy = seen.copy()
    x.add_(1)
    return seen, copy, (x * 2).numpy()[0] + copy


def changed_and_raised(x, a):
    y = torch.from_numpy(a)
    y.add_(1)
    try:
        return torch.linalg.cholesky(y[:, :2] - 9)
    except RuntimeError:
        return a + 1, x + 1


def asks_for_gradients(x):
    try:
        return x.numpy()
    except RuntimeError as error:
        return str(error), x.detach().numpy()


def of_another_type(x):
    try:
        return x.bfloat16().numpy()
    except TypeError as error:
        return str(error), x.double().numpy(), x.bool().numpy(), x.to(torch.complex64).numpy()


def unlike(x, a):
    backwards = a[::-1]
    try:
        return torch.from_numpy(backwards)
    except ValueError as error:
        return str(error), torch.from_numpy(backwards.copy()) + x


def asks_for_an_array(x):
    return numpy.asarray(x), numpy.sin(x.numpy()), numpy.mean(x.numpy())


def copied(x):
    copy = numpy.array(x)
    return copy, numpy.array(copy), numpy.array(x).sum(), x + 1


def copied_and_changed(x):
    copy = numpy.array(x)
    x.add_(1)
    return copy, x


def refused_copy(x):
    try:
        return numpy.array(x)
    except RuntimeError as error:
        return str(error)[:30], x + 1


def scalar_beside(x):
    return numpy.array(x).sum() + x, numpy.array([1.0, 2.0])


def seen_as_arrays(x):
    numbers = numpy.asarray(x.numpy())
    return torch.from_numpy(numbers * 2) + x, torch.from_numpy(numpy.linalg.norm(numbers, axis=0))


def made_and_changed(x):
    numbers = numpy.arange(6.0).reshape(2, 3)
    view = numbers[1:]
    view *= 2
    before = numbers + 1
    numbers[0] = 7
    numbers[:, 1] -= 0.5
    numbers[numbers > 5] = 0
    numbers **= 2
    numbers //= 1.5
    numbers -= numbers.mean()
    return torch.from_numpy(numbers) + x, before, view, numbers


def changed_through_both(x):
    tensor = torch.from_numpy(numpy.zeros((2, 3), dtype=numpy.float32))
    seen = tensor.numpy()
    tensor.add_(2)
    copy = numpy.array(seen)
    copy += x.numpy()
    tensor.mul_(2)
    return tensor, seen, copy


def changed_from_outside(x, a):
    a += 1
    row = a[0]
    row[0] = 9
    seen = x.numpy()
    seen *= 2
    return torch.from_numpy(a) + x, row


def changed_and_refused(x):
    numbers, said = numpy.zeros(3, dtype=int), []
    for change in (lambda: numbers.__iadd__(0.5), lambda: numbers.__setitem__(5, 1), lambda: numbers.__setitem__(slice(2), numpy.ones(3))):
        try:
            change()
        except (TypeError, IndexError, ValueError) as error:
            said.append(str(error))
    numbers[0] = 3.7
    return said, numbers, x * torch.from_numpy(numbers)


def nobody_may_write(x):
    numbers = numpy.broadcast_to(numpy.zeros(3), (2, 3))
    try:
        numbers += 1
    except ValueError as error:
        return str(error), x * 2


def changed_before_a_failure(x):
    numbers = numpy.zeros(3, dtype=numpy.float32)
    numbers += 1
    y = torch.from_numpy(numbers)
    y.add_(1)
    x.add_(y)
    try:
        return torch.linalg.cholesky(x[:, :2] - 90)
    except RuntimeError:
        return x * 2, numbers


def measured(x):
    """Numbers for logs, by way of arrays."""
    total, lines = 0.0, []
    for row in x:
        values = (row * 2).relu().detach().cpu().numpy()
        total += float(values.mean())
        lines.append(f"{values.max().item():.2f}")
    return total, lines, values.tolist(), x * total


def clipped(x):
    y = x * 2
    limit = numpy.percentile(y.detach().numpy(), 60)
    return torch.clamp(y, max=float(limit)), limit, y * limit.item()


def branched(x):
    values = x.detach().numpy()
    return (x * 2 if values.max() > 1.2 else x * 3), bool((values > 1.2).any()), int(values.argmax())


def other_contents(number):
    return [matrix(), matrix() * float("nan"), matrix() - 5][number]


def with_numbers(function, needs=False):
    return lambda: (function, lambda number: [other_contents(number).requires_grad_(needs)], ())


def gone_through(x, a):
    rows, flat = [row.sum() for row in a], a.reshape(-1)
    first, *rest = flat
    return x * float(flat[1]), [float(v) for v in flat], sum(float(v) for v in flat), rows, first, rest, [*zip("ab", a)], list(flat)


def gone_through_of_kinds(x):
    whole, flags = numpy.arange(4, dtype=numpy.int8), numpy.array([True, False])
    return [int(v) for v in whole], [bool(v) for v in flags], [float(v) for v in (x * 2).numpy().reshape(-1)], dict(enumerate(whole))


def left_and_gone_on_with(x, a):
    iterator, found = iter(a.reshape(-1)), []
    for v in iterator:
        found.append(float(v) + 1)
        if len(found) == 2:
            break
    slotrt.graph_break()
    return found, next(iterator), list(iterator), x * 2


def changed_on_the_way(x, a):
    found = []
    for number, row in enumerate(a):
        a[(number + 1) % 2] += 1
        found.append(row.sum())
    return found, x * 2


def not_gone_through(x):
    try:
        return list(numpy.array(1.0))
    except TypeError as error:
        return str(error), x * 2


def told_where(x, a):
    here = torch.as_tensor(a, device="cpu") + torch.tensor(a, device=x.device, dtype=torch.float64)
    away = torch.tensor(a, device="meta")
    return here + x, away.device, torch.asarray(a, copy=True) * 2, torch.tensor(a, requires_grad=True) * 2, x.double().new_tensor(a)


def where_a_mode_says(x, a):
    with torch.device("meta"):
        return torch.tensor(a), torch.as_tensor(a), torch.asarray(a)


def same_memory(x, a):
    y = torch.asarray(a, device="cpu")
    y.mul_(2)
    copy = torch.tensor(a, device="cpu")
    copy.add_(1)
    return y, copy, a


def of_a_scalar(x):
    return torch.tensor(numpy.float32(2.5)) + x, torch.as_tensor(numpy.int64(3)), torch.tensor(numpy.bool_(True))


def into_arrays(x, a):
    doubled, half = numpy.empty_like(a), numpy.zeros((2, 3))
    given = numpy.add(a, a, out=doubled)
    numpy.divide(a, 2, half)
    numpy.clip(half, 0.5, 2, out=half)
    total = numpy.sum(half, axis=0, out=half[0])
    return given is doubled, torch.from_numpy(doubled) + x, half, total


def into_an_array_of_a_tensor(x, a):
    y = torch.zeros(2, 3)
    numpy.sin(a, out=y.numpy())
    return y + x


def into_what_does_not_fit(x, a):
    try:
        return numpy.add(a, a, out=numpy.zeros((2, 2)))
    except ValueError as error:
        return str(error), x + 1


ROWS = [
    (of(told_where, matrix, array), 0),
    (of(where_a_mode_says, matrix, array), 0),
    (of(same_memory, matrix, array), None),
    (of(of_a_scalar), 0),
    (of(into_arrays, matrix, array), 0),
    (of(into_an_array_of_a_tensor, matrix, array), 0),
    (of(into_what_does_not_fit, matrix, array), 0),
    (of(gone_through, matrix, array), 0),
    (of(gone_through_of_kinds), 0),
    (of(left_and_gone_on_with, matrix, array), 3),
    (of(changed_on_the_way, matrix, array), None),
    (of(not_gone_through), None),
    (with_numbers(measured), 0),
    (with_numbers(measured, True), 0),
    (with_numbers(clipped), 0),
    (with_numbers(clipped, True), 0),
    (with_numbers(branched), None),
    (of(made_and_changed), 0),
    (of(changed_through_both), 0),
    (of(changed_from_outside, matrix, array), None),
    (of(changed_and_refused), None),
    (of(nobody_may_write), None),
    (of(changed_before_a_failure), None),
    (of(seen_as_arrays), 0),
    (of(copied), 0),
    (of(copied_and_changed), 0),
    (of(refused_copy, lambda: matrix().requires_grad_()), None),
    (of(scalar_beside), 1),
    (of(taken), 1),
    (of(there_and_back), 0),
    (of(beside, matrix, array), 0),
    (of(of_a_list), 0),
    (of(scaled, matrix, lambda: numpy.float32(2.5)), 0),
    (of(scaled, matrix, lambda: numpy.int64(3)), 0),
    (of(changed_array, matrix, array), 2),
    (of(changed_tensor), 0),
    (of(changed_and_raised, matrix, array), 1),
    (of(asks_for_gradients, lambda: matrix().requires_grad_()), 2),
    (of(of_another_type), 3),
    (of(unlike, matrix, array), 2),
    (of(asks_for_an_array), 0),
]


class Uses(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


if __name__ == "__main__":
    unittest.main()
