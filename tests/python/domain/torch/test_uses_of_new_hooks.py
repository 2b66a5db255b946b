"""Hooks that are registered anew between calls, or by each call: the numbers of their handles differ, and no trace is made for each number."""

import collections
import unittest

import slotrt
import torch
import torch_programs
from torch import nn

CALLS = 8


def matrix(number):
    return torch.arange(1.0, 7.0).add(number).reshape(2, 3).div(4).requires_grad_()


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def doubled(module, inputs, result):
    return result * 2


def shifted(module, inputs, result):
    return result + 1


def with_keywords(module, inputs, keywords, result):
    return result * (3 + len(keywords))


def halved(module, inputs):
    return tuple(each / 2 for each in inputs)


def clipped(module, inner, outer):
    return tuple(each if each is None else each.clamp(-0.1, 0.1) for each in inner)


def forward_hooks(net, log):
    def function(x):
        return net(x).sum() + net[0](x).mean()

    return function, lambda: [net[0].register_forward_hook(doubled), net[2].register_forward_hook(shifted)]


def hooks_in_another_order(net, log):
    def register():
        first = net[0].register_forward_hook(doubled)
        return [first, net[0].register_forward_hook(shifted, prepend=True)]

    return lambda x: net(x).sum(), register


def hooks_of_several_kinds(net, log):
    def register():
        return [
            net[0].register_forward_pre_hook(halved),
            net[0].register_forward_hook(with_keywords, with_kwargs=True),
            net[2].register_forward_hook(shifted),
            net.register_full_backward_hook(clipped),
        ]

    return lambda x: net(x).sum(), register


def hooks_that_are_always_called(net, log):
    return lambda x: net(x).sum(), lambda: [net[2].register_forward_hook(shifted, always_call=True)]


def closures_as_hooks(net, log):
    def register():
        seen = []
        log.append(seen)
        return [net[1].register_forward_hook(lambda module, inputs, result: seen.append(result.detach()))]

    return lambda x: net(x).sum(), register


def hooks_of_each_call(net, log):
    def function(x):
        seen = {}

        def forward(module, inputs, result):
            seen["result"] = result

        def backward(module, inner, outer):
            seen["outer"] = outer[0]

        handles = [net[0].register_forward_hook(forward), net[0].register_full_backward_hook(backward)]
        y = net(x)
        y[0, y.argmax(1)[0].item()].backward(retain_graph=True)
        for handle in handles:
            handle.remove()
        return (seen["result"] * seen["outer"]).sum()

    return function, lambda: []


class NewHooks(unittest.TestCase):
    def run_calls(self, make, compiled):
        torch.manual_seed(0)
        net, log, found = network(), [], []
        function, register = make(net, log)
        function = compiled(function)
        for number in range(CALLS):
            handles = register()
            x = matrix(number)
            result = function(x)
            result.backward()
            grads = [torch_programs.shown(each.grad) for each in (x, *net.parameters())]
            found.append((torch_programs.shown(result), grads, torch_programs.shown(log)))
            for handle in handles:
                handle.remove()
        return found

    def check(self, make, most, compiled):
        plain = self.run_calls(make, lambda function: function)
        slotrt.reset()
        found = self.run_calls(make, compiled)
        self.assertEqual(found, plain)
        self.assertLessEqual(slotrt.stats()["frames_compiled"], most)

    def test_as_they_are(self):
        rows = [
            (forward_hooks, 2),
            (hooks_in_another_order, 2),
            (hooks_of_several_kinds, 4),
            (hooks_that_are_always_called, 16),
            (closures_as_hooks, 2),
            (hooks_of_each_call, 10),
        ]
        for make, most in rows:
            with self.subTest(make=make.__name__):
                self.check(make, most, slotrt.compile)

    def test_with_backends(self):
        for backend in (lambda graph, inputs: graph, "aot_eager"):
            for make in (forward_hooks, hooks_in_another_order, hooks_of_several_kinds, closures_as_hooks):
                with self.subTest(make=make.__name__, backend=backend):
                    self.check(make, 6, slotrt.compile(backend=backend))


