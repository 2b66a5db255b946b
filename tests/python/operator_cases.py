"""PyTorch's own operators (`op_db`), each with its samples: a function that calls it, compiled, against the operator itself.

An operator is `one graph`, or it `breaks` (with the reason), is `wrong`, has a type that is `refused` though PyTorch takes it, has
`no samples`, needs `no operation` for them, or the process `died`."""

import copy
import sys
import types
import unittest
import warnings

import torch
from torch.utils import _pytree as pytree

import slotrt

# The samples of PyTorch's tests need a package for the texts that tests expect; nothing of it is used.
expecttest = types.ModuleType("expecttest")
expecttest.TestCase = unittest.TestCase
sys.modules.setdefault("expecttest", expecttest)

SEED = 7

# What these give is not filled: each call has other contents.
UNFILLED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}


def operators():
    """All of them, by a name of their own."""
    from torch.testing._internal import common_methods_invocations as invocations

    # Operators with random numbers are wrapped in a function that seeds them and puts the state back; here each call is seeded.
    invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)
    found = {}
    for operator in invocations.op_db:
        variant = f".{operator.variant_test_name}" if operator.variant_test_name else ""
        found[f"{operator.name}{variant}"] = operator
    return found


def own(argument):
    """A copy that lies in memory as the original does."""
    if not isinstance(argument, torch.Tensor):
        return copy.copy(argument)
    if argument.layout != torch.strided or argument.is_quantized:
        return argument.detach().clone().requires_grad_(argument.requires_grad)
    with torch.no_grad():
        made = torch.empty_strided(argument.shape, argument.stride(), dtype=argument.dtype, device=argument.device)
        made.copy_(argument)
    return made.requires_grad_(argument.requires_grad)


def shown(value, contents=True):
    """A comparable form: types, metadata and contents."""
    if not isinstance(value, torch.Tensor):
        return type(value), repr(value)
    parts = type(value), value.dtype, tuple(value.shape), value.layout, value.requires_grad, value.is_leaf
    if value.layout != torch.strided or value.is_nested or value.is_meta:
        return *parts, repr(value.detach())
    if not contents:
        return *parts, value.stride()
    plain = value.detach().resolve_conj().resolve_neg()
    plain = plain.dequantize() if plain.is_quantized else plain
    return *parts, value.stride(), str(plain.tolist())


def leaves(tree):
    """Its leaves, and a text for its structure."""
    found, spec = pytree.tree_flatten(tree)
    return found, str(spec)


def outcome(function, sample, contents=True):
    """What a call gives, leaves behind in its arguments and in the random state, and the gradients that come of it."""
    args, kwargs = pytree.tree_map(own, ((sample.input, *sample.args), dict(sample.kwargs)))
    torch.manual_seed(SEED)
    try:
        result = function(*args, **kwargs)
    except Exception as error:
        return {"error": (type(error).__name__, str(error))}
    values, structure = leaves(result)
    given = leaves((args, kwargs))[0]
    kept = {
        "results": [shown(value, contents) for value in values],
        "structure": structure,
        "arguments": [shown(value) for value in given],
        "aliases": [[one is other for other in given] for one in values],
        "random": torch.rand(1).item(),
    }
    floats = (torch.float32, torch.float64)
    followed = [x for x in values if isinstance(x, torch.Tensor) and x.requires_grad and x.dtype in floats]
    inputs = [value for value in given if isinstance(value, torch.Tensor) and value.requires_grad]
    if followed and inputs:
        try:
            total = sum(value.sum() for value in followed)
            grads = torch.autograd.grad(total, inputs, allow_unused=True)
            kept["gradients"] = [shown(grad) for grad in grads]
        except Exception as error:
            kept["gradients"] = type(error).__name__, str(error)
    return kept


def difference(plain, compiled):
    """Which part differs, and how; `None`: none does."""
    for part in {**plain, **compiled}:
        one, other = plain.get(part), compiled.get(part)
        if one != other:
            return f"{part}: {str(one)[:160]} plain, {str(other)[:160]} compiled"
    return None


def samples(operator, dtype, count):
    gradients = dtype.is_floating_point and dtype in operator.supported_backward_dtypes("cpu")
    try:
        found = list(operator.sample_inputs("cpu", dtype, requires_grad=gradients))
    except Exception:
        return []
    step = max(1, len(found) // count)
    return found[::step][:count]


def check(operator, count=8, others=1, dtypes=None):
    """A row about an operator: `count` samples of `float32`, `others` of each other type that it takes."""
    row = {"outcome": "no samples", "samples": 0, "dtypes": [], "why": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in sorted(operator.supported_dtypes("cpu"), key=lambda dtype: (dtype != torch.float32, str(dtype))):
            if dtypes is not None and dtype not in dtypes:
                continue
            for sample in samples(operator, dtype, count if dtype == torch.float32 else others):
                if judge(operator, sample, dtype, row):
                    return row
    return row


def judge(operator, sample, dtype, row):
    """Adds a sample to the row; whether nothing more needs to be known."""
    op, contents = operator.op, operator.name not in UNFILLED
    plain = outcome(op, sample, contents)
    if "error" in plain:
        return False
    slotrt.reset()
    compiled = outcome(slotrt.compile(lambda *args, **kwargs: op(*args, **kwargs)), sample, contents)
    stats = slotrt.stats()
    row["samples"] += 1
    if str(dtype) not in row["dtypes"]:
        row["dtypes"].append(str(dtype))
    if "error" in compiled:
        row.update(outcome="refused", why=f"{dtype}: {': '.join(compiled['error'])[:300]}")
        return True
    differs = difference(plain, compiled)
    if differs is not None:
        row.update(outcome="wrong", why=f"{dtype}: {differs}")
        return True
    if row["outcome"] == "breaks":
        return False
    if stats["graph_breaks"]:
        row.update(outcome="breaks", why=f"{dtype}: {reason(op, sample)}")
    elif stats["graphs"]:
        row["outcome"] = "one graph"
    elif row["outcome"] == "no samples":
        # It gives its operand, or what metadata say.
        row["outcome"] = "no operation"
    return False


def reason(op, sample):
    """Why the graph of a call breaks."""
    args, kwargs = pytree.tree_map(own, ((sample.input, *sample.args), dict(sample.kwargs)))
    report = slotrt.explain(lambda *args, **kwargs: op(*args, **kwargs))(*args, **kwargs)
    for frame in report.frames:
        if frame["break"]:
            return f"{frame['break']['kind']}: {frame['break']['context']}"[:300]
    return "not the second time"
