"""What a backend relies on of the inputs of a part of a graph. It compiles the part for the sizes of the first inputs; where these differ at a
later call, for all others, with symbols for the sizes and integers that have differed."""

from ._symbols import plan

# How many compilations of a part are kept, and how many are made: after that it runs as recorded.
_KEPT = 16
_MADE = 64


class Kinds:
    """The compilations of one part. `compiled(values, sizes)` makes one for inputs like these, and says on what it relies beside their kind:
    names of sizes with a function of them, or `None`."""

    def __init__(self, compiled):
        self._compiled, self._known, self._first, self._made = compiled, {}, {}, 0

    def find(self, inputs):
        """What runs for inputs of this kind; `None`: the part runs as recorded."""
        import torch

        # No class of an input is to hear of the questions.
        with torch._C.DisableTorchFunction():
            found = self._kind(inputs)
        if found is None:
            return None
        kind, numbers, open_places = found
        for names, holds, run in self._known.get(kind, ()):
            if holds is None or holds([numbers[place][dim] for place, dim in names]):
                return run
        return self._make(kind, inputs, numbers, open_places)

    def _kind(self, inputs):
        """The kind of the inputs, their sizes and integers, and which of these are symbols; `None`: no more kinds are compiled."""
        rest = tuple(map(_rest, inputs))
        numbers = [tuple(value.shape) if sized else (value,) if whole else () for value, (sized, whole) in _sorts(inputs)]
        if rest not in self._first and self._made >= _MADE:
            return None
        first, differing = self._first.setdefault(rest, (numbers, set()))
        for place, (one, other) in enumerate(zip(first, numbers, strict=True)):
            differing.update((place, dim) for dim, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        # Operations treat sizes of zero and one in a way of their own.
        open_places = differing if all(numbers[place][dim] >= 2 for place, dim in differing) else ()
        known = [tuple(None if (place, dim) in open_places else n for dim, n in enumerate(of)) for place, of in enumerate(numbers)]
        lie = [_strides(value, bool(open_places)) if sized else None for value, (sized, _) in _sorts(inputs)]
        return (rest, tuple(known), tuple(lie)), numbers, open_places

    def _make(self, kind, inputs, numbers, open_places):
        if self._made >= _MADE:
            return None
        self._made += 1
        if len(self._known) >= _KEPT and kind not in self._known:
            del self._known[next(iter(self._known))]
        sizes, names = None, {f"n{place}_{dim}": (place, dim) for place, dim in open_places}
        if names:
            of_place = {where: name for name, where in names.items()}
            sizes = [[of_place.get((place, dim), n) for dim, n in enumerate(of)] for place, of in enumerate(numbers)]
            sizes = [of if any(type(n) is str for n in of) else None for of in sizes]
        run, conditions = self._compiled(inputs, sizes)
        holds, asked = conditions or (None, ())
        self._known.setdefault(kind, []).append(([names[name] for name in asked], holds, run))
        return run


def _sorts(inputs):
    """The inputs, and of each whether it has sizes, and whether it is an integer that may have a symbol."""
    import torch

    for value in inputs:
        is_sized = isinstance(value, torch.Tensor) and value.layout == torch.strided and not value.is_quantized
        yield value, (is_sized, type(value) is int)


def _strides(value, planned):
    return tuple(plan(value)) if planned else value.stride()


def _rest(value):
    """What a backend may rely on of an input beside sizes and integers."""
    import torch

    if not isinstance(value, torch.Tensor):
        # Zeros with and without a sign are equal.
        return type(value), repr(value) if isinstance(value, (bool, float, complex)) else None
    if value.layout != torch.strided or value.is_quantized:
        return type(value), value.layout, value.dtype
    kind = type(value), value.dtype, value.device, value.dim(), value.requires_grad
    return (*kind, value.is_leaf, value.is_conj(), value.is_neg(), value.is_inference())
