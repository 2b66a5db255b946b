"""Random programs with every function broken at every reachable instruction, against the same programs unbroken.

    python run.py --start SEED --count N

Under the hook's mode `split` each call of a function is broken at that function's next instruction; a program runs until
every instruction of every function that it calls has had its turn. Result, exception with lines, and prints must be those
of the program without the hook. Prints one line of JSON.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import re
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import generate

ADDRESS = re.compile(r"0x[0-9a-f]+")
RUNS = 400  # the most that a program is run; what is left then is counted as untried


def described(value):
    """Type and repr, without addresses."""
    try:
        return f"{type(value).__qualname__}: {ADDRESS.sub('0x', repr(value))[:2000]}"
    except Exception as error:
        return f"repr raises {type(error).__name__}: {error}"


def chain(error):
    """Types, messages and lines of an exception, its causes and its contexts."""
    out = []
    while error is not None and len(out) < 20:
        lines, frame = [], error.__traceback__
        while frame is not None:
            if frame.tb_frame.f_code.co_filename == "program.py":
                lines.append((frame.tb_frame.f_code.co_name, frame.tb_lineno))
            frame = frame.tb_next
        out.append((type(error).__name__, ADDRESS.sub("0x", str(error)), lines))
        error = error.__cause__ or error.__context__
    return out


def ran(code, space, calls):
    """What running the program and its `main` does, as plain data; the module runs in the same dictionary each time."""
    printed = io.StringIO()
    space.clear()
    space.update(__name__="program", __builtins__=__builtins__)
    outcomes = []
    with contextlib.redirect_stdout(printed):
        exec(code, space)
        for call in calls:
            arguments = None
            try:
                arguments = [eval(text, space) for text in call]
                outcomes.append(["returned", described(space["main"](*arguments))])
            except Exception as error:
                outcomes.append(["raised", chain(error)])
            outcomes.append(described(arguments))
    return json.dumps([outcomes, ADDRESS.sub("0x", printed.getvalue())])


def program(source, calls, mode):
    """Runs one program at all its instructions: pairs, refusals by reason, and the first difference or None."""
    from slotrt import hook

    code, space = compile(source, "program.py", "exec"), {}
    expected = ran(code, space, calls)
    if ran(code, space, calls) != expected:
        return None, {}, None
    counters = hook.install(mode)
    pairs, difference = -1, None
    try:
        for _ in range(RUNS):
            got = ran(code, space, calls)
            if got != expected:
                difference = [expected, got]
                break
            if counters.counters()["pairs"] == pairs:
                break
            pairs = counters.counters()["pairs"]
    finally:
        hook.uninstall()
    return counters.counters()["pairs"], counters.refused(), difference


def programs(start, count, modes=("split", "split-every")):
    """The report over many seeds."""
    report = {"programs": 0, "unstable": 0, "pairs": 0, "refused": {}, "different": []}
    for seed in range(start, start + count):
        source, calls = generate.program(seed, small=True)
        for mode in modes:
            pairs, refused, difference = program(source, [arguments for _, arguments in calls[1:3]], mode)
            if pairs is None:
                report["unstable"] += 1
                break
            report["programs"] += mode == modes[0]
            report["pairs"] += pairs
            for reason, number in refused.items():
                report["refused"][reason] = report["refused"].get(reason, 0) + number
            if difference is not None:
                report["different"].append([seed, mode, *difference])
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, [sys.executable, *sys.argv], dict(os.environ, PYTHONHASHSEED="0"))
    warnings.simplefilter("ignore")
    report = programs(options.start, options.count)
    print(json.dumps(report), flush=True)
    return 1 if report["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
