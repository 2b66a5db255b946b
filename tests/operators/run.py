"""Compiles PyTorch's own operators and compares them with themselves: `run.py --kept FILE [--jobs N] [--all] [NAMES]`.

A line of JSON for each operator. What FILE holds already for the same build of slotrt and PyTorch is not run again."""

import argparse
import hashlib
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

import operator_cases
import own_processes
import slotrt
import torch


def build():
    """What tells one build from another."""
    native = pathlib.Path(slotrt._slotrt.__file__)
    digest = hashlib.sha256(native.read_bytes())
    digest.update(f"{torch.__version__} {sys.version}".encode())
    return digest.hexdigest()[:16]


def known(path, mark):
    """The rows of earlier runs of this build, by operator."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return {row["operator"]: row for row in lines if row.get("build") == mark}


def rows(operators, jobs, everything):
    """Tries operators in so many processes at a time."""
    samples = (1_000, 8) if everything else ()
    return own_processes.rows(operators, jobs, lambda operator: operator_cases.check(operator, *samples))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kept", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    mark = build() + (" all" if options.all else "")
    operators = operator_cases.operators()
    if options.names:
        operators = {name: op for name, op in operators.items() if any(part in name for part in options.names)}
    kept = known(options.kept, mark)
    for name in operators:
        if name in kept:
            print(json.dumps(kept[name]), flush=True)
    rest = {name: operator for name, operator in operators.items() if name not in kept}
    with options.kept.open("a") as file:
        for name, row in rows(rest, options.jobs, options.all):
            line = json.dumps({"operator": name, "build": mark, **row})
            file.write(f"{line}\n")
            file.flush()
            print(line, flush=True)


if __name__ == "__main__":
    main()
