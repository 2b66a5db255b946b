"""Converts a graph of PyTorch operations to a `torch.fx.GraphModule`, for backends."""

import sys


def has_tensors(graph):
    """Whether the graph computes with tensors."""
    return any(node.meta["domain"] == "torch" for node in graph)


def graph_module(graph, single=False, examples=None):
    """A `GraphModule` with the nodes of `graph`. It gives the tuple of its results, or its only one alone."""
    nodes = list(graph)
    inputs = [node for node in nodes if node.op == "placeholder"]
    calls = [node for node in nodes if node.op == "call_function"]
    results = tuple(nodes[-1].args)
    return module_of(inputs, calls, results[0] if single else results, examples)


def module_of(inputs, calls, results, examples=None):
    """A `GraphModule` that makes these calls of what comes in for `inputs`, nodes of any kind, and gives `results`."""
    import torch.fx

    from ._fx_meta import Examples, Lines, Meta, origin
    from ._fx_targets import items
    from ._fx_targets import node as call

    root, made, known, lines = torch.nn.Module(), torch.fx.Graph(), {}, Lines()

    def convert(argument):
        form = type(argument)
        if form is kind:
            return known.get(argument, argument)
        if form is tuple or form is list:
            return form([convert(item) for item in argument])
        if isinstance(argument, torch.fx.GraphModule):
            name = f"subgraph_{len(root._modules)}"
            root.add_module(name, argument)
            return made.get_attr(name)
        if form is type(torch.FloatTensor):
            # FX writes no name of `torch.DoubleTensor`; what it says is known by it.
            return f"{argument.__module__}.{argument.__name__}"
        if form is slice:
            return slice(convert(argument.start), convert(argument.stop), convert(argument.step))
        return argument

    examples = examples or Examples()
    kind = type((*inputs, *calls)[0])
    for node in inputs:
        name = "".join(c if c.isalnum() else "_" for c in node.name)
        # `forward` has a parameter of that name.
        placeholder = made.placeholder("self_" if name == "self" else name)
        # FX may have chosen another name. The parameter takes the same one, or it would hide the node that bears it.
        placeholder.target = placeholder.name
        placeholder.meta = Meta(placeholder.meta, examples, len(known))
        known[node] = placeholder
    for node in calls:
        named = {name: convert(value) for name, value in node.kwargs.items()}
        if _gets_items(node):
            own = items(made, *convert(node.args))
        else:
            own = call(made, node.target, convert(node.args), named)
        own.meta.update(origin(node.meta, own.name, own.target, lines))
        known[node] = own
    made.output(convert(results))
    return torch.fx.GraphModule(root, made)


def _gets_items(node):
    """Whether a call gets items of a tensor by slices and integers of which one is another one at each call: backends have a symbol for it where
    the item is selected."""
    if getattr(node.target, "__name__", "") not in ("__getitem__", "getitem") or node.meta["domain"] != "torch" or len(node.args) != 2:
        return False
    tensor, key = node.args
    keys = key if type(key) is tuple else (key,)
    is_symbol = [type(part) is type(node) and part.meta["domain"] == "" and part.meta["value"] == "int" for part in keys]
    is_tensor = type(tensor) is type(node) and tensor.meta["value"].startswith("Tensor[")
    others = (part for part, is_number in zip(keys, is_symbol, strict=True) if not is_number)
    return is_tensor and any(is_symbol) and all(type(part) in (int, slice) for part in others)


def surroundings(module, inputs):
    """The context that a backend finds: where operators take graphs, one in which these can make numbers of their own for sizes. Those of the
    inputs are known."""
    from contextlib import nullcontext

    if "torch" not in sys.modules or not hasattr(module, "graph"):
        return nullcontext()
    import torch
    from torch._ops import HigherOrderOperator

    if not any(isinstance(node.target, HigherOrderOperator) for node in module.graph.nodes):
        return nullcontext()
    from torch._dynamo.source import ConstantSource
    from torch._guards import TracingContext, tracing
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatefulSymbolicContext

    context = TracingContext(FakeTensorMode(shape_env=ShapeEnv()))
    for place, tensor in enumerate(inputs):
        if type(tensor) in (torch.Tensor, torch.nn.Parameter):
            sizes = [DimDynamic.STATIC] * tensor.dim()
            context.tensor_to_context[tensor] = StatefulSymbolicContext(
                sizes, tensor_source=ConstantSource(f"input_{place}"), shape_env_to_source_to_symbol_cache={}
            )
    return tracing(context)
