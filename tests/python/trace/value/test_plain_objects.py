"""Objects of classes without methods of their own: comparison by identity, and the order of bases."""

import unittest

from compared import Compared


class Point:
    """Compares by what it holds."""

    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return type(other) is Point and self.x == other.x


class Empty:
    """Has no method of its own."""


class PlainObjects(Compared):
    def test_identity_of_what_has_no_comparison(self):
        def through(one, other):
            return object.__eq__(one, other), object.__eq__(one, one), object.__repr__(one), object.__hash__(one) == hash(one)

        one, other = Empty(), Empty()
        compiled = self.same(through, one, other)
        self.assertEqual(compiled(other, one), through(other, one))
        self.assertEqual(compiled(one, one), through(one, one))

    def test_the_order_of_bases(self):
        class Under(Empty):
            pass

        def through(cls):
            found = cls.mro()
            found.append(1)
            return found

        compiled = self.same(through, Under)
        Under.__bases__ = (Point,)
        self.assertEqual(compiled(Under), through(Under))


if __name__ == "__main__":
    unittest.main()
