"""Runs a program in processes of their own: one saves what it traced, another one loads that."""

import json
import os
import pathlib
import subprocess
import sys

# `CALLS` of a program: name, callable, arguments. Each call is made once; what it raises is told with its traceback's lines.
MAIN = """
import json, sys, traceback
import slotrt

def told(call, args):
    try:
        return repr(call(*args))
    except Exception as error:
        lines = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:]]
        return f"{type(error).__name__}: {error} {lines}"

if __name__ == "__main__":
    mode, path = sys.argv[1:3]
    loaded = slotrt.load(path) if mode == "load" else None
    compiled, said = {}, []
    for name, f, args in CALLS:
        args = args() if callable(args) else args
        call = f if mode == "plain" else compiled.setdefault(f, slotrt.compile(f, **globals().get("OPTIONS", {})))
        said.append((name, told(call, args)))
    stats = slotrt.stats()
    saved = slotrt.save(path) if mode == "save" else None
    print(json.dumps({
        "said": said, "saved": saved, "traced": stats["frames_compiled"], "loaded": stats["traces_loaded"], "skipped": stats["frames_skipped"],
        "breaks": stats["graph_breaks"], "graphs": stats["graphs"], "unfit": loaded and loaded.unfit, "used": loaded and loaded.used,
        "more": globals().get("more", lambda: None)(),
    }))
"""


def run(folder, mode, program, name="program", **environment):
    """What a process that runs the program says: `mode` is `plain`, `save`, `load` or `trace`."""
    script = pathlib.Path(folder, f"{name}.py")
    script.write_text(program + MAIN)
    paths = os.pathsep.join(map(str, filter(None, sys.path)))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script, mode, pathlib.Path(folder, "traces")], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", **environment},
    )
    if done.returncode:
        raise AssertionError(f"{mode}: {done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def check(test, folder, program, *, traced=0, left_out=None, **environment):
    """That the second process says what the first one and the plain program say, and traces so many frames; gives both reports."""
    plain = run(folder, "plain", program, **environment)
    first = run(folder, "save", program, **environment)
    test.assertEqual(first["said"], plain["said"])
    test.assertEqual(first["saved"]["left_out"], left_out or {})
    second = run(folder, "load", program, **environment)
    test.assertEqual(second["said"], plain["said"])
    test.assertEqual(second["unfit"], {})
    test.assertEqual((second["traced"], second["breaks"]), (traced, 0) if not traced else (traced, second["breaks"]))
    test.assertGreater(second["loaded"], 0)
    return first, second
