"""Tensors that get another layout in place (`t_`, `transpose_`, `squeeze_`, `unsqueeze_`, `as_strided_`): what everyone who has them sees."""

import unittest

import slotrt
import torch
from torch import nn

LAYER = nn.Linear(4, 4)


def of_all_kinds(x):
    made = [x * 1 for _ in range(7)]
    made[0].t_()
    made[1].transpose_(0, 1)
    made[2].swapaxes_(0, 1)
    made[3].swapdims_(dim0=0, dim1=1)
    made[4].unsqueeze_(dim=-1).unsqueeze_(0)
    made[5].unsqueeze_(0).squeeze_()
    made[6].as_strided_((2, 2), (1, 2))
    return made, [(len(one), one.dim(), one.numel(), one.is_contiguous()) for one in made]


def seen_by_all(x):
    y = x * 2
    held = [y, {"k": y}]
    y.tag = "kept"
    y.t_()
    held[1]["k"].add_(1)
    return held, y is held[0], y.tag, y.sum(0), torch.empty_like(y).stride(), y.T


def views(x):
    y = x[0]
    y.unsqueeze_(1)
    y.add_(1)
    return y, x, y._base is x


def has_views(x):
    y = x * 1
    row = y[0]
    y.t_()
    row.add_(1)
    return y, row


def trained(x):
    q = LAYER(x).view(2, -1, 2, 2).transpose_(1, 2)
    q.mean().backward()
    return q, LAYER.weight.grad


def of_weights(x):
    w = LAYER.weight * x.sum()
    w.t_().unsqueeze_(0)
    (w * torch.arange(16.0).reshape(4, 4)).sum().backward()
    return w, LAYER.weight.grad


def saved(x):
    y = LAYER(x)
    z = y * y
    y.transpose_(0, -1)
    try:
        z.sum().backward()
    except RuntimeError as error:
        return str(error)[:60]


def without_gradients(x):
    y = LAYER(x)
    with torch.no_grad():
        y.unsqueeze_(0)
    return y, y.requires_grad, y.is_leaf


def refused(x):
    said = []
    parts = LAYER(x).unbind(0)
    for tensor, change in (
        (torch.ones(2, 3, requires_grad=True), "t_"),
        (LAYER.weight.view(2, 8), "t_"),
        (parts[0], "unsqueeze_"),
        (x[None, None].clone(), "t_"),
    ):
        try:
            getattr(tensor, change)(*[0] * (change == "unsqueeze_"))
        except RuntimeError as error:
            said.append((str(error), tensor.shape))
    return said


def in_inference(x):
    with torch.inference_mode():
        y = (x * 2).unsqueeze_(0)
    try:
        y.squeeze_(0)
    except RuntimeError as error:
        return str(error), y.shape
    return y


def branches(x):
    return torch.cond(x.sum() > 0, lambda a: (a * 2).unsqueeze_(0), lambda a: (a + 1).unsqueeze_(0), (x,))


def numbers(x):
    y = x.sum(dim=1, keepdim=True)[:1] * 1
    y.squeeze_()
    return float(y), f"{y:.2f}", y.item(), y.dim()


def loops(x):
    rows = [(row * 1).unsqueeze_(0) for row in x]
    return torch.cat(rows), [row.shape for row in rows]


def behind_a_break(x):
    y = x * 1
    y.transpose_(0, 1)
    number = y.sum().item()
    y.unsqueeze_(0)
    return y, number


def of_a_part(x):
    y = x[1:] * 2
    y.squeeze_(0)
    z = x[:, 1:] * 2
    z.squeeze_()
    return y, y.dim(), z, z.dim()


def square(x):
    y = x[:, : len(x)] * 1
    y.t_()
    return y, y.is_contiguous(), y.view(-1) if y.is_contiguous() else y.reshape(-1)


def plain(i):
    return torch.arange(6.0 + 2 * i).reshape(2, 3 + i) - 2


def wide(i):
    return torch.arange(8.0 + 4 * i).reshape(2 + i, 4) - 3


def from_large(i):
    return torch.arange((5.0 - i) * (5 - i)).reshape(5 - i, 5 - i) + 1


def deep(i):
    return torch.arange(24.0).reshape(2, 3, 4) + i


# What runs, with what, and how many graphs and breaks there are at most for four sizes.
USES = [
    (of_all_kinds, plain, 2, 0),
    (seen_by_all, plain, 2, 0),
    (views, plain, 2, 0),
    (of_a_part, from_large, 4, 0),
    (square, plain, 2, 0),
    (has_views, plain, 4, 2),
    (trained, deep, 1, 0),
    (of_weights, wide, 2, 0),
    (saved, wide, 2, 2),
    (without_gradients, wide, 4, 4),
    (refused, wide, 8, 8),
    (in_inference, wide, 2, 0),
    (branches, wide, 2, 0),
    (numbers, plain, 4, 4),
    (loops, plain, 2, 0),
    (behind_a_break, plain, 4, 4),
]


def value(found):
    if isinstance(found, torch.Tensor):
        name = found.grad_fn.name() if found.grad_fn is not None else None
        return found.tolist(), found.shape, found.stride(), found.requires_grad, name
    if isinstance(found, (list, tuple)):
        return [value(item) for item in found]
    if isinstance(found, dict):
        return {key: value(item) for key, item in found.items()}
    return found


class OtherLayouts(unittest.TestCase):
    def observed(self, function, make):
        torch.manual_seed(0)
        LAYER.reset_parameters()
        seen = []
        for size in range(4):
            LAYER.zero_grad()
            argument = make(size)
            seen.append((value(function(argument)), value(argument)))
        return seen

    def test_uses(self):
        for function, make, graphs, breaks in USES:
            with self.subTest(function.__name__):
                slotrt.reset()
                self.assertEqual(self.observed(slotrt.compile(function), make), self.observed(function, make))
                stats = slotrt.stats()
                self.assertLessEqual(stats["graphs"], graphs)
                self.assertLessEqual(stats["graph_breaks"], breaks)

    def test_a_backend_compiles_them(self):
        for function, make, _, breaks in USES:
            if breaks == 0 and function is not in_inference:
                with self.subTest(function.__name__):
                    slotrt.reset()
                    compiled = slotrt.compile(function, backend="aot_eager")
                    for size in range(4):
                        LAYER.zero_grad()
                        given = [item.tolist() for item in tensors(compiled(make(size)))]
                        LAYER.zero_grad()
                        self.assertEqual(given, [item.tolist() for item in tensors(function(make(size)))])
                    self.assertEqual(slotrt.stats()["backend_errors"], 0)


def tensors(found):
    if isinstance(found, torch.Tensor):
        return [found]
    if isinstance(found, dict):
        found = list(found.values())
    return [tensor for item in found for tensor in tensors(item)] if isinstance(found, (list, tuple)) else []


if __name__ == "__main__":
    unittest.main()
