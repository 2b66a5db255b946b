"""Compiles models and compares them with themselves: `run.py [--gradients | --sizes] [NAMES]`. A line of JSON for each."""

import argparse
import json
import os
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch
from torch.utils import _pytree as pytree

import slotrt

CALLS = 3


def families():
    import huggingface
    import vision

    return {
        "huggingface": huggingface.models(),
        "torchvision": vision.torchvision_models(),
        "timm": vision.timm_models(),
    }


def families_of_sizes():
    """And how often each is called, and how many traces serve all calls."""
    import sizes

    return {"sizes": sizes.models()}, (sizes.CALLS, sizes.TRACES)


def plain(result):
    """A result as nested builtins."""
    return result.to_tuple() if hasattr(result, "to_tuple") else result


def same(one, other):
    if type(one) is not type(other):
        return False
    ours, theirs = pytree.tree_flatten(plain(one)), pytree.tree_flatten(plain(other))
    return ours[1] == theirs[1] and all(equal(*pair) for pair in zip(ours[0], theirs[0], strict=True))


def equal(one, other):
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.allclose(one, other, atol=1e-4, rtol=1e-4, equal_nan=True)
    return type(one) is type(other)


def first_tensor(result):
    return next(leaf for leaf in pytree.tree_leaves(plain(result)) if isinstance(leaf, torch.Tensor) and leaf.requires_grad)


def gradients(model, call):
    model.zero_grad()
    result = call()
    first_tensor(result).square().mean().backward()
    return result, {name: parameter.grad for name, parameter in model.named_parameters()}


def same_gradients(one, other):
    pairs = [(one[name], other[name]) for name in one]
    return all(a is None and b is None or a is not None and b is not None and equal(a, b) for a, b in pairs)


def run(make, arguments, with_gradients, calls=CALLS, traces=1):
    """Calls a model, whose sizes may change; one graph takes so many traces."""
    torch.manual_seed(0)
    model = make()
    slotrt.reset()
    compiled = slotrt.compile(model)
    traced = []
    for number in range(calls):
        args, kwargs = arguments(model, number)
        if with_gradients:
            want, wanted = gradients(model, lambda: model(*args, **kwargs))
            got, found = gradients(model, lambda: compiled(*args, **kwargs))
            right = same(got, want) and same_gradients(found, wanted)
        else:
            with torch.no_grad():
                right = same(compiled(*args, **kwargs), model(*args, **kwargs))
        if not right:
            return {"outcome": "differs", "why": f"at call {number + 1}"}
        traced.append(slotrt.stats()["frames_compiled"])
    counted = slotrt.stats()
    if counted["graph_breaks"] or counted["frames_skipped"]:
        outcome = "breaks"
    else:
        outcome = "one graph" if traced[0] == 1 and traced[-1] == counted["graphs"] <= traces else "traced again"
    names = ("graphs", "graph_breaks", "frames_compiled", "frames_skipped", "metadata_by_rule", "metadata_asked")
    counts = {name: counted[name] for name in names}
    return {"outcome": outcome, "traced": traced, **counts}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="families or models; all if none")
    parser.add_argument("--gradients", action="store_true", help="compare gradients, too")
    parser.add_argument("--sizes", action="store_true", help="models whose sizes change at each call: two traces are one graph")
    parser.add_argument("--part", type=int, default=1, help="every N-th model only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(2)
    libraries, counts = families_of_sizes() if options.sizes else (families(), ())
    for family, models in libraries.items():
        chosen = [n for n in models if not options.names or {n, family, f"{family}/{n}"} & set(options.names)]
        for name in chosen[:: options.part]:
            try:
                found = run(*models[name], options.gradients, *counts)
            except Exception as error:
                found = {"outcome": "fails", "why": f"{type(error).__name__}: {error}"[:300]}
            print(json.dumps({"model": f"{family}/{name}", **found}), flush=True)


if __name__ == "__main__":
    main()
