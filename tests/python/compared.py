"""A test case that compares a compiled function with the plain one. No tests here."""

import unittest

import slotrt


class Compared(unittest.TestCase):
    """Compares compiled with plain, on the first call and from the cache."""

    def same(self, function, *args):
        compiled = slotrt.compile(function, fullgraph=True)
        for _ in range(2):
            self.assertEqual(compiled(*args), function(*args))
        return compiled
