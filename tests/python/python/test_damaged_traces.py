"""Files of traces whose digest is right and whose content is nonsense: decoded to a trace, or ignored in words; no panic, no crash, no hang."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """
import faulthandler, os, random, sys
import slotrt
from sealed_files import content_of, sealed

FACTOR = 2
def helper(x, *, step=1): return x + step if x < 3 else x - step
class Point:
    def __init__(self, x): self.x = x
    def norm(self): return self.x * FACTOR
def traced(n, items):
    total = Point(n).norm() + helper(n)
    for item in items:
        total += len(item) * n
    slotrt.graph_break()
    try:
        return total // n, [str(i) for i in items], {"a": n}
    except ZeroDivisionError as error:
        return str(error)

def changed(random, content):
    content = bytearray(content)
    kind = random.random()
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        at, some = random.randrange(len(content)), random.randrange(1, 9)
        if kind < 0.5:
            content[at] ^= 1 << random.randrange(8)
        elif kind < 0.8:
            content[at] = random.randrange(256)
        elif kind < 0.9:
            del content[at : at + some]
        else:
            content[at:at] = random.randbytes(some)
    return bytes(content)

def loads(path, log):
    faulthandler.enable(log)
    faulthandler.dump_traceback_later(20, exit=True, file=log)
    slotrt.reset()
    try:
        slotrt.load(path)
    except slotrt.TraceFileError:
        return
    try:
        for args in CALLS:
            slotrt.compile(traced)(*args)
    except slotrt.InternalError as error:
        print("internal:", error, file=log)
    except Exception:
        pass

CALLS = [(5, ["a", "bc"]), (7, ["a", "bc"]), (9, ["a", "bc"])]
folder, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
compiled = slotrt.compile(traced)
for args in CALLS:
    compiled(*args)
path = os.path.join(folder, f"traces{seed}")
slotrt.save(path)
file = open(path, "rb").read()
numbers = random.Random(seed)
for number in range(count):
    with open(path, "wb") as out:
        out.write(sealed(file, changed(numbers, content_of(file))))
    with open(os.path.join(folder, "log"), "w") as log:
        child = os.fork()
        if not child:
            loads(path, log)
            log.flush()
            os._exit(0)
        status = os.waitpid(child, 0)[1]
    told = open(os.path.join(folder, "log")).read()
    # Code that was changed and still fits together runs, and may do anything.
    ran = [line for line in told.splitlines() if line.startswith("  File")][:1]
    if "panic" in told or status and not any("in traced" in line for line in ran):
        print(number, status, told)
"""


class Damaged(unittest.TestCase):
    def test_changed_contents(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "program.py")
            script.write_text(PROGRAM)
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, filter(None, sys.path)))}
            command = [sys.executable, "-W", "ignore", script, folder, str(self.SEED), str(self.COUNT)]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr[-2000:])
        self.assertFalse(re.search("panicked", done.stderr), done.stderr[-2000:])

    SEED, COUNT = int(os.environ.get("SEED", 1)), int(os.environ.get("COUNT", 1000))


if __name__ == "__main__":
    unittest.main()
