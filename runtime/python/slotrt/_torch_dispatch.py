"""What stands for a tensor of a trace where PyTorch's own code says which operations a call consists of: each is handed to the trace."""

import functools

import torch
from torch.utils import _python_dispatch as dispatch


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


class Made(torch.autograd.Function):
    """Gives a tensor that gradients follow, and that is no leaf."""

    @staticmethod
    def forward(ctx, tensor, root):
        ctx.mark_dirty(tensor)
        return tensor

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


def stand_in(cls, value, shape, strides, dtype, device, is_leaf):
    """What stands for the value of this number: it has metadata and no contents. `is_leaf` of one that gradients do not follow is `None`."""
    options = {"strides": strides, "dtype": dtype, "device": device, "requires_grad": bool(is_leaf)}
    made = torch.Tensor._make_wrapper_subclass(cls, shape, **options)
    if is_leaf is False:
        with torch.enable_grad():
            Made.apply(made, torch.empty((), requires_grad=True))
        torch._C._autograd._unsafe_set_version_counter((made,), (0,))
    made._slotrt_value = value
    return made


def return_and_correct_aliasing(func, args, kwargs, out):
    """The same, where PyTorch binds all arguments to a signature to find one of them."""
    known = dispatch.get_alias_info(func)
    written = known.outs_write_aliases
    if known.is_inplace_view_op or written is not None and len(written) != 1:
        return _ORIGINAL(func, args, kwargs, out)
    if written is None:
        dispatch._correct_storage_aliasing(func, known, args, out if isinstance(out, tuple) else (out,))
        return out
    places = [(place, arg.name) for place, arg in enumerate(known.args) if written[0] in arg.alias_set]
    place, name = places[0]
    if len(places) != 1 or (place >= len(args) and name not in (kwargs or ())):
        return _ORIGINAL(func, args, kwargs, out)
    dispatch._correct_storage_aliasing(func, known, args, out if isinstance(out, tuple) else (out,))
    return args[place] if place < len(args) else kwargs[name]


_ORIGINAL = dispatch.return_and_correct_aliasing

IN_PLACE_OF = {_ORIGINAL: return_and_correct_aliasing}
