"""An `OrderedDict` whose table has another order than its links: both orders stay."""

import collections
import unittest

import slotrt


class Ordered(unittest.TestCase):
    """An `OrderedDict` whose table has another order than its links."""

    def test_it_stays_as_it_is_where_it_is_read(self):
        def read(ordered, seen):
            seen.append(ordered["a"])
            return seen

        def seen(function):
            ordered = collections.OrderedDict(a=1, b=2, c=3)
            ordered.move_to_end("a")
            iterator = iter(ordered)
            first = next(iterator)
            held = function(ordered, [ordered])
            return first, list(iterator), held[0] is ordered, held[1:], list(dict.items(ordered))

        compiled = slotrt.compile(read)
        for _ in range(3):
            self.assertEqual(seen(compiled), seen(read))

    def test_changes_keep_both_orders(self):
        def change(ordered, key):
            ordered[key] = 5
            ordered.pop("b", None)
            return next(reversed(ordered))

        def changed(function, key):
            ordered = collections.OrderedDict(a=1, b=2, c=3)
            ordered.move_to_end("a")
            return function(ordered, key), list(ordered.items()), list(dict.items(ordered))

        compiled = slotrt.compile(change)
        for key in ("a", "b", "c", "d"):
            self.assertEqual(changed(compiled, key), changed(change, key))


if __name__ == "__main__":
    unittest.main()
