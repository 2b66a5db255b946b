"""Random calls of PyTorch's methods and functions, on tensors that lie in memory in all ways."""

import os
import warnings

import torch

ALL = os.environ.get("SLOTRT_OP_DB") == "1"
DTYPES = (torch.float32, torch.int64, torch.bool, torch.float64, torch.bfloat16, torch.uint8, torch.float16, torch.int32)


def laid_out(argument, generator):
    """A copy of tensors that lies in memory in another way: transposed, with gaps, with the channels last."""
    if isinstance(argument, torch.Tensor):
        tensor, way = argument.detach(), generator.random()
        rank = tensor.dim()
        if rank and way < 0.3:
            order = generator.sample(range(rank), rank)
            tensor = tensor.permute(order).contiguous().permute([order.index(dim) for dim in range(rank)])
        elif rank == 4 and way < 0.5:
            tensor = tensor.contiguous(memory_format=torch.channels_last)
        elif rank and way < 0.6:
            tensor = torch.stack([tensor, tensor], -1)[..., 0]
        else:
            tensor = tensor.clone()
        tensor = tensor.detach().requires_grad_(argument.requires_grad)
        # Half of what requires gradients is no leaf.
        return tensor * 1 if argument.requires_grad and generator.random() < 0.5 else tensor
    if type(argument) in (tuple, list):
        return type(argument)(laid_out(item, generator) for item in argument)
    if type(argument) is dict:
        return {name: laid_out(value, generator) for name, value in argument.items()}
    return argument


SIZES = (0, 1, 1, 2, 3, 4)


def random_tensor(generator):
    shape = [generator.choice(SIZES) for _ in range(generator.randrange(5))]
    dtype = generator.choice(DTYPES)
    tensor = torch.ones(shape, dtype=dtype)
    tensor = laid_out(tensor, generator)
    if generator.random() < 0.2 and shape:
        dim = generator.randrange(len(shape))
        tensor = tensor.narrow(dim, 0, min(1, shape[dim])).expand(*[3 if d == dim and shape[d] else s for d, s in enumerate(shape)])
    if dtype.is_floating_point and generator.random() < 0.3:
        tensor = tensor.detach().requires_grad_()
    return tensor


def number(generator):
    return generator.choice((0, 1, 2, -1, 2.5, True, False))


def dim(generator):
    return generator.randrange(-4, 4)


def index(generator):
    bound = lambda: generator.choice((None, 0, 1, 2, -1, 5))  # noqa: E731
    kinds = (
        lambda: generator.randrange(-3, 3),
        lambda: slice(bound(), bound(), generator.choice((None, 1, 2))),
        lambda: None,
        lambda: ...,
        lambda: torch.zeros(generator.choice(((1,), (2,), (2, 1), (3,))), dtype=torch.int64),
        lambda: [0, -1][: generator.randrange(1, 3)],
    )
    items = tuple(generator.choice(kinds)() for _ in range(generator.randrange(1, 4)))
    return items if generator.random() < 0.7 else items[0]


def sizes(generator):
    return [generator.choice((-1, 0, 1, 2, 3, 4, 6)) for _ in range(generator.randrange(1, 5))]


def dtype(generator):
    return generator.choice(DTYPES)


def tensors(generator):
    one = random_tensor(generator)
    return [one] + [laid_out(one.detach(), generator).to(generator.choice((one.dtype, dtype(generator)))) for _ in range(2)]


def reduction(generator):
    return generator.randrange(4)


