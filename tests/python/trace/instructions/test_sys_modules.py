"""Imports in a trace that has changed `sys.modules`."""

import operator
import pickle
import sys
import types
import unittest
from unittest import mock

import slotrt

ONE, OTHER = types.ModuleType("replaced"), types.ModuleType("replaced")
ONE.x, OTHER.x = 1, 2
PACKAGE = types.ModuleType("replaced")
PACKAGE.__path__ = []
PACKAGE.part = types.ModuleType("replaced.part")
PACKAGE.part.x = 3


def swapped(module):
    kept = sys.modules.get("replaced")
    sys.modules["replaced"] = module
    try:
        import replaced
        from replaced import x

        return replaced is module, x, __import__("replaced").x
    finally:
        if kept is None:
            del sys.modules["replaced"]
        else:
            sys.modules["replaced"] = kept


def in_a_package(module):
    sys.modules["replaced"] = PACKAGE
    sys.modules["replaced.part"] = module
    import replaced.part
    import replaced.part as part
    from replaced.part import x

    return replaced is PACKAGE, part is PACKAGE.part, x


def removed(module):
    sys.modules["replaced"] = module
    import replaced

    del sys.modules["replaced"]
    try:
        import replaced as again
    except ImportError as error:
        return replaced.x, type(error), str(error)
    return again


def forbidden(module):
    sys.modules["replaced"] = None
    try:
        import replaced
    except ImportError as error:
        return type(error), str(error)
    return replaced


def no_module(value):
    sys.modules["replaced"] = value
    import replaced

    return replaced


def pickled(value):
    with mock.patch.dict(sys.modules, operator=sys.modules["operator"]):
        return pickle.loads(pickle.dumps(value)) is value


class Imports(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def outcome(self, function, argument):
        with mock.patch.dict(sys.modules):
            try:
                result = function(argument)
            except Exception as error:
                result = type(error), str(error)
            return result, sys.modules.get("replaced"), sys.modules.get("replaced.part")

    def test_as_without(self):
        for function in (swapped, in_a_package, removed, forbidden, no_module):
            compiled = slotrt.compile(function)
            for argument in (ONE, OTHER, ONE, PACKAGE, PACKAGE.part, None, 5):
                with self.subTest(function.__name__, argument=argument):
                    self.assertEqual(self.outcome(compiled, argument), self.outcome(function, argument))

    def test_in_one_trace(self):
        with mock.patch.dict(sys.modules):
            for function in (swapped, in_a_package):
                self.assertEqual(slotrt.explain(function)(ONE).breaks, 0)

    def test_pickles(self):
        self.assertEqual(slotrt.compile(pickled, fullgraph=True)(operator.add), pickled(operator.add))


if __name__ == "__main__":
    unittest.main()
