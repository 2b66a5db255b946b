"""Costs of the runtime: import, tracing per bytecode, guards of a cached call. Prints rows as a line of JSON.

A row is {"name", "value", "unit", "bound"}; `bound` is the limit that the project sets itself, or null.
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
RUNS = 20
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


def reader(kind, count):
    """A function that reads `count` names."""
    import types

    module = types.ModuleType("names")
    holder = type("Holder", (), {}) if kind == "class" else module
    for number in range(count):
        setattr(holder, f"n{number}", number)
    namespace = module.__dict__ if kind == "globals" else {"holder": holder}
    prefix = "" if kind == "globals" else "holder."
    lines = [f"    if {prefix}n{number} < 0: return None\n" for number in range(count)]
    exec(f"def read(x):\n{''.join(lines)}    return x", namespace)
    return namespace["read"]


def reading(kind, count):
    """The same compiled: its guards are all that is left of it."""
    import slotrt

    compiled = slotrt.compile(reader(kind, count))
    for _ in range(3):
        compiled(None)
    return compiled


def names_ns(kind):
    """What guards of twenty names cost over guards of one, in a cached call."""
    return per_call_ns(reading(kind, 20), None) - per_call_ns(reading(kind, 1), None)


def sets_ns(kind):
    """What one more set of guards that does not hold costs a call: the last of eight over the first."""
    import slotrt

    namespace = {"number": 0}
    exec(f"def f(a, x, y, z): return [x, y, z][{'a' if kind == 'argument' else 'number'} % 3]", namespace)
    compiled = slotrt.compile(namespace["f"])

    def call(number):
        namespace["number"] = number
        return compiled, number if kind == "argument" else 0, 1.5, "text", None

    for number in (*range(8), *range(8)):
        function, *arguments = call(number)
        for _ in range(100):
            function(*arguments)
    times = [per_call_ns(*call(number)) for number in range(8)]
    return (max(times) - min(times)) / 7


def many_sets(count=64):
    """How many times longer a call takes that fits one of `count` sets of guards than where there is one alone; the slowest of them."""
    import slotrt

    times = {}
    for sets in (1, count):
        compiled = slotrt.compile(lambda text, x: {text: x}, recompile_limit=count)
        texts = [f"text {number}" for number in range(sets)]
        for text in texts * 2:
            for _ in range(8):
                compiled(text, 1.5)
        times[sets] = max(per_call_ns(compiled, text, 1.5) for text in (texts[0], texts[sets // 2], texts[-1]))
    return times[count] / times[1]


def traced():
    """Over random programs: nanoseconds per bytecode that traces execute, of each program the quickest of several runs; the same of the first run,
    right after the interpreter compiled the program; the same of emitting code; the number of programs; how many of a hundred bytecodes were
    executed once more because a trace had to end earlier. The times are medians of the programs."""
    quickest, first, emitted, repeated = [], [], [], []
    for seed in range(PROGRAMS):
        runs = list(stats_of(seed))
        executed = runs[0]["instructions"] + runs[0]["repeated"]
        if executed >= 20:
            times = [run["trace_ns"] / executed for run in runs]
            quickest.append(min(times))
            first.append(times[0])
            emitted.append(min(run["emit_ns"] for run in runs) / executed)
            repeated.append(100 * runs[0]["repeated"] / executed)
    medians = map(statistics.median, (quickest, first, emitted))
    return *medians, len(quickest), statistics.mean(repeated)


def stats_of(seed):
    """What the first call of a random program counts, several times: its functions, classes and session are new each time. It may well raise."""
    from slotrt import _slotrt

    text, calls = generate.program(seed)
    code = compile(text, "program.py", "exec")
    for _ in range(RUNS):
        namespace = {"__name__": "program"}
        session = _slotrt.Session()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            exec(code, namespace)
            _, spelled = calls[0]
            arguments = eval(f"({', '.join(spelled)},)", namespace)
            session.compile(namespace["main"], None, False)(*arguments)
        yield session.stats()


def main():
    """Measures and prints."""
    warnings.simplefilter("ignore")
    per_bytecode, cold, emitted, programs, repeated = traced()
    rows = [
        {"name": "import slotrt", "value": import_ms(), "unit": "ms", "bound": 50},
        {"name": f"trace, per bytecode (median of {programs} random programs)", "value": per_bytecode, "unit": "ns", "bound": 1000},
        {"name": "the same, first run of each program", "value": cold, "unit": "ns", "bound": None},
        {"name": "emitting code, per executed bytecode", "value": emitted, "unit": "ns", "bound": None},
        {"name": "of these bytecodes, executed once more", "value": repeated, "unit": "%", "bound": None},
        {"name": "cache hit over the plain call, two arrays", "value": hit_ns(), "unit": "ns", "bound": 500},
        {"name": "guards of 20 globals over those of 1, cached call", "value": names_ns("globals"), "unit": "ns", "bound": 100},
        {"name": "guards of 20 names of a module over those of 1", "value": names_ns("module"), "unit": "ns", "bound": 100},
        {"name": "guards of 20 attributes of a class over those of 1", "value": names_ns("class"), "unit": "ns", "bound": 100},
        {"name": "one more set of guards that an argument fails, of 8", "value": sets_ns("argument"), "unit": "ns", "bound": 50},
        {"name": "one more set of guards that a global fails, of 8", "value": sets_ns("globals"), "unit": "ns", "bound": 50},
        {"name": "a call that fits one of 64 sets of guards, over one that fits the only one", "value": many_sets(), "unit": "x", "bound": 3},
    ]
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
