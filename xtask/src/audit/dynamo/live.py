"""What `get_type_slots` of a live PyTorch says of each class that is there: prints one JSON object."""

import json
import sys

from torch._C import _dynamo

GROUPS = ("PySequenceSlots", "PyMappingSlots", "PyNumberSlots", "PyTypeSlots")


def members(group):
    kind = getattr(_dynamo, group)
    found = getattr(kind, "__members__", None) or {name: value for name, value in vars(kind).items() if name.isupper()}
    return {name.lower(): value for name, value in found.items()}


def classes():
    waiting, seen = [object], set()
    while waiting:
        found = waiting.pop()
        if found not in seen:
            seen.add(found)
            yield found
            waiting.extend(type.__subclasses__(found))


bits = [members(group) for group in GROUPS]
types = {}
for found in classes():
    if not found.__flags__ & (1 << 9):  # Py_TPFLAGS_HEAPTYPE
        name = found.__qualname__ if found.__module__ == "builtins" else f"{found.__module__}.{found.__qualname__}"
        masks = _dynamo.get_type_slots(found)
        types[name] = [slot for mask, group in zip(masks, bits) for slot, bit in group.items() if _dynamo.has_slot(mask, bit)]
print(json.dumps({"version": ".".join(map(str, sys.version_info[:3])), "slots": sorted(slot for group in bits for slot in group), "types": types}))
