"""Optimisers in the graph: what their steps leave behind, whatever comes between the calls, and how often they break.

A row makes a function, what it is called with, and what happens between its calls. Everything that a step can change is compared after each
call with what it is uncompiled."""

import copy
import unittest

import slotrt
import torch
from torch import nn, optim
from torch.nn import functional
from training_programs import data, left, network, step, value


def to_zero(net, optimizer, x, y):
    optimizer.zero_grad(set_to_none=False)
    loss = functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach() * 1


def cleared_last(net, optimizer, x, y):
    loss = functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    before = [parameter.grad for parameter in net.parameters()]
    optimizer.zero_grad()
    return loss.detach() * 1, before, [parameter.grad for parameter in net.parameters()]


def clipped(net, optimizer, x, y):
    optimizer.zero_grad()
    functional.mse_loss(net(x), y).backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    optimizer.step()
    return norm * 1


def clipped_values(net, optimizer, x, y):
    optimizer.zero_grad()
    functional.mse_loss(net(x), y).backward()
    nn.utils.clip_grad_value_(net.parameters(), 0.01)
    optimizer.step()
    return x * 1


def accumulated(net, optimizer, x, y):
    optimizer.zero_grad()
    for number in range(2):
        (functional.mse_loss(net(x[number::2]), y[number::2]) / 2).backward()
    optimizer.step()
    return x * 1


def epochs(net, optimizer, x, y):
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def kept(net, optimizer, x, y):
    """Gradients that are kept stay what they were when others take their places, and some are looked for when they are taken."""
    kept, there = [], []
    for _ in range(2):
        functional.mse_loss(net(x), y).backward()
        kept.append([parameter.grad for parameter in net.parameters()])
        optimizer.step()
        optimizer.zero_grad()
        there.append([parameter.grad is None for parameter in net.parameters()])
    return kept, there


def taken_in_part(net, optimizer, x, y):
    """Some gradients grow, some begin anew, one is taken at last."""
    for number in range(3):
        functional.mse_loss(net(x), y).backward()
        net[0].weight.grad = None
        norms = [parameter.grad.norm() for parameter in net.parameters() if parameter.grad is not None]
    functional.mse_loss(net(x), y).backward()
    net[2].weight.grad = None
    optimizer.step()
    return torch.stack(norms)


def batches(net, optimizer, x, y):
    total = 0.0
    for some, wanted in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=2):
        optimizer.zero_grad()
        loss = functional.mse_loss(net(some), wanted)
        loss.backward()
        optimizer.step()
        total = total + loss.detach()
    return total * 2


def decaying(net, optimizer, x, y):
    optimizer.zero_grad()
    loss = functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    for group in optimizer.param_groups:
        group["lr"].mul_(0.5)
    return loss.detach() * 1


def unused(net, optimizer, x, y):
    optimizer.zero_grad()
    loss = net[0](x).sum()
    loss.backward()
    optimizer.step()
    return loss.detach() * 1


def raising(net, optimizer, x, y):
    optimizer.zero_grad()
    loss = functional.mse_loss(net(x), y)
    if x.shape[0] == 2:
        raise ValueError("half")
    loss.backward()
    optimizer.step()
    return loss.detach() * 1


def two(net, optimizers, x, y):
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss = functional.mse_loss(net(x), y)
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    return loss.detach() * 1