# Methods and functions, and what makes their arguments.
CALLS = {
    "unary": (["neg", "abs", "exp", "relu", "sigmoid", "sqrt", "floor", "sign", "logical_not", "bitwise_not", "isnan", "clone", "contiguous"], []),
    "binary": (["add", "sub", "mul", "div", "eq", "lt", "maximum", "pow", "remainder", "fmod", "atan2", "logical_and", "bitwise_or", "floor_divide"], [random_tensor]),
    "number": (["add", "sub", "mul", "div", "eq", "lt", "pow", "remainder", "floor_divide", "clamp", "bitwise_and"], [number]),
    "in place": (["add_", "mul_", "div_", "copy_", "sub_", "clamp_", "fill_", "pow_", "eq_"], [random_tensor]),
    "cast": (["to", "type", "type_as"], [dtype]),
    "dims": (["sum", "mean", "amax", "any", "argmax", "max", "unbind", "squeeze", "unsqueeze", "softmax", "cumsum", "logsumexp", "flip", "select", "prod", "sort", "argsort", "median", "tensor_split", "diagonal", "roll"], [dim]),
    "two dims": (["transpose", "flatten", "sum", "select", "movedim", "chunk", "split", "unflatten", "repeat_interleave", "topk", "tensor_split", "diagonal"], [dim, dim]),
    "three dims": (["unfold", "diagonal"], [dim, dim, dim]),
    "sizes": (["view", "reshape", "expand", "repeat", "permute", "new_zeros", "split_with_sizes", "tile", "broadcast_to"], [sizes]),
    "index": (["__getitem__"], [index]),
    "matrix": (["matmul", "mm", "bmm"], [random_tensor]),
    "like": (["expand_as", "view_as", "reshape_as", "type_as"], [random_tensor]),
    "mask": (["masked_fill"], [lambda generator: random_tensor(generator) > 0, number]),
}
FUNCTIONS = {
    "join": ([torch.cat, torch.stack], [tensors, dim]),
    "stack": ([torch.hstack, torch.vstack], [tensors]),
    "difference": ([torch._C._nn.mse_loss, torch._C._nn.l1_loss, torch._C._nn.smooth_l1_loss, torch._C._nn.huber_loss], [random_tensor, random_tensor, reduction]),
    "spread": ([torch._C._VariableFunctions.broadcast_tensors], [tensors]),
    "rows": ([torch.outer, torch.cdist], [random_tensor, random_tensor]),
    "columns": ([torch.column_stack, torch.dstack], [tensors]),
    "one more dimension": ([torch._C._VariableFunctions.atleast_1d, torch._C._VariableFunctions.atleast_2d, torch.bernoulli], [random_tensor]),
    "repetition": ([torch.repeat_interleave], [random_tensor, number]),
    "norm of vectors": ([torch._C._linalg.linalg_norm], [random_tensor, lambda generator: generator.choice((None, 1, 2.0)), dim]),
    "strides": ([torch.as_strided], [random_tensor, sizes, sizes]),
    "order": ([torch.bucketize, torch.searchsorted, torch.cosine_similarity], [random_tensor, random_tensor]),
    "chances": ([torch.kl_div], [random_tensor, random_tensor, reduction]),
    "half": ([torch._C._nn.glu, torch.diag], [random_tensor, dim]),
    "where": ([torch.where], [lambda generator: random_tensor(generator) > 0, random_tensor, random_tensor]),
    "where number": ([torch.where], [lambda generator: random_tensor(generator) > 0, random_tensor, number]),
    "like": ([torch.zeros_like, torch.empty_like], [random_tensor]),
    "assign": ([torch.Tensor.__setitem__], [random_tensor, index, random_tensor]),
    "images": ([torch.conv2d, torch.conv1d], [random_tensor, random_tensor]),
    "pool": ([torch.max_pool2d, torch._C._nn.avg_pool2d], [random_tensor, lambda generator: generator.choice((1, 2, (2, 1)))]),
    "norm": ([torch.layer_norm], [random_tensor, sizes]),
    "linear": ([torch._C._nn.linear], [random_tensor, random_tensor]),
}


def random_call(generator):
    """A method or function, and arguments for it."""
    while True:
        table = generator.choice((CALLS, CALLS, CALLS, FUNCTIONS))
        callables, makers = table[generator.choice(sorted(table))]
        target = generator.choice(callables)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                args = [make(generator) for make in makers]
                if table is CALLS:
                    args.insert(0, random_tensor(generator))
                    target = getattr(torch.Tensor, target)
        except RuntimeError:
            continue
        return target, args
