"""Compares translated functions with the interpreter's own, on every value; prints the report as a line of JSON.

A case is a function and arguments. Each side gets fresh equal arguments. Compared are: the result, its type and whether it is one of the
arguments, or the exception with its message, notes and context; the order of user methods called and of warnings; the arguments afterwards.
"""

import argparse
import contextlib
import ctypes
import faulthandler
import gc
import itertools
import json
import os
import random
import signal
import sys
import time

import rows
import values
from describe import describe, error, text
from log import LOG, name_of, note, watch_warnings

from slotrt import protocol

NULL = protocol.NULL
LIMIT = 5  # seconds for one case
SHOWN = 3  # cases of one difference
STRUCTS = {
    "PyObject": object, "_object": object, "PyTypeObject": type, "_typeobject": type, "PyDictObject": dict, "PyListObject": list, "PyTupleObject": tuple,
    "PyLongObject": int, "PyFloatObject": float, "PySetObject": (set, frozenset), "PyBytesObject": bytes, "PyByteArrayObject": bytearray,
}


INCREF = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("Py_IncRef", ctypes.pythonapi))


class Slow(BaseException):
    """A case that ran into the time limit."""


class Case:
    """Arguments that are made anew: values, and constants of C types."""

    def __init__(self, parts):
        self.parts = parts

    def make(self):
        return [part.make() if isinstance(part, values.Value) else part for part in self.parts]

    def shown(self):
        return ", ".join(part.name if isinstance(part, values.Value) else repr(part) for part in self.parts)


def outcome(function, args):
    """What a call gives, as plain data."""
    del LOG[:]
    try:
        result = function(*args)
    except protocol.Unsupported as stop:
        return ("unsupported", stop.name)
    except RecursionError:
        # Which frame is one too many depends on the frames of the caller.
        return ("raised", "RecursionError")
    except Exception as raised:
        shown = ("raised", name_of(type(raised)), error(raised))
        if type(raised) is TypeError and raised.args and "cannot be given from Python" in str(raised.args[0]):
            return ("unsupported", "pointer")
    else:
        shown = result_of(result, args)
    seen = list(LOG)
    return (shown, seen)


def result_of(result, args):
    if result is NULL:
        return "NULL"
    for index, arg in enumerate(args):
        if result is arg:
            return ("argument", index)
    if type(result) is tuple and result and any(one is NULL for one in result):
        return tuple("NULL" if one is NULL else describe(one) for one in result)
    return ("value", describe(result))


class Native:
    """A C function of the interpreter, called through its address."""

    TYPES = {"i32": ctypes.c_int, "isize": ctypes.c_ssize_t, "usize": ctypes.c_size_t, "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "u32": ctypes.c_uint32,
             "f64": ctypes.c_double, "str": ctypes.c_char_p, "object": ctypes.c_void_p}

    def __init__(self, function, address, kinds, returns):
        self.kinds, self.returns, self.name = kinds, returns, function
        self.outs = [index for index, kind in enumerate(kinds) if kind.startswith("out ")]
        give = None if returns == "nothing" else self.TYPES[returns]
        self.steals = rows.STEALS.get(function, ())
        self.call = ctypes.PYFUNCTYPE(give, *(self.take(kind) for kind in kinds))(address)

    def take(self, kind):
        if kind.startswith("out "):
            return ctypes.c_void_p
        return ctypes.c_void_p if kind == "nothing" else self.TYPES[kind.rstrip("?")]

    def __call__(self, *args):
        given, cells = [], []
        for kind, arg in zip(self.kinds, args):
            if kind.startswith("out "):
                cells.append(ctypes.c_void_p() if kind == "out object" else self.TYPES[kind[4:]](arg))
                given.append(ctypes.addressof(cells[-1]))
            elif arg is NULL:
                given.append(None)
            elif kind.startswith("object"):
                given.append(id(arg))  # an address, as ctypes.py_object asks the object for its class
            else:
                given.append(arg.encode("utf-8") if type(arg) is str and kind.startswith("str") else arg)
        for index in self.steals:
            INCREF(id(args[index]))
        result = self.call(*given)
        if self.returns == "object":
            result = loaded(result)
        elif self.returns == "str":
            result = NULL if result is None else result.decode()
        if cells:
            return (result, *(loaded(cell.value) if kind == "out object" else cell.value for kind, cell in zip((self.kinds[at] for at in self.outs), cells)))
        return result


