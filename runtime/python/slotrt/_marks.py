"""Marks on tensors: which sizes are symbolic from the first trace on, and which never are.

The marks are those of `torch._dynamo`: a tensor that is marked for one compiler is marked for the other.
"""


class _Range:
    """What the size of a dimension is at least and at most; `None`: no bound."""

    __slots__ = ("dim", "max", "min")

    def __init__(self, dim, min, max):
        self.dim, self.min, self.max = dim, min, max


def _indices(tensor, index):
    """The dimensions that `index` names, counted from the front."""
    if not callable(getattr(tensor, "dim", None)):
        raise TypeError(f"sizes of a tensor are marked, not of {type(tensor).__name__}")
    count = tensor.dim()
    for one in index if isinstance(index, (list, tuple)) else (index,):
        if isinstance(one, bool) or not isinstance(one, int):
            raise TypeError(f"a dimension is an int, not {type(one).__name__}")
        if not -count <= one < count:
            raise IndexError(f"dimension {one} of a tensor that has {count}")
        yield one % count


def _marked(tensor, name):
    """The set of marks of this kind, made where there is none."""
    marks = getattr(tensor, name, None)
    if marks is None:
        marks = set()
        setattr(tensor, name, marks)
    return marks


def _refuse(tensor, dim, names, what):
    for name in names:
        if dim in (getattr(tensor, name, None) or ()):
            raise ValueError(f"dimension {dim} is marked as {what} already")


def mark_dynamic(tensor, index, *, min=None, max=None):
    """Marks sizes of a tensor as symbolic: traces serve all sizes from `min` to `max`, but 0 and 1, from the first one on.

    index     a dimension, or several; negative ones count from the end.
    min, max  what the size is at least and at most. Another size is another trace.
    """
    for name, bound in (("min", min), ("max", max)):
        if bound is not None and (isinstance(bound, bool) or not hasattr(type(bound), "__index__")):
            raise TypeError(f"{name} is an int or None, not {type(bound).__name__}")
    if min is not None and max is not None and min > max:
        raise ValueError(f"min={min} is greater than max={max}")
    for dim in _indices(tensor, index):
        _refuse(tensor, dim, ["_dynamo_static_indices"], "static")
        _marked(tensor, "_dynamo_dynamic_indices").add(dim)
        ranges = _marked(tensor, "_dynamo_dynamic_range")
        for known in [known for known in ranges if known.dim == dim]:
            ranges.discard(known)
        if min is not None or max is not None:
            ranges.add(_Range(dim, min, max))


def maybe_mark_dynamic(tensor, index):
    """Marks sizes of a tensor as symbolic where that is possible."""
    for dim in _indices(tensor, index):
        _refuse(tensor, dim, ["_dynamo_static_indices"], "static")
        _marked(tensor, "_dynamo_weak_dynamic_indices").add(dim)


def mark_static(tensor, index=None):
    """Marks sizes of a tensor as constants, whatever later calls bring: another size is another trace. Without `index`, all sizes."""
    everything = index is None and callable(getattr(tensor, "dim", None))
    for dim in _indices(tensor, tuple(range(tensor.dim())) if everything else index):
        _refuse(tensor, dim, ["_dynamo_dynamic_indices", "_dynamo_weak_dynamic_indices"], "dynamic")
        _marked(tensor, "_dynamo_static_indices").add(dim)
