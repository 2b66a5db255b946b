"""Parts of a graph that several calls go back through, one after the other. What a backend makes of a part is one node of the graph of
gradients: the first call that goes back through it uses all of it up. So a part ends between what the one and what the other goes through."""

import operator

from ._early import nodes


def divide(calls, results, inputs, alone, ends_part):
    """The calls after which parts end for that, where the inputs have these values. Where no end lies between the two, calls are added to `alone`:
    they run as they were recorded. Losses that the graph gives back may be gone back from, one after the other, when it has run."""
    followed, ends = _followed(calls, inputs), set()
    starts = [node for node in calls if _goes_back(node)]
    within = len(starts)
    starts += [node for node in dict.fromkeys(nodes(results)) if node in followed and node.op == "call_function"]
    using = [not _start(node)[1] if bit < within else _is_loss(node) for bit, node in enumerate(starts)]
    if len(starts) < 2 or not any(using):
        return ends
    ways = _ways(calls, starts, followed)
    while True:
        parts = _parts(calls, alone, ends, ends_part)
        found = next(filter(None, (_meeting(part, ways, using, within) for part in parts)), None)
        if found is None:
            return ends
        first, second = sorted(found, key=min)
        if max(first) < min(second):
            ends.add(calls[_with_items(calls, max(first))])
        else:
            alone.update(calls[at] for at in first | second)


def _followed(calls, inputs):
    """The nodes that gradients go through, or come to."""
    import torch

    # No class is to hear of the question.
    with torch._C.DisableTorchFunctionSubclass():
        found = {node for node, value in inputs.items() if getattr(value, "requires_grad", False)}
    on = torch.is_grad_enabled()
    for node in calls:
        name = _name(node)
        if name.endswith("set_grad_enabled"):
            on = bool(node.args[0])
        is_float = any(kind in str(node.meta.get("value")) for kind in ("torch.float", "torch.bfloat", "torch.complex"))
        if on and is_float and name != "detach" and not found.isdisjoint(nodes((node.args, node.kwargs))):
            found.add(node)
    return found


def _ways(calls, starts, followed):
    """Of each call that gradients go through, a bit for each of `starts` that goes back through it: calls of the graph, and then its results."""
    ways = {node: 1 << bit for bit, node in enumerate(starts)}
    for node in reversed(calls):
        way, before = ways.get(node, 0), (node.args, node.kwargs)
        if _goes_back(node):
            before = _start(node)[0]
        elif node not in followed:
            continue
        for earlier in nodes(before) if way else ():
            if earlier in followed:
                ways[earlier] = ways.get(earlier, 0) | way
    return {node: way for node, way in ways.items() if node in followed}


def _parts(calls, alone, ends, ends_part):
    """The places of the calls of each part."""
    part = []
    for at, node in enumerate(calls):
        if node in alone:
            yield part
            part = []
            continue
        part.append((at, node))
        if node in ends or ends_part(node):
            yield part
            part = []
    yield part


def _with_items(calls, at):
    """The place of the last item that is taken out of what the call at `at` gives, or is itself taken out of."""
    while at + 1 < len(calls) and _is_item(calls[at + 1]):
        at += 1
    return at


def _is_item(node):
    """Whether a call takes something out of the sequence that an operation gives."""
    given = node.args[0] if node.target is operator.getitem else None
    return type(given) is type(node) and given.op == "call_function" and not given.meta["value"].startswith("Tensor[")


def _meeting(part, ways, using, within):
    """The places that one start uses up in a part, and those that another one goes back through later; `None`: there are no such."""
    every = 0
    for _, node in part:
        every |= ways.get(node, 0)
    if not every & (every - 1):
        return None
    places = {bit: {at for at, node in part if ways.get(node, 0) >> bit & 1} for bit in range(every.bit_length()) if every >> bit & 1}
    for one, used in places.items():
        for other, later in places.items() if using[one] else ():
            # Who goes twice through the same is refused by PyTorch.
            if one < other < within and later - used or other >= within and one != other and _lie_apart(used, later, one < within):
                return used, later
    return None


def _lie_apart(used, later, is_sure):
    """Whether two have nothing in common; if nothing is sure to go back, one lies before the other, too."""
    first, second = sorted((used, later), key=min)
    return used.isdisjoint(later) and (is_sure or max(first) < min(second))


def _goes_back(node):
    """Whether it is a call of `backward`."""
    return _name(node) == "backward" and node.meta.get("apart") == "call"


def _start(node):
    """What such a call goes back from, and whether it leaves what it goes through."""
    named = {**dict(zip(("tensors", "gradient", "retain_graph", "create_graph"), node.args)), **node.kwargs}
    return named.get("tensors", named.get("self")), bool(named.get("retain_graph")) or bool(named.get("create_graph"))


def _is_loss(node):
    """Whether it gives a tensor without dimensions."""
    return str(node.meta.get("value")).endswith(", []]")


def _name(node):
    return getattr(node.target, "__name__", "")