def closed(net, optimizer, x, y):
    def closure():
        optimizer.zero_grad()
        loss = functional.mse_loss(net(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).detach() * 2


def asked(net, optimizer, x, y):
    """A closure is the program's: it is told of a compiler, the optimiser is not."""
    told = []
    optimizer.zero_grad()
    functional.mse_loss(net(x), y).backward()
    optimizer.step()
    told.append(optimizer.param_groups[0]["lr"] * 2)
    return x * 1, told


def of(make, function=step, between=None, calls=4):
    return make, function, between, calls


def plain(kind=optim.SGD, **options):
    return lambda net: kind(net.parameters(), **{"lr": 0.1, **options})


def momentum(**options):
    return plain(momentum=0.9, **options)


def grouped(net):
    return optim.SGD([{"params": net[0].parameters()}, {"params": net[2].parameters(), "lr": 0.5, "weight_decay": 0.1}], lr=0.1, momentum=0.5)


def shared(net):
    return optim.SGD(net.parameters(), lr=0.1, momentum=0.9), optim.SGD(net[0].parameters(), lr=0.01, momentum=0.5)


def some(net):
    """A parameter of the network is none of the optimiser's, and one of the optimiser's is none of the network's."""
    return optim.SGD([*list(net.parameters())[1:], nn.Parameter(torch.ones(2))], lr=0.1, momentum=0.9)


def counting(net):
    optimizer = plain(momentum=0.9)(net)
    seen = optimizer.seen = []
    optimizer.register_step_pre_hook(lambda _, args, kwargs: seen.append("before"))
    optimizer.register_step_post_hook(lambda _, args, kwargs: seen.append("after"))
    return optimizer


class Own(optim.SGD):
    """An optimiser of the program."""

    def zero_grad(self, set_to_none=True):
        super().zero_grad(set_to_none)
        self.count = getattr(self, "count", 0) + 1

    def step(self, closure=None):
        self.param_groups[0]["lr"] *= 0.9
        return super().step(closure)


def own(net):
    return Own(net.parameters(), lr=0.1, momentum=0.5)


def within_backward(net):
    """Optimisers whose steps hooks of the parameters make."""
    inner = {parameter: optim.SGD([parameter], lr=0.01) for parameter in net.parameters()}
    for parameter in net.parameters():
        parameter.register_post_accumulate_grad_hook(lambda parameter: inner[parameter].step())
    return momentum()(net)


def slower(number, net, optimizer):
    optimizer.param_groups[0]["lr"] *= 0.5


def frozen(number, net, optimizer):
    net[0].weight.requires_grad_(number % 2 == 1)


def without(number, net, optimizer):
    net[2].bias.grad = None


def no_number(number, net, optimizer):
    if number == 1:
        with torch.no_grad():
            net[0].weight[0, 0] = float("nan")
            net[0].weight[1, 0] = float("inf")


def loaded(number, net, optimizer):
    optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))


def other_data(number, net, optimizer):
    net[0].weight.data = net[0].weight.data.clone() * 0.5


def other_state(number, net, optimizer):
    for state in optimizer.state.values():
        state["momentum_buffer"] = state["momentum_buffer"] * 2


def hooked_later(number, net, optimizer):
    if number == 1:
        net[0].weight.register_hook(lambda gradient: gradient * 2)


def emptied(number, net, optimizer):
    optimizer.state.clear()


def one_less(number, net, optimizer):
    optimizer.state.pop(net[0].weight, None)


def more(number, net, optimizer):
    if number == 1:
        net.append(nn.Linear(1, 1))
        optimizer.add_param_group({"params": net[3].parameters(), "lr": 0.3})


def other_settings(number, net, optimizer):
    optimizer.param_groups[0].update(momentum=0.5, weight_decay=0.1 * number, nesterov=number % 2 == 1)


