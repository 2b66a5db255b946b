"""A folder of traces: a process finds there what earlier ones of the same program have traced, and leaves what it has traced itself."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = """
import json, sys, logging
import slotrt
logging.basicConfig(level=logging.INFO, format="%(message)s")
def main(numbers):
    # What is compiled is gone when the process ends.
    def scaled(n): return n * FACTOR
    class Model:
        def __init__(self, k): self.k = k
        def __call__(self, x):
            y = x + self.k
            slotrt.graph_break()
            return y * 2
    compiled = slotrt.compile(scaled)
    return [compiled(n) for n in numbers] + [slotrt.compile(outer)(3), slotrt.compile(inner)(4)]
FACTOR = 3
def inner(x):
    slotrt.graph_break()
    return x * 2
def outer(x): return inner(x) + 1
MORE
said = main(json.loads(sys.argv[1]))
stats = slotrt.stats()
print(json.dumps([said, stats["frames_compiled"], stats["traces_loaded"]]))
"""


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / "cache" / "deep"

    def start(self, numbers=(5,), program=PROGRAM, more="", name="program", **environment):
        script, text = self.folder / f"{name}.py", program.replace("MORE", more)
        # A process that has started may be about to read it.
        if not script.exists() or script.read_text() != text:
            script.write_text(text)
        paths = os.pathsep.join(map(str, filter(None, sys.path)))
        environment = {**os.environ, "PYTHONPATH": paths, "SLOTRT_CACHE_DIR": str(self.cache), **environment}
        command = [sys.executable, "-W", "ignore", script, json.dumps(numbers)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def ended(self, process):
        out, self.errors = process.communicate()
        self.assertEqual(process.returncode, 0, self.errors)
        return json.loads(out.splitlines()[-1])

    def run_program(self, *args, **named):
        return self.ended(self.start(*args, **named))

    def files(self):
        return sorted(path.name for path in self.cache.iterdir() if path.suffix == ".traces")

    def test_next_process(self):
        said, traced, loaded = self.run_program()
        self.assertEqual((said, loaded), ([15, 7, 8], 0))
        self.assertGreater(traced, 3)
        self.assertEqual(self.run_program(), [said, 0, traced])
        self.assertEqual(self.errors, "")
        self.assertEqual(len(self.files()), 1)

    def test_what_is_new_is_added(self):
        _, traced, _ = self.run_program()
        said, more, _ = self.run_program((6, 7))
        self.assertEqual((said[:2], more), ([18, 21], 1))
        said, more, _ = self.run_program((5, 6, 9))
        self.assertEqual((said[:3], more), ([15, 18, 27], 0))

    def test_argument(self):
        more = "slotrt.compile(inner, cache_dir=sys.argv[0] + '.cache')"
        _, traced, _ = self.run_program(more=more, SLOTRT_CACHE_DIR="")
        self.assertFalse(self.cache.exists())
        self.assertEqual(self.run_program(more=more, SLOTRT_CACHE_DIR="")[1:], [0, traced])
        self.assertIn("TypeError", self.errors_of("slotrt.compile(inner, cache_dir=3)"))

    def errors_of(self, more):
        process = self.start(more=more)
        return process.communicate()[1]

    def test_programs_have_files_of_their_own(self):
        self.run_program()
        self.run_program(name="other")
        self.assertEqual(len(self.files()), 2)

    def test_changed_program(self):
        self.run_program()
        self.assertEqual(self.run_program(program=PROGRAM.replace("FACTOR = 3", "FACTOR = 4"))[0][0], 20)
        self.assertEqual(self.run_program(program=PROGRAM.replace("x * 2", "x * 5"))[0][1:], [16, 20])

    def test_processes_at_once(self):
        numbers = [(n,) for n in range(5, 9)]
        for running in [self.start(each) for each in numbers]:
            self.ended(running)
        said, traced, _ = self.run_program((5, 6, 7, 8))
        self.assertEqual((said[:4], traced), ([15, 18, 21, 24], 0))
        self.assertEqual([path for path in self.cache.iterdir() if path.name.startswith(".")], [])

    def test_bad_files_are_told_and_replaced(self):
        _, traced, _ = self.run_program()
        path = self.cache / self.files()[0]
        for content in (b"", b"nonsense", path.read_bytes()[:-7], path.read_bytes().replace(b"slotrt traces", b"slotrt xraces")):
            path.write_bytes(content)
            self.assertEqual(self.run_program()[1:], [traced, 0])
            self.assertIn("not used, and replaced", self.errors)
            self.assertEqual(self.run_program()[1:], [0, traced])

    def test_processes_that_end_early(self):
        # One that ends at once saves nothing, one that ends with an exception does.
        leave = "def main(numbers, main=main):\n    main(numbers)\n    END"
        for end, code, saved in (("import os; os._exit(3)", 3, False), ("raise ValueError('the end')", 1, True)):
            process = self.start(more=leave.replace("END", end))
            process.communicate()
            self.assertEqual(process.returncode, code)
            self.assertEqual(self.cache.exists(), saved)
        self.assertEqual(len(self.files()), 1)

    def test_processes_that_are_killed(self):
        # It tells that it ends before it saves.
        tell = "import atexit\ndef main(numbers, main=main):\n    try: return main(numbers)\n    finally: atexit.register(print, 'ends', flush=True)"
        said, traced, _ = self.run_program()
        for moment in range(8):
            # Each has something new to save.
            process = self.start((5, 10 + moment), more=tell)
            for line in process.stdout:
                if line == "ends\n":
                    break
            time.sleep(moment * 0.002)
            process.kill()
            process.communicate()
        again, more, loaded = self.run_program()
        self.assertEqual((again, more), (said, 0))
        self.assertGreaterEqual(loaded, traced)
        self.assertEqual(self.errors, "")

    def test_what_killed_processes_left_is_dropped(self):
        self.run_program()
        [name] = self.files()
        left, other = self.cache / f".{name}.12345.0", self.cache / ".other.traces.12345.0"
        left.write_bytes(b"half of a file")
        other.write_bytes(b"of another program")
        said, _, _ = self.run_program((5, 6))
        self.assertEqual((said[1], left.exists(), other.exists()), (18, False, True))

    def test_folder_that_cannot_be_written(self):
        self.cache.parent.mkdir()
        self.cache.write_text("a file")
        self.assertEqual(self.run_program()[0], [15, 7, 8])
        self.assertIn("not saved", self.errors)

    def test_reset(self):
        _, traced, _ = self.run_program()
        said, again, _ = self.run_program(more="slotrt.compile(inner); slotrt.reset()")
        self.assertEqual(again, traced)
        self.assertEqual(self.run_program()[1:], [0, traced])


if __name__ == "__main__":
    unittest.main()
