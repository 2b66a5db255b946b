"""Gradients and transforms in graphs that no backend gets as a whole: a number is read between a loss and its gradients, beside a transformed
function, or what is differentiated is given back with the gradients.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.func import functional_call, grad, jvp, vjp, vmap

KEPT = []


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def of(function, *makers):
    def use():
        KEPT.clear()
        weight = nn.Parameter(torch.ones(3))
        return (lambda *args: function(weight, *args)), lambda number: [make() for make in makers or (matrix,)], [weight]

    return use


def number_before_gradients(w, x):
    loss = (w * x).sum() * 2
    number = loss.item()
    (gradient,) = torch.autograd.grad(loss, w)
    return gradient * number, number


def number_before_a_penalty(w, x):
    loss = (w * x).pow(2).sum()
    number = loss.item()
    (gradient,) = torch.autograd.grad(loss, w, create_graph=True)
    return gradient.pow(2).sum() * number


def number_after_a_penalty(w, x):
    loss = (w * x).pow(2).sum()
    (gradient,) = torch.autograd.grad(loss, w, create_graph=True)
    return gradient.pow(2).sum() * loss.item() + loss


def number_between(w, x):
    y = w * x
    number = y.sum().item()
    loss = y.pow(2).sum() * number
    first, second = torch.autograd.grad(loss, [w, y])
    return first, second, (w * 3).sum()


def kept_with_gradients(w, x):
    """The history of what is kept is gone."""
    loss = (w * x).sum() * 2
    KEPT.append(loss)
    return torch.autograd.grad(loss, w)


def shares_a_history(w, x):
    y = w * x
    gradients = torch.autograd.grad(y.sum() * 2, w)
    KEPT.append(y * 2)
    return gradients, (w * 2).sum()


def given_back_with_gradients(w, x):
    loss = (w * x).pow(2).sum()
    return torch.autograd.grad(loss, w, retain_graph=True), loss, loss.detach() * 2


def square(x):
    return (x * x).sum()


def gone_through(w, x):
    """What gradients are asked of is no list."""
    parts = {"w": w * 1, "x": x * w}
    loss = sum(part.pow(2).sum() for part in parts.values())
    by_view = torch.autograd.grad(loss, parts.values(), retain_graph=True)
    by_iterator = torch.autograd.grad(iter([loss]), map(parts.get, ["x", "w"]), retain_graph=True)
    by_list = torch.autograd.grad([loss], nn.ParameterList([w]), {"loss": torch.tensor(2.0)}.values(), retain_graph=True)
    return by_view, by_iterator, by_list, torch.autograd.grad(loss, parts)


def fast_weights(w, x):
    weights = {"scale": w, "shift": w * 0}
    for _ in range(3):
        loss = (x * weights["scale"] + weights["shift"] - 1).pow(2).mean()
        gradients = torch.autograd.grad(loss, weights.values(), create_graph=True)
        weights = {name: weight - 0.1 * gradient for (name, weight), gradient in zip(weights.items(), gradients)}
    return (x * weights["scale"] + weights["shift"]).sum()


def number_of_a_gradient(w, x):
    gradient = grad(square)(x)
    return gradient * w, gradient.sum().item()


def finite_gradient(w, x):
    gradient = grad(square)(x)
    if gradient.isnan().any():
        return x * 0
    return gradient * w


def number_before_a_pullback(w, x):
    result, pull = vjp(torch.sin, x * w)
    number = result.sum().item()
    return pull(result)[0] * number


def number_beside_a_derivative(w, x):
    number = x.sum().item()
    return jvp(torch.sin, (x,), (x * w.detach(),)), number


def rows_beside_samples(w, x):
    places = (x > 1).nonzero()
    return vmap(grad(square))(x), places, vmap(lambda row: row * 2)(x * w)


def gradients_of_samples():
    net = nn.Linear(3, 2)

    def use(x):
        loss = net(x).pow(2).mean()
        number = loss.item()
        weights = {name: weight.detach() for name, weight in net.named_parameters()}
        of_one = grad(lambda weights, row: functional_call(net, weights, (row,)).pow(2).sum())
        return vmap(of_one, (None, 0))(weights, x), number, loss

    return use, lambda number: [matrix()], [net]


ROWS = [
    (of(number_before_gradients), 0),
    (of(number_before_a_penalty), 0),
    (of(number_after_a_penalty), 0),
    (of(number_between), 1),
    (of(kept_with_gradients), 0),
    (of(shares_a_history), 0),
    (of(given_back_with_gradients), 0),
    (of(gone_through), 0),
    (of(fast_weights), 0),
    (of(number_of_a_gradient), 0),
    (of(number_of_a_gradient, leaf), 0),
    (of(finite_gradient), 0),
    (of(finite_gradient, leaf), 0),
    (of(number_before_a_pullback), 0),
    (of(number_before_a_pullback, leaf), 0),
    (of(number_beside_a_derivative), 0),
    (of(rows_beside_samples), 0),
    (of(rows_beside_samples, leaf), None),
    (gradients_of_samples, 0),
]


class UsesOfSplitHistories(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_what_is_kept_has_no_history_left(self):
        """As without a compiler."""
        for function in (kept_with_gradients, shares_a_history):
            KEPT.clear()
            slotrt.compile(function, backend="aot_eager")(nn.Parameter(torch.ones(3)), matrix())
            with self.subTest(function=function), self.assertRaisesRegex(RuntimeError, "second time"):
                KEPT[0].sum().backward()


if __name__ == "__main__":
    unittest.main()
