"""An `OrderedDict` whose table has another order than its links: both orders stay."""

import collections
import enum
import unittest

import slotrt


class Colour(enum.Enum):
    """Members that hash themselves in Python."""

    RED = 1
    GREEN = 2


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

    def test_members_of_enumerations_are_keys(self):
        def change(ordered, key):
            ordered[key] = 5
            ordered.move_to_end(Colour.RED, last=False)
            del ordered["a"]
            return list(ordered.items())

        compiled = slotrt.compile(change)
        for key in Colour:
            made = [collections.OrderedDict({"a": 1, Colour.RED: 2, "b": 3}) for _ in range(2)]
            self.assertEqual(compiled(made[0], key), change(made[1], key))
            self.assertEqual(list(made[0].items()), list(made[1].items()))


if __name__ == "__main__":
    unittest.main()
