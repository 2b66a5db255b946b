"""Hooks on modules that a trace adds and removes. One that is still there when the trace ends was added natively: numbers of handles come
from a counter that each call takes another one from. Compiled code advances that after the graph."""

import itertools

import slotrt
import torch

from torch.utils.hooks import RemovableHandle

_MODULE = torch.nn.Module


def put_back_next(number):
    """The next handle has this number."""
    RemovableHandle.next_id = number


def _describe_next():
    return (put_back_next, (RemovableHandle.next_id,)), None, ()


def take_next():
    """As many numbers of handles are taken as PyTorch takes for one hook."""
    RemovableHandle.next_id += 1


take_next._slotrt_mode = _describe_next
take_next._slotrt_follows = True


def _number():
    """A number that no handle of PyTorch's has. The trace takes one; compiled code adds no hook."""
    return next(_NUMBERS)


_number._dynamo_marked_constant = True
_NUMBERS = itertools.count(-1, -1)


class _Number(int):
    """The key of a hook."""

    _slotrt_within = True


class _Handle:
    """What removes a hook."""

    _slotrt_within = True

    def __init__(self, number, hooks, options):
        self._number, self._hooks, self._options = number, hooks, options

    @property
    def id(self):
        slotrt.graph_break()
        return self._number

    def remove(self):
        for hooks in (self._hooks, *self._options):
            if self._number in hooks:
                del hooks[self._number]

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.remove()


def _add(hooks, hook, prepend, options):
    """Adds a hook to some, and its number where `options`, pairs of dicts and whether, say so."""
    number = _Number(_number())
    take_next()
    hooks[number] = hook
    for chosen, is_chosen in options:
        if is_chosen:
            chosen[number] = True
    if prepend:
        hooks.move_to_end(number, last=False)
    return _Handle(number, hooks, [chosen for chosen, _ in options])


def _add_forward(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
    """`Module.register_forward_hook`."""
    options = [(self._forward_hooks_with_kwargs, with_kwargs), (self._forward_hooks_always_called, always_call)]
    return _add(self._forward_hooks, hook, prepend, options)


def _add_before_forward(self, hook, *, prepend=False, with_kwargs=False):
    """`Module.register_forward_pre_hook`."""
    return _add(self._forward_pre_hooks, hook, prepend, [(self._forward_pre_hooks_with_kwargs, with_kwargs)])


def _begin(self):
    """`RemovableHandle.__enter__`."""
    return self


def _end(self, type, value, tb):
    """`RemovableHandle.__exit__`."""
    self.remove()


IN_PLACE_OF = {
    RemovableHandle.__enter__: _begin,
    RemovableHandle.__exit__: _end,
    _MODULE.register_forward_hook: _add_forward,
    _MODULE.register_forward_pre_hook: _add_before_forward,
}
