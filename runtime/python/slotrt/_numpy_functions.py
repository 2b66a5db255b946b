"""What a trace goes through in place of functions of numpy's that take objects of other libraries."""

import warnings

import numpy


class _Plain:
    """Has the method by which numpy makes an array of it, as it was before numpy asked for copies."""

    def __array__(self, dtype=None):
        return numpy.zeros(1)


def _complaint():
    """What numpy warns of where such an object is to be copied; `None`: it does not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        numpy.array(_Plain())
    return (caught[0].category, str(caught[0].message)) if caught else None


_COMPLAINT = _complaint()


def array_of(value):
    """`numpy.array(value)` of an object with such a method."""
    if _COMPLAINT is not None:
        warnings.warn(_COMPLAINT[1], _COMPLAINT[0], stacklevel=2)
    return numpy.array(value.__array__())
