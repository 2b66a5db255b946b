"""What stands for parts of PyTorch's compiler while a trace goes through modules that `torch.compile` has wrapped."""

from torch._dynamo import eval_frame


class _InWrapped:
    """`_set_in_optimized_module()`, which is a generator: compiled code could not go on within one."""

    def __enter__(self):
        self.before = eval_frame._in_optimized_module
        eval_frame._in_optimized_module = True

    def __exit__(self, exc_type, exc_value, traceback):
        eval_frame._in_optimized_module = self.before


IN_PLACE_OF = {eval_frame._set_in_optimized_module: _InWrapped}
