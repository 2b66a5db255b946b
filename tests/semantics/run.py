"""Compares translated functions with the interpreter's own, on every value; prints the report as a line of JSON.

A case is a function and arguments. Each side gets fresh equal arguments. Compared are: the result, its type and whether it is one of the
arguments, or the exception with its message, notes and context; the order of user methods called and of warnings; the arguments afterwards.
"""

import argparse
import contextlib
import faulthandler
import gc
import json
import os
import sys
import time

import rows
import values
from describe import text
from log import name_of, note, watch_warnings
from hidden import all_subjects
from subjects import public, slots
from workers import Pool


def main(options):
    """The report; what `print`, which is a value too, writes goes nowhere."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        return compare(options)


def compare(options):
    """Compares all functions, or those that are named."""
    faulthandler.enable()
    sys.set_int_max_str_digits(0)
    watch_warnings()
    sys.unraisablehook = lambda args: note("unraisable", name_of(args.exc_type), text(str(args.exc_value)))
    everything = values.everything()
    about = {"exposed": 0, "left out": {}}
    gc.disable()
    started = time.monotonic()
    subjects = [*public(everything, about), *slots(everything, about), *all_subjects(everything, about)]
    wanted = options.functions and options.functions.split(",")
    subjects = [one for one in subjects if not wanted or one.function.__name__ in wanted]
    if options.part:
        number, of = map(int, options.part.split("/"))
        subjects = subjects[number - 1 :: of]
    show = (lambda line: print(line, file=sys.stderr, flush=True)) if options.progress else None
    report = Pool(subjects, options.limit, options.jobs or max(1, (os.cpu_count() or 2) // 2), show).run()
    gc.enable()
    report |= {"values": len(everything), "exposed": about["exposed"], "slot functions": about["slot functions"], "seconds": round(time.monotonic() - started, 1)}
    report["operations"] = {kind: sum(report["functions"].get(name, 0) for name in names) for kind, names in rows.OPERATIONS.items()}
    report["exercised"], report["entered"] = len(report["functions"]), len(report["entered"])
    report["groups"] = [dict(zip(("function", "against", "differs"), key.split("\t")), count=count, cases=cases) for key, (count, cases) in sorted(report["groups"].items())]
    for name in "unsupported", "stopped":
        report[name] = dict(sorted(report[name].items(), key=lambda item: (-item[1], item[0])))
    report["left out"] = sorted(about["left out"])
    return report


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=20_000, help="cases of one function")
    parser.add_argument("--functions", help="C names, with commas between them")
    parser.add_argument("--part", help="such as 2/5: the second of five parts of the functions")
    parser.add_argument("--jobs", type=int, help="processes at once; half of the processors without it")
    parser.add_argument("--progress", action="store_true")
    print(json.dumps(main(parser.parse_args())))
