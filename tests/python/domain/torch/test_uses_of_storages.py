"""The memory of tensors (`untyped_storage()`): where it begins, how long it is, and the object itself.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn

KEPT = []
MATRIX = torch.arange(1.0, 13.0).reshape(4, 3)


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


def tied(step):
    """A use of `step(network, x)`, two of whose parameters are one."""

    def use():
        net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        net[1].weight = net[0].weight
        return (lambda x: step(net, x)), lambda number: [matrix()], [net]

    return use


def shared_names(net, x):
    seen = {}
    for name, parameter in net.named_parameters(remove_duplicate=False):
        seen.setdefault(parameter.untyped_storage().data_ptr(), []).append(name)
    return net(x) * len(seen), list(seen.values())


def shared_in_state(net, x):
    seen = {}
    for name, held in net.state_dict().items():
        seen.setdefault((held.untyped_storage().data_ptr(), held.untyped_storage().size()), []).append(name)
    return net(x), [names for names in seen.values() if len(names) > 1]


def bytes_once(net, x):
    known = {parameter.untyped_storage().data_ptr(): parameter.untyped_storage().nbytes() for parameter in net.parameters()}
    return net(x) * len(known), sum(known.values())


def all_bytes(net, x):
    return net(x), sum(parameter.untyped_storage().nbytes() for parameter in net.parameters())


def by_object(net, x):
    seen = {parameter.untyped_storage(): parameter for parameter in net.parameters()}
    return net(x) * len(seen)


def trained(net, x):
    bytes = net[0].weight.untyped_storage().nbytes()
    net.zero_grad()
    net(x).sum().backward()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter -= 0.1 * parameter.grad
    return bytes


def compared(x):
    view, copy = x.view(-1), x.clone()
    first = x.untyped_storage().data_ptr()
    return first == view.untyped_storage().data_ptr(), first == copy.untyped_storage().data_ptr(), copy + 1


def of_a_view(x):
    row = (x * 2)[1]
    memory = row.untyped_storage()
    return memory.nbytes(), row.data_ptr() - memory.data_ptr(), row + 1


def same(x):
    return x.untyped_storage() is x.untyped_storage(), x.untyped_storage() is (x * 2).untyped_storage(), x[0].untyped_storage() is x.untyped_storage(), x + 1


def equal(x):
    return x.untyped_storage() == x.untyped_storage(), x + 1


def looked_at(x):
    y = x * 2
    memory = y.untyped_storage()
    return y + 1, memory.nbytes(), len(memory), type(memory).__name__, isinstance(memory, torch.UntypedStorage), memory.device


def listed(x):
    y = x * 2
    return y.untyped_storage().tolist()[:8], y


def kept(x):
    y = x * 2
    KEPT.append(y.untyped_storage())
    return y + 1, KEPT.pop().nbytes()


def given_back(x):
    y = x * 2
    memory = y.untyped_storage()
    return y.data_ptr() == memory.data_ptr(), [memory].pop().nbytes()


def changed(x):
    bytes = x.untyped_storage().nbytes()
    x.add_(1)
    return x * bytes


def in_other_memory(x):
    first = x.untyped_storage().data_ptr()
    x.data = x.data * 2
    return x.untyped_storage().data_ptr() == first, x * 2


def object_of_other_memory(x):
    memory = x.untyped_storage()
    first = x.data_ptr()
    x.data = x.data * 2
    KEPT.append(memory)
    return KEPT.pop().data_ptr() == first, x * 2


def grouped(x, y):
    seen = {}
    for tensor in (x, y):
        seen.setdefault(tensor.untyped_storage().data_ptr(), []).append(tensor)
    return sum(group[0].sum() for group in seen.values()), len(seen)


def refused(x):
    try:
        x.untyped_storage(1)
    except TypeError:
        return x + 1


ROWS = [
    (tied(shared_names), 0),
    (tied(shared_in_state), 0),
    (tied(bytes_once), 0),
    (tied(all_bytes), 0),
    (tied(by_object), None),
    (tied(trained), None),
    (of(compared), 0),
    (of(of_a_view), 0),
    (of(same), None),
    (of(equal), None),
    (of(looked_at), None),
    (of(listed), None),
    (of(kept), None),
    (of(given_back), None),
    (of(changed), 0),
    (of(in_other_memory), 0),
    (of(object_of_other_memory), None),
    (of(grouped, matrix, matrix), None),
    (of(grouped, lambda: MATRIX, lambda: MATRIX), 0),
    (of(grouped, lambda: MATRIX, lambda: MATRIX[2:]), None),
    (of(refused), None),
]


class UsesOfStorages(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_in_other_places(self):
        """Guards ask where memory begins, and how long it is."""

        def f(x):
            return {x.untyped_storage().data_ptr(): 1}.get(x.data_ptr()), {x.untyped_storage().nbytes(): 2}.get(24), x * 2

        compiled = slotrt.compile(f)
        base = torch.arange(12.0)
        for x in (base[:6], base[6:], base, torch.arange(6.0), base[:6].clone(), base[:6]):
            found, plain = compiled(x), f(x)
            self.assertEqual(found[:2], plain[:2])
            self.assertTrue(found[2].equal(plain[2]))


if __name__ == "__main__":
    unittest.main()
