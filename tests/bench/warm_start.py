"""The first call of a model in a fresh process: traced, and with the traces that an earlier process has saved. Prints a table.

    PROCESSES=5 python tests/bench/warm_start.py

Times are CPU time of the first call over a later one: medians of several processes. What is loaded includes reading the file. The part is the
second time over the first. A build with debug assertions is slower at everything, most of all at tracing: it tells the part alone, and rather
too low a one.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

MODELS = ("MLP", "TransformerEncoderLayer", "ResNet-18", "GPT-2")
PROCESSES = int(os.environ.get("PROCESSES", 5))

# More than this part of the time of a trace no model is to take.
MOST = 0.2


def run(name, mode, path):
    """In this process: one model."""
    import time
    import warnings

    warnings.simplefilter("ignore")
    import slotrt
    import torch
    from torch_programs import PROGRAMS

    torch.set_num_threads(1)
    make = next(make for known, _, make in PROGRAMS if known == name)
    model, arguments = make()
    with torch.no_grad():
        for _ in range(3):
            model(*arguments)
        compiled = slotrt.compile(model)
        start = time.process_time_ns()
        loaded = slotrt.load(path) if mode == "load" else None
        reading = time.process_time_ns()
        compiled(*arguments)
        first = time.process_time_ns()
        compiled(*arguments)
        later = time.process_time_ns() - first
    stats = slotrt.stats()
    report = slotrt.save(path) if mode == "save" else {}
    times = {"read": reading - start, "first": first - reading - later}
    print(json.dumps({**times, "traced": stats["frames_compiled"], "loaded": stats["traces_loaded"], **report, "unfit": loaded and loaded.unfit}))


def measured(name, mode, path, count):
    """The median of several processes."""
    command = [sys.executable, "-W", "ignore", __file__, name, mode, path]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout.splitlines()[-1]) for _ in range(count)]
    return {**runs[-1], "ms": statistics.median(run["read"] + run["first"] for run in runs) / 1e6}


def main():
    import slotrt

    print(f"slotrt {slotrt.__version__} in {pathlib.Path(slotrt.__file__).parent}, {PROCESSES} processes for each time, CPU time\n")
    print("| model | traced, ms | loaded, ms | part | file, KiB |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS:
            path = str(pathlib.Path(folder, name))
            saved, traced = measured(name, "save", path, 1), measured(name, "trace", path, PROCESSES)
            loaded = measured(name, "load", path, PROCESSES)
            note = f" {saved['left_out'] or ''} {loaded['unfit'] or ''}".rstrip() if loaded["traced"] else ""
            note += " too slow" if loaded["ms"] > MOST * traced["ms"] else ""
            print(f"| {name} | {traced['ms']:.1f} | {loaded['ms']:.1f} | {loaded['ms'] / traced['ms']:.2f} | {saved['bytes'] / 1024:.0f} |{note}", flush=True)


if __name__ == "__main__":
    run(*sys.argv[1:]) if len(sys.argv) > 1 else main()
