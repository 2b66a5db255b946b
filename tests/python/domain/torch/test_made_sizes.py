"""What a tensor of the graph tells of its sizes is another object for each question, as PyTorch makes it."""

import unittest

import slotrt
import torch

KEPT = []


def kept(x):
    y = x * 2
    KEPT.append(y.shape)
    KEPT.append(y.size())
    KEPT.append(y.stride())
    return y.shape is y.shape, y.shape == x.shape, y.view(y.shape)


def uses(x):
    y = x + 1
    size = y.shape
    made = torch.zeros(size), y.new_ones(size), y.expand(size), y.reshape(size[0], -1)
    return made, [*size], size + (1,), size[1:], len(size), hash(size) == hash((2, 3)), {size: 1}, str(size), size.numel(), f"{size}"


def held(x):
    """In a container that C fills, a dict's key, twice in a tuple, over a break, in an exception."""
    size = (x * 2).shape
    both = list(map(torch.Size, [size, (1, 2)]))
    by_size = dict.fromkeys([size], 3)
    both.extend([size, size])
    print(end="")
    try:
        raise ValueError(size)
    except ValueError as error:
        told = error.args[0]
    return both, by_size, (size, size), told is size, both[-1] is size, size.numel(), told


def loop(x):
    sizes = []
    for k in range(1, 4):
        sizes.append(x[:k].shape)
    return sizes, {size.numel() for size in sizes}, sorted(sizes)[0] is sizes[0]


class MadeSizes(unittest.TestCase):
    def test_no_two_are_one_object(self):
        """Within a call, and over calls that run the same trace."""
        compiled = slotrt.compile(kept)
        KEPT.clear()
        for _ in range(3):
            one, equal, viewed = compiled(torch.ones(2, 3))
            self.assertEqual((one, equal, viewed.shape), (False, True, (2, 3)))
        self.assertEqual(len({id(size) for size in KEPT}), 9)
        self.assertEqual(KEPT, [(2, 3), (2, 3), (3, 1)] * 3)
        self.assertEqual([type(size) for size in KEPT[:3]], [torch.Size, torch.Size, tuple])
        self.assertEqual(slotrt.explain(kept)(torch.ones(2, 3)).breaks, 0)

    def test_uses_of_sizes(self):
        """As an argument, a key, a text, in operations of tuples, where sizes change, too."""
        for function in (uses, held, loop):
            compiled = slotrt.compile(function)
            for x in (torch.ones(2, 3), torch.ones(2, 3), torch.ones(4, 3), torch.ones(5, 3)):
                self.assertEqual(repr(compiled(x)), repr(function(x)))
        self.assertEqual(slotrt.explain(uses)(torch.ones(2, 3)).breaks, 0)


if __name__ == "__main__":
    unittest.main()
