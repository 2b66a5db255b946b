"""What stands for PyTorch's own objects while a trace goes through functions that PyTorch calls."""

import contextlib
import sys

import torch

from torch._higher_order_ops import utils as _operators
from torch.autograd import function as _function
from torch.nn.modules._functions import BackwardHookFunction
from torch.utils.hooks import BackwardHook

from ._slotrt import WrongGuess, graph_break


class Context:
    """The `ctx` of a `torch.autograd.Function` while its `forward` is traced."""

    def __init__(self, needs_input_grad):
        self.needs_input_grad = needs_input_grad
        self.non_differentiable = None

    def go_back(self, backward, result):
        """`backward`, with gradients that are like the results."""
        return backward(self, *(result if type(result) is tuple else (result,)))

    def save_for_backward(self, *tensors):
        self.saved_tensors = self.to_save = tensors

    def save_for_forward(self, *tensors):
        self.saved_for_forward = tensors

    def mark_non_differentiable(self, *tensors):
        self.non_differentiable = tensors

    def mark_dirty(self, *tensors):
        """The graph learns it from the call itself."""

    def set_materialize_grads(self, value):
        self.materialize_grads = value

    def __getattr__(self, name):
        """PyTorch's own has what this one has not, or says whose it is that nobody has: it calls the function itself."""
        graph_break()
        raise AttributeError(name)


def gradients_by_name(outputs, inputs, *args, **options):
    """`torch.autograd.grad(outputs, inputs, …)`, where `inputs` is a dict."""
    gradients = torch.autograd.grad(outputs, tuple(inputs.values()), *args, **options)
    return dict(zip(inputs, gradients))


def _run_operator(fn, args, kwargs=None):
    """`torch._higher_order_ops.utils._hop_compile_and_call`."""
    try:
        return fn(*args, **(kwargs or {}))
    except Exception:
        # What the program hears of it is what a compiler says.
        graph_break()
        raise


def begin_device(device):
    """`device.__enter__()`."""
    return device.__enter__()


def end_device(device):
    """`device.__exit__(…)`."""
    return device.__exit__(None, None, None)


def default_device():
    """What `torch.set_default_device` sets: a context in which new tensors are put on a device, or none."""
    return getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)


def put_back_default_device(before):
    """Sets it to what `default_device` told."""
    now = default_device()
    if (now and now.device) == (before and before.device):
        return
    torch.set_default_device(None)
    if before is not None:
        before.__enter__()
        torch._GLOBAL_DEVICE_CONTEXT.device_context = before


def determinism():
    """What `torch.use_deterministic_algorithms` sets."""
    from torch._inductor import config

    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled(), config.deterministic


def put_back_determinism(before):
    """Sets it to what `determinism` told."""
    from torch import _C
    from torch._inductor import config

    enabled, warn_only, config.deterministic = before
    _C._set_deterministic_algorithms(enabled, warn_only=warn_only)


def _number():
    """The number of a class. The trace takes one; compiled code makes no such class, or uses that of the trace."""
    return next(_function.AUTOGRAD_FUNCTION_COUNTER)


_number._dynamo_marked_constant = True


def _begin_class(cls, name, bases, attrs):
    """`FunctionMeta.__init__`."""
    cls._backward_cls = type(name + "Backward", (_function.BackwardCFunction,), {"_forward_cls": cls})
    cls._backward_cls._autograd_function_id = _number()
    super(_function.FunctionMeta, cls).__init__(name, bases, attrs)


def _nothing_noted(self):
    """Tells TorchDynamo alone which module runs, by an attribute of the class."""
    return contextlib.nullcontext()


def seed_generators(seed):
    """Sets the seeds of all generators of random numbers."""
    torch.random.manual_seed(seed)


def _manual_seed(seed):
    """`torch.manual_seed`."""
    seed_generators(int(seed))
    return torch.random.default_generator


def check_true(truth):
    """Raises where a trace went on as if it were true."""
    if not truth:
        raise AssertionError


def check_false(truth):
    """Raises where a trace went on as if it were false."""
    if truth:
        raise AssertionError


def check_guess(truth, guessed, failed):
    """Raises where a trace went on as if it were another truth than it is, and notes that."""
    if bool(truth) is not guessed:
        failed[guessed] = True
        raise WrongGuess


def through_hook(*tensors):
    """The same tensors as results of one node of the graph of gradients, which hooks of a module are added to."""
    return BackwardHookFunction.apply(*tensors)


