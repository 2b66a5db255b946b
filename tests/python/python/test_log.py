"""`SLOTRT_LOG`: topics, JSON lines, unknown topics; and how quickly the package imports."""

import json
import os
import subprocess
import sys
import unittest

PROGRAM = """
import slotrt

@slotrt.compile
def function(a):
    b = a + 1
    slotrt.graph_break()
    return b

function(1)
function(1.5)
"""


def run(log, program=PROGRAM):
    """Standard error of the program under a value of `SLOTRT_LOG`."""
    environment = {**os.environ, "SLOTRT_LOG": log}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stderr


class Log(unittest.TestCase):
    def test_no_topic_no_output(self):
        self.assertEqual(run(""), "")

    def test_topics(self):
        text = run("breaks,guards")
        self.assertIn("break", text)
        self.assertIn("guards", text)
        self.assertNotIn("bytecode before and after", text)
        self.assertIn("bytecode before and after", run("all"))

    def test_recompilation_names_the_guard(self):
        text = run("recompiles")
        self.assertIn("traced again because this no longer held", text)
        self.assertIn("a type is int", text)

    def test_json_lines(self):
        records = [json.loads(line) for line in run("json,all").splitlines()]
        self.assertLessEqual({"guards", "bytecode", "breaks", "recompiles"}, {record["topic"] for record in records})
        self.assertTrue(all(record["name"] == "function" for record in records))

    def test_unknown_topic_is_named(self):
        self.assertIn("unknown topics: grpah", run("grpah"))

    def test_file(self):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "log.txt")
            environment = {**os.environ, "SLOTRT_LOG": "breaks", "SLOTRT_LOG_FILE": path}
            done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            with open(path, encoding="utf-8") as file:
                self.assertIn("[slotrt]", file.read())


class Import(unittest.TestCase):
    def test_import_loads_no_library(self):
        """Libraries make an import slow. `cargo xtask bench` measures how long it takes."""
        program = "import sys, slotrt; print([name for name in ('numpy', 'torch', 'inspect', 'asyncio') if name in sys.modules])"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
        self.assertEqual(done.stdout.strip(), "[]")


if __name__ == "__main__":
    unittest.main()
