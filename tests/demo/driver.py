"""Runs tests/demo/program.py uncompiled and compiled, and writes what happened as JSON to the file named first."""

import contextlib
import io
import json
import sys
import time

import program
import slotrt

REPEATS = 300


def run(function, arguments):
    """Calls once; returns the result, what was printed and the nanoseconds."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        start = time.perf_counter_ns()
        result = function(*arguments())
        took = time.perf_counter_ns() - start
    return result, printed.getvalue(), took


def median(function, arguments):
    """The median nanoseconds of many calls."""
    given = arguments()
    times = []
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(REPEATS):
            start = time.perf_counter_ns()
            function(*given)
            times.append(time.perf_counter_ns() - start)
    return sorted(times)[REPEATS // 2]


def compare(compiled, title, arguments):
    """One row: uncompiled beside compiled, first call and later calls."""
    plain, plain_printed, _ = run(program.program, arguments)
    result, printed, first_ns = run(compiled, arguments)
    again, printed_again, _ = run(compiled, arguments)
    described = [(type(value).__name__, repr(value)) for value in (plain, result, again)]
    return {
        "title": title,
        "plain": {"result": described[0][1], "printed": plain_printed, "ns": median(program.program, arguments)},
        "compiled": {"result": described[1][1], "printed": printed, "first_ns": first_ns},
        "cached": {"result": described[2][1], "printed": printed_again, "ns": median(compiled, arguments)},
        "same": described[0] == described[1] == described[2] and plain_printed == printed == printed_again,
    }


def main(destination):
    """Compiles, compares, explains."""
    slotrt.reset()
    compiled = slotrt.compile(program.program)
    runs = [
        compare(compiled, "two float arrays", program.arguments),
        compare(compiled, "two int arrays: other guards, traced anew", program.other_arguments),
    ]
    stats = slotrt.stats()
    slotrt.reset()
    with contextlib.redirect_stdout(io.StringIO()):
        explained = slotrt.explain(program.program)(*program.arguments())
    with open(program.__file__, encoding="utf-8") as file:
        source = file.read()
    first_line = program.program.__code__.co_firstlineno
    report = {"source": source, "first_line": first_line, "runs": runs, "stats": stats, "explain": explained.data()}
    with open(destination, "w", encoding="utf-8") as file:
        json.dump(report, file)


if __name__ == "__main__":
    main(sys.argv[1])
