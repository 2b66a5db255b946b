"""Backends that get graphs of arrays, with PyTorch and without."""

import sys
import unittest
from unittest import mock

try:
    import numpy as np
except ImportError as error:
    raise unittest.SkipTest(f"numpy is not installed: {error}") from error

import slotrt


class Backends(unittest.TestCase):
    def test_what_one_raises_without_pytorch(self):
        def raises(graph, inputs):
            raise ValueError("no such graph")

        compiled = slotrt.compile(lambda x: x + 1, backend=raises)
        with mock.patch.dict(sys.modules, {"torch": None}), self.assertRaisesRegex(ValueError, "^no such graph$"):
            compiled(np.ones(2))


if __name__ == "__main__":
    unittest.main()
