"""Gradients of what the graph makes (`retain_grad`), calls of `backward` with operations between them that raise for some contents, and
numbers for logs beside them.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional as F


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def labels():
    return torch.tensor([1, 0])


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def with_module(step, *makers, make=net):
    """A use of `step(module, *arguments)`."""

    def use():
        module = make()
        return (lambda *args: step(module, *args)), lambda number: [maker() for maker in makers or (matrix,)], [module]

    return use


def kept(module, x):
    hidden = module[0](x)
    hidden.retain_grad()
    module[2](hidden.relu()).sum().backward()
    return hidden.grad * 2, hidden.grad.stride(), hidden.grad is hidden.grad


def kept_of_an_argument(module, x):
    y = x * 2
    y.retain_grad()
    (y**2).sum().backward()
    return y.grad, x.grad, y.detach()


def kept_in_a_loop(module, x):
    found = []
    for number in range(3):
        hidden = module[0](x * number)
        hidden.retain_grad()
        hidden.pow(2).sum().backward()
        found.append(hidden.grad)
    return found


def kept_through_two_calls(module, x):
    hidden = module[0](x)
    hidden.retain_grad()
    hidden.pow(2).sum().backward(retain_graph=True)
    first = hidden.grad
    hidden.exp().sum().backward()
    return first, hidden.grad, first is hidden.grad


def read_after_two_calls(module, x):
    hidden = module[0](x)
    hidden.retain_grad()
    hidden.pow(2).sum().backward(retain_graph=True)
    hidden.exp().sum().backward()
    return hidden.grad * 1


def kept_and_changed_in_place(module, x):
    hidden = module[0](x)
    hidden.retain_grad()
    hidden.mul_(3)
    hidden.sum().backward()
    return hidden.grad, hidden.detach()


def kept_where_none_comes(module, x):
    hidden, other = module[0](x), x * 2
    hidden.retain_grad()
    module[0](other).sum().backward()
    return hidden.grad is None, x + 1


def kept_twice(module, x):
    hidden = module[0](x)
    hidden.retain_grad()
    hidden.retain_grad()
    (hidden * 2).sum().backward()
    return hidden.grad


def kept_of_a_part(module, x):
    one, other = module[0](x).split(2, 1)
    one.retain_grad()
    (one * other).sum().backward()
    return one.grad, other.detach()


def kept_of_a_view(module, x):
    row = module[0](x)[0]
    row.retain_grad()
    (row * 5).sum().backward()
    return row.grad * 1


def kept_without_a_call(module, x):
    hidden = module[0](x)
    hidden.retain_grad()
    return hidden * 2, hidden


def refused(module, x):
    with torch.no_grad():
        hidden = module[0](x)
    try:
        hidden.retain_grad()
    except RuntimeError as error:
        return str(error), x + 1


def with_a_hook(module, x):
    hidden = module[0](x)
    hidden.register_hook(lambda gradient: gradient * 7)
    hidden.retain_grad()
    hidden.sum().backward()
    return hidden.grad * 1


def within_a_function(module, x):
    def body(y):
        hidden = module[0](y)
        hidden.retain_grad()
        return hidden.sin().sum()

    return torch.utils.checkpoint.checkpoint(body, x, use_reentrant=False) * 2


def attack(module, x, y):
    own = x.clone()
    for _ in range(3):
        own = own.detach().requires_grad_(True)
        F.cross_entropy(module(own), y).backward()
        own = own + 0.1 * own.grad.sign()
        own = torch.max(torch.min(own, x + 0.3), x - 0.3).clamp(0, 1)
    return own.detach()


def same_rows(module, indices):
    for _ in range(3):
        module(indices).pow(2).sum().backward()
    return module(indices).detach()


def same_items(module, x, y):
    for number in range(3):
        (module(x)[y] * number).sum().backward()
    return x + 1


def labels_that_change(module, x, y):
    y = y.clone()
    return changed_labels(module, x, y)


def changed_labels(module, x, y):
    for number in range(3):
        try:
            F.cross_entropy(module(x), y).backward()
        except IndexError:
            return number, y
        y.add_(1)
    return y


def labels_through_a_view(module, x, y):
    beside = y.view(2, 1)
    for number in range(3):
        try:
            F.cross_entropy(module(x), y).backward()
        except IndexError:
            return number, y
        beside += 1
    return y


def fewer_classes(module, x, y):
    F.cross_entropy(module(x), y).backward()
    try:
        return F.cross_entropy(module(x)[:, :1], y)
    except IndexError:
        return x + 1


def another_label(module, x, y):
    F.cross_entropy(module(x), y).backward()
    try:
        F.cross_entropy(module(x), y + 1).backward()
    except IndexError:
        return x + 1


def numbers_for_logs(module, x):
    total = 0.0
    for number in range(3):
        loss = module(x * number).pow(2).mean()
        loss.backward()
        total += loss.item()
    return total / 3


def numbers_in_the_loss(module, x):
    scale = 1.0
    for number in range(3):
        loss = module(x * number).pow(2).mean() * scale
        loss.backward()
        scale = loss.item() + 1
    return loss.detach()


def sums_for_logs(module, x):
    total = torch.zeros(())
    for number in range(3):
        loss = module(x * number).pow(2).mean()
        loss.backward()
        total += loss.detach()
    return total


def sum_of_a_gradient(module, x):
    module(x).pow(2).mean().backward()
    total = module[0].weight.grad.detach()
    total += 1
    module(x).sum().backward()
    return total * 1, module[0].weight.grad


def cleared(module, x):
    module.zero_grad()
    loss = module(x).pow(2).mean()
    loss.backward()
    return loss.detach()


def cleared_and_read(module, x):
    before = [held.grad for held in module.parameters()]
    module.zero_grad()
    module(x).pow(2).mean().backward()
    after = [held.grad for held in module.parameters()]
    return before, after, [one is other for one, other in zip(before, after)], after[0] * 2


def cleared_one(module, x):
    module[0].weight.grad = None
    module(x).pow(2).mean().backward()
    return x + 1


def cleared_and_not_reached(module, x):
    module.zero_grad()
    module[0](x).sum().backward()
    return module[2].weight.grad is None, x + 1


def cleared_between(module, x):
    module(x).sum().backward()
    module.zero_grad()
    module(x).pow(2).sum().backward()
    return x + 1


def cleared_late(module, x):
    loss = module(x).pow(2).mean()
    module.zero_grad()
    loss.backward()
    return loss.detach()


def cleared_and_twice(module, x):
    module.zero_grad()
    for number in range(2):
        module(x * number).pow(2).mean().backward()
    return module[0].weight.grad * 2


def cleared_and_changed(module, x):
    module.zero_grad()
    module(x).pow(2).mean().backward()
    for held in module.parameters():
        held.grad.mul_(0.5)
    return x + 1


def cleared_before_what_raises(module, x, y):
    module.zero_grad()
    try:
        F.cross_entropy(module(x), y + 1).backward()
    except IndexError:
        return [held.grad for held in module.parameters()], x + 1


def tied():
    """One parameter has two names."""
    one, other = nn.Linear(3, 3), nn.Linear(3, 3)
    other.weight = one.weight
    both = nn.ModuleList([one, other])

    def f(x):
        for held in both:
            held.weight.grad = None
        other(one(x)).sum().backward()
        return x + 1

    return f, lambda number: [matrix()], [both]


def optimised():
    module = net()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)

    def f(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(module(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return f, lambda number: [matrix(), labels()], [module]


def set_to_zero():
    module = net()
    optimizer = torch.optim.Adam(module.parameters(), lr=0.1)

    def f(x, y):
        optimizer.zero_grad(set_to_none=False)
        loss = F.cross_entropy(module(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return f, lambda number: [matrix(), labels()], [module]


ROWS = [
    (with_module(kept), 0),
    (with_module(kept_of_an_argument, leaf), 0),
    (with_module(kept_in_a_loop), 0),
    (with_module(kept_through_two_calls), None),
    (with_module(read_after_two_calls), 0),
    (with_module(kept_and_changed_in_place), None),
    (with_module(kept_where_none_comes), None),
    (with_module(kept_twice), 0),
    (with_module(kept_of_a_part), 0),
    (with_module(kept_of_a_view), 0),
    (with_module(kept_without_a_call), 0),
    (with_module(refused), None),
    (with_module(with_a_hook), None),
    (with_module(within_a_function, leaf), None),
    (with_module(attack, matrix, labels), 0),
    (with_module(same_rows, lambda: torch.tensor([0, 2, 0]), make=lambda: nn.Embedding(4, 3)), 0),
    (with_module(same_items, matrix, labels), 0),
    (with_module(labels_that_change, matrix, labels), None),
    (with_module(changed_labels, matrix, labels), None),
    (with_module(labels_through_a_view, matrix, labels), None),
    (with_module(fewer_classes, matrix, labels), None),
    (with_module(another_label, matrix, labels), None),
    (with_module(numbers_for_logs), 0),
    (with_module(numbers_in_the_loss), None),
    (with_module(sums_for_logs), 0),
    (with_module(sum_of_a_gradient), None),
    (with_module(cleared), 0),
    (with_module(cleared_and_read), 0),
    (with_module(cleared_one), 0),
    (with_module(cleared_and_not_reached), 2),
    (with_module(cleared_between), None),
    (with_module(cleared_late), 0),
    (with_module(cleared_and_twice), 0),
    (with_module(cleared_and_changed), None),
    (with_module(cleared_before_what_raises, matrix, labels), None),
    (tied, None),
    (optimised, 2),
    (set_to_zero, 2),
]


class KeptGradients(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_labels_out_of_range_go_back_once(self):
        """The first of equal operations raises, before anything went back; the rest is not reached."""
        module, other = net(), net()
        other.load_state_dict(module.state_dict())
        compiled = slotrt.compile(lambda x, y: attack(module, x, y))
        for held in labels(), torch.tensor([1, 2]), labels():
            outcomes = []
            for call in compiled, lambda x, y: attack(other, x, y):
                try:
                    outcomes.append(call(matrix(), held).tolist())
                except IndexError as error:
                    outcomes.append(str(error))
            self.assertEqual(*outcomes)
            self.assertEqual(*[[p.grad.tolist() for p in each.parameters()] for each in (module, other)])

    def setUp(self):
        slotrt.reset()


if __name__ == "__main__":
    unittest.main()
