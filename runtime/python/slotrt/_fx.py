"""A recorded graph of PyTorch operations as a `torch.fx.GraphModule`, made only when a backend asks."""

import sys


def has_tensors(graph):
    """Whether the graph computes with tensors."""
    return any(node.meta["domain"] == "torch" for node in graph)


def _named(target):
    """FX writes functions of PyTorch by their names: one whose name leads to another is called through a function with its own."""
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    name = getattr(target, "__name__", "")
    if module is None or getattr(module, name, target) is target:
        return target

    def call(*args, **kwargs):
        return target(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def graph_module(graph):
    """`graph` with the same nodes in FX."""
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
            # FX may have given it another name; the parameter must go by the same, or it hides one that is called so.
            placeholder.target = placeholder.name
            known[node] = placeholder
        elif node.op == "output":
            made.output(convert(tuple(node.args)))
        else:
            named = {name: convert(value) for name, value in node.kwargs.items()}
            known[node] = made.call_function(_named(node.target), convert(tuple(node.args)), named)
    return torch.fx.GraphModule(torch.nn.Module(), made)
