"""What the runtime costs: importing, tracing a bytecode, guards of a cached call. Prints rows as a line of JSON.

A row is {"name", "value", "unit", "bound"}; `bound` is what the project allows itself, null where it only watches.
"""

import contextlib
import io
import json
import pathlib
import statistics
import subprocess
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "fuzz"))

import generate  # noqa: E402

PROGRAMS = 200
ROUNDS = 40
CALLS = 20_000


def import_ms():
    """The quickest of several imports in fresh interpreters, the interpreter's own start taken off."""
    script = "import time; t = time.perf_counter_ns(); import slotrt; print(time.perf_counter_ns() - t)"
    times = [int(subprocess.check_output([sys.executable, "-c", script])) for _ in range(7)]
    return min(times) / 1e6


def per_call_ns(function, *arguments):
    """The quickest of many short rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        for _ in range(CALLS // ROUNDS):
            function(*arguments)
        best = min(best, (time.perf_counter_ns() - start) / (CALLS // ROUNDS))
    return best


def hit_ns():
    """A cached call of a function of two arrays that records one operation, over the plain call."""
    import numpy as np
    import slotrt

    def add(x, y):
        return x + y

    x, y = np.arange(4.0), np.ones(4)
    compiled = slotrt.compile(add)
    compiled(x, y)
    before = slotrt.stats()["cache_hits"]
    cost = per_call_ns(compiled, x, y) - per_call_ns(add, x, y)
    return cost if slotrt.stats()["cache_hits"] > before else None


def traced():
    """Nanoseconds per traced bytecode over random programs: the median of the programs, and their number."""
    samples = []
    for seed in range(PROGRAMS):
        frames = frames_of(seed)
        steps = sum(frame["steps"] for frame in frames)
        if steps >= 20:
            samples.append(sum(frame["ns"]["trace"] for frame in frames) / steps)
    return (statistics.median(samples) if samples else None), len(samples)


def frames_of(seed):
    """The records of a random program's first call, which may well raise."""
    from slotrt import _slotrt

    text, calls = generate.program(seed)
    namespace = {"__name__": "program"}
    session = _slotrt.Session(record=True)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        exec(compile(text, "program.py", "exec"), namespace)
        _, spelled = calls[0]
        arguments = eval(f"({', '.join(spelled)},)", namespace)
        session.compile(namespace["main"], None, False)(*arguments)
    return session.frames()


def main():
    """Measures and prints."""
    warnings.simplefilter("ignore")
    per_bytecode, programs = traced()
    rows = [
        {"name": "import slotrt", "value": import_ms(), "unit": "ms", "bound": 50},
        {"name": f"trace, per bytecode (median of {programs} random programs)", "value": per_bytecode, "unit": "ns", "bound": 1000},
        {"name": "cache hit over the plain call, two arrays", "value": hit_ns(), "unit": "ns", "bound": 500},
    ]
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
