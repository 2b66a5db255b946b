"""`fromkeys` of classes that derive from `dict`, and `breakpoint` with a hook of the program."""

import collections
import sys
import unittest

import slotrt
from compared import Compared


class Ordered(collections.OrderedDict):
    pass


class Doubling(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key * 2, value)


class Other(dict):
    def __new__(cls):
        return collections.UserDict()


class Refusing(dict):
    def __init__(self, *args):
        raise ValueError("none of these")


def made(cls, keys, *value):
    try:
        result = cls.fromkeys(keys, *value)
    except (TypeError, ValueError, ZeroDivisionError) as error:
        return type(error), str(error)
    return type(result), list(result.items())


def with_a_hook(x):
    seen = []

    def hook(*args, **keywords):
        seen.append((args, keywords))
        return len(seen)

    before, sys.breakpointhook = sys.breakpointhook, hook
    try:
        breakpoint()
        seen.append(breakpoint(x, key=x + 1))
        del sys.breakpointhook
        try:
            breakpoint()
        except RuntimeError as error:
            seen.append(str(error))
    finally:
        sys.breakpointhook = before
    return seen


class FromKeys(Compared):
    def test_classes(self):
        for cls in (Ordered, Doubling, Refusing):
            for keys in ("abc", [1, 2, 1], (), 5, {"x": 1}, {3}):
                with self.subTest(cls=cls, keys=keys):
                    self.same(made, cls, keys)
                    self.same(made, cls, keys, [1])
        self.same(lambda: made(Ordered, (10 // n for n in (2, 1, 0))))
        self.assertEqual(slotrt.compile(made)(Other, "ab"), made(Other, "ab"))


class Breakpoints(Compared):
    def test_a_hook_of_the_program(self):
        self.same(with_a_hook, 3)

    def test_the_hook_of_the_library_is_left_to_it(self):
        told = []
        before, sys.breakpointhook = sys.breakpointhook, lambda *args: told.append(args)
        self.addCleanup(setattr, sys, "breakpointhook", before)

        def stops(x):
            breakpoint(x)
            return x

        compiled = slotrt.compile(stops)
        self.assertEqual([compiled(1), compiled(2), stops(3)], [1, 2, 3])
        self.assertEqual(told, [(1,), (2,), (3,)])


if __name__ == "__main__":
    unittest.main()
