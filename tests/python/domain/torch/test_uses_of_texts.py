"""Texts of numbers that contents of tensors decide: the graph makes them. What looks at such a text breaks there.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers, state=()):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], state)


def formatted(x):
    s = x.sum()
    return f"{s:.2f}", x * 2


def plainly(x):
    return f"{x.sum()}", f"{x.sum().item()}", str(x.mean().item()), repr(x.argmax().item()), x * 2


def joined(x):
    loss, count = x.mean(), (x > 1).sum()
    return f"loss {loss:.3f}, {count:3d} of {x.numel()}, {loss.item():e}", x * 2


def nested(x):
    inner = f"{x.sum():.1f}"
    return f"<{inner}>", f"{inner}{inner}", x * 2


def of_kinds(x):
    return f"{x.sum() > 1}", f"{(x > 1).any().item()!r}", f"{x.argmax():>5}", f"{torch.complex(x[0, 0], x[0, 1]).item()}", x * 2


def by_the_method(x):
    return x.sum().item().__format__(".1f"), format(x.sum().item(), ".3g"), x * 2


def refused(x):
    try:
        return f"{x.sum().item():d}", x
    except ValueError as error:
        return str(error), x * 2


def of_the_locale(x):
    return f"{x.sum().item():n}", x * 2


def as_a_character(x):
    return f"{(x.argmax() + 65).item():c}", x * 2


def by_percent(x):
    return "%.2f" % x.sum().item(), "{:.3f} {}".format(x.sum().item(), 1), x * 2


def padded(x):
    return f"{f'{x.sum():.1f}':>8}", x * 2


def shown(x):
    return f"{f'{x.sum():.1f}'!r}", repr(f"{x.sum():.1f}"), x * 2


def asked(x):
    text = f"{x.sum():.2f}"
    return len(text), text.upper(), text == "5.25", text in {"5.25": 1}, text + "!", text[0], "5" in text, bool(text), x * 2


def as_a_key(x):
    return {f"{x.sum():.2f}": x * 2}


def in_a_set(x):
    return sorted({f"{x.sum():.2f}", "a"}), x * 2


def iterated(x):
    return list(f"{x.sum():.1f}"), " ".join([f"{x.sum():.1f}", "b"]), x * 2


def same(x):
    text = f"{x.sum():.1f}"
    return text is text, isinstance(text, str), type(text), x * 2


def decided(x):
    return x * 2 if f"{x.sum():.1f}" == "5.2" else x * 3


def of_a_meta_tensor(x):
    try:
        return f"{torch.empty((), device='meta'):.1f}"
    except TypeError as error:
        return str(error), x * 2


def of_a_matrix(x):
    try:
        return f"{x:.1f}"
    except TypeError as error:
        return str(error), x * 2


def raised(x):
    try:
        raise ValueError(f"bad {x.sum():.1f}")
    except ValueError as error:
        return str(error), error.args, x * 2


def logged():
    log = []

    def f(x):
        loss = x.pow(2).mean()
        log.append(f"loss={loss.item():.3f} lr={0.1:.1e}")
        return loss

    return f, lambda number: [matrix() * (number + 1)], [lambda: log]


ROWS = [
    (of(formatted), 0),
    (of(plainly), None),
    (of(joined), 0),
    (of(nested), 0),
    (of(of_kinds), None),
    (of(by_the_method), 0),
    (of(refused), None),
    (of(of_the_locale), 1),
    (of(as_a_character), 1),
    (of(by_percent), None),
    (of(padded), 1),
    (of(shown), None),
    (of(asked), None),
    (of(as_a_key), 1),
    (of(in_a_set), 1),
    (of(iterated), None),
    (of(same), None),
    (of(decided), 1),
    (of(of_a_meta_tensor), None),
    (of(of_a_matrix), None),
    (of(raised), None),
    (logged, 0),
]


class Texts(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_with_a_backend_there_are_no_more_breaks(self):
        torch_programs.check(self, ROWS, slotrt.compile(backend="aot_eager"), counted=True)


if __name__ == "__main__":
    unittest.main()
