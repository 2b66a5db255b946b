"""Times of tracing and of cached calls, beside TorchDynamo's on the same programs, in one process. Prints a line of JSON.

    python tests/bench/against_dynamo.py [--quick] [--only NAME]

All times are CPU time of the process. The systems take turns, and each value is the median of the rounds: the machine's speed, which
changes from minute to minute, is the same for all. TorchDynamo is measured without its measurement of guards after each trace.
"""

import argparse
import gc
import json
import statistics
import sys
import time
import warnings

import slotrt
import torch
import torch._dynamo.guards
from torch_programs import PROGRAMS

ROUNDS, QUICK_ROUNDS = 15, 3
# Nanoseconds that a batch of cached calls takes at least.
BATCH, QUICK_BATCH = 4_000_000, 1_000_000


def as_it_is(graph, inputs):
    """A backend that gets a `GraphModule` and runs it."""
    return graph.forward


def once(graph, inputs):
    """A backend whose graph does nothing from the second call on: what is left of a cached call is guards, and what stands around the graph."""
    found = []

    def run(*arguments):
        if not found:
            found.append(graph.forward(*arguments))
        return found[0]

    return run


SYSTEMS = {
    "slotrt": (slotrt.reset, lambda function: slotrt.compile(function)),
    "fx": (slotrt.reset, lambda function: slotrt.compile(function, backend=as_it_is)),
    "dynamo": (torch._dynamo.reset, lambda function: torch.compile(function, backend="eager")),
}


def timed(function, arguments):
    """CPU time of a call."""
    start = time.process_time_ns()
    function(*arguments)
    return time.process_time_ns() - start


def batch_ns(function, arguments, count):
    """CPU time of a call, as the mean of some."""
    start = time.process_time_ns()
    for _ in range(count):
        function(*arguments)
    return (time.process_time_ns() - start) / count


def traced(function, arguments, rounds):
    """Of each system, the first call after everything was forgotten: nanoseconds, over a later call."""
    times = {name: [] for name in SYSTEMS}
    # One more, which warms up what the process keeps.
    for round in range(rounds + 1):
        for name, (forget, compile) in SYSTEMS.items():
            forget()
            compiled = compile(function)
            first = timed(compiled, arguments)
            later = min(timed(compiled, arguments) for _ in range(2))
            if round:
                times[name].append(first - later)
    return {name: statistics.median(found) for name, found in times.items()}


def called(function, arguments, rounds, least):
    """Of each system, a cached call, and what it takes over the plain call: nanoseconds."""
    for forget, _ in SYSTEMS.values():
        forget()
    calls = {"eager": function, **{name: compile(function) for name, (_, compile) in SYSTEMS.items()}}
    for call in calls.values():
        for _ in range(4):
            call(*arguments)
    count = max(1, int(least / max(1, batch_ns(function, arguments, 3))))
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(batch_ns(call, arguments, count))
    plain = times.pop("eager")
    over = {name: statistics.median(a - b for a, b in zip(found, plain)) for name, found in times.items()}
    return statistics.median(plain), {name: statistics.median(found) for name, found in times.items()}, over


def guarded(function, arguments, rounds, least):
    """Of slotrt and TorchDynamo, a cached call whose graph does nothing: nanoseconds."""
    calls = {
        "slotrt": slotrt.compile(function, backend=once),
        "dynamo": torch.compile(function, backend=once),
    }
    for call in calls.values():
        for _ in range(4):
            call(*arguments)
    count = max(1, int(least / max(1, batch_ns(calls["dynamo"], arguments, 3))))
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(batch_ns(call, arguments, count))
    return {name: statistics.median(found) for name, found in times.items()}


def measured(name, kind, make, quick):
    """The row of a program."""
    rounds, least = (QUICK_ROUNDS, QUICK_BATCH) if quick else (ROUNDS, BATCH)
    function, arguments = make()
    with torch.no_grad():
        first = traced(function, arguments, max(3, rounds // 3) if kind == "model" else rounds)
        eager, call, over = called(function, arguments, rounds, least)
        for forget, _ in SYSTEMS.values():
            forget()
        guards = guarded(function, arguments, rounds, least)
    systems = {system: {"trace": first[system], "call": call[system], "over": over[system]} for system in SYSTEMS}
    for system, found in guards.items():
        systems[system]["guards"] = found
    return {"name": name, "kind": kind, "eager": eager, **systems}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch._dynamo.guards.profile_guard_manager = lambda *arguments: 0.0
    rows = []
    gc.freeze()
    for name, kind, make in PROGRAMS:
        if options.only.lower() in name.lower():
            print(f"  {name}", file=sys.stderr)
            try:
                rows.append(measured(name, kind, make, options.quick))
            except ImportError as error:
                rows.append({"name": name, "kind": kind, "missing": str(error)})
    about = {"python": sys.version.split()[0], "torch": torch.__version__, "slotrt": slotrt.__version__, "quick": options.quick}
    print(json.dumps({**about, "rows": rows}))


if __name__ == "__main__":
    main()
