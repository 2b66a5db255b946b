"""Runs the uses of PyTorch that the tests have, with slotrt and with TorchDynamo: `run.py [--jobs N] [NAMES]`.

A line of JSON for each: graphs and breaks of three calls, and whether they do what the program does uncompiled. Each file of tests has a
process, and each use one of those: PyTorch's threads do not survive that a process is copied."""

import argparse
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import unittest
import warnings

TESTS = pathlib.Path(__file__).resolve().parents[1] / "python"
sys.path.insert(0, str(TESTS))

import own_processes
import slotrt
import torch
import torch_programs
from torch._dynamo.utils import counters


def rows_of(path):
    """The rows of the tables in a file of tests, each table in what its tests are set up in."""
    module, subject = module_of(path), path.stem.removeprefix("test_")
    kinds = [kind for kind in vars(module).values() if is_table(kind, module)]
    if kinds:
        getattr(module, "setUpModule", lambda: None)()
    for kind in kinds:
        kind.setUpClass()
        for name, row in own_processes.rows(named(kind.rows), 1, check):
            yield {"use": f"{subject}: {name}", **row}
        kind.doClassCleanups()


def named(rows):
    """Uses by name."""
    found = {}
    for use, _ in rows:
        name = label(use)
        alike = sum(known.partition(" #")[0] == name for known in found)
        found[f"{name} #{alike + 1}" if alike else name] = use
    return found


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def is_table(kind, module):
    return isinstance(kind, type) and issubclass(kind, unittest.TestCase) and kind.__module__ == module.__name__ and hasattr(kind, "rows")


def label(use):
    """What a use is called: its own name, or that of the function that it was made of."""
    cells = (cell.cell_contents for cell in use.__closure__ or ())
    inner = next((held for held in cells if callable(held) and hasattr(held, "__name__") and not isinstance(held, type)), use)
    named = inner if "<locals>" in use.__qualname__ else use
    return f"line {use.__code__.co_firstlineno}" if named.__name__ in ("<lambda>", "use") else named.__name__


def check(use):
    """A row: what a use does with either."""
    warnings.simplefilter("ignore")
    # What warns once has warned.
    torch_programs.run(use, lambda function: function)
    plain = torch_programs.run(use, lambda function: function)
    row = compared(plain, use, slotrt.compile)
    stats = slotrt.stats()
    row |= {"graphs": stats["graphs"], "breaks": stats["graph_breaks"]}
    torch.compiler.set_stance("default")
    # TorchDynamo has warnings of its own.
    peer = compared(plain, use, lambda function: torch.compile(function, backend="eager"), but=("warnings",))
    peer |= {"graphs": counters["stats"]["unique_graphs"], "breaks": sum(counters["graph_break"].values())}
    return {**row, "peer": peer}


def compared(plain, use, compiled, but=()):
    try:
        found = torch_programs.run(use, compiled)
    except Exception as error:
        return {"outcome": "raises", "why": f"{type(error).__name__}: {error}"[:200]}
    parts = sorted({part for one, other in zip(plain, found, strict=True) for part in one if one[part] != other[part] and part not in but})
    return {"outcome": "differs", "why": ", ".join(parts)} if parts else {"outcome": "equal", "why": ""}


def of_own_process(path):
    """What this script prints for one file."""
    done = subprocess.run([sys.executable, __file__, "--file", path], stdout=subprocess.PIPE, text=True)
    row = {"use": path.stem, "outcome": "died", "why": f"the process ended with {done.returncode}"}
    return done.stdout + (json.dumps(row) + "\n" if done.returncode else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--file", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.file:
        for row in rows_of(options.file):
            print(json.dumps(row), flush=True)
        return
    files = sorted((TESTS / "domain" / "torch").glob("test_*.py"))
    files = [path for path in files if not options.names or any(part in path.stem for part in options.names)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for text in pool.map(of_own_process, files):
            print(text, end="", flush=True)


if __name__ == "__main__":
    main()
