"""A part of the random programs on tensors (`cargo xtask fuzz --torch`) that every run of the tests has time for."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

RUN = pathlib.Path(__file__).resolve().parents[3] / "fuzz" / "run.py"
COUNT = 40


class RandomPrograms(unittest.TestCase):
    def test_none_differs(self):
        options = ["--torch", "--start", "0", "--count", str(COUNT), "--batch", "20"]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
        done = subprocess.run([sys.executable, str(RUN), *options], capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((report["different"], report["crashed"]), ([], []))
        # Programs that do not agree with themselves, and graphs without work, would show nothing.
        self.assertGreater(report["same"], COUNT * 3 // 4)
        self.assertGreater(report["stats"]["graphs"], COUNT)


if __name__ == "__main__":
    unittest.main()
