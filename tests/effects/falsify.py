"""Runs what the effects call pure or without changes on sample values, and tells where that is false.

    cargo xtask effects --all > target/effects.json
    python tests/effects/falsify.py target/effects.json generated/facts/3.13.json

A function claimed to change nothing must leave its arguments as they were; one claimed pure must, moreover, run no
method of the instances of Python classes among them.
"""

import builtins
import copy
import importlib
import itertools
import json
import sys

CALLS = []


class Watched:
    """An object that notes each of its methods that runs."""

    def __hash__(self):
        CALLS.append("__hash__")
        return 7

    def __eq__(self, other):
        CALLS.append("__eq__")
        return self is other

    def __lt__(self, other):
        CALLS.append("__lt__")
        return False

    def __index__(self):
        CALLS.append("__index__")
        return 1

    def __float__(self):
        CALLS.append("__float__")
        return 1.0

    def __bool__(self):
        CALLS.append("__bool__")
        return True

    def __repr__(self):
        CALLS.append("__repr__")
        return "Watched()"

    def __iter__(self):
        CALLS.append("__iter__")
        return iter(())

    def __len__(self):
        CALLS.append("__len__")
        return 0

    def __getattr__(self, name):
        CALLS.append("__getattr__")
        raise AttributeError(name)


WATCHED = Watched()


def samples():
    """New values of each kind, so that one call cannot spoil the next."""
    yield from (0, 3, -5, True, 2.5, 1 + 2j, "", "a b", "é", b"", b"ab", None, ..., (), (1, "x"))
    yield from ([], [3, 1, 2], {}, {"a": 1}, set(), {1, 2}, frozenset((1, 2)), bytearray(b"xy"), range(5), slice(1, 3))
    yield from ([WATCHED], (WATCHED,), {"k": WATCHED}, WATCHED)


def picture(value):
    """What can be seen of a value without running its methods."""
    kind = type(value)
    if kind in (list, tuple):
        return kind, [picture(item) for item in value]
    if kind is dict:
        return kind, [(picture(key), picture(item)) for key, item in value.items()]
    if kind in (set, frozenset):
        return kind, sorted(map(repr, value))
    if kind is bytearray:
        return kind, bytes(value)
    if kind is Watched:
        return kind, dict(value.__dict__)
    return kind, repr(value)


def fresh(value):
    return value if type(value) is Watched else copy.copy(value)


def bound(facts):
    """(name, callable, type, C function) of the methods of builtin types; functions in slots are not tried."""
    for row in facts["types"]:
        python = getattr(builtins, (row.get("tp_name") or "").rpartition(".")[2], None)
        if not isinstance(python, type):
            continue
        for method in row.get("methods", ()):
            found = python.__dict__.get(method["name"])
            if found is not None and callable(found):
                yield f"{python.__name__}.{method['name']}", found, python, method["function"]


def of_modules(effects):
    for row in effects["modules"]:
        try:
            module = importlib.import_module(row["module"])
        except ImportError:
            continue
        found = getattr(module, row["name"], None)
        if callable(found):
            yield f"{row['module']}.{row['name']}", found, None, row["function"]


def argument_lists(python):
    own = [value for value in samples() if python is None or type(value) is python]
    for first in own:
        yield (first,)
        for second in samples():
            yield first, second
    if python is None:
        yield ()
    for first, (second, third) in itertools.product(own[:6], itertools.product(list(samples())[::4], repeat=2)):
        yield first, second, third


def claim(row):
    quiet = not row.get("mutates") and not row.get("sets") and not {"io", "writes global", "python", "imports"} & set(row.get("flags", ()))
    return {"pure": "pure", "pure by slots": "quiet"}.get(row["verdict"], "quiet" if quiet else None)


def falsify(name, function, python, what):
    runs = 0
    for args in argument_lists(python):
        args = tuple(map(fresh, args))
        before = [picture(arg) for arg in args]
        CALLS.clear()
        try:
            function(*args)
        except Exception:
            pass
        called = list(CALLS)
        runs += 1
        if what == "pure" and called:
            return runs, f"{name}: claimed pure, ran {called[0]} on {before}"
        if [picture(arg) for arg in args] != before:
            return runs, f"{name}: claimed to change nothing, changed {before}"
    return runs, None


def main():
    effects, facts = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    rows = {}
    for row in effects["functions"]:
        rows.setdefault(row["name"], []).append(row)
    functions = runs = 0
    wrong = []
    for name, function, python, c_function in itertools.chain(bound(facts), of_modules(effects)):
        known = rows.get(c_function, [])
        claims = {claim(row) for row in known if row["verdict"] != "unknown"}
        if len(known) != 1 or claims == {None} or not claims:
            continue
        functions += 1
        count, found = falsify(name, function, python, claims.pop())
        runs += count
        if found:
            wrong.append(f"{found} [{c_function}]")
    print(*wrong, sep="\n")
    print(f"{functions} functions claimed pure or without changes, {runs} calls, {len(wrong)} claims false")
    return 1 if wrong or not functions else 0


if __name__ == "__main__":
    sys.exit(main())
