"""A few random programs of each kind that needs no PyTorch; `cargo xtask fuzz` runs as many as one likes."""

import json
import pathlib
import subprocess
import sys
import unittest

RUN = pathlib.Path(__file__).parents[3] / "fuzz" / "run.py"
COUNT = 30


class RandomPrograms(unittest.TestCase):
    def check(self, start, *options):
        command = [sys.executable, RUN, "--start", str(start), "--count", str(COUNT), *options]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        report = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((report["different"], report["crashed"]), ([], []), f"fuzz {' '.join(options)}")
        self.assertGreater(report["same"], COUNT * 3 // 4)

    def test_programs(self):
        self.check(1)

    def test_programs_on_objects_from_outside(self):
        self.check(1, "--outside")


if __name__ == "__main__":
    unittest.main()
