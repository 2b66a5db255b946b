"""The modules of neural networks and the optimisers that PyTorch's own tests know, compiled: results, gradients and states are as uncompiled."""

import copy
import sys
import types
import unittest
import warnings

import slotrt
import torch
from torch.utils._pytree import tree_leaves, tree_map

# PyTorch's tests import it for what is not needed here.
expecttest = types.ModuleType("expecttest")
expecttest.TestCase = unittest.TestCase
sys.modules.setdefault("expecttest", expecttest)

# So many of the inputs that PyTorch's tests have for each module, and of the settings that they have for each optimiser.
INPUTS, SETTINGS = 2, 2
STEPS = 5


def tensors(values):
    return [value for value in tree_leaves(values) if isinstance(value, torch.Tensor)]


def shown(values):
    described = [(one.shape, one.stride() if one.layout == torch.strided else None, one.requires_grad, one) for one in tensors(values)]
    return repr([(*rest, one.tolist() if one.layout == torch.strided else one) for *rest, one in described])


def gradients(values):
    return shown([value.grad for value in tensors(values) if value.is_leaf and value.grad is not None])


def fresh(arguments):
    return tree_map(lambda one: copy.deepcopy(one) if not isinstance(one, torch.Tensor) or one.is_leaf else one, arguments)


def calls(module, arguments, use):
    """What two calls of a module give, and what they leave."""
    seen = []
    for _ in range(2):
        torch.manual_seed(1)
        args, kwargs = fresh((arguments.args, arguments.kwargs))
        try:
            given = use(*args, **kwargs)
            needed = [one.abs().sum() for one in tensors(given) if one.requires_grad]
            if needed:
                sum(needed).backward()
            outcome = shown(given)
        except Exception as error:
            outcome = type(error), str(error)
        left = [shown((args, kwargs)), gradients((args, kwargs)), gradients(list(module.parameters())), shown(list(module.buffers()))]
        seen.append((outcome, left, torch.get_rng_state().sum().item()))
    return seen


def steps(info, settings, compiled):
    """What a step of training gives, and the weights and the optimiser's state after each of some."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    weights = [weight for weight in module.parameters() if info.optim_cls.__name__ != "Muon" or weight.dim() == 2]
    optimiser, inputs = info.optim_cls(weights, **settings), torch.randn(4, 3)

    def loss():
        optimiser.zero_grad()
        computed = module(inputs).square().sum()
        computed.backward()
        return computed

    def step():
        if info.step_requires_closure:
            return optimiser.step(loss)
        computed = loss()
        optimiser.step()
        return computed

    use, seen = slotrt.compile(step) if compiled else step, []
    for index in range(STEPS):
        if index == 2:
            optimiser.param_groups[0]["lr"] *= 0.5
        try:
            given = use()
        except Exception as error:
            given = type(error), str(error)
        seen.append((repr(given), shown(weights), shown([list(state.values()) for state in optimiser.state.values()])))
    return seen


class KindsOfModules(unittest.TestCase):
    def test_modules(self):
        from torch.testing._internal.common_modules import module_db

        compared = 0
        for info in module_db:
            for training in (True, False) if torch.float32 in info.dtypes else ():
                inputs = info.module_inputs_func(info, "cpu", torch.float32, True, training)
                for index, sample in enumerate([one for one in inputs if one.forward_input is not None][:INPUTS]):
                    with self.subTest(info.name, training=training, index=index), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        made = sample.constructor_input
                        outcomes = []
                        for compiled in (False, False, True):
                            slotrt.reset()
                            torch.manual_seed(0)
                            module = info.module_cls(*made.args, **made.kwargs).train(training)
                            use = slotrt.compile(module) if compiled else module
                            outcomes.append(calls(module, sample.forward_input, use))
                        # Some differ from themselves.
                        if outcomes[0] == outcomes[1]:
                            compared += 1
                            self.assertEqual(outcomes[2], outcomes[1])
        self.assertGreater(compared, 300)

    def test_optimisers(self):
        from torch.testing._internal.common_optimizers import optim_db

        for info in optim_db:
            for index, sample in enumerate(info.optim_inputs_func("cpu")[:SETTINGS]):
                for way in ({}, {"foreach": True}, {"fused": True}):
                    if way and next(iter(way)) not in info.supported_impls:
                        continue
                    with self.subTest(info.optim_cls.__name__, index=index, **way), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        settings = {**sample.kwargs, **way}
                        slotrt.reset()
                        self.assertEqual(steps(info, settings, True), steps(info, settings, False))
                        self.assertLessEqual(slotrt.stats()["graph_breaks"], 2)


if __name__ == "__main__":
    unittest.main()
