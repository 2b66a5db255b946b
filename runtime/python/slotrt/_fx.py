"""Converts a graph of PyTorch operations to a `torch.fx.GraphModule`, for backends."""

import sys
from contextlib import nullcontext


def has_tensors(graph):
    """Whether the graph computes with tensors."""
    return any(node.meta["domain"] == "torch" for node in graph)


def _named(target):
    """FX writes a function by its name. If that name leads to another object, a function of the same name calls the target."""
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    name = getattr(target, "__name__", "")
    owner = getattr(target, "__self__", None)
    # FX finds no module of a method that is bound to a class.
    bound = module is None and isinstance(owner, type)
    if not bound and (module is None or getattr(module, name, target) is target):
        return target
    if bound:
        name = f"{owner.__name__}_{name}"

    def call(*args, **kwargs):
        return target(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def graph_module(graph, single=False):
    """A `GraphModule` with the nodes of `graph`. It gives the tuple of its results, or its only one alone."""
    import torch.fx

    root, made, known = torch.nn.Module(), torch.fx.Graph(), {}

    def convert(argument):
        if isinstance(argument, (tuple, list)) and type(argument) in (tuple, list):
            return type(argument)(convert(item) for item in argument)
        if isinstance(argument, torch.fx.GraphModule):
            name = f"subgraph_{len(root._modules)}"
            root.add_module(name, argument)
            return made.get_attr(name)
        if type(argument) is slice:
            return slice(convert(argument.start), convert(argument.stop), convert(argument.step))
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
            results = convert(tuple(node.args))
            made.output(results[0] if single else results)
        else:
            named = {name: convert(value) for name, value in node.kwargs.items()}
            known[node] = made.call_function(_named(node.target), convert(tuple(node.args)), named)
    return torch.fx.GraphModule(root, made)


def surroundings(module):
    """The context that a backend finds: where operators take graphs, one in which these can make numbers of their own for sizes."""
    if "torch" not in sys.modules or not hasattr(module, "graph"):
        return nullcontext()
    from torch._ops import HigherOrderOperator

    if not any(isinstance(node.target, HigherOrderOperator) for node in module.graph.nodes):
        return nullcontext()
    from torch._guards import TracingContext, tracing
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    return tracing(TracingContext(FakeTensorMode(shape_env=ShapeEnv())))