def loaded(address):
    """The object at an address. Its reference is kept: whether the function gave it away or lent it, no prototype says."""
    return NULL if not address else ctypes.cast(address, ctypes.py_object).value


def kinds_of(function):
    """The kinds and structs of a prototype's parameters, and its result."""
    inner, _, returns = function.prototype.partition("(")[2].rpartition(") -> ")
    words = [word.partition(":") for word in inner.split(", ") if word]
    return [word[0] for word in words], [word[2] for word in words], returns


class Subject:
    """A function with what it is compared with, and the values that fit its parameters."""

    def __init__(self, function, theirs, choices, how):
        self.function, self.theirs, self.choices, self.how = function, theirs, choices, how

    def cases(self, limit):
        """All combinations of the choices; of too many, as many as the limit, chosen alike each time."""
        total = 1
        for choice in self.choices:
            total *= len(choice)
        if not total:
            return
        if total <= limit:
            yield from map(Case, itertools.product(*self.choices))
            return
        chosen = random.Random(f"{self.function.__name__} {limit}")
        for _ in range(limit):
            yield Case([choice[chosen.randrange(len(choice))] for choice in self.choices])


def choices_of(kinds, structs, everything, null=True):
    """The values for each parameter, or why there are none."""
    out = []
    for kind, struct in zip(kinds, structs):
        plain = kind.rstrip("?").removeprefix("out ")
        if plain == "object":
            wanted = STRUCTS.get(struct or "PyObject")
            if wanted is None:
                return f"takes a {struct}"
            fit = [NULL] if kind == "out object" else [value for value in everything if issubclass(value.kind, wanted)]
            out.append(fit + [NULL] if kind == "object?" and null else fit)
        elif kind.startswith("out "):
            out.append((0,))
        elif kind == "nothing":
            out.append((NULL,))
        elif plain in rows.INTEGERS:
            out.append(rows.INTEGERS[plain])
        elif plain == "f64":
            out.append(rows.DOUBLES)
        elif plain == "str":
            out.append(rows.TEXTS)
        else:
            return f"takes {plain}"
    return out


def public(everything, report):
    """The functions that the interpreter exports."""
    for function in protocol.functions():
        name = function.__name__
        if function.prototype.startswith("static") or not name.startswith("Py"):
            continue
        report["exposed"] += 1
        kinds, structs, returns = kinds_of(function)
        why = rows.LEFT_OUT.get(name)
        if not why and not hasattr(ctypes.pythonapi, name):
            why = "is not exported"
        if not why and returns in ("pointer", "other"):
            why = f"gives {returns}"
        if not why and "str:char, isize" in function.prototype:
            why = "reads memory"
        choices = why or choices_of(kinds, structs, everything, name not in rows.NEVER_NULL)
        if isinstance(choices, str):
            report["left out"][f"{name}: {choices}"] = 1
            continue
        demand(name, kinds, choices)
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        yield Subject(function, Native(name, address, kinds, returns), choices, "symbol")
        if operator := rows.OPERATORS.get(name):
            yield Subject(function, operator, [[one for one in choice if one is not NULL] for choice in choices], "operator")


def demand(name, kinds, choices):
    """Leaves the values that a function takes without a look at them."""
    family = next((family for family in rows.FAMILIES if name.startswith(family)), None)
    if family and not name.removeprefix(family).startswith(rows.MAKERS):
        first = next((index for index, kind in enumerate(kinds) if kind.startswith("object")), None)
        if first is not None:
            choices[first] = [one for one in choices[first] if one is not NULL and issubclass(one.kind, rows.FAMILIES[family])]
    if name in rows.COMPARISONS:
        choices[rows.COMPARISONS[name]] = (0, 1, 2, 3, 4, 5)
    for index, types in rows.DEMANDS.get(name, {}).items():
        choices[index] = [one for one in choices[index] if one is NULL or issubclass(one.kind, types)]


