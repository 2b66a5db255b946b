"""Traces with numbers that contents of tensors decide, on disk: another process traces none of them again."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """
import json, sys
import slotrt, torch
import test_integers_of_contents as module

mode, path = sys.argv[1:3]
loaded = slotrt.load(path) if mode == "load" else None
wrong, kept = [], []
for use in module.USES:
    compiled = slotrt.compile(use, fullgraph=True)
    kept.append(compiled)
    for contents in module.CONTENTS:
        said, plain = (module.outcome(f, module.vector(*contents)) for f in (compiled, use))
        if said != plain:
            wrong.append((use.__name__, contents, str(said), str(plain)))
stats = slotrt.stats()
print(json.dumps({
    "wrong": wrong, "traced": stats["frames_compiled"], "loaded": stats["traces_loaded"], "uses": len(module.USES),
    "unfit": loaded and loaded.unfit, "saved": slotrt.save(path) if mode == "save" else None,
}))
"""


class SavedContents(unittest.TestCase):
    def run_program(self, folder, mode):
        script = pathlib.Path(folder, "program.py")
        script.write_text(PROGRAM)
        paths = [str(pathlib.Path(__file__).parent), *filter(None, map(str, sys.path))]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", script, mode, pathlib.Path(folder, "traces")],
            capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(said["wrong"], [])
        return said

    def test_second_process_traces_nothing(self):
        """Not even where a call is the first to import a module of PyTorch, or the trace calls functions that nothing has imported."""
        with tempfile.TemporaryDirectory() as folder:
            first = self.run_program(folder, "save")
            self.assertEqual((first["saved"]["left_out"], first["traced"]), ({}, first["uses"]))
            second = self.run_program(folder, "load")
        self.assertEqual((second["unfit"], second["traced"], second["loaded"]), ({}, 0, second["uses"]))


if __name__ == "__main__":
    unittest.main()
