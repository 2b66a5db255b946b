"""Functions broken at every reachable instruction, against the same functions unbroken.

    python run.py --start SEED --count N       random programs
    python run.py --library [NAME ...]         calls into the standard library (library.py)

Under the hook's mode `split` each call of a function is broken at that function's next instruction; a program runs until
every instruction of every function that it calls was broken once. Result, exception with all its lines, prints, and the
line numbers that running frames see must be those of the program without the hook. Prints one line of JSON.
"""

import argparse
import ast
import contextlib
import inspect
import io
import json
import os
import pathlib
import re
import sys
import warnings

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "fuzz")]

import generate
import library

ADDRESS = re.compile(r"0x[0-9a-f]+")
RUNS = 2000  # how often a program is run at most; instructions not broken by then count as untried
HERE = "__here__"


def described(value):
    """Type and repr, without addresses."""
    try:
        return f"{type(value).__qualname__}: {ADDRESS.sub('0x', repr(value))[:2000]}"
    except Exception as error:
        return f"repr raises {type(error).__name__}: {error}"


def chain(error):
    """Types, messages, functions and lines of an exception, its causes and its contexts; without the runner's own frame.

    The lines are the tracebacks' own. A frame in a traceback that was taken before a break is the one that ended at the
    break: where the program went on meanwhile, its `f_lineno` does not say.
    """
    out = []
    while error is not None and len(out) < 20:
        lines, entry = [], error.__traceback__
        while entry is not None:
            code = entry.tb_frame.f_code
            if code.co_filename != __file__:
                lines.append((os.path.basename(code.co_filename), code.co_name, entry.tb_lineno))
            entry = entry.tb_next
        out.append((type(error).__name__, ADDRESS.sub("0x", str(error)), lines))
        error = error.__cause__ or error.__context__
    return out


class Watched(ast.NodeTransformer):
    """Inserts a call that reads `f_lineno` of the frame and its callers before every third statement of every function."""

    def __init__(self):
        self.seen = 0

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        body = []
        for statement in node.body:
            self.seen += 1
            if self.seen % 3 == 0:
                body += ast.parse(f"{HERE}()").body
                for part in ast.walk(body[-1]):
                    part.lineno = part.end_lineno = statement.lineno
            body.append(statement)
        node.body = body
        return node

    visit_AsyncFunctionDef = visit_FunctionDef


GENERATOR_LIKE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def looker(lines):
    """The function that reads the lines. The frame of a generator or coroutine stays where it delegates to its continuation:
    of successive frames of one such function the innermost counts."""

    def here():
        frame, seen, last = sys._getframe(1), [], None
        while frame is not None and frame.f_code.co_filename != __file__:
            code = frame.f_code
            stays = (code.co_qualname, code.co_firstlineno) if code.co_flags & GENERATOR_LIKE else None
            if stays is None or stays != last:
                seen.append((code.co_name, frame.f_lineno))
            frame, last = frame.f_back, stays
        lines.append(seen)

    return here


def ran(code, space, calls):
    """The outcome of the program and of its `main`, as plain data; the module runs in the same dictionary each time."""
    printed, lines, outcomes = io.StringIO(), [], []
    space.clear()
    space.update({"__name__": "program", "__builtins__": __builtins__, HERE: looker(lines)})
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
    return json.dumps([outcomes, ADDRESS.sub("0x", printed.getvalue()), lines])


def ran_scenario(scenario):
    """The outcome of the calls into the library, as plain data."""
    printed, outcomes = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        try:
            outcomes.extend(ADDRESS.sub("0x", repr(value)) for value in scenario())
        except Exception as error:
            outcomes.append(chain(error))
    return json.dumps([outcomes, ADDRESS.sub("0x", printed.getvalue())])


def everywhere(run, mode):
    """Runs `run` until every instruction was broken once: the hook's counts, and the first difference or None.

    None in place of the counts where `run` does not agree with itself.
    """
    from slotrt import hook

    expected = run()
    if run() != expected:
        return None, None
    counters = hook.install(mode)
    before, difference = -1, None
    try:
        for _ in range(RUNS):
            got = run()
            if got != expected:
                difference = [expected, got]
                break
            counts = counters.counters()
            if counts["pairs"] in (before, counts["reachable"]):
                break
            before = counts["pairs"]
    finally:
        hook.uninstall()
    return counters, difference


def program(source, calls, mode):
    """One program at all its instructions."""
    code, space = compile(Watched().visit(ast.parse(source)), "program.py", "exec"), {}
    return everywhere(lambda: ran(code, space, calls), mode)


def fresh():
    """An empty report."""
    return {"units": 0, "unstable": 0, "declined": 0, "functions": {}, "refused": {}, "different": []}


def merged(one, other):
    """Two bit strings of the same length as one."""
    return "".join(f"{int(a, 16) | int(b, 16):x}" for a, b in zip(one, other, strict=True))


def add(report, name, mode, counters, difference):
    """Adds the result of one run."""
    if counters is None:
        report["unstable"] += 1
        return
    report["declined"] += counters.counters()["declined"]
    for function, (reachable, tried, reached) in counters.functions().items():
        known = report["functions"].get(function, (reachable, "0" * len(tried), "0" * len(tried)))
        report["functions"][function] = [reachable, merged(known[1], tried), merged(known[2], reached)]
    for reason, number in counters.refused().items():
        report["refused"][reason] = report["refused"].get(reason, 0) + number
    if difference is not None:
        report["different"].append([name, mode, *difference])


def programs(start, count, modes=("split", "split-every")):
    """The report over many seeds."""
    report = fresh()
    for seed in range(start, start + count):
        source, calls = generate.program(seed, small=True)
        report["units"] += 1
        for mode in modes:
            add(report, f"seed {seed}", mode, *program(source, [arguments for _, arguments in calls[1:3]], mode))
    return report


def scenarios(names, modes=("split",)):
    """The report over calls into the standard library."""
    report = fresh()
    for name in names:
        scenario = library.SCENARIOS[name]
        ran_scenario(scenario)  # imports, caches
        report["units"] += 1
        for mode in modes:
            add(report, name, mode, *everywhere(lambda: ran_scenario(scenario), mode))
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--library", nargs="*")
    parser.add_argument("--list", action="store_true", help="print the names of the calls into the library")
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, [sys.executable, *sys.argv], dict(os.environ, PYTHONHASHSEED="0"))
    warnings.simplefilter("ignore")
    if options.list:
        print(json.dumps(list(library.SCENARIOS)))
        return 0
    if options.library is not None:
        report = scenarios(options.library or library.SCENARIOS)
    else:
        report = programs(options.start, options.count)
    print(json.dumps(report), flush=True)
    return 1 if report["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