# Slots that a program cannot ask for: memory, the collector, buffers; and those whose arguments are not objects.
HIDDEN = {"tp_dealloc", "tp_traverse", "tp_clear", "tp_free", "tp_alloc", "tp_finalize", "tp_del", "tp_is_gc", "bf_getbuffer", "bf_releasebuffer", "tp_getattr", "tp_setattr", "am_send"}


def slots(everything, report):
    """The C functions in the slots of the values' types, each with the values that it is for."""
    translated = {(function.__name__, function.file): function for function in protocol.functions()}
    subjects = {}
    for value in everything:
        for kind in type.__getattribute__(value.kind, "__mro__")[:1]:
            for slot, address, name in protocol.slots_of(kind):
                function = name and translated.get(tuple(name))
                if function is None or slot in HIDDEN:
                    continue
                entry = subjects.setdefault((function.__name__, function.file), (function, address, slot, []))
                entry[3].append(value)
    report["slot functions"] = len(subjects)
    for function, address, slot, own in subjects.values():
        kinds, structs, returns = kinds_of(function)
        choices = slot_choices(slot, kinds, own, everything)
        if isinstance(choices, str) or returns in ("pointer", "other"):
            report["left out"][f"{function.__name__}: {choices if isinstance(choices, str) else 'gives ' + returns}"] = 1
            continue
        plain = [kind if kind != "nothing" else "object?" for kind in kinds]
        native = Native(function.__name__, address, plain, returns)
        for chosen in choices:
            yield Subject(function, native, chosen, slot)


def slot_choices(slot, kinds, own, everything):
    """The choices for the parameters of a slot function; several where the operand of the type may be on either side."""
    types = [value for value in everything if value.is_type]
    dictionaries = [value for value in everything if issubclass(value.kind, dict) and value.kind in (dict, values.classes.Missing)]
    tuples = [value for value in everything if value.kind is tuple]
    names = [value for value in everything if issubclass(value.kind, str)]
    if any(kind in ("pointer", "pointer?", "other", "objects") for kind in kinds):
        return "takes what is no object"
    none = [value for value in everything if value.name == "None"]
    rest = {
        "tp_call": [tuples, [NULL, *dictionaries]], "tp_init": [tuples, [NULL, *dictionaries]], "tp_new": [tuples, [NULL, *dictionaries]],
        "tp_getattro": [names], "tp_setattro": [names, [NULL, *everything]], "tp_descr_get": [everything, [NULL, *types]], "tp_descr_set": [everything, [NULL, *everything]],
        "tp_richcompare": [everything, (0, 1, 2, 3, 4, 5)], "nb_power": [everything, none], "nb_inplace_power": [everything, none],
        "mp_ass_subscript": [everything, [NULL, *everything]], "sq_ass_item": [rows.INTEGERS["isize"], [NULL, *everything]],
        "sq_item": [rows.INTEGERS["isize"]], "sq_repeat": [rows.INTEGERS["isize"]], "sq_inplace_repeat": [rows.INTEGERS["isize"]],
    }.get(slot)
    if slot == "tp_new":
        kinds_of_own = {id(one.kind): one.kind for one in own}.values()
        own = [values.Value(name_of(kind), lambda kind=kind: kind, True) for kind in kinds_of_own]
    if rest is None:
        rest = [everything] * (len(kinds) - 1)
    if len(rest) != len(kinds) - 1:
        return f"{slot} with {len(kinds)} parameters"
    out = [[own, *rest]]
    if slot.startswith("nb_") and len(kinds) >= 2 and "inplace" not in slot:
        out.append([rest[0], own, *rest[1:]])
    return out


def too_large(subject, case):
    """Whether a case makes a number or a sequence that takes minutes, or has no end."""
    name = subject.function.__name__
    for part in case.parts:
        if isinstance(part, values.Value) and any(word in name for word in rows.UNTRIED.get(part.name, ())):
            return True
    if not any(word in name for word in rows.GROWING):
        return False
    large = [part for part in case.parts if isinstance(part, values.Value) and issubclass(part.kind, int) and abs(int(int.__index__(part.sample))) > rows.BOUND]
    return len(large) > 0


def alarm(*_):
    raise Slow


