"""Prints, as JSON, every slot pointer and every method, getter and member of every C type that this interpreter can import.

Reads from standard input {"slots": [[name, suite or null, offset in its struct]...], "offsets": {"tp_name": n, ...}}.
Addresses are given as they are, with the memory map that leads from them to files.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import sys
import sysconfig
import warnings

WORD = ctypes.sizeof(ctypes.c_void_p)


def word(address):
    return ctypes.c_size_t.from_address(address).value


def text(address):
    return ctypes.string_at(address).decode("utf-8", "backslashreplace")


def extension_modules():
    """Names of all C modules: built in, and shared objects of the standard library."""
    names = [name for name in sys.builtin_module_names if name != "__main__"]
    folder = sysconfig.get_config_var("DESTSHARED")
    candidates = {folder} | {path for path in sys.path if path.endswith("lib-dynload")}
    for folder in sorted(path for path in candidates if path and os.path.isdir(path)):
        names += sorted({entry.split(".")[0] for entry in os.listdir(folder) if entry.endswith(".so")})
    return names


async def generator():
    yield


def wrapped():
    """A value as an asynchronous generator hands it to its asend object; only the collector shows it."""
    running = generator()
    frame = running.asend(None)
    with contextlib.suppress(StopIteration):
        frame.send(None)
    return frame


def on_branch():
    monitoring = sys.monitoring
    monitoring.use_tool_id(5, "tables")
    monitoring.register_callback(5, monitoring.events.BRANCH, print)
    monitoring.register_callback(5, monitoring.events.BRANCH, None)
    monitoring.free_tool_id(5)


# What readies static types that no import readies: each gives an object of one, or calls what does.
FIRST_USES = [
    lambda: iter(b""),
    lambda: {}.keys() & set(),
    lambda: (lambda: (yield))(),
    lambda: sys.float_info,
    lambda: generator().asend(None),
    lambda: generator().athrow(ValueError),
    wrapped,
    on_branch,
    lambda: load.__code__.co_lines(),
    lambda: load.__code__.co_positions(),
    lambda: load.__code__.co_branches(),
    lambda: iter(memoryview(b"")),
    lambda: iter(importlib.import_module("array").array("b")),
    lambda: importlib.import_module("functools").cmp_to_key(len),
    lambda: importlib.import_module("_testcapi").test_lazy_hash_inheritance(),
]


def load():
    """Imports every C module; returns what failed and why."""
    failed = {}
    for name in extension_modules():
        try:
            importlib.import_module(name)
        except BaseException as error:
            failed[name] = "%s: %s" % (type(error).__name__, error)
    for use in FIRST_USES:
        # A release without the feature has no such type either.
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dir(use())
    return failed


def all_types():
    found, waiting = {}, [object, type]
    waiting += [each for each in gc.get_objects() if isinstance(each, type)]
    waiting += [each for module in list(sys.modules.values()) for each in vars(module).values() if isinstance(each, type)]
    while waiting:
        each = waiting.pop()
        if id(each) in found:
            continue
        found[id(each)] = each
        waiting.extend(type.__subclasses__(each))
        waiting.extend(base for base in each.__mro__)
        waiting.append(type(each))
    return found


class MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_size_t), ("meth", ctypes.c_size_t), ("flags", ctypes.c_int), ("doc", ctypes.c_size_t)]


class GetSetDef(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("name", "get", "set", "doc", "closure")]


class MemberDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_size_t),
    ]


def table(layout, start):
    """The rows of a table, up to the one without a name."""
    while start:
        row = layout.from_address(start)
        if not row.name:
            return
        yield row
        start += ctypes.sizeof(layout)


DESCRIPTORS = (type(list.append), type(dict.__dict__["fromkeys"]), type(len))


def signature(each, name):
    """What inspect sees of a method: its text signature; False where the attribute is not that method."""
    held = vars(each).get(name)
    held = held.__func__ if isinstance(held, staticmethod) else held
    return held.__text_signature__ if type(held) in DESCRIPTORS and held.__name__ == name else False


def tables(each, address, offsets):
    methods = table(MethodDef, word(address + offsets["tp_methods"]))
    getset = table(GetSetDef, word(address + offsets["tp_getset"]))
    members = table(MemberDef, word(address + offsets["tp_members"]))
    return {
        "methods": [
            [text(row.name), row.meth, row.flags, text(row.doc) if row.doc else "", signature(each, text(row.name))]
            for row in methods
        ],
        "getset": [[text(row.name), row.get, row.set] for row in getset],
        "members": [[text(row.name), row.type, row.flags] for row in members],
    }


def describe(each, address, wanted):
    offsets = wanted["offsets"]
    slots = {}
    for name, suite, offset in wanted["slots"]:
        start = address if suite is None else word(address + offsets[suite])
        held = word(start + offset) if start else 0
        if held:
            slots[name] = held
    return {
        "address": address,
        "tp_name": text(word(address + offsets["tp_name"])),
        "flags": word(address + offsets["tp_flags"]),
        "slots": slots,
        **tables(each, address, offsets),
    }


def memory_map():
    rows = []
    with open("/proc/self/maps") as lines:
        for line in lines:
            fields = line.split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/"):
                start = fields[0].split("-")[0]
                rows.append([int(start, 16), int(fields[2], 16), fields[5].strip()])
    return rows


def main():
    warnings.simplefilter("ignore")
    wanted = json.load(sys.stdin)
    failed = load()
    types = all_types()
    # Attribute caches and lazily readied types settle only after the walk above.
    rows = [describe(types[address], address, wanted) for address in sorted(types)]
    release = sys.version.split()[0]
    json.dump({"release": release, "types": rows, "map": memory_map(), "failed": failed}, sys.stdout)


main()
