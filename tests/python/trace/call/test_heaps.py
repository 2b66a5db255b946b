"""Functions of `heapq` in both orders, by the names that the release has."""

import heapq
import unittest

import slotrt

SMALLEST = heapq.heapify, heapq.heappop, heapq.heapreplace, heapq.heappush, heapq.heappushpop
# The first three have had names of their own since 3.14; before, the others were not there.
LARGEST = tuple(
    getattr(heapq, name, None) or getattr(heapq, "_" + name, None)
    for name in ("heapify_max", "heappop_max", "heapreplace_max", "heappush_max", "heappushpop_max")
)


class Item:
    def __init__(self, key, seen):
        self.key, self.seen = key, seen

    def __lt__(self, other):
        self.seen.append((self.key, other.key))
        return self.key < other.key


def numbers(functions, shift):
    heapify, pop, replace, push, push_and_pop = functions
    heap = [5, 1, 4, 2 + shift, 3]
    heapify(heap)
    found = [pop(heap), replace(heap, 7 - shift)]
    if push:
        push(heap, shift)
        found.append(push_and_pop(heap, 6))
    return found, heap


def items(functions, shift):
    heapify, pop, replace, push, push_and_pop = functions
    seen = []
    heap = [Item(key, seen) for key in (5, 1, 4, 2 + shift, 3)]
    heapify(heap)
    found = [pop(heap).key, replace(heap, Item(7 - shift, seen)).key]
    if push:
        push(heap, Item(shift, seen))
        found.append(push_and_pop(heap, Item(6, seen)).key)
    return found, [item.key for item in heap], seen


def emptied(functions, shift):
    try:
        return functions[1]([])
    except IndexError as error:
        return str(error), shift


class Heaps(unittest.TestCase):
    def test_both_orders(self):
        for functions in (SMALLEST, LARGEST):
            for function in (numbers, items, emptied):
                compiled = slotrt.compile(function, fullgraph=True)
                for shift in (0, 3, 0, 8):
                    with self.subTest(function=function.__name__, largest=functions is LARGEST, shift=shift):
                        self.assertEqual(compiled(functions, shift), function(functions, shift))


if __name__ == "__main__":
    unittest.main()
