"""Helpers for tests of watched and checked guards. No tests here."""

import sys
import types
import unittest

import slotrt

TELLS = sys.version_info >= (3, 12)


def fresh(**names):
    """A module with these names."""
    module = types.ModuleType("watched_module")
    module.__dict__.update(names)
    return module


def made(text, namespace):
    """The function `f` of a program text in a namespace."""
    exec(text, namespace)
    return namespace["f"]


class Case(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def noticed(self, function, change, *args):
        """The compiled function gives what the function gives before and after a change, and the change is noticed."""
        compiled = slotrt.compile(function)

        def both():
            results = []
            for call in (function, compiled):
                try:
                    results.append(("returns", call(*args)))
                except Exception as error:
                    results.append((type(error), str(error)))
            self.assertEqual(results[0], results[1], change)
            return results[0]

        first = [both() for _ in range(4)][0]
        before = slotrt.stats()
        both()
        after = slotrt.stats()
        self.assertGreater(after["cache_hits"], before["cache_hits"], "nothing changed: the code is used again")
        self.assertEqual(after["frames_compiled"], before["frames_compiled"], "nothing changed: nothing is compiled")
        change()
        changed = both()
        self.assertNotEqual(first, changed, "the change makes a difference")
        for _ in range(3):
            both()
        return compiled, both
