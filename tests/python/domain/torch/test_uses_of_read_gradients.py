"""Gradients that the program reads after `backward` in one graph: those of leaves that the call has made, and those that it has added to.

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


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def with_module(step, make=net, maker=matrix):
    """A use of `step(module, argument)`."""

    def use():
        module = make()
        return (lambda x: step(module, x)), lambda number: [maker()], [module]

    return use


def made(module, x):
    own = x.detach().clone().requires_grad_()
    F.cross_entropy(module(own), torch.tensor([1, 0])).backward()
    return (own + 0.1 * own.grad.sign()).clamp(0, 1), own.grad


def in_steps(module, x):
    for _ in range(3):
        x = x.detach().requires_grad_()
        module(x).pow(2).sum().backward()
        x = x + 0.01 * x.grad.sign()
    return x.detach()


def in_steps_in_place(module, x):
    x = x.clone()
    for _ in range(3):
        x.requires_grad_()
        module(x).pow(2).sum().backward()
        x = (x + 0.01 * x.grad.sign()).detach()
    return x


def of_the_argument(module, x):
    module(x).sum().backward()
    return x.grad * 2, x.grad


def grown(module, x):
    module(x).sum().backward()
    return [parameter.grad + 1 for parameter in module.parameters()]


def grown_is_the_same(module, x):
    before = module[0].weight.grad
    module(x).pow(2).sum().backward()
    after = module[0].weight.grad
    return before is after, after is module[0].weight.grad, after


def twice(module, x):
    module(x).sum().backward()
    first = module[0].weight.grad
    copy = first * 1
    module(x).pow(2).sum().backward()
    return first, copy, first is module[0].weight.grad, first - copy


def norms(module, x):
    module(x).pow(2).mean().backward()
    return torch.stack([parameter.grad.norm() for parameter in module.parameters()]).norm()


def with_names(module, x):
    loss = module(x).pow(2).mean()
    loss.backward()
    return {"loss": loss.detach(), **{name: held.grad.abs().max() for name, held in module.named_parameters()}}


def transposed(module, x):
    own = x.t().contiguous().t().detach().requires_grad_()
    (own * 2).sum().backward()
    return own.grad, own.grad.stride(), own.grad.is_contiguous()


def expanded(module, x):
    own = x[:1].expand(4, 3).detach().requires_grad_()
    (own * 2).sum().backward()
    return own.grad, own.grad.stride()


def of_one_row(module, x):
    own = x[:1].t().detach().requires_grad_()
    (own * 2).sum().backward()
    return own.grad, own.grad.stride()


def of_what_is_not_reached(module, x):
    module[0](x).sum().backward()
    return module[2].weight.grad is None, module[0].weight.grad


def of_no_leaf(module, x):
    inner = module[0](x)
    inner.relu().sum().backward()
    return inner.grad, x + 1


def scaled(module, x):
    module(x).sum().backward()
    for parameter in module.parameters():
        parameter.grad.mul_(0.5)
    return x + 1


def changed_through_a_view(module, x):
    module(x).sum().backward()
    module[0].weight.grad.view(-1)[0] = 7
    return x + 1


def changed_without_history(module, x):
    module(x).sum().backward()
    module[0].weight.grad.detach().mul_(3)
    return module[0].weight.grad


def changed_by_data(module, x):
    module(x).sum().backward()
    module[0].weight.grad.data.clamp_(-0.1, 0.1)
    return module[0].weight.grad


def changed_by_a_result(module, x):
    module(x).sum().backward()
    torch.mul(module[0].bias.grad, 2, out=module[0].bias.grad)
    return module[0].bias.grad


def changed_together(module, x):
    module(x).sum().backward()
    torch._foreach_mul_([parameter.grad for parameter in module.parameters()], 0.5)
    return x


def changed_for_the_made(module, x):
    own = x.detach().clone().requires_grad_()
    module(own).sum().backward()
    own.grad.zero_()
    return own, own.grad, x + 1


def descent(module, x):
    module(x).sum().backward()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter -= 0.1 * parameter.grad
    return x + 1


def that_begins_gradients(module, x):
    own = x.detach().clone().requires_grad_()
    module(own).sum().backward()
    own.grad.requires_grad_()
    return (own.grad * 2).sum()


def cleared_after(module, x):
    module(x).sum().backward()
    copy = module[0].weight.grad.clone()
    module[0].weight.grad = None
    return copy


def kept_by_the_module(module, x):
    module(x).sum().backward()
    module.last = module[0].weight.grad
    return module.last * 1


def before_what_raises(module, x):
    module(x).sum().backward()
    gradient = module[0].weight.grad
    try:
        return x[torch.tensor([7])]
    except IndexError:
        return gradient * 2, x


def of_rows(module, x):
    module(torch.tensor([0, 2, 0])).sum().backward()
    return module.weight.grad.to_dense() * 2


def by_hooks():
    module, seen = net(), []
    module[0].weight.register_post_accumulate_grad_hook(lambda held: seen.append(held.grad.sum().item()))

    def f(x):
        module(x).sum().backward()
        return module[0].weight.grad * 2

    return f, lambda number: [matrix()], [module, lambda: seen]


def cleared_by_a_hook():
    """A hook takes the gradient away again."""
    module = net()

    def clear(held):
        held.grad = None

    module[0].weight.register_post_accumulate_grad_hook(clear)

    def f(x):
        module(x).sum().backward()
        return module[0].weight.grad, module[0].bias.grad * 2

    return f, lambda number: [matrix()], [module]


def of_another_kind():
    """The kind of the gradient changes between calls."""
    weight = nn.Parameter(torch.ones(3, 2))

    def arguments(number):
        weight.grad = None
        weight.grad_dtype = torch.float64 if number == 1 else torch.float32
        return [matrix()]

    def f(x):
        (x @ weight).sum().backward()
        return weight.grad.dtype, weight.grad * 2

    return f, arguments, [lambda: weight]


def by_keywords(module, x):
    own = x.detach().requires_grad_()
    y = module(own)
    ones = torch.ones_like(y)
    (gradient,) = torch.autograd.grad(outputs=y, inputs=own, grad_outputs=ones, create_graph=True, retain_graph=True)
    return gradient.norm(2, dim=1).detach()


def by_keywords_of_lists(module, x):
    own = x.detach().requires_grad_()
    return torch.autograd.grad(inputs=[own, own], outputs=[module(own).sum()])


def of_what_comes_later(modules, x):
    """What comes into the graph after the call, beside one tensor that has two names."""
    kept = x[:1]
    again = kept
    slotrt.graph_break()
    modules[0](x).sum().backward()
    y = modules[1](x)
    return y * kept.sum() + again.sum(), modules[1].weight.grad is None, modules[0].bias.grad


def by_another_path():
    """The call comes to the leaf by the argument alone, which is another leaf, or the same one."""
    other = leaf()

    def f(x):
        first = torch.autograd.grad((other * x).sum(), other, create_graph=True)[0]
        (first**2).sum().backward()
        return other.grad is None, other.grad

    return f, lambda number: [other if number % 2 else leaf()], [other]


# AOTAutograd takes no other kind of gradients than the leaf's.
ALONE = [of_another_kind]


ROWS = [
    (with_module(made), 0),
    (with_module(in_steps), 0),
    (with_module(in_steps_in_place), 0),
    (with_module(of_the_argument, maker=leaf), 0),
    (with_module(grown), 0),
    (with_module(grown_is_the_same), 0),
    (with_module(twice), 0),
    (with_module(norms), 0),
    (with_module(with_names), 0),
    (with_module(transposed), 0),
    (with_module(expanded), 0),
    (with_module(of_one_row), 0),
    (with_module(of_what_is_not_reached), None),
    (with_module(of_no_leaf), None),
    (with_module(scaled), None),
    (with_module(changed_through_a_view), None),
    (with_module(changed_without_history), None),
    (with_module(changed_by_data), None),
    (with_module(changed_by_a_result), None),
    (with_module(changed_together), None),
    (with_module(changed_for_the_made), None),
    (with_module(descent), None),
    (with_module(that_begins_gradients), None),
    (with_module(cleared_after), None),
    (with_module(kept_by_the_module), None),
    (with_module(before_what_raises), None),
    (with_module(of_rows, lambda: nn.Embedding(4, 3)), None),
    (with_module(of_rows, lambda: nn.Embedding(4, 3, sparse=True)), None),
    (by_hooks, None),
    (cleared_by_a_hook, None),
    (of_another_kind, None),
    (by_another_path, None),
    (with_module(by_keywords), 0),
    (with_module(by_keywords_of_lists), 0),
    (with_module(of_what_comes_later, lambda: nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])), None),
]


class ReadGradients(torch_programs.ThreeWays, unittest.TestCase):
    rows, not_there = ROWS, ALONE

    def test_one_graph_has_them(self):
        module = net()
        compiled = slotrt.compile(lambda x: in_steps(module, x), fullgraph=True)
        expected = in_steps(module, matrix())
        module.zero_grad()
        self.assertTrue(torch.equal(compiled(matrix()), expected))
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def setUp(self):
        slotrt.reset()


if __name__ == "__main__":
    unittest.main()
