"""Steps of training, and what they leave behind, for tests of several rooms."""

import torch

from torch import nn
from torch.nn import functional


def network(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))


def data():
    return torch.arange(12.0).reshape(4, 3) / 8, torch.arange(4.0).reshape(4, 1) / 4


def value(found):
    """A comparable form of what a call gives or leaves behind."""
    if isinstance(found, torch.Tensor):
        return type(found), found.dtype, found.requires_grad, found.is_leaf, repr(found.tolist())
    if isinstance(found, dict):
        return type(found), [(value(key) if isinstance(key, torch.Tensor) else key, value(held)) for key, held in found.items()]
    if isinstance(found, (list, tuple)):
        return type(found), [value(part) for part in found]
    return found if isinstance(found, (int, float, str, type(None))) else type(found)


def left(net, optimizer):
    """What a step can change; also which gradients are the same objects."""
    optimizers = optimizer if isinstance(optimizer, tuple) else (optimizer,)
    grads = [parameter.grad for parameter in net.parameters()]
    states = [(value(one.state_dict()), value(dict(one.state))) for one in optimizers]
    return value(list(net.parameters())), value(grads), states


def step(net, optimizer, x, y):
    optimizer.zero_grad()
    loss = functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach() * 1
