"""What stands for PyTorch's own objects while a trace goes through functions that PyTorch calls."""

import contextlib
import sys

from torch.autograd import function as _function


class Context:
    """The `ctx` of a `torch.autograd.Function` while its `forward` is traced."""

    def __init__(self, needs_input_grad):
        self.needs_input_grad = needs_input_grad

    def save_for_backward(self, *tensors):
        self.saved_tensors = self.to_save = tensors

    def save_for_forward(self, *tensors):
        self.saved_for_forward = tensors

    def mark_non_differentiable(self, *tensors):
        self.non_differentiable = tensors

    def set_materialize_grads(self, value):
        self.materialize_grads = value


def put_back_devices(device, count):
    """Where a graph stops that has begun or ended modes of this device: ``count`` were active before."""
    from torch import _C

    while _C._len_torch_function_stack() > count:
        _C._pop_torch_function_stack()
    while _C._len_torch_function_stack() < count:
        device.__enter__()


def begin_device(device):
    """`device.__enter__()`."""
    return device.__enter__()


def end_device(device):
    """`device.__exit__(…)`."""
    return device.__exit__(None, None, None)


def determinism():
    """What `torch.use_deterministic_algorithms` sets."""
    import torch
    from torch._inductor import config

    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled(), config.deterministic


def put_back_determinism(before):
    """Sets it to what `determinism` told."""
    from torch import _C
    from torch._inductor import config

    enabled, warn_only, config.deterministic = before
    _C._set_deterministic_algorithms(enabled, warn_only=warn_only)


def _number():
    """The number of a class. The trace takes one; compiled code makes no such class, or uses that of the trace."""
    return next(_function.AUTOGRAD_FUNCTION_COUNTER)


_number._dynamo_marked_constant = True


def _begin_class(cls, name, bases, attrs):
    """`FunctionMeta.__init__`."""
    cls._backward_cls = type(name + "Backward", (_function.BackwardCFunction,), {"_forward_cls": cls})
    cls._backward_cls._autograd_function_id = _number()
    super(_function.FunctionMeta, cls).__init__(name, bases, attrs)


def _nothing_noted(self):
    """Tells TorchDynamo alone which module runs, by an attribute of the class."""
    return contextlib.nullcontext()


def _table():
    """By function."""
    table = {_function.FunctionMeta.__init__: _begin_class}
    distributed = sys.modules.get("torch.nn.parallel.distributed")
    noted = vars(getattr(distributed, "DistributedDataParallel", object)).get("_inside_ddp_forward")
    return table if noted is None else {**table, noted: _nothing_noted}


IN_PLACE_OF = _table()