ROWS = {
    "sgd": (of(plain()), 0),
    "momentum": (of(momentum()), 0),
    "nesterov": (of(momentum(nesterov=True, weight_decay=0.1)), 0),
    "maximize": (of(momentum(maximize=True)), 0),
    "foreach": (of(momentum(foreach=True)), 0),
    "fused": (of(momentum(fused=True)), None),
    "differentiable": (of(momentum(differentiable=True)), None),
    "rmsprop": (of(plain(optim.RMSprop, centered=True, momentum=0.5)), 0),
    "rmsprop, foreach": (of(plain(optim.RMSprop, foreach=True)), 0),
    "adam": (of(plain(optim.Adam)), 0),
    "adamw, amsgrad": (of(plain(optim.AdamW, amsgrad=True)), 0),
    "adam, foreach": (of(plain(optim.Adam, foreach=True)), None),
    "adam, fused": (of(plain(optim.Adam, fused=True)), None),
    "adam, capturable": (of(plain(optim.Adam, capturable=True)), None),
    "adam, rate is a tensor": (of(lambda net: optim.Adam(net.parameters(), lr=torch.tensor(0.1))), None),
    "adagrad": (of(plain(optim.Adagrad)), 0),
    "adagrad, fused": (of(plain(optim.Adagrad, fused=True)), 0),
    "sgd, fused": (of(plain(optim.SGD, momentum=0.9, fused=True)), 0),
    "sgd, rate is a tensor": (of(lambda net: optim.SGD(net.parameters(), lr=torch.tensor(0.1), momentum=0.5)), 0),
    "sgd, foreach, rate is a tensor": (of(lambda net: optim.SGD(net.parameters(), lr=torch.tensor(0.1), foreach=True)), 0),
    "sgd, rate decays": (of(lambda net: optim.SGD(net.parameters(), lr=torch.tensor(0.1)), decaying), 0),
    "adagrad, fused, epochs": (of(plain(optim.Adagrad, fused=True), epochs), None),
    "adamax": (of(plain(optim.Adamax)), 0),
    "adadelta": (of(plain(optim.Adadelta)), None),
    "nadam": (of(plain(optim.NAdam)), 0),
    "radam": (of(plain(optim.RAdam), calls=8), 0),
    "rprop": (of(plain(optim.Rprop)), None),
    "asgd": (of(plain(optim.ASGD)), None),
    "groups": (of(grouped), 0),
    "to zero": (of(momentum(), to_zero), None),
    "to zero, foreach": (of(momentum(foreach=True), to_zero), None),
    "cleared last": (of(momentum(), cleared_last), None),
    "clipped": (of(momentum(), clipped), 0),
    "clipped values": (of(momentum(), clipped_values), 0),
    "accumulated": (of(momentum(), accumulated), None),
    "epochs": (of(plain(), epochs), 0),
    "epochs, momentum": (of(momentum(), epochs), 0),
    "kept": (of(plain(), kept), 0),
    "taken in part": (of(plain(), taken_in_part), None),
    "batches": (of(plain(), batches), 0),
    "unused": (of(momentum(), unused), None),
    "two that share parameters": (of(shared, two), 0),
    "other parameters": (of(some), 0),
    "closure": (of(momentum(), closed), None),
    "settings are read": (of(momentum(), asked), None),
    "hooks": (of(counting), None),
    "of the program": (of(own), 0),
    "within backward": (of(within_backward), None),
    "other data": (of(momentum(), step, other_data), 0),
    "other state": (of(momentum(), step, other_state), 0),
    "hooked later": (of(momentum(), step, hooked_later), None),
    "slower": (of(momentum(), step, slower, 6), 0),
    "frozen": (of(momentum(), step, frozen), None),
    "without": (of(momentum(), step, without), None),
    "no number": (of(momentum(), step, no_number), 0),
    "no number, clipped": (of(momentum(), clipped, no_number), 0),
    "loaded": (of(momentum(), step, loaded), 0),
    "loaded, adam": (of(plain(optim.Adam), step, loaded), 0),
    "emptied": (of(momentum(), step, emptied), None),
    "one less": (of(momentum(), step, one_less), None),
    "more": (of(momentum(), step, more, 6), None),
    "other settings": (of(momentum(), step, other_settings, 6), None),
}


def course(row, compile):
    """What each call gives and leaves behind."""
    make, function, between, calls = row
    net = network()
    optimizer = make(net)
    x, y = data()
    function, course = compile(function), []
    for number in range(calls):
        course.append((value(function(net, optimizer, x, y)), left(net, optimizer), value(getattr(optimizer, "seen", None))))
        if between is not None:
            between(number, net, optimizer)
    return course


