"""What stands for PyTorch's own objects while a trace goes through functions that PyTorch calls."""


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
