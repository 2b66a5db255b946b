"""What a graph computes of numbers alone, where a backend would compile the numbers as they are now: it is computed before, at each call, and
the backend gets what comes of it as further inputs: tensors without dimensions, integers."""

from ._slotrt import Node

# Functions that backends have symbols for.
_SYMBOLIC = ("trunc", "floor", "ceil")

# How names begin of numbers that are computed early.
_OWN = "early "


class Early:
    """The calls of a graph that come first, and what remains for the backend: `inputs`, `calls`, `results`."""

    def __init__(self, graph):
        self._all = [node for node in graph if node.op == "placeholder"]
        calls = [node for node in graph if node.op == "call_function"]
        self.results = tuple(list(graph)[-1].args)
        of_numbers = {node for node in self._all if node.meta["domain"] == ""}
        floats = {node for node in of_numbers if node.meta["value"] == "float"}
        # What the program makes a tensor of is made under the modes of the place.
        sets_modes = any(node.meta.get("apart") in ("call", "mode") and not _is_scalar(node) for node in calls)
        made = {}
        for node in calls:
            is_tensor = _is_scalar(node) and (not sets_modes or node.target.__name__ == "scalar_tensor")
            if not is_tensor and node.meta["domain"] != "":
                continue
            used = set(nodes((node.args, node.kwargs)))
            if not used <= of_numbers:
                continue
            of_numbers.add(node)
            # A float that is computed early is a constant to the backend, and so would be what is computed of it.
            if used & floats or node.meta["value"] == "float" and not _has_symbol(node):
                floats.add(node)
            if is_tensor or used & floats or not _has_symbol(node):
                made[node] = None
        if not made:
            self.calls, self.late, self.made, self.inputs = [], calls, [], self._all
            return
        needed = set(made)
        for node in reversed(calls):
            if node in needed:
                needed.update(nodes((node.args, node.kwargs)))
        self.calls, self.late = [node for node in calls if node in needed], []
        used = set(nodes(self.results))
        for node in reversed(calls):
            if node not in made and (node not in needed or node in used):
                self.late.append(node)
                used.update(nodes((node.args, node.kwargs)))
        self.late.reverse()
        self.made = [node for node in made if node in used]
        self.inputs = [node for node in self._all if node in used or node.meta["domain"]] + self.made

    def sizes(self):
        """What differs from call to call of each input of the backend's part: names of sizes, or the name of a number."""
        own = {node: [f"{_OWN}{node.name}"] for node in self.made if node.meta["value"] == "int"}
        return [own.get(node, node.meta.get("sizes")) for node in self.inputs]

    def values(self, inputs):
        """What the backend's part gets."""
        values = dict(zip(self._all, inputs, strict=True))
        for node in self.calls:
            args = [value(argument, values) for argument in node.args]
            named = {name: value(argument, values) for name, argument in node.kwargs.items()}
            values[node] = node.target(*args, **named)
        return tuple(values[node] for node in self.inputs)

    def before(self, compiled):
        """The whole, where the backend has made `compiled` of its part."""

        def run(*inputs):
            return compiled(*self.values(inputs))

        return run


def is_early(name):
    """Whether a name is one of a number that is computed early."""
    return name.startswith(_OWN)


def _is_scalar(node):
    """Whether the call makes a tensor of a number."""
    return node.meta.get("apart") == "call" and getattr(node.target, "__name__", "") in ("scalar_tensor", "tensor")


def _has_symbol(node):
    module, name = getattr(node.target, "__module__", None), getattr(node.target, "__name__", "")
    return module not in ("math", "slotrt._numbers") or name in _SYMBOLIC


def nodes(argument):
    """The nodes in an argument."""
    if isinstance(argument, (tuple, list)):
        for item in argument:
            yield from nodes(item)
    elif isinstance(argument, dict):
        yield from nodes(list(argument.values()))
    elif type(argument) is slice:
        yield from nodes((argument.start, argument.stop, argument.step))
    elif type(argument) is Node:
        yield argument


def value(argument, values):
    """What an argument is where nodes have these values."""
    if type(argument) in (tuple, list):
        return type(argument)(value(item, values) for item in argument)
    if type(argument) is slice:
        return slice(*(value(item, values) for item in (argument.start, argument.stop, argument.step)))
    return values[argument] if type(argument) is Node else argument
