"""Parameters as attributes of the graph that a backend gets, where they are inputs otherwise."""

import functools

from ._slotrt import native_call

# How many sets of parameters a graph keeps what was compiled for.
_KEPT = 8


def parameters_as_attributes(backend):
    """A backend that gives `backend` each graph with its parameters as attributes (`get_attr` nodes): only the other inputs are inputs.

    What it compiles holds for these parameters. Where a later call comes with others, `backend` compiles the graph for them. In a graph with
    symbolic sizes they stay inputs."""
    if not callable(backend):
        from ._backends import registered

        backend = registered(backend)

    def adapted(graph, example_inputs):
        places = [index for index, value in enumerate(example_inputs) if _is_parameter(value)]
        if not places:
            return backend(graph, example_inputs)
        return native_call(_Attributes(backend, graph, example_inputs, places))

    functools.update_wrapper(adapted, backend, updated=())
    return adapted


def _is_parameter(value):
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    return isinstance(value, torch.nn.Parameter) and not isinstance(value, FakeTensor)


class _Attributes:
    """What a backend has compiled of a graph, by the parameters."""

    def __init__(self, backend, graph, example_inputs, places):
        self._backend, self._graph, self._places, self._known = backend, graph, places, []
        self._others = [index for index in range(len(example_inputs)) if index not in set(places)]
        self._find(example_inputs)

    def __call__(self, *inputs):
        return self._find(inputs)(*[inputs[index] for index in self._others])

    def _find(self, inputs):
        for parameters, compiled in self._known:
            if all(inputs[index] is parameter for index, parameter in zip(self._places, parameters, strict=True)):
                return compiled
        compiled = self._backend(self._with(inputs), tuple(inputs[index] for index in self._others))
        self._known[_KEPT - 1 :] = []
        self._known.insert(0, ([inputs[index] for index in self._places], compiled))
        return compiled

    def _with(self, inputs):
        """The graph with these inputs for its attributes."""
        import copy

        import torch

        root, graph = torch.nn.Module(), copy.deepcopy(self._graph.graph)
        for name, child in self._graph.named_children():
            root.add_module(name, child)
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        first = next(node for node in graph.nodes if node.op != "placeholder")
        for index in self._places:
            old = placeholders[index]
            root.register_parameter(name := f"{old.name}_", inputs[index])
            with graph.inserting_before(first):
                new = graph.get_attr(name)
            old.replace_all_uses_with(new)
            graph.erase_node(old)
        return torch.fx.GraphModule(root, graph)
