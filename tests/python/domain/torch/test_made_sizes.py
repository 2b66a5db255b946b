"""What a tensor of the graph tells of its sizes is another object for each question, as PyTorch makes it."""

import slotrt
import torch

KEPT = []


def kept(x):
    y = x * 2
    KEPT.append(y.shape)
    KEPT.append(y.size())
    KEPT.append(y.stride())
    return y.shape is y.shape, y.shape == x.shape, y.view(y.shape)


def test_no_two_are_one_object():
    """Within a call, and over calls that run the same trace."""
    compiled = slotrt.compile(kept)
    KEPT.clear()
    for _ in range(3):
        one, equal, viewed = compiled(torch.ones(2, 3))
        assert (one, equal, viewed.shape) == (False, True, (2, 3))
    assert len({id(object) for object in KEPT}) == 9
    assert KEPT[:3] == KEPT[3:6] == KEPT[6:] == [(2, 3), (2, 3), (3, 1)]
    assert [type(object) for object in KEPT[:3]] == [torch.Size, torch.Size, tuple]
    assert slotrt.explain(kept)(torch.ones(2, 3)).breaks == 0


def uses(x):
    y = x + 1
    size = y.shape
    made = torch.zeros(size), y.new_ones(size), y.expand(size), y.reshape(size[0], -1)
    return made, [*size], size + (1,), size[1:], len(size), hash(size) == hash((2, 3)), {size: 1}, str(size), size.numel(), f"{size}"


def test_uses_of_sizes():
    """As an argument, a key, a text, in operations of tuples."""
    compiled = slotrt.compile(uses)
    for x in (torch.ones(2, 3), torch.ones(2, 3), torch.ones(4, 3), torch.ones(5, 3)):
        assert repr(compiled(x)) == repr(uses(x))
    assert slotrt.explain(uses)(torch.ones(2, 3)).breaks == 0
