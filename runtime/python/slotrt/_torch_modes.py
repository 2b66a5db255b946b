"""Modes that PyTorch begins and ends by context managers of C, as functions that a graph calls.

A function with the attribute ``_slotrt_mode`` sets a mode. Called with the function's arguments, before it, that gives the call that
undoes it, the call that restores what is in force now wherever a graph stops, and the calls that read the mode."""

import itertools
import threading

import torch

from torch import overrides
from torch.autograd import grad_mode

from ._callables import disabled


class _Entered(threading.local):
    """The contexts of inference mode that graphs have entered in this thread."""

    def __init__(self):
        self.contexts = []


_entered = _Entered()
_INFERENCE = (torch.is_inference_mode_enabled, ()), (torch.is_grad_enabled, ()), (torch._C._is_fwd_grad_enabled, ())


def _sets(describe):
    def mark(function):
        function._slotrt_mode = describe
        return function

    return mark


def _modes():
    modes = tuple(mode for mode, _ in _entered.contexts)
    return modes, torch.is_grad_enabled(), torch._C._is_fwd_grad_enabled()


def put_back_inference(modes, grad, forward):
    """Makes these inference modes, the outermost first, those that graphs have entered: ends others, and begins what was ended.

    What it sets besides is put back, too: a graph may have stopped before it began the mode, and what it sets within be put back first."""
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip((mode for mode, _ in _entered.contexts), modes))
    same = sum(1 for _ in pairs)
    while len(_entered.contexts) > same:
        end_inference()
    for mode in modes[same:]:
        begin_inference(mode)
    torch._C._set_grad_enabled(grad)
    torch._C._set_fwd_grad_enabled(forward)


def _describe_begin(mode):
    return (end_inference, ()), (put_back_inference, _modes()), _INFERENCE


def _describe_end():
    return (begin_inference, (_entered.contexts[-1][0],)), (put_back_inference, _modes()), _INFERENCE


@_sets(_describe_begin)
def begin_inference(mode):
    """Begins `torch.inference_mode(mode)`."""
    context = torch._C._InferenceMode(mode)
    context.__enter__()
    _entered.contexts.append((mode, context))


@_sets(_describe_end)
def end_inference():
    """Ends what `begin_inference` began last."""
    _entered.contexts.pop()[1].__exit__(None, None, None)


class Marker(overrides.TorchFunctionMode):
    """Stands for a mode of the program while a trace goes through what the mode sees."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def begin_marker():
    """Makes something active that stands for a mode."""
    torch._C._push_on_torch_function_stack(Marker())


def end_marker():
    """Ends the innermost one."""
    torch._C._pop_torch_function_stack()


class _SetAside(threading.local):
    """The modes that compiled code has set aside in this thread while its graphs run."""

    def __init__(self):
        self.modes = []


_set_aside = _SetAside()


def set_aside():
    """Ends the modes that see functions of PyTorch being called: a trace has gone through what they do."""
    modes = [torch._C._pop_torch_function_stack() for _ in range(torch._C._len_torch_function_stack())]
    _set_aside.modes.append(modes)


def put_back():
    """Makes them active again."""
    for mode in reversed(_set_aside.modes.pop()):
        torch._C._push_on_torch_function_stack(mode)


class _Lifted(threading.local):
    """The modes that PyTorch's functions of Python take away in this thread while they do what such a mode sees them called for."""

    def __init__(self):
        self.modes = []


_lifted = _Lifted()
_COUNT = (torch._C._len_torch_function_stack, ()), (torch._C._is_torch_function_mode_enabled, ())


@_sets(lambda: ((put_down, ()), None, _COUNT))
def lift():
    """Takes the innermost mode away."""
    _lifted.modes.append(torch._C._pop_torch_function_stack())


@_sets(lambda: ((lift, ()), None, _COUNT))
def put_down():
    """Makes it active again."""
    torch._C._push_on_torch_function_stack(_lifted.modes.pop())


lift._slotrt_follows = put_down._slotrt_follows = True


def without_device(public_api, relevant_args, *args, **kwargs):
    """`torch.overrides.handle_torch_function`, where the modes put new tensors on devices, and do nothing else."""
    lift()
    try:
        return public_api(*args, **kwargs)
    finally:
        put_down()


class _Inference:
    """What `torch.inference_mode` keeps while it is active: the part of `torch._C._InferenceMode` that it uses."""

    def __exit__(self, exc_type, exc_value, traceback):
        end_inference()


_exit = disabled(grad_mode.inference_mode.__exit__)


def _begin(self):
    self._inference_mode_context = _Inference()
    begin_inference(self.mode)


def _end(self, exc_type, exc_value, traceback):
    if type(self._inference_mode_context) is not _Inference:
        return _exit(self, exc_type, exc_value, traceback)
    end_inference()


IN_PLACE_OF = {grad_mode.inference_mode.__enter__: _begin, grad_mode.inference_mode.__exit__: _end}


def _state(name):
    return getattr(torch._C._TorchFunctionState, name)


_STATE = (torch._C._get_torch_function_state, ()), (torch._C._is_torch_function_enabled, ()), (torch._C._is_torch_function_all_disabled, ())


def _describe_state():
    call = SWITCHES[torch._C._get_torch_function_state().name], ()
    return call, call, _STATE


@_sets(_describe_state)
def overrides_on():
    """Classes and modes take over calls of PyTorch's functions by `__torch_function__`."""
    torch._C._set_torch_function_state(_state("ENABLED"))


@_sets(_describe_state)
def subclass_overrides_off():
    """Modes do, classes do not."""
    torch._C._set_torch_function_state(_state("SUBCLASSES_DISABLED"))


@_sets(_describe_state)
def overrides_off():
    """Neither do."""
    torch._C._set_torch_function_state(_state("ALL_DISABLED"))


# By the name of the state.
SWITCHES = {"ENABLED": overrides_on, "SUBCLASSES_DISABLED": subclass_overrides_off, "ALL_DISABLED": overrides_off}


def switch(context, begins):
    """What beginning or ending a context such as `torch._C.DisableTorchFunctionSubclass()` sets; `None`: nothing else than there is."""
    before = torch._C._get_torch_function_state()
    try:
        if begins:
            context.__enter__()
        else:
            context.__exit__(None, None, None)
        after = torch._C._get_torch_function_state()
    finally:
        torch._C._set_torch_function_state(before)
    return None if after == before else SWITCHES[after.name]
