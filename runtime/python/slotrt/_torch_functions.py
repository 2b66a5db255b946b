"""What the graph calls as a whole, and what stands for PyTorch's own objects while the trace goes through the functions that it calls."""

import weakref
from types import FunctionType, MethodType


class Context:
    """The `ctx` of a `torch.autograd.Function` while its `forward` is traced."""

    def __init__(self, needs_input_grad):
        self.needs_input_grad = needs_input_grad

    def save_for_backward(self, *tensors):
        self.saved_tensors = self.to_save = tensors

    def save_for_forward(self, *tensors):
        self.saved_for_forward = tensors

    def mark_non_differentiable(self, *tensors):
        self.non_differentiable = tensors

    def set_materialize_grads(self, value):
        self.materialize_grads = value


class Caller:
    """Calls a function that calls another object, with that object. Whoever has compiled code with it keeps the object alive."""

    def __init__(self, function, called):
        self.function = function
        self.__name__ = self.__qualname__ = function.__name__
        if isinstance(called, FunctionType):
            self.called = lambda: called
        else:
            self.called = (weakref.WeakMethod if isinstance(called, MethodType) else weakref.ref)(called)

    def __call__(self, *args, **kwargs):
        return self.function(self.called(), *args, **kwargs)