class NumberedKeys(unittest.TestCase):
    """Dicts whose keys are numbers that differ from call to call, as the program sees them."""

    def check(self, function, calls, most):
        slotrt.reset()
        compiled = slotrt.compile(function, recompile_limit=64)
        for make in calls:
            one, other = make(), make()
            plain, found = [], []
            for run, args, log in ((function, one, plain), (compiled, other, found)):
                try:
                    log.append(run(*args))
                except KeyError as error:
                    log.append(repr(error))
                log.append(args)
            self.assertEqual(repr(found), repr(plain))
        self.assertLessEqual(slotrt.stats()["frames_compiled"], most)

    @staticmethod
    def makers(kind, numbers=range(5, 60, 7)):
        def maker(first):
            return lambda: (kind({first: "a", first + 2: "b", first - 3: "c"}), first)

        return [maker(first) for first in numbers]

    def test_gone_through(self):
        def function(held, first):
            keys = [key - first for key in held]
            pairs = [(key - first, value) for key, value in held.items()]
            return keys, pairs, [*held.values()], len(held), bool(held), type(held.values()).__name__

        for kind in (dict, collections.OrderedDict):
            self.check(function, self.makers(kind), 2)

    def test_looked_up(self):
        def function(held, first):
            found = held[first], held.get(first + 2), held.get(first + 1), held.get(first + 1, "none")
            return found, first - 3 in held, first in held, first + 100 in held

        for kind in (dict, collections.OrderedDict):
            self.check(function, self.makers(kind), 3)

    def test_not_there(self):
        for kind in (dict, collections.OrderedDict):
            self.check(lambda held, first: held[first + 1], self.makers(kind), 8)

    def test_changed(self):
        def function(held, first):
            seen = [*held.values()]
            del held[first]
            held[first + 7] = "d"
            return seen, [*held.values()], held.pop(first + 2), held

        for kind in (dict, collections.OrderedDict):
            self.check(function, self.makers(kind), 64)

    def test_in_another_order(self):
        def function(held, first):
            return [*held.values()], [key - first for key in held]

        def maker(first, key):
            def make():
                held = collections.OrderedDict({first: "a", first + 2: "b", first - 3: "c"})
                held.move_to_end(first + key, last=False)
                return held, first

            return make

        self.check(function, [maker(first, key) for first in (4, 9, 33) for key in (2, -3, 0)], 6)

    def test_breaks_while_gone_through(self):
        def function(held, first):
            seen = []
            for key in held:
                slotrt.graph_break()
                seen.append(key - first)
            for value in held.values():
                slotrt.graph_break()
                seen.append(value)
            return seen

        for kind in (dict, collections.OrderedDict):
            self.check(function, self.makers(kind), 64)

    def test_keys_of_other_kinds(self):
        def function(held, first):
            return [*held.values()], first in held

        makers = self.makers(dict, (3, 9))
        others = [lambda: ({"x": 1, "y": 2, 3: 4}, 3), lambda: ({True: 1, 2: 2, 3: 4}, 3), lambda: ({1.0: 1, 2: 2, 3: 4}, 1), lambda: ({}, 1)]
        self.check(function, [*makers, *others, *makers, *others], 64)


class Identities(unittest.TestCase):
    """Numbers of objects that are others in each call."""

    def test_memo(self):
        def function(tensors):
            memo = {}
            for each in tensors:
                if id(each) not in memo:
                    memo[id(each)] = each * 2
            return [memo[id(each)] for each in tensors], len(memo)

        slotrt.reset()
        compiled = slotrt.compile(function)
        for number in range(12):
            tensors = [matrix(number), matrix(number + 1), matrix(number + 2)]
            found, plain = compiled(tensors), function(tensors)
            self.assertEqual(torch_programs.shown(found), torch_programs.shown(plain))
        self.assertLessEqual(slotrt.stats()["frames_compiled"], 2)
        tensors[1] = tensors[0]
        self.assertEqual(compiled(tensors)[1], 2)

    def test_given_back(self):
        def function(each):
            return id(each), {id(each): 1}

        compiled = slotrt.compile(function)
        kept = [matrix(number) for number in range(6)]
        for each in kept:
            self.assertEqual(compiled(each), (id(each), {id(each): 1}))


if __name__ == "__main__":
    unittest.main()