class Runner:
    """Runs cases and counts."""

    def __init__(self, report):
        self.report, self.groups, self.entered = report, {}, set()
        self.unsupported = report["unsupported"]

    def subject(self, subject, limit):
        name = subject.function.__name__
        count = 0
        for index, case in enumerate(subject.cases(limit)):
            if too_large(subject, case):
                self.report["too large"] += 1
                continue
            count += self.case(subject, case, index % 64 == 0)
        if count:
            self.report["functions"][name] = self.report["functions"].get(name, 0) + count

    def case(self, subject, case, logged):
        signal.setitimer(signal.ITIMER_REAL, LIMIT)
        try:
            args = case.make()
            theirs = outcome(subject.theirs, args)
            after = [describe(arg) for arg, part in zip(args, case.parts) if isinstance(part, values.Value) and not part.fixed]
            # A hash may be the address: both sides get the same objects then, which hashing does not change.
            args = args if "hash" in subject.function.__name__.lower() else case.make()
            if logged:
                log = []
                mine = outcome(lambda *args: subject.function.logged(log, *args), args)
                self.entered.update(name for what, name in log if what == "enter")
            else:
                mine = outcome(subject.function, args)
            if mine[0] == "unsupported":
                self.unsupported[mine[1]] = self.unsupported.get(mine[1], 0) + 1
                return 0
            mine_after = [describe(arg) for arg, part in zip(args, case.parts) if isinstance(part, values.Value) and not part.fixed]
        except Slow:
            self.report["slow"].append(f"{subject.function.__name__}({case.shown()})")
            return 0
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.report["cases"] += 1
        if mine == theirs and after == mine_after:
            return 1
        self.differ(subject, case, mine, theirs, after, mine_after)
        return 1

    def differ(self, subject, case, mine, theirs, after, mine_after):
        self.report["differences"] += 1
        kind = "arguments afterwards" if mine == theirs else "calls" if mine[0] == theirs[0] else "result"
        group = self.groups.setdefault((subject.function.__name__, subject.how, kind), [0, []])
        group[0] += 1
        if len(group[1]) < SHOWN:
            ours, other = (mine_after, after) if mine == theirs else (mine, theirs)
            group[1].append(f"({case.shown()}): {text(repr(ours))[:400]}, the interpreter {text(repr(other))[:400]}")


def main(options):
    """The report; what `print`, which is a value too, writes goes nowhere."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        return compare(options)


def compare(options):
    """Compares all functions, or those that are named."""
    faulthandler.enable()
    sys.set_int_max_str_digits(0)
    signal.signal(signal.SIGALRM, alarm)
    watch_warnings()
    sys.unraisablehook = lambda args: note("unraisable", name_of(args.exc_type), text(str(args.exc_value)))
    everything = values.everything()
    report = {"cases": 0, "differences": 0, "values": len(everything), "exposed": 0, "functions": {}, "unsupported": {}, "left out": {}, "too large": 0, "slow": []}
    runner = Runner(report)
    gc.disable()
    gc.freeze()
    started = time.monotonic()
    subjects = [*public(everything, report), *slots(everything, report)]
    wanted = options.functions and options.functions.split(",")
    subjects = [one for one in subjects if not wanted or one.function.__name__ in wanted]
    for index, subject in enumerate(subjects):
        if options.progress:
            print(f"{index + 1}/{len(subjects)} {subject.function.__name__}", file=sys.stderr, flush=True)
        runner.subject(subject, options.limit)
        if index % 8 == 0:
            gc.collect()
    report["seconds"] = round(time.monotonic() - started, 1)
    report["exercised"], report["functions"] = len(report["functions"]), report["functions"] if wanted else {}
    report["entered"] = len(runner.entered)
    report["groups"] = [{"function": name, "against": how, "differs": what, "count": count, "cases": cases} for (name, how, what), (count, cases) in sorted(runner.groups.items())]
    report["unsupported"] = dict(sorted(report["unsupported"].items(), key=lambda item: -item[1]))
    report["left out"] = sorted(report["left out"])
    return report


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=20_000, help="cases of one function")
    parser.add_argument("--functions", help="C names, with commas between them")
    parser.add_argument("--progress", action="store_true")
    print(json.dumps(main(parser.parse_args())))
