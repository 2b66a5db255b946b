"""Loops that make, in each pass, what compiled code could not make again: they are traced about once, not once for each pass."""

import collections
import unittest

import slotrt


class Key:
    pass


def passes(keys, count):
    for key in keys:
        kept = collections.OrderedDict([(key, 1)])
        total = 0
        for number in range(count):
            total += number
    print(end="")
    return list(kept.values()), total


class Escapes(unittest.TestCase):
    def test_long_passes(self):
        keys = [Key() for _ in range(12)]
        slotrt.reset()
        compiled = slotrt.compile(passes)
        for _ in range(2):
            self.assertEqual(compiled(keys, 1000), passes(keys, 1000))
        # A pass has about 4,000 instructions.
        self.assertLess(slotrt.stats()["repeated"], 12 * 4_000 * 10)


if __name__ == "__main__":
    unittest.main()
