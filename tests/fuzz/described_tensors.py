"""Describes tensors and the state of PyTorch as plain data: contents, strides, storages that are shared, gradients, modes, random state."""

import hashlib

import torch


def is_tensor(value):
    return isinstance(value, torch.Tensor)


def parts(describer, value, depth):
    """What a tensor is and holds; which part of which storage."""
    try:
        inference = value.is_inference()
        made = [str(value.dtype), list(value.shape), str(value.layout), value.requires_grad, value.is_leaf, inference, value._is_view()]
    except RuntimeError as error:  # of a view whose base has been changed in a way that views do not survive
        return [f"{type(error).__name__}: {error}"]
    made.append(type(value.grad_fn).__name__)
    made.append(version(value))
    if value.layout is torch.strided:
        made += [list(value.stride()), value.storage_offset(), *storage(describer, value)]
    made.append(contents(value))
    grad = value.grad if value.is_leaf or value.retains_grad else None
    made.append(describer.of(grad, depth))
    return made + describer.attributes(value, depth)


def version(value):
    """How often it was changed; parameters keep from inference that nothing counts it."""
    try:
        return value._version
    except RuntimeError as error:
        return str(error)


def storage(describer, value):
    """Which storage it is, by the order in which they were seen, and its size."""
    held = value.untyped_storage()
    key = "storage", held.data_ptr() if held.nbytes() else held._cdata
    if key not in describer.seen:
        describer.seen[key] = len(describer.seen)
        describer.held.append(held)
    return describer.seen[key], held.nbytes()


def contents(value):
    """The numbers, with the signs of zeros and nan."""
    try:
        with torch.no_grad():
            return repr(value.detach().resolve_conj().resolve_neg().tolist())[:3000]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def start():
    """Sets the state of PyTorch to what it is when it was imported."""
    torch.set_grad_enabled(True)
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float32)
    torch.utils.hooks.RemovableHandle.next_id = 0


def state():
    """Modes of the thread, and the random state."""
    modes = [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"), torch.is_autocast_cache_enabled()]
    modes += [torch.is_anomaly_enabled(), str(torch.get_default_dtype()), torch._C._len_torch_function_stack()]
    modes += [torch._C._autograd._saved_tensors_hooks_is_enabled(), torch._C._autograd._top_saved_tensors_default_hooks(True) is None, torch.autocast_increment_nesting()]
    torch.autocast_decrement_nesting()
    return modes + [hashlib.md5(torch.get_rng_state().numpy().tobytes()).hexdigest()]
