"""What nodes of a `torch.fx` graph tell about themselves, by the names that PyTorch's tools look for."""

from linecache import getline


class Meta(dict):
    """The `meta` of a placeholder. Its `example_value`, a fake tensor, is made when a backend asks for it."""

    LAZY = "example_value"

    def __init__(self, known, examples, index):
        super().__init__(known)
        self._of = examples, index

    def __missing__(self, key):
        examples, index = self._of
        if key != self.LAZY or index not in examples:
            raise KeyError(key)
        self[key] = made = examples.fake(index)
        return made

    def __contains__(self, key):
        examples, index = self._of
        return super().__contains__(key) or key == self.LAZY and index in examples

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __copy__(self):
        return Meta(self, *self._of)

    copy = __copy__

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        return dict, (dict(self),)


class Examples:
    """Fake tensors like the inputs of a graph, all of one mode; as long as the backend is at work."""

    def __init__(self, inputs=()):
        self._inputs, self._mode = list(inputs), None

    def __contains__(self, index):
        return index < len(self._inputs)

    def release(self):
        """Lets the inputs go: nobody keeps them but the program."""
        self._inputs = []

    def fake(self, index):
        """A fake tensor like an input, or the input itself where it is a number or a fake tensor."""
        import torch
        from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

        value = self._inputs[index]
        if not isinstance(value, torch.Tensor) or isinstance(value, FakeTensor):
            return value
        if self._mode is None:
            self._mode = FakeTensorMode()
        return self._mode.from_tensor(value, static_shapes=True)


def own_base(value):
    """The input, or one like it where it is a view of a tensor that is more than one of `Tensor`: fake tensors would be made of that, too."""
    import torch

    base = value._base if type(value) in (torch.Tensor, torch.nn.Parameter) else None
    if base is None or type(base) in (torch.Tensor, torch.nn.Parameter):
        return value
    return value.detach().requires_grad_(value.requires_grad)


class Lines(dict):
    """Lines of the program by file and number, as tracebacks write them. Many nodes come from one line."""

    def __missing__(self, place):
        file, line = place
        text = getline(file, line).strip()
        self[place] = written = f'  File "{file}", line {line}, in traced\n    {text}\n'
        return written


def origin(meta, name, target, lines):
    """Where in the program a node with this `meta` comes from: the line, and what was called."""
    found = {} if target is None else {"source_fn_stack": [(name, target)]}
    if modules := meta.get("modules"):
        found["nn_module_stack"] = {str(address): (path, kind) for address, path, kind in modules}
    if line := meta["line"]:
        found["stack_trace"] = lines[meta["file"], line]
    return found
