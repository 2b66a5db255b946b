"""The subjects of the comparison: a function, its counterpart, and the values that fit its parameters."""

import ctypes
import itertools
import random

import rows
import values
from log import name_of
from native import NULL, Native, kinds_of

from slotrt import protocol

STRUCTS = {
    "PyObject": object, "_object": object, "PyTypeObject": type, "_typeobject": type, "PyDictObject": dict, "PyListObject": list, "PyTupleObject": tuple,
    "PyLongObject": int, "PyFloatObject": float, "PySetObject": (set, frozenset), "PyBytesObject": bytes, "PyByteArrayObject": bytearray,
}


class Case:
    """Arguments that are made anew: values, and constants of C types."""

    def __init__(self, parts):
        self.parts = parts

    def make(self):
        return [part.make() if isinstance(part, values.Value) else part for part in self.parts]

    def shown(self):
        return ", ".join(part.name if isinstance(part, values.Value) else repr(part) for part in self.parts)


class Subject:
    """A function, its counterpart, and the values that fit its parameters."""

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
            fit = [NULL, None][: 1 + kind.endswith("?")] if kind.startswith("out object") else [value for value in everything if issubclass(value.kind, wanted)]
            out.append(fit + [NULL] if kind == "object?" and null else fit)
        elif kind.startswith("out "):
            out.append((0, None) if kind.endswith("?") else (0,))
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
    """Filters the values that a function may get although it does not check them."""
    family = next((family for family in rows.FAMILIES if name.startswith(family)), None)
    if family and not name.removeprefix(family).startswith(rows.MAKERS):
        first = next((index for index, kind in enumerate(kinds) if kind.startswith("object")), None)
        if first is not None:
            choices[first] = [one for one in choices[first] if one is not NULL and issubclass(one.kind, rows.FAMILIES[family])]
    if name in rows.COMPARISONS:
        choices[rows.COMPARISONS[name]] = (0, 1, 2, 3, 4, 5)
    for index, types in rows.DEMANDS.get(name, {}).items():
        choices[index] = [one for one in choices[index] if one is NULL or issubclass(one.kind, types)]
    for index, types in rows.REFUSED.get(name, {}).items():
        choices[index] = [one for one in choices[index] if one is NULL or not issubclass(one.kind, types)]


# Slots that a program cannot reach (memory, the collector, buffers), and those whose arguments are no objects.
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
                if rows.DEBUG and function.__name__ in rows.LEFT_OUT:
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
    if any(one.is_type for one in own):
        names += [values.Value(name, lambda name=name: name, True) for name in rows.SPECIAL]
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
