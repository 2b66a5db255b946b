"""Asks PyTorch what it hands to a `__torch_function__`: the function, its arguments, and how they are given.

Its functions are called with objects that stand for the arguments. They find a `__torch_function__` that tells what it got."""

from types import BuiltinFunctionType, FunctionType, MethodType

import torch

_NOT_GIVEN = object()


class _Asked(BaseException):
    """Leaves the function that was asked."""


def _tell(cls, func, types, args=(), kwargs=_NOT_GIVEN):
    raise _Asked(func, args, None if kwargs is _NOT_GIVEN else kwargs, tuple(types))


class _Tensor(torch.Tensor):
    __torch_function__ = classmethod(_tell)


class _Other:
    __torch_function__ = classmethod(_tell)


def stand_in(cls, is_tensor, takes_over):
    """What stands for an argument of a class. Modes are told the class of one that takes over nothing, too."""
    if not is_tensor:
        return _Other()
    return torch.empty(0, device="cpu").as_subclass(_Tensor if takes_over else cls)


def handed_over(function, args, kwargs):
    """The function, the arguments, the keywords, if there are some, and the types that a `__torch_function__` gets; `None`: it is not called.

    What hands over another function than itself may do more than that: a `NotImplementedError` says so. Operators hand over methods."""
    try:
        function(*args, **kwargs)
    except _Asked as asked:
        if asked.args[0] is not function and (_runs_python(function) or _is_another(asked.args[0], function)):
            raise NotImplementedError(f"{function.__qualname__} calls functions with it") from None
        return asked.args
    return None


def _runs_python(function):
    """Whether it is a function of Python, or the `apply` of a `torch.autograd.Function`."""
    if isinstance(function, (FunctionType, MethodType)):
        return True
    owner = getattr(function, "__self__", None)
    return isinstance(owner, type) and issubclass(owner, torch.autograd.Function)


def _is_another(handed, function):
    """Whether PyTorch hands over another function than this one of its own: they are told by their names."""
    own = isinstance(function, BuiltinFunctionType) and _within_torch(function)
    return own and handed.__name__ != function.__name__


def _within_torch(function):
    place = type(function.__self__).__module__ if function.__module__ is None else function.__module__
    return place.partition(".")[0] == "torch"


class _Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=_NOT_GIVEN):
        _tell(None, func, types, args, kwargs)


def handed_to_mode(function, args, kwargs):
    """The same for a `TorchFunctionMode`."""
    with _Mode():
        return handed_over(function, args, kwargs)


def without_overrides(func, types, args=(), kwargs=None):
    """`torch._C._disabled_torch_function_impl`."""
    with torch._C.DisableTorchFunctionSubclass():
        return func(*args, **({} if kwargs is None else kwargs))
