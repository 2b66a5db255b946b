"""What a class of tensors hears through `__torch_function__` is what the program calls: nothing that a trace, a guard or a graph asks."""

import itertools
import unittest

import slotrt
import torch
from torch import nn

HEARD = []

WEIGHT = torch.tensor(2.0, requires_grad=True)


class Hearing(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        owner = getattr(function, "__self__", None)
        HEARD.append((getattr(function, "__name__", "?"), getattr(owner, "__name__", None)))
        return super().__torch_function__(function, types, args, kwargs or {})


class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        HEARD.append(getattr(function, "__name__", "?"))
        return function(*args, **(kwargs or {}))


LEAF = torch.ones(3, requires_grad=True)
NET = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Linear(3, 1))
HOOKED = nn.Linear(3, 3)
HOOKED.register_full_backward_hook(lambda module, given, got: None)
BUFFER = torch.zeros(3)


def asserted(x):
    assert x.sum() > 0, "sum"
    return x * 2


def raises_otherwise(x):
    if x.sum() < 0:
        raise ValueError("negative")
    return x + 1


def guessed(x):
    for row in x:
        if row.isnan().any():
            break
    return x


def gradients(x):
    (x * LEAF).sum().backward()
    return x


def another_leaf(x):
    x = x.detach_().requires_grad_()
    with torch.no_grad():
        y = NET(x)
        with torch.enable_grad():
            y = y * LEAF
    y.sum().backward()
    return y


def changes_beside_it(x):
    BUFFER.add_(1)
    return NET(x) + BUFFER


def sizes(x):
    return x.shape[0] * 2, x[1:], x.view(-1), x.stride()


def within_a_mode(x):
    with Mode():
        assert x.sum() > 0
        y = x * 2
    return y, BUFFER * 2


def stored(x):
    held = {"x": x, "n": [x, LEAF]}
    return held["n"][0] @ held["n"][1]


def gradient_read(x):
    y = x.detach().clone().requires_grad_()
    (y * 2).sum().backward()
    with torch.no_grad():
        y -= y.grad
    return y


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(x, other):
        return x**3, other

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad, unused):
        return grad, None


def own_gradient(x):
    return Cubed.apply(torch.ones(4, requires_grad=True), x)[0].sum()


def back_through(x):
    y = x.as_subclass(torch.Tensor).detach().requires_grad_()
    (y * WEIGHT).as_subclass(Hearing).as_subclass(torch.Tensor).sum().backward()
    return y.grad


def no_gradient_there(x):
    y = x.detach().clone().requires_grad_()
    with torch.no_grad():
        y -= 0.1 * y.grad


def saved_before_it_changes(x):
    y = x * LEAF
    print(end="")
    y.mul_(2)
    return torch.randn(3, generator=torch.Generator().manual_seed(1))


def through_hooks(x):
    """Hooks are added to a node of the graph of gradients, which the tensor is asked for."""
    return HOOKED(x).sum()


class Bare(torch.autograd.Function):
    pass


def applied_to_what_comes_in(x):
    y = x < x + 1
    print(end="")
    return Bare.apply(y, [x])


def clipped(x):
    LEAF.grad = x
    nn.utils.clip_grad_value_([LEAF, WEIGHT], 0.5)


