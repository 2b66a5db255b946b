"""A part of PyTorch's own operators, with samples of its tests: compiled, they give what they give uncompiled.

`cargo xtask test --torch --ops` takes all of them, in all types."""

import unittest

import operator_cases
import torch

# One of so many.
STEP = 6

# Samples of these take seconds each.
SLOW = ("linalg", "svd", "ormqr", "pca_lowrank", "svd_lowrank", "jiterator", "stft", "istft", "ctc_loss", "nn.functional.interpolate")


class Operators(unittest.TestCase):
    maxDiff = None

    def test_part(self):
        dtypes = {torch.float32, torch.int64, torch.bfloat16}
        operators = [item for item in sorted(operator_cases.operators().items()) if not item[0].startswith(SLOW)][::STEP]
        rows = {name: operator_cases.check(operator, count=2, dtypes=dtypes) for name, operator in operators}
        right = ("one graph", "breaks", "no samples", "no operation")
        self.assertEqual({name: row for name, row in rows.items() if row["outcome"] not in right}, {})
        broken = [name for name, row in rows.items() if row["outcome"] == "breaks"]
        self.assertLessEqual(len(broken), 0.1 * len(rows), broken)


if __name__ == "__main__":
    unittest.main()
