"""What stands for functions of PyTorch's optimisers while a trace goes through them: they do the same, and ask less of what they find."""

import torch

from torch.optim import Optimizer
from torch.utils import _foreach_utils


def _zero_grad(self, set_to_none=True):
    """`Optimizer.zero_grad`. No gradient is asked whether it is there only to be taken away, where no class hears it."""
    if not hasattr(self, "_zero_grad_profile_name"):
        self._patch_step_function()
    with torch.autograd.profiler.record_function(self._zero_grad_profile_name):
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none and not torch._C._has_torch_function((parameter,)):
                    parameter.grad = None
                elif parameter.grad is None:
                    continue
                elif set_to_none:
                    parameter.grad = None
                else:
                    _set_to_zero(parameter)


def _set_to_zero(parameter):
    if parameter.grad.grad_fn is None:
        parameter.grad.requires_grad_(False)
    else:
        parameter.grad.detach_()
    parameter.grad.zero_()


def _fits(tensor, first):
    """Whether `_group_tensors_by_device_and_dtype` takes a tensor beside another one: counts of steps may be other numbers."""
    counts = torch.float32, torch.float64
    return tensor is None or tensor.device == first.device and (tensor.dtype == first.dtype or tensor.dtype in counts)


def _group_tensors(tensorlistlist, with_indices=False):
    """`_group_tensors_by_device_and_dtype`, where there is one group, and no class and no mode hears that it is looked for."""
    if any(map(torch._C._has_torch_function, tensorlistlist)):
        return torch._C._group_tensors_by_device_and_dtype(tensorlistlist, with_indices)
    first, *others = tensorlistlist
    kinds = {(tensor.device, tensor.dtype) for tensor in first}
    are_alike = all(len(tensors) in (0, len(first)) and all(_fits(tensor, first[0]) for tensor in tensors) for tensors in others)
    if len(kinds) != 1 or not are_alike:
        return torch._C._group_tensors_by_device_and_dtype(tensorlistlist, with_indices)
    indices = list(range(len(first))) if with_indices else []
    return {kinds.pop(): ([list(tensors) for tensors in tensorlistlist], indices)}


IN_PLACE_OF = {
    # PyTorch keeps its compiler from it.
    getattr(Optimizer.zero_grad, "__wrapped__", Optimizer.zero_grad): _zero_grad,
    _foreach_utils._group_tensors_by_device_and_dtype: _group_tensors,
}
