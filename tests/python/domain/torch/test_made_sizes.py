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


class MadeSizes(unittest.TestCase):
    def test_no_two_are_one_object(self):
        """Within a call, and over calls that run the same trace."""
        compiled = slotrt.compile(kept)
        KEPT.clear()
        for _ in range(3):
            one, equal, viewed = compiled(torch.ones(2, 3))
            self.assertEqual((one, equal, viewed.shape), (False, True, (2, 3)))
        self.assertEqual(len({id(object) for object in KEPT}), 9)
        self.assertEqual(KEPT, [(2, 3), (2, 3), (3, 1)] * 3)
        self.assertEqual([type(object) for object in KEPT[:3]], [torch.Size, torch.Size, tuple])
        self.assertEqual(slotrt.explain(kept)(torch.ones(2, 3)).breaks, 0)

    def test_uses_of_sizes(self):
        """As an argument, a key, a text, in operations of tuples."""
        compiled = slotrt.compile(uses)
        for x in (torch.ones(2, 3), torch.ones(2, 3), torch.ones(4, 3), torch.ones(5, 3)):
            self.assertEqual(repr(compiled(x)), repr(uses(x)))
        self.assertEqual(slotrt.explain(uses)(torch.ones(2, 3)).breaks, 0)


if __name__ == "__main__":
    unittest.main()
