"""Operations of Python compiled by TorchDynamo, against the same operations as the interpreter runs them.

    python against_dynamo.py --into FOLDER [--limit N] [--jobs N] [--only TEXT]

Several operations are compiled in one function, each in a `try` of its own; where the function does not compile as one graph, each is compiled
alone. Each outcome is appended to a file of its process in FOLDER, so that a run that was stopped goes on where it was. Prints one JSON object.
"""

import argparse
import collections
import dis
import itertools
import json
import multiprocessing
import os
import pathlib
import random
import re
import sys
import time
import warnings

#: Operands as expressions, so that a reproducer can show them.
VALUES = [
    "0", "1", "-3", "2**70", "True", "1.5", "-0.0", "float('inf')", "2j", "None", "'ab'", "''", "b'ab'", "bytearray(b'ab')", "[]", "[1, 2]", "(1, 2)", "()",
    "{1, 2}", "frozenset({1})", "{1: 2}", "{}", "{'a': [1]}", "range(3)", "slice(0, 1)", "collections.OrderedDict(a=1)", "collections.deque([1, 2])",
    "collections.defaultdict(list, a=[1])", "int", "Ellipsis", "len", "'%s'", "memoryview(b'ab')",
]
BINARY = sorted({symbol for _, symbol in dis._nb_ops if not symbol.endswith("=")})
INPLACE = sorted({symbol for _, symbol in dis._nb_ops if symbol.endswith("=")})
COMPARED = ["<", "<=", "==", "!=", ">", ">=", "in", "not in", "is"]
UNARY = ["-{a}", "+{a}", "~{a}", "not {a}", "len({a})", "repr({a})", "str({a})", "hash({a})", "abs({a})", "bool({a})", "int({a})", "float({a})", "complex({a})",
         "list({a})", "tuple({a})", "sorted({a})", "iter({a}) is {a}", "next(iter({a}))", "{a}()", "type({a})", "list(reversed({a}))", "sum({a})", "max({a})",
         "f'{{{a}}}'", "format({a})", "bytes({a})", "dict({a})", "set({a})", "all({a})", "any({a})", "round({a})", "[*{a}]", "{{**{a}}}", "list(enumerate({a}))"]
TWO = ["{a}[{b}]", "divmod({a}, {b})", "pow({a}, {b})", "isinstance({a}, {b})", "getattr({a}, {b})", "list(zip({a}, {b}))", "{a}({b})", "list(map({a}, {b}))",
       "format({a}, {b})", "min({a}, {b})", "int({a}, {b})"]
#: Names of operators in `operator`, where they are not those of the slots.
SHORT = {"subtract": "sub", "multiply": "mul", "remainder": "mod", "power": "pow", "floor_divide": "floordiv", "true_divide": "truediv", "matrix_multiply": "matmul"}
GROUP = 8


def cases(limit, only, seed=20):
    """Pairs of a form and its operands: every unary form, then binary ones, mixed so that a limit cuts all alike."""
    found = [(form, (value,)) for form in UNARY for value in VALUES]
    forms = [f"{{a}} {symbol} {{b}}" for symbol in (*BINARY, *COMPARED)] + TWO + [f"inplace {symbol}" for symbol in INPLACE]
    found += [(form, pair) for form in forms for pair in itertools.product(VALUES, VALUES)]
    if only:
        found = [case for case in found if only in case[0]]
    random.Random(seed).shuffle(found)
    return found[:limit]


def key(case):
    return json.dumps(case)


def statements(form, names):
    """The lines that compute a case into `r`."""
    if form.startswith("inplace "):
        return [f"r = {names[0]}", f"r {form.split()[1]} {names[1]}"]
    return [f"r = {form.format(a=names[0], b=names[-1])}"]


def function(group):
    """A function of the operands of a group that gives an outcome for each case."""
    lines, parameters = ["    out = []"], []
    for number, (form, operands) in enumerate(group):
        names = [f"v{number}_{at}" for at in range(len(operands))]
        parameters += names
        lines += ["    try:", *(f"        {line}" for line in statements(form, names)), "        out.append((0, r))"]
        lines += ["    except Exception as e:", "        out.append((1, e))"]
    space = {"collections": collections}
    exec("\n".join([f"def f({', '.join(parameters)}):", *lines, "    return out"]), space)
    return space["f"]


def operands(group):
    return [eval(text, {"collections": collections}) for _, texts in group for text in texts]


