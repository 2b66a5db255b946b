"""Converts a graph of PyTorch operations to a `torch.fx.GraphModule`, for backends."""

import sys


def has_tensors(graph):
    """Whether the graph computes with tensors."""
    return any(node.meta["domain"] == "torch" for node in graph)


def _named(target):
    """FX writes a function by its name. If that name leads to another object, a function of the same name calls the target."""
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    name = getattr(target, "__name__", "")
    if module is None or getattr(module, name, target) is target:
        return target

    def call(*args, **kwargs):
        return target(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def graph_module(graph):
    """A `GraphModule` with the nodes of `graph`."""
    import torch.fx

    made, known = torch.fx.Graph(), {}

    def convert(argument):
        if isinstance(argument, (tuple, list)) and type(argument) in (tuple, list):
            return type(argument)(convert(item) for item in argument)
        return known.get(argument, argument) if type(argument) is kind else argument

    nodes = list(graph)
    kind = type(nodes[0])
    for node in nodes:
        if node.op == "placeholder":
            placeholder = made.placeholder("".join(c if c.isalnum() else "_" for c in node.name))
            # FX may have chosen another name. The parameter takes the same one, or it would hide the node that bears it.
            placeholder.target = placeholder.name
            known[node] = placeholder
        elif node.op == "output":
            made.output(convert(tuple(node.args)))
        else:
            named = {name: convert(value) for name, value in node.kwargs.items()}
            known[node] = made.call_function(_named(node.target), convert(tuple(node.args)), named)
    return torch.fx.GraphModule(torch.nn.Module(), made)
