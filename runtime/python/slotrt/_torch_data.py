"""What stands for functions of PyTorch's loaders of data while a trace goes through them: they do the same, as the graph can do it."""

import torch
from torch.utils.data import RandomSampler

# How many indices are drawn at once where one may be drawn again.
_AT_ONCE = 32


def drawn_indices(count, samples, replacement, seed):
    """The indices that a `RandomSampler` without a generator of its own gives; `seed` is a tensor."""
    generator = torch.Generator()
    generator.manual_seed(int(seed.item()))
    if replacement:
        sizes = [_AT_ONCE] * (samples // _AT_ONCE) + [samples % _AT_ONCE]
        return torch.cat([torch.randint(high=count, size=(size,), dtype=torch.int64, generator=generator) for size in sizes])
    orders = [torch.randperm(count, generator=generator) for _ in range(samples // count)]
    return torch.cat([*orders, torch.randperm(count, generator=generator)[: samples % count]])


def _indices(self):
    """`RandomSampler.__iter__`. Nobody sees the generator that it makes, so the graph may draw all at once."""
    count, samples, replacement = len(self.data_source), self.num_samples, self.replacement
    if self.generator is None and count > 0:
        seed = torch.empty((), dtype=torch.int64).random_()
        yield from drawn_indices(count, samples, replacement, seed).tolist()
        return
    generator = self.generator
    if generator is None:
        generator = torch.Generator()
        generator.manual_seed(int(torch.empty((), dtype=torch.int64).random_().item()))
    if replacement:
        for _ in range(samples // _AT_ONCE):
            yield from torch.randint(high=count, size=(_AT_ONCE,), dtype=torch.int64, generator=generator).tolist()
        yield from torch.randint(high=count, size=(samples % _AT_ONCE,), dtype=torch.int64, generator=generator).tolist()
    else:
        for _ in range(samples // count):
            yield from torch.randperm(count, generator=generator).tolist()
        yield from torch.randperm(count, generator=generator).tolist()[: samples % count]


IN_PLACE_OF = {RandomSampler.__iter__: _indices}
