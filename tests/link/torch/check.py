"""A host in C++ compiles a function of tensors, gets its graph, and sees the tensors; its tables agree with PyTorch's own."""

import sys

sys.path.insert(0, sys.argv[1])
import torch
import torch_host
from torch._C._dynamo import get_type_slots


def layer(x, weight):
    y = torch.relu(x @ weight)
    return y.sum(dim=1) + 1


def variables(a, b=2):
    c = a, b
    return torch_host.code_of(), c


x, weight = torch.randn(3, 4), torch.randn(4, 5)
plain = layer(x, weight)
torch_host.start("layer")
compiled = [layer(x, weight) for _ in range(3)]
double = layer(x.double(), weight.double())
graphs, seen = torch_host.stop()
assert all(torch.equal(plain, result) for result in compiled)
assert double.dtype is torch.float64 and graphs == 2, (double.dtype, graphs)
assert "Double[3, 4]" in seen and "Double[4, 5]" in seen and "matmul" in seen and "relu" in seen, seen
torch_host.start("layer")
assert torch.equal(layer(x, weight), plain)
torch_host.stop()

types = [kind for kind in vars(__builtins__).values() if isinstance(kind, type)]
types += [torch.Tensor, torch.nn.Module, torch.Size, type(torch.float32), type(layer), type(sys)]
for kind in types:
    assert torch_host.masks(kind) == get_type_slots(kind), kind
assert variables(1)[0] == (variables.__code__, 3)

# This module holds a copy of the library; a wheel's copy is refused in words, and leaves it alone.
import slotrt

assert slotrt.__file__ is None or "libslotrt" in slotrt.__file__, slotrt.__file__
assert slotrt.compile(layer)(x, weight).equal(plain)
print(f"host in C++: {graphs} graphs, {len(types)} types, passed")
