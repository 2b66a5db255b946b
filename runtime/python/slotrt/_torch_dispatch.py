"""What stands for a tensor of a trace where PyTorch's own code says which operations a call consists of: each is handed to the trace."""

import functools

import torch


@functools.cache
def stand_in_class(answer):
    """The class of what stands for tensors; `answer` gets the operations."""

    class First(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl
        __torch_dispatch__ = classmethod(lambda cls, function, types, args=(), kwargs=None: args[0])

    # PyTorch imports parts of itself where a class gets its first operation.
    torch.Tensor._make_wrapper_subclass(First, ()).add(1)

    class StandIn(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl
        __torch_dispatch__ = classmethod(answer)

    return StandIn


def stand_in(cls, value, shape, strides, dtype, device):
    """What stands for the value of this number: it has metadata and no contents."""
    made = torch.Tensor._make_wrapper_subclass(cls, shape, strides=strides, dtype=dtype, device=device)
    made._slotrt_value = value
    return made