def annotated(x):
    """Operations whose results are told by other tensors, for nothing looks at these."""
    kept = torch.ones(3, 3)
    optimizer = torch.optim.SGD([LEAF], lr=0.1, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        (kept * LEAF).sum().backward()
        optimizer.step()
    with torch.autograd.profiler.record_function("part"):
        SCHEDULE.step()
    return x.as_subclass(Hearing) + kept


SCHEDULE = torch.optim.lr_scheduler.StepLR(torch.optim.Adamax(NET.parameters(), lr=0.1), 1, 0.5)

FUNCTIONS = [applied_to_what_comes_in, clipped, annotated, through_hooks, saved_before_it_changes, own_gradient, back_through, no_gradient_there, gradient_read, asserted, raises_otherwise, guessed, gradients, another_leaf, changes_beside_it, sizes, within_a_mode, stored]


class HeardCalls(unittest.TestCase):
    def heard(self, function, sign, count):
        HEARD.clear()
        torch.manual_seed(0)
        for _ in range(3):
            argument = (torch.ones(count) * sign).as_subclass(Hearing)
            HEARD.append("call")
            try:
                function(argument)
            except (AssertionError, ValueError, RuntimeError, TypeError) as error:
                HEARD.append(str(error))
        return list(HEARD)

    def test_calls(self):
        for function in FUNCTIONS:
            for backend in (None, "eager"):
                slotrt.reset()
                compiled = slotrt.compile(function, backend=backend) if backend else slotrt.compile(function)
                for sign, count in ((1, 3), (-1, 3), (1, 3), (1, 4)):
                    with self.subTest(function=function.__name__, backend=backend, sign=sign, count=count):
                        self.assertEqual(self.heard(compiled, sign, count), self.heard(function, sign, count))

    def test_comparisons(self):
        """Of two operands a subclass is asked first, whatever calls of it are handed to."""

        class Closer(Hearing):
            pass

        def compared(x, y):
            return x < y, x == y, x != y, x >= y

        operands = [torch.ones(3), torch.ones(3).as_subclass(Hearing), torch.ones(3).as_subclass(Closer), nn.Parameter(torch.ones(3))]
        compiled = slotrt.compile(compared, recompile_limit=16)
        for x, y in itertools.permutations(operands, 2):
            HEARD.clear()
            expected = [type(part) for part in compared(x, y)], list(HEARD)
            HEARD.clear()
            with self.subTest(x=type(x), y=type(y)):
                self.assertEqual(([type(part) for part in compiled(x, y)], HEARD), expected)

    def test_questions_whether_a_class_hears(self):
        """One is asked of its arguments, one of its argument, one of what that holds."""
        questions = torch._C._has_torch_function, torch._C._has_torch_function_unary, torch._C._has_torch_function_variadic

        def asked(x, number):
            pair, one, within = (number, x), [x], ((x,), number)
            given = x, pair, one, within, (), [number]
            answers = [question(value) for question in questions[1:] for value in given]
            answers += [questions[0](value) for value in given[1:]]
            return answers + [questions[2](), questions[2](pair, x), questions[2](pair, one), questions[0](x)]

        def filled(x, number):
            try:
                nn.init.constant_((number, x), 2)
            except AttributeError as error:
                return str(error)

        def within_mode(x, number):
            with Mode():
                return questions[0](()), questions[2](), questions[2](()), questions[0]([1])

        for function in (asked, filled, within_mode):
            for make in (lambda: torch.ones(3), lambda: torch.ones(3).as_subclass(Hearing), lambda: nn.Parameter(torch.ones(3))):
                compiled = slotrt.compile(function)
                for _ in range(2):
                    with self.subTest(function=function.__name__, of=type(make())):
                        expected, got = function(make(), 1), compiled(make(), 1)
                        self.assertEqual(got, expected)
                        self.assertEqual([type(part) for part in got], [type(part) for part in expected])

    def test_tensors_without_contents(self):
        """PyTorch works on them in Python, and what stands for a tensor in a trace lies there, too."""

        def mapped(x):
            HEARD.append("mapped")
            return torch.func.vmap(lambda row: row * 2)(x)

        def mapped_after(x):
            y = x.as_subclass(Hearing) * 3
            return torch.func.vmap(lambda row: row * 2)(y)

        def gone_back(x):
            y = x.detach().requires_grad_()
            (y * 2).sin().sum().backward()
            return y.grad

        def beside_a_leaf(x):
            leaf = torch.ones(4, 4, device="meta", requires_grad=True)
            (leaf * x).sin().sum().backward()
            return leaf.grad

        class Silent(torch.Tensor):
            pass

        for function in (mapped, mapped_after, gone_back, beside_a_leaf):
            for kind in (Hearing, Silent, torch.Tensor):
                seen = []
                for run in (function, slotrt.compile(function)):
                    HEARD.clear()
                    given = [run(torch.ones(4, 4, device="meta").as_subclass(kind)) for _ in range(3)]
                    seen.append(([(type(tensor), tensor.is_meta) for tensor in given], list(HEARD)))
                with self.subTest(function=function.__name__, kind=kind.__name__):
                    self.assertEqual(seen[1], seen[0])

    def test_gradients_that_are_saved(self):
        """They are of the class, the leaf is not."""

        def gone_back(x):
            (x * 2).sum().backward()

        def refused(x):
            (x * 2).sum().backward()
            try:
                nn.functional.huber_loss((x * 1).sum()[None], torch.tensor([3]), reduction="none").sum().backward()
            except RuntimeError as error:
                return str(error)

        for function in (gone_back, refused):
            compiled = slotrt.compile(function)
            for number in range(3):
                x = torch.ones(3, requires_grad=True)
                x.grad = held = torch.ones(3).as_subclass(Hearing)
                HEARD.clear()
                compiled(x)
                with self.subTest(function=function.__name__, number=number):
                    self.assertEqual(HEARD, [])
                    self.assertEqual(held.as_subclass(torch.Tensor).tolist(), [3.0] * 3)

    def test_guards_within_a_mode(self):
        weight = nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.1)

        def stepped(x):
            with Mode():
                slotrt.graph_break()
            optimizer.zero_grad()
            return x * weight

        compiled = slotrt.compile(stepped)
        for _ in range(3):
            HEARD.clear()
            compiled(torch.ones(3)).sum().backward()
            self.assertEqual(HEARD, [])


if __name__ == "__main__":
    unittest.main()