def reentrant(function, given, *operands, use_reentrant, **options):
    """`checkpoint` of the older kind; `given`: which operands are arguments. The function uses the others as it finds them."""

    def run(*args):
        args = iter(args)
        return function(*(next(args) if is_given else operand for operand, is_given in zip(operands, given)))

    args = [operand for operand, is_given in zip(operands, given) if is_given]
    return torch.utils.checkpoint.checkpoint(run, *args, use_reentrant=use_reentrant, **options)


def applied_in_place(apply, *args):
    """`apply(*args)` of a `torch.autograd.Function` that changes some of the arguments."""
    return apply(*args)


def add_to_node(tensor, add):
    """Has that node get its hooks. Compiled code does it after the graph."""
    add(tensor.grad_fn)


def least_of(*tensors):
    """`min(tensors)`: one of them."""
    return min(tensors)


def greatest_of(*tensors):
    """`max(tensors)`: one of them."""
    return max(tensors)


def node_of(tensor):
    """`tensor.grad_fn`, once the graph has run."""
    return tensor.grad_fn


def hook_node(node, hook):
    """`node.register_hook(hook)`."""
    return node.register_hook(hook)


def hook_before_node(node, hook):
    """`node.register_prehook(hook)`."""
    return node.register_prehook(hook)


def _is_heard(tensor):
    """Whether a function of the program hears what a tensor is asked for."""
    own = type(tensor).__torch_function__
    usual = torch.Tensor.__torch_function__
    return own is not torch._C._disabled_torch_function_impl and getattr(own, "__func__", own) is not usual.__func__


def _apply_on_tensors(self, add, args):
    """`BackwardHook._apply_on_tensors`."""
    places = [place for place, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
    tensors = [args[place] for place in places]
    followed = [index for index, tensor in enumerate(tensors) if tensor.requires_grad]
    if not followed or not torch.is_grad_enabled():
        return args, None
    results = through_hook(*tensors)
    if any(map(_is_heard, results)):
        # As often as PyTorch does.
        name = BackwardHookFunction.__name__ + "Backward"
        nodes = [result.grad_fn for result in results if result.grad_fn is not None and result.grad_fn.name() == name]
        add(nodes[0])
    else:
        add_to_node(results[followed[0]], add)
    given = list(args)
    for place, result in zip(places, results):
        given[place] = result
    return tuple(given) if type(args) is tuple else type(args)(*given), places


def set_data(tensor, other):
    """`tensor.data = other`."""
    tensor.data = other


def set_requires_grad(tensor, requires):
    """`tensor.requires_grad = requires`."""
    tensor.requires_grad = requires
    return tensor


def parameter_of(tensor, requires):
    """`torch.nn.Parameter(tensor, requires)`."""
    return torch.Tensor._make_subclass(torch.nn.Parameter, tensor, requires)


def gradient_of(tensor):
    """`tensor.grad`, where a call of the graph has made it."""
    return tensor.grad


def clear_gradient(tensor):
    """`tensor.grad = None`, right before a call of the graph makes another one."""
    tensor.grad = None


def address_of(tensor):
    """`tensor.data_ptr()`."""
    return tensor.data_ptr()


def offset_of(tensor):
    """`tensor.storage_offset()`."""
    return tensor.storage_offset()


def storage_address_of(tensor):
    """`tensor.untyped_storage().data_ptr()`."""
    return tensor.untyped_storage().data_ptr()


def storage_bytes_of(tensor):
    """`tensor.untyped_storage().nbytes()`."""
    return tensor.untyped_storage().nbytes()


def address_of_storage(storage):
    """`storage.data_ptr()`."""
    return storage.data_ptr()


def bytes_of_storage(storage):
    """`storage.nbytes()`."""
    return storage.nbytes()


def is_first_in_storage(tensor):
    """Whether a tensor lies where its memory begins."""
    return tensor.data_ptr() == tensor.untyped_storage().data_ptr()


def storage_has_bytes(count, tensor):
    """Whether the memory of a tensor is so long."""
    return tensor.untyped_storage().nbytes() == count


def version_of(tensor):
    """`tensor._version`."""
    return tensor._version


def _table():
    """By function."""
    table = {
        _function.FunctionMeta.__init__: _begin_class,
        BackwardHook._apply_on_tensors: _apply_on_tensors,
        # TorchDynamo keeps itself from it.
        getattr(torch.random.manual_seed, "__wrapped__", torch.random.manual_seed): _manual_seed,
        _operators._hop_compile_and_call: _run_operator,
    }
    distributed = sys.modules.get("torch.nn.parallel.distributed")
    noted = vars(getattr(distributed, "DistributedDataParallel", object)).get("_inside_ddp_forward")
    return table if noted is None else {**table, noted: _nothing_noted}


IN_PLACE_OF = _table()
