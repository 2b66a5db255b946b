"""`pickle` in a trace: C works on proxies."""

import pickle
import unittest

import slotrt
from compared import Compared


class Point:
    """Compares by what it holds."""

    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return type(other) is Point and self.x == other.x


class Pickles(Compared):
    def test_values(self):
        def through(value, protocol):
            made = pickle.dumps(value, protocol)
            return made, pickle.loads(made)

        compiled = slotrt.compile(through, fullgraph=True)
        shared = [1]
        for value in (1, "text", [1, 2.5, (None, True)], {"a": b"x", 2: {3}}, [shared, shared], 1 << 80):
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                self.assertEqual(pickle.loads(compiled(value, protocol)[0]), value)
                self.assertEqual(compiled(value, protocol)[1], value)

    def test_the_same_bytes(self):
        def through(value):
            return pickle.dumps({"key": [value, (value, 2)], "other": {"key": value}})

        compiled = self.same(through, 1)
        for value in (300, 1, -5, True, None):
            self.assertEqual(compiled(value), through(value))

    def test_instances_and_classes(self):
        def through(x):
            copy = pickle.loads(pickle.dumps(Point([x])))
            return copy.x, copy == Point([x]), pickle.loads(pickle.dumps(Point)) is Point

        compiled = self.same(through, 1)
        self.assertEqual(compiled("y"), through("y"))

    def test_what_cannot_be_pickled(self):
        def through():
            try:
                pickle.dumps(lambda: 1)
            except (pickle.PicklingError, AttributeError) as error:
                # From 3.14 on it says which function, and so where that lies.
                return str(error).partition(" at 0x")[0]

        self.assertEqual(slotrt.compile(through)(), through())


if __name__ == "__main__":
    unittest.main()