def described(outcome):
    """An outcome as text: kind, type and text."""
    failed, value = outcome
    kind = "exception" if failed else "value"
    try:
        text = str(value) if failed else repr(value)
    except Exception as error:  # the text of an integer may be too long
        text = f"<{type(error).__name__}>"
    # Addresses differ between two objects that are the same for a program.
    return kind, type(value).__name__, re.sub(r"0x[0-9a-f]+", "0x…", text)


def compared(plain, found):
    if plain == found:
        return "agreement"
    if plain[0] != found[0] or plain[0] == "value":
        return "wrong value"
    return "wrong exception type" if plain[1] != found[1] else "wrong message"


def outcomes(group):
    """The verdict of each case; a group that does not compile as one graph is tried case by case."""
    import torch
    from torch._dynamo import exc

    warnings.simplefilter("ignore")
    plain = [described(one) for one in function(group)(*operands(group))]
    torch._dynamo.reset()
    try:
        found = torch.compile(function(group), backend="eager", fullgraph=True)(*operands(group))
        found = [described(one) for one in found]
    except (exc.InternalTorchDynamoError, AssertionError, NotImplementedError, RecursionError) as error:
        found = ("internal error", error)
    except exc.TorchDynamoException as error:
        found = ("break", error)
    except Exception as error:  # what the program cannot raise: every case catches its own
        found = ("internal error", error)
    if isinstance(found, tuple):
        if len(group) > 1:
            for case in group:
                yield from outcomes([case])
            return
        verdict, error = found
        yield group[0], verdict, plain[0], (type(error).__name__, str(error).strip().split("\n")[0][:200])
        return
    for case, left, right in zip(group, plain, found):
        yield case, compared(left, right), left, right


def operation(form):
    """The form as a person writes it: `a | b`."""
    return f"a {form.split()[1]} b" if form.startswith("inplace ") else form.format(a="a", b="b")


def reproducer(case):
    form, texts = case
    names = ["a", "b"][: len(texts)]
    body = form.format(a="a", b="b")
    if form.startswith("inplace "):
        method = next(name for name, symbol in dis._nb_ops if symbol == form.split()[1]).removeprefix("NB_INPLACE_").lower()
        body = f"operator.i{SHORT.get(method, method)}(a, b)"
    program = f"import collections, operator, torch; print(torch.compile(lambda {', '.join(names)}: {body}, backend='eager', fullgraph=True)({', '.join(texts)}))"
    return f'python -c "{program}"'


def work(job):
    """Runs groups, and appends each outcome to the file of this process."""
    groups, folder = job
    path = pathlib.Path(folder, f"{os.getpid()}.jsonl")
    with open(path, "a", encoding="utf-8") as file:
        for group in groups:
            for case, verdict, plain, found in outcomes(group):
                # The container of `a in b` is the right operand.
                owner = case[1][-1] if " in " in case[0] else case[1][0]
                kind = type(eval(owner, {"collections": collections}))
                name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
                row = {"case": case, "operation": operation(case[0]), "type": name, "verdict": verdict, "plain": plain, "found": found, "reproducer": reproducer(case)}
                file.write(json.dumps(row) + "\n")
            file.flush()
    return len(groups)


def read(folder):
    rows = {}
    for path in sorted(pathlib.Path(folder).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:  # the run was stopped within the line
                continue
            rows[key(row["case"])] = row
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", required=True)
    parser.add_argument("--limit", type=int, default=10000)
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    import torch

    start = time.monotonic()
    wanted = cases(options.limit, options.only)
    known = read(options.into)
    left = [case for case in wanted if key(case) not in known]
    groups = [left[at : at + GROUP] for at in range(0, len(left), GROUP)]
    pathlib.Path(options.into).mkdir(parents=True, exist_ok=True)
    slices = [(groups[at : at + 10], options.into) for at in range(0, len(groups), 10)]
    done = 0
    # A process is replaced now and then: what a compiler keeps of old functions is let go.
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=12) as pool:
        for count in pool.imap_unordered(work, slices):
            done += count
            print(f"{min(done * GROUP, len(left))} of {len(left)} cases", file=sys.stderr, flush=True)
    rows = read(options.into)
    rows = [rows[key(case)] for case in wanted if key(case) in rows]
    print(json.dumps({"torch": torch.__version__, "python": ".".join(map(str, sys.version_info[:3])), "known": len(wanted) - len(left), "seconds": round(time.monotonic() - start, 1), "rows": rows}))


if __name__ == "__main__":
    main()
