"""Graphs that PyTorch itself refuses to go back through. AOTAutograd goes back when it compiles, and raises then what the program may handle, or
never comes to: such a graph runs as it was recorded."""

import contextlib
import re

from ._issued_warnings import filters as get_filters


@contextlib.contextmanager
def unwarned():
    """AOTAutograd looks for anomalies where it goes back: what it raises then, a warning says, too. Filters that the module is not told of show
    nothing again that was shown."""
    said = "ignore", re.compile("Error detected in "), UserWarning, None, 0
    filters = get_filters()
    filters.insert(0, said)
    try:
        yield
    finally:
        at = next((at for at, entry in enumerate(filters) if entry is said), None)
        if at is not None:
            del filters[at]


def is_refused_back(module, inputs, raised):
    """Whether a backend has raised what PyTorch raises where gradients go back through `module`, of inputs like these."""
    refusal = _refusal(module, inputs)
    return refusal is not None and any(type(error) is type(refusal) and _kind(error) == _kind(refusal) for error in _chain(raised))


def _refusal(module, inputs):
    """What PyTorch raises where gradients go back from all that `module` gives; `None`: nothing."""
    import torch
    from torch._guards import detect_fake_mode
    from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode

    if not hasattr(module, "graph") or not torch.is_grad_enabled():
        return None
    mode = detect_fake_mode(inputs) or FakeTensorMode(allow_non_fake_inputs=True)
    # No class, and no mode of the program's, is to hear of it.
    with torch.random.fork_rng(devices=[]), torch._C.DisableTorchFunction(), mode:
        try:
            leaves = [_leaf(mode, value) for value in inputs]
            ends = list(_followed(leaves))
            # It may change what comes in.
            given = [leaf.clone() if any(leaf is end for end in ends) else leaf for leaf in leaves]
            starts = [*_followed(module(*given)), *_followed(given)]
            weights = [torch.ones_like(start) for start in starts]
        except Exception:
            return None
        try:
            if ends:
                torch.autograd.grad(starts, ends, weights, allow_unused=True)
        except Exception as error:
            return None if isinstance(error, (DataDependentOutputException, DynamicOutputShapeException)) else error
    return None


def _chain(error):
    """The exception, and those that led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _kind(error):
    """What it says, without the tensor of which it says so."""
    return str(error).partition(":")[0]


def _leaf(mode, value):
    """A leaf without contents like an input."""
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    fake = value if hasattr(value, "fake_mode") else mode.from_tensor(value, static_shapes=True)
    return fake.detach().requires_grad_(fake.requires_grad)


def _followed(values):
    import torch

    return (value for value in values if isinstance(value, torch.Tensor) and value.requires_grad)
