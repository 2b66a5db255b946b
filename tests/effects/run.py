"""Runs the C functions about which the published effects make claims, and reports the calls that contradict one.

    python tests/effects/run.py generated/facts/3.13.json

The last line is a report as JSON. Calls run in a child process: the report names those that crash or hang, and the others go on.
"""

import argparse
import collections
import json
import os
import pathlib
import select
import shutil
import signal
import sys
import time
import traceback
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import claims  # noqa: E402
import reach  # noqa: E402
import samples  # noqa: E402
import state  # noqa: E402
import trial  # noqa: E402

#: Seconds that one function may take.
PATIENCE = 20


class Rows:
    """The published effects by C function."""

    def __init__(self, effects):
        self.all = {(row["file"], row["name"]): row for row in effects}
        self.named = collections.defaultdict(list)
        for row in effects:
            self.named[row["name"]].append(row)

    def of(self, way):
        """The row of a function: of the type's or module's own file, or the only one of its name."""
        row = self.all.get((way.file, way.function))
        if row is None and len(self.named[way.function]) == 1:
            row = self.named[way.function][0]
        return row


def plan(facts, only):
    """The claims that are tried, and the reasons for the others, by the identity of the row."""
    rows = Rows(facts["effects"])
    untried = dict.fromkeys(rows.all, "no method, slot, getter or function of a module leads to it")
    for key, row in rows.all.items():
        found = claims.claim(row)
        if isinstance(found, str):
            untried[key] = f"no claim: {found}"
    missing = reach.modules(facts)
    makers = samples.makers()
    ways = []
    for way in reach.ways(facts):
        row = rows.of(way)
        found = row and claims.claim(row)
        if row is None or isinstance(found, str) or only and way.function not in only:
            continue
        receivers = receivers_of(way, makers)
        key = (row["file"], row["name"])
        if way.owner is not None and not way.of_class and not receivers:
            untried[key] = "no instance of its type among the samples"
            continue
        untried[key] = None
        ways.append((way, found, receivers, key))
    # In an order in which a bounded run meets some of each type.
    ways.sort(key=lambda item: zlib.crc32(item[0].name.encode()))
    return ways, untried, missing


def receivers_of(way, makers):
    if way.owner is None or way.of_class:
        return []
    exact = makers.get(way.owner, [])
    derived = [maker for kind, all_of in makers.items() if kind is not way.owner and issubclass(kind, way.owner) for maker in all_of]
    return exact + derived


def child(ways, start, slots_of, limit, has_locale, pipe):
    """Tries every way from `start` on and writes a line before and after each."""
    with os.fdopen(pipe, "w", encoding="utf-8", buffering=1) as out:
        for index in range(start, len(ways)):
            way, claim, receivers, _ = ways[index]
            print(json.dumps({"at": index}), file=out)
            try:
                found = trial.run(way, claim, receivers, slots_of, limit, has_locale)
            except Exception:
                print(json.dumps({"at": index, "error": traceback.format_exc()}), file=out)
                os._exit(1)
            print(json.dumps({"at": index, "calls": found.calls, "reached": found.reached, "false": found.false}), file=out)


def lines(ways, start, slots_of, limit, has_locale):
    """The child's lines, until it ends or takes too long over one."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read)
        quiet()
        try:
            child(ways, start, slots_of, limit, has_locale, write)
        finally:
            os._exit(0)
    os.close(write)
    rest = b""
    try:
        while select.select([read], [], [], PATIENCE)[0]:
            data = os.read(read, 1 << 16)
            if not data:
                break
            *whole, rest = (rest + data).split(b"\n")
            yield from map(json.loads, whole)
    finally:
        os.kill(process, signal.SIGKILL)
        os.close(read)
        os.waitpid(process, 0)


def quiet():
    """C code may print to these, and read from them."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)


def try_all(ways, slots_of, limit, has_locale, seconds):
    """A line for each way, also for one that ended its process."""
    results, end = {}, time.monotonic() + seconds
    while len(results) < len(ways) and time.monotonic() < end:
        at = len(results)
        for line in lines(ways, at, slots_of, limit, has_locale):
            at = line["at"]
            if "error" in line:
                raise SystemExit(f"{ways[at][0].name} could not be tried: {line['error']}")
            if "calls" in line:
                results[at] = line
            if time.monotonic() > end:
                return results
        if at not in results:
            results[at] = {"at": at, "calls": 0, "reached": 0, "false": None, "died": True}
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", help="generated/facts/3.X.json")
    parser.add_argument("--limit", type=int, default=300, help="lists of arguments for one way to a function")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--only", default="", help="C functions, with commas between them")
    options = parser.parse_args()
    with open(options.facts, encoding="utf-8") as file:
        facts = json.load(file)
    began = time.monotonic()
    state.listen()
    room, why = state.make_locale()
    try:
        print(json.dumps(report(facts, options, why, began)))
    finally:
        if room:
            shutil.rmtree(room, ignore_errors=True)


def report(facts, options, no_locale, began):
    slots_of = collections.defaultdict(set)
    for row in facts["slotdefs"]:
        slots_of[row["name"]].add(row["slot"])
    ways, untried, missing = plan(facts, set(filter(None, options.only.split(","))))
    results = try_all(ways, dict(slots_of), options.limit, no_locale is None, options.seconds)
    tried = {ways[index][3] for index, line in results.items() if line["reached"]}
    for index, (_, _, _, key) in enumerate(ways):
        if key not in tried and untried[key] is None:
            line = results.get(index)
            if line is None:
                untried[key] = "not run: time was up"
            else:
                untried[key] = "its process died" if line.get("died") else "every call was refused with TypeError"
    why = collections.Counter(reason for key, reason in untried.items() if key not in tried and reason)
    return {
        "release": ".".join(map(str, sys.version_info[:3])),
        "claims_of": facts["release"],
        "functions": len(untried),
        "tried": len(tried),
        "ways": len(ways),
        "calls": sum(line["calls"] for line in results.values()),
        "false": [f"{line['false']} [{ways[index][0].function}]" for index, line in sorted(results.items()) if line["false"]],
        "died": [ways[index][0].name for index, line in sorted(results.items()) if line.get("died")],
        "untried": dict(why.most_common()),
        "notes": [*filter(None, [no_locale]), *missing.values()],
        "seconds": round(time.monotonic() - began, 1),
    }


if __name__ == "__main__":
    main()
