"""Code objects of the standard library, damaged at random: decoded, listed, edited, assembled and split, never run.

    python damage.py --start SEED --count N | --seconds S

Each either is refused with a `slotrt.bytecode.Error` that names an offset, or assembles to a code object that decodes
again. Anything else is a fault, and so is a crash. Prints the counts as a line of JSON.
"""

import argparse
import collections
import dis
import itertools
import json
import random
import re
import time
import types
import warnings

import run
from slotrt import bytecode

FILES = ("ast", "argparse", "asyncio/tasks", "dataclasses", "decimal", "_pydecimal", "difflib", "enum", "functools", "inspect", "tarfile", "typing", "contextlib", "json/encoder", "test/test_patma", "test/test_generators")
MESSAGE = re.compile(r"^offset \d+: ")
FIELDS = ("co_code", "co_code", "co_exceptiontable", "co_linetable", "co_stacksize", "co_consts", "co_names", "co_varnames")
# Opcodes of the interpreter's private range: it replaces them when it makes the code object.
PRIVATE = {number for name, number in dis._all_opmap.items() if name.startswith(("INSTRUMENTED_", "ENTER_EXEC"))}
TAIL = bytes([dis.opmap["NOP"], 0]) * 12


def codes():
    """Code objects to damage."""
    for name in FILES:
        code = run.compiled(f"{run.LIBRARY}/{name}.py")
        yield from run.nested(code) if code is not None else ()


def damaged_bytes(pick, data):
    """Some bytes changed, the rest moved or cut off."""
    data = bytearray(data)
    for _ in range(pick.randrange(1, 8)):
        if not data:
            break
        place = pick.randrange(len(data))
        kind = pick.random()
        if kind < 0.6:
            data[place] = pick.randrange(256)
        elif kind < 0.8:
            data[place] ^= 1 << pick.randrange(8)
        elif kind < 0.9:
            data[place & ~1 : place & ~1] = pick.randbytes(2)
        else:
            del data[place & ~1 : (place & ~1) + 2]
    if pick.random() < 0.1:
        del data[pick.randrange(len(data) + 1) & ~1 :]
    return data


def change(pick, code):
    """A field and its new value."""
    field = pick.choice(FIELDS)
    value = getattr(code, field)
    if field == "co_stacksize":
        return field, pick.choice((1, max(1, value - 1), value // 2 + 1))
    if isinstance(value, tuple):
        return field, value[: pick.randrange(len(value) + 1)]
    data = damaged_bytes(pick, value)
    if field == "co_code":
        data[::2] = bytes(0xE0 if number in PRIVATE else number for number in data[: len(data) & ~1][::2])
        data += TAIL  # inline caches never lie beyond the end
    return field, bytes(data)


def uses(code):
    """Runs everything that reads a code object."""
    yield lambda: bytecode.listing(code)
    yield lambda: bytecode.instructions(code)
    yield lambda: bytecode.stack_size(code)
    yield lambda: bytecode.Code(code).assemble()
    yield lambda: bytecode.roundtrip(bytecode.roundtrip(code))
    # From 3.14 on, making a function reads the first constant of code with a docstring, whether there is one or not.
    lacks_docstring = code.co_flags & 0x4000000 and not code.co_consts
    if hasattr(bytecode, "break_at") and not code.co_freevars and not lacks_docstring:
        function = types.FunctionType(code, {})
        for offset in (2, 10, 40):
            yield lambda: bytecode.break_at(function, offset)


def one(pick, code, report):
    """Damages one code object and uses it."""
    changes = dict(change(pick, code) for _ in range(pick.choice((1, 1, 1, 2, 3))))
    try:
        damaged = code.replace(**changes)
    except (ValueError, TypeError):
        report["refused by CPython"] += 1
        return
    errors = 0
    for use in uses(damaged):
        try:
            use()
        except bytecode.Error as error:
            errors += 1
            if not MESSAGE.match(str(error)):
                report["different"].append(f"{code.co_qualname}: no offset: {error}")
        except ValueError as error:
            if "instruction" not in str(error):
                report["different"].append(f"{code.co_qualname}: {error!r}")
        except Exception as error:
            report["different"].append(f"{code.co_qualname} {sorted(changes)}: {error!r}")
    report["refused" if errors else "sound"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, help="go on for so long, from a seed of the clock, instead of COUNT")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = list(codes())
    report = collections.defaultdict(int, different=[])
    seeds = range(options.start, options.start + options.count)
    if options.seconds:
        end = time.monotonic() + options.seconds
        seeds = itertools.takewhile(lambda _: time.monotonic() < end, itertools.count(time.time_ns()))
    for seed in seeds:
        pick = random.Random(seed)
        before = len(report["different"])
        one(pick, pick.choice(found), report)
        report["different"][before:] = [f"seed {seed}: {text}" for text in report["different"][before:]]
    print(json.dumps(report), flush=True)
    return 1 if report["different"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
