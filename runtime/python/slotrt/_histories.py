"""Calls of a graph in parts that no backend can compile apart from others: transformed functions, whose level one part would begin and another
one end, and calls of `torch.autograd.grad`, which go back through what another part has computed."""

from ._early import nodes

# How names end of what begins and ends the level of a transformation, or one of gradients that go forward, and begin of what takes results out of it.
_FORWARD = "_enter_dual_level"
_BEGINS, _ENDS = ("_increment_nesting", _FORWARD), ("_decrement_nesting", "_exit_dual_level")
_TAKES_OUT = ("_unwrap", "_remove_batch_dim")


def as_recorded(calls, results, is_apart, ends_part):
    """The calls that run as they were recorded though a backend could compile them, and those in a part though they set modes."""
    levels, together = list(_levels(calls)), set()
    alone = {node for node in calls if is_apart(node)}
    used_at, forced = _uses(calls, results) if levels else {}, set()
    # What is left of a value when its level has ended, no backend can give.
    left = [[node for node in _of(level, calls) if _is_left(node, level, calls, used_at)] for level in levels]
    leaves = any(used_at[node] == len(calls) for nodes_left in left for node in nodes_left)
    splits = bool(alone) or leaves or any(map(ends_part, calls)) or not all(_is_closed(level, calls) for level in levels)
    for level, nodes_left in zip(levels, left) if splits else ():
        own = _of(level, calls)
        is_whole = _is_closed(level, calls) and not any(_is_call(node) or ends_part(node) or node in forced for node in own)
        if is_whole and not nodes_left:
            together.update(own)
            alone.difference_update(own)
        else:
            alone.update(own)
            forced.update(node for node in calls if not set(nodes_left).isdisjoint(nodes((node.args, node.kwargs))))
    alone.update(forced)
    within = {node for level in levels for node in _of(level, calls)}
    grads = [node for node in calls if _is_grad(node) and node not in within]
    if grads:
        _separate(calls, results, grads, alone, ends_part)
    return {node for node in alone if not is_apart(node)}, together


def _levels(calls):
    """From where to where the outermost transformed functions go; from -1, where one has begun before."""
    depth, begin = 0, -1
    for at, node in enumerate(calls):
        name = _name(node)
        if name.startswith("autocast"):
            continue
        if name.endswith(_BEGINS):
            begin = at if depth == 0 else begin
            depth += 1
        elif name.endswith(_ENDS):
            depth = max(depth - 1, 0)
            if depth == 0:
                yield begin, at
                begin = -1
    if depth:
        yield begin, len(calls)


def _of(level, calls):
    """The calls of a level."""
    begin, end = level
    return calls[max(begin, 0) : end + 1]


def _is_closed(level, calls):
    """Whether it begins and ends in the graph."""
    begin, end = level
    return begin >= 0 and end < len(calls)


def _is_left(node, level, calls, used_at):
    """Whether a value of a level is used when it has ended. Gradients that go forward end with theirs; the value is one like others then."""
    begin, end = level
    return not _takes_out(node) and used_at.get(node, 0) > end and _name(calls[max(begin, 0)]) != _FORWARD


def _separate(calls, results, grads, alone, ends_part):
    """Adds calls of `grads` that go back further than their part, or whose results' history others have, too."""
    before = None
    while before != len(alone):
        before = len(alone)
        part = _parts(calls, alone, ends_part)
        for grad in grads:
            outputs, inputs, keeps, creates = _arguments(grad)
            history = _history(outputs, ())
            if grad in alone or not (history <= part.get(grad, set()) and (keeps or creates or not _history(results, (grad,)) & history)):
                alone.add(grad)
                if creates or any(node.op == "call_function" for node in nodes(inputs)):
                    alone.update(history)


def _parts(calls, alone, ends_part):
    """The calls that each call has in its part."""
    found, part = {}, set()
    for node in calls:
        if node in alone:
            part = set()
            continue
        part.add(node)
        found[node] = part
        if ends_part(node):
            part = set()
    return found


def _history(argument, without):
    """The calls that something is computed with, but for those of which nothing remembers what they were computed from."""
    found, waiting = set(), list(nodes(argument))
    while waiting:
        node = waiting.pop()
        if node.op == "call_function" and node not in found and node not in without and _name(node) != "detach":
            found.add(node)
            waiting.extend(nodes((node.args, node.kwargs)))
    return found


def _uses(calls, results):
    """Where each call is used last."""
    last = {}
    for at, node in enumerate(calls):
        last.update(dict.fromkeys(nodes((node.args, node.kwargs)), at))
    last.update(dict.fromkeys(nodes(results), len(calls)))
    return last


def _arguments(grad):
    """Outputs and inputs of a call of `torch.autograd.grad`, and whether it keeps the history, and creates one."""
    names = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph")
    given = {**dict(zip(names, grad.args)), **grad.kwargs}
    return given["outputs"], given["inputs"], bool(given.get("retain_graph")), bool(given.get("create_graph"))


def _is_grad(node):
    return _name(node) == "grad" and getattr(node.target, "__module__", "") == "torch.autograd"


def _is_call(node):
    """Whether no backend compiles the call itself."""
    return node.meta.get("apart") == "call" or node.meta["domain"] != "torch"


def _takes_out(node):
    return _name(node).startswith(_TAKES_OUT)


def _name(node):
    return getattr(node.target, "__name__", "")
