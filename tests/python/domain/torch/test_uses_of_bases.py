"""Programs that ask a tensor from outside of what it is a view: the base is another tensor that it holds.

Each function is called with tensors of all kinds in turn, so that each trace meets those of others."""

import unittest

import slotrt
import torch
import torch_programs


def kinds():
    """Pairs of tensors: a view or none, and its base or another one."""
    plain, learns = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3).requires_grad_()
    yield plain, plain
    yield plain.clone(), plain
    for base in plain, plain.double(), learns, learns * 2:
        yield base[0], base
        yield base[0], base.clone()
        yield base[1][1:], base
        yield base.t(), base
        yield base.detach(), base
        with torch.no_grad():
            yield base[0], base
    yield plain[0], plain[0]
    yield torch.nn.Parameter(plain.clone()), plain
    yield plain.view(-1)[2:], plain.view(-1)


def is_view(view, base):
    return view * 2 if view._base is None else view * 3 + base.sum()


def is_of(view, base):
    return view + 1 if view._base is base else view - base.sum()


def whole(view, base):
    return view.sum() if view._base is None else (view._base * 2).sum() + view.sum()


def of_base(view, base):
    known = view._base
    return (base.sum() * 2, None) if known is None else (known.sum() + base.sum(), known._base is None, known.shape)


def changed(view, base):
    with torch.no_grad():
        view.mul_(2)
        if view._base is not None:
            view._base.add_(1)
    return view + 1, base * 2


def of_views_made_here(view, base):
    first = view.view(-1) if view.is_contiguous() else view[..., :1]
    second = first[1:]
    own = view * 2
    of_own = own[..., 0]
    whose = first._base is view, first._base is view._base, second._base is first._base, second._base is base
    return whose, of_own._base is own, own._base is None, of_own + second.sum(), first._base * 2


def without_gradients(view, base):
    with torch.no_grad():
        first = view[..., :1]
        known = first._base is view or first._base is base
    return known, first._base + 1, first.detach()._base is None, view.detach()[..., 0]._base is view


def in_place(view, base):
    own = view.detach() * 2
    part = own[..., :1]
    part.add_(1)
    part._base.mul_(2)
    return own, part, part._base is own


def below_inference(view, base):
    with torch.inference_mode():
        own = view * 2
        part, outer = own[..., 0], view[..., 0]
        inner = part._base is None, outer._base is None
    return inner, outer._base is view, own[..., 0]._base is None, view.shape


MADE_HERE = of_views_made_here, without_gradients, in_place

FUNCTIONS = is_view, is_of, whole, of_base, changed


def outcome(function, pair):
    view, base = pair
    result = function(view, base)
    torch_programs.backward(result)
    gradients = [tensor.grad for tensor in pair if tensor.is_leaf]
    return torch_programs.shown([result, view, base, gradients, view._base is None or view._base])


class BasesTest(unittest.TestCase):
    maxDiff = None

    def check(self, compiled, functions=FUNCTIONS):
        for function in functions:
            slotrt.reset()
            other = compiled(function)
            for _ in range(2):
                for number, (one, another) in enumerate(zip(kinds(), kinds(), strict=True)):
                    with self.subTest(function=function.__name__, number=number):
                        self.assertEqual(outcome(other, one), outcome(function, another))

    def test_as_they_are(self):
        self.check(slotrt.compile, [*FUNCTIONS, *MADE_HERE, below_inference])

    def test_through_autograd(self):
        # AOTAutograd refuses changes of a tensor and of one that was detached from it.
        self.check(slotrt.compile(backend="aot_eager"), MADE_HERE)
        self.check(slotrt.compile(backend="aot_eager"), [function for function in FUNCTIONS if function is not changed])

    def test_without_breaks(self):
        for function in (*FUNCTIONS, *MADE_HERE):
            slotrt.reset()
            base = torch.arange(6.0).reshape(2, 3)
            compiled = slotrt.compile(function)
            compiled(base[0], base)
            compiled(base, base)
            self.assertEqual(slotrt.stats()["graph_breaks"], 0, function.__name__)


if __name__ == "__main__":
    unittest.main()
