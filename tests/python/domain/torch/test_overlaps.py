"""Changes in place after `backward()` that PyTorch refuses for where operands lie in memory: gradients are added once."""

import unittest

import slotrt
import torch


def shifted():
    x = torch.arange(20.0)
    return x[:16].view(4, 4), x[2:18].view(4, 4)


def transposed():
    x = torch.arange(16.0).view(4, 4)
    return x, x.t()


def the_same():
    x = torch.arange(16.0).view(4, 4)
    return x, x


def half_of_one():
    x = torch.arange(32.0).view(2, 4, 4)
    return x[0], x[1]


MAKES = {
    "apart": lambda: (torch.arange(16.0).view(4, 4), torch.ones(4, 4)),
    "shifted": shifted,
    "transposed": transposed,
    "the same": the_same,
    "parts of one": half_of_one,
    "one element": lambda: (torch.ones(1).expand(4, 4), torch.ones(4, 4)),
    "from one element": lambda: (torch.ones(4, 4), torch.ones(1).expand(4, 4)),
    "strides": lambda: (torch.arange(25.0).as_strided((4, 4), (2, 1)), torch.ones(4, 4)),
    "integers": lambda: (torch.arange(16).view(4, 4), torch.ones(4, 4)),
    "other types": lambda: (torch.ones(4, 4).half(), torch.ones(4, 4, dtype=torch.complex64)),
}


def rows(v, w):
    v[1:].add_(v[:-1])


def item(v, w):
    v[1:] = v[:-1] * w[:-1]


def added(v, w):
    v += w


def copied(v, w):
    v.copy_(w)


def out(v, w):
    torch.add(v, 1, out=w)


def several(v, w):
    v.mul_(w).add_(1)
    v.sub_(w).div_(w)


def lists(v, w):
    torch._foreach_add_([v, w], 1.0)


def between_lists(v, w):
    torch._foreach_mul_([v], [w])


def mixed(v, w):
    v.lerp_(w, 0.5)
    v.addcmul_(w, w)


def made_within(v, w):
    x = v * 2
    y = x[1:]
    y.mul_(x[:-1])
    return x.sum().item()


def called(function, make):
    a = torch.ones(4, 4, requires_grad=True)
    v, w = make()
    try:
        outcome = function(a, v, w)
    except Exception as error:
        outcome = type(error), str(error)
    # As text: some are no number.
    return str(outcome), a.grad.tolist(), a.grad._version, str(v.tolist()), str(w.tolist()), v._version, w._version


class Overlaps(unittest.TestCase):
    def test_after_backward(self):
        for use in (rows, item, added, copied, out, several, lists, between_lists, mixed, made_within):

            def both(a, v, w):
                (a + a).sum().backward()
                return use(v, w)

            for order in (list(MAKES), list(reversed(MAKES))):
                slotrt.reset()
                compiled = slotrt.compile(both, recompile_limit=len(MAKES))
                for name in order:
                    with self.subTest(use=use.__name__, of=name):
                        expected = called(both, MAKES[name])
                        for _ in range(2):
                            self.assertEqual(called(compiled, MAKES[name]), expected)


if __name__ == "__main__":
    unittest.main()
