"""Graphs that run as they were recorded, for AOTAutograd does not do what PyTorch does. It goes back through a graph when it compiles that, and
raises then what the program may handle, or never comes to. Where two inputs share memory, and the graph changes that, it gives one view of
an input in the place of another."""

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
    # Graphs of arrays are there without PyTorch.
    refusal = _refusal(module, inputs) if hasattr(module, "graph") else None
    return refusal is not None and any(type(error) is type(refusal) and _kind(error) == _kind(refusal) for error in _chain(raised))


def mistakes_views(module, inputs):
    """Whether `module` gives views of inputs that share memory with others, and changes it."""
    import torch

    # No class is to hear of the question.
    with torch._C.DisableTorchFunction():
        shared = _shared(inputs)
    if not shared:
        return False
    with _unheard(inputs) as mode, torch.no_grad():
        try:
            # The backend gets the inputs as they are.
            given = [fake.detach() if isinstance(fake, torch.Tensor) else fake for fake in (_fake(mode, value) for value in inputs)]
            before = [given[place]._version for place in shared]
            results = module(*given)
        except Exception:
            return False
        changed = {_memory(given[place]) for place, version in zip(shared, before, strict=True) if given[place]._version != version}
        views = (result for result in results if not any(result is one for one in given))
        return any(isinstance(result, torch.Tensor) and _memory(result) in changed for result in views)


def _shared(inputs):
    """The places of inputs that share memory with others."""
    import torch

    places = {}
    for place, value in enumerate(inputs):
        if isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_inference():
            places.setdefault(_memory(value), []).append(place)
    return [place for together in places.values() if len(together) > 1 for place in together]


def _memory(tensor):
    return tensor.untyped_storage()._cdata


@contextlib.contextmanager
def _unheard(inputs):
    """A mode for tensors without contents like the inputs, in which no class and no mode of the program's is to hear of anything."""
    import torch
    from torch._guards import detect_fake_mode
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = detect_fake_mode(inputs) or FakeTensorMode(allow_non_fake_inputs=True)
    with torch.random.fork_rng(devices=[]), torch._C.DisableTorchFunction(), mode:
        yield mode


def _refusal(module, inputs):
    """What PyTorch raises where gradients go back from all that `module` gives; `None`: nothing."""
    import torch
    from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

    if not torch.is_grad_enabled():
        return None
    with _unheard(inputs) as mode:
        try:
            leaves = [_leaf(mode, value) for value in inputs]
            ends = list(_followed(leaves))
            # It may change what comes in.
            given = [leaf.clone() if isinstance(leaf, torch.Tensor) and leaf.requires_grad else leaf for leaf in leaves]
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

    fake = _fake(mode, value)
    return fake.detach().requires_grad_(fake.requires_grad) if isinstance(fake, torch.Tensor) else fake


def _fake(mode, value):
    """A tensor without contents like an input; views of one stay such."""
    import torch

    return mode.from_tensor(value, static_shapes=True) if isinstance(value, torch.Tensor) and not hasattr(value, "fake_mode") else value


def _followed(values):
    import torch

    return (value for value in values if isinstance(value, torch.Tensor) and value.requires_grad)