class UsesOfOptimizers(unittest.TestCase):
    def test_steps(self):
        for name, (row, breaks) in ROWS.items():
            with self.subTest(name):
                try:
                    plain = course(row, lambda function: function)
                except Exception as error:
                    with self.assertRaises(type(error)) as raised:
                        course(row, slotrt.compile)
                    self.assertEqual(str(raised.exception), str(error))
                    continue
                slotrt.reset()
                found = course(row, slotrt.compile)
                for number, (one, other) in enumerate(zip(found, plain)):
                    self.assertEqual(one, other, f"call {number}")
                if breaks is not None:
                    self.assertEqual(slotrt.stats()["graph_breaks"], breaks)

    def test_with_a_backend(self):
        """What an optimiser computes runs as it was recorded: the backend gets no step."""
        for kind in (optim.SGD, optim.Adam):
            row, got = of(plain(kind)), []

            def backend(graph, inputs):
                got.extend(str(node.target) for node in graph.graph.nodes)
                return graph

            slotrt.reset()
            self.assertEqual(course(row, lambda function: slotrt.compile(function, backend=backend)), course(row, lambda function: function))
            self.assertFalse([name for name in got if "add_" in name or "lerp" in name])

    def test_raises_in_the_middle(self):
        def course(function):
            net = network()
            optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
            x, y = data()
            course = []
            for number in range(4):
                try:
                    course.append(value(function(net, optimizer, x[: 2 + number % 2 * 2], y[: 2 + number % 2 * 2])))
                except ValueError as error:
                    course.append(str(error))
                course.append(left(net, optimizer))
            return course

        self.assertEqual(course(slotrt.compile(raising)), course(raising))

    def test_copies(self):
        """A copy of the network with a copy of the optimiser goes on by itself."""

        def course(function):
            net = network()
            optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
            x, y = data()
            for _ in range(3):
                function(net, optimizer, x, y)
            twin, other = copy.deepcopy((net, optimizer))
            for _ in range(2):
                function(twin, other, x, y)
            function(net, optimizer, x, y)
            return left(net, optimizer), left(twin, other)

        slotrt.reset()
        self.assertEqual(course(slotrt.compile(step)), course(step))
        self.assertEqual(slotrt.stats()["graphs"], 1)

    def test_many_parameters(self):
        """However many there are, the step is one graph, and guards are as many for each of them."""

        def clipped(net, optimizer, x):
            optimizer.zero_grad()
            loss = net(x).sum()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            return loss.detach() * 1

        def deep(layers):
            torch.manual_seed(0)
            net = nn.Sequential(*(nn.Linear(4, 4) for _ in range(layers)))
            return net, optim.SGD(net.parameters(), lr=0.1)

        x, guards = torch.ones(2, 4), []
        for layers in 20, 40, 80:
            (net, optimizer), (twin, other) = deep(layers), deep(layers)
            slotrt.reset()
            compiled = slotrt.compile(clipped)
            for _ in range(3):
                self.assertEqual(value(compiled(net, optimizer, x)), value(clipped(twin, other, x)))
            self.assertEqual(left(net, optimizer), left(twin, other))
            counted = "graphs", "graph_breaks", "frames_skipped", "repeated"
            self.assertEqual([slotrt.stats()[name] for name in counted], [1, 0, 0, 0])
            guards.append(slotrt.explain(clipped)(net, optimizer, x).guards)
        self.assertEqual(guards[2] - guards[1], 2 * (guards[1] - guards[0]))

    def test_rates_need_no_trace(self):
        """Schedules set rates: no trace holds for one alone. The step and the schedule break no graph."""

        def scheduled(net, optimizer, schedule, x, y):
            step(net, optimizer, x, y)
            schedule.step()
            return x * 2

        net = network()
        optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        slotrt.reset()
        function, traced = slotrt.compile(scheduled), []
        for _ in range(6):
            function(net, optimizer, schedule, *data())
            traced.append(slotrt.stats()["instructions"])
        self.assertEqual(len(set(traced[2:])), 1)
        self.assertEqual((slotrt.stats()["graphs"], slotrt.stats()["graph_breaks"]), (2, 0))


if __name__ == "__main__":
    unittest.main()
