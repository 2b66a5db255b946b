"""The ways from Python code to a C function: methods, getters, setters, slots through their wrappers, functions of modules."""

import importlib
import types
import typing

#: Positional arguments behind the receiver that the wrapper of a slot takes, and whether the first must be an index.
WRAPPERS = {
    "wrap_unaryfunc": (0, 0), "wrap_hashfunc": (0, 0), "wrap_lenfunc": (0, 0), "wrap_inquirypred": (0, 0), "wrap_next": (0, 0),
    "wrap_binaryfunc": (1, 1), "wrap_binaryfunc_l": (1, 1), "wrap_binaryfunc_r": (1, 1), "wrap_objobjproc": (1, 1),
    "richcmp_lt": (1, 1), "richcmp_le": (1, 1), "richcmp_eq": (1, 1), "richcmp_ne": (1, 1), "richcmp_gt": (1, 1),
    "richcmp_ge": (1, 1), "wrap_ternaryfunc": (1, 2), "wrap_ternaryfunc_r": (1, 2), "wrap_objobjargproc": (2, 2),
    "wrap_delitem": (1, 1), "wrap_setattr": (2, 2), "wrap_delattr": (1, 1), "wrap_descr_get": (1, 2), "wrap_descr_set": (2, 2),
    "wrap_descr_delete": (1, 1), "wrap_call": (0, 3), "wrap_init": (0, 3),
}
#: Their wrappers convert the index before they call the slot, so only an `int` shows what the slot does.
INDEXED = {"wrap_indexargfunc": (1, 1), "wrap_sq_item": (1, 1), "wrap_sq_setitem": (2, 2), "wrap_sq_delitem": (1, 1)}
#: Slots whose first argument is the name of an attribute.
NAMED = ("tp_getattro", "tp_setattro")


class Way(typing.NamedTuple):
    """How Python code calls a C function."""

    name: str
    #: The C function and the file in which its name is looked up first.
    function: str
    file: str
    call: typing.Callable
    #: The type of the receiver; `None`: there is none.
    owner: typing.Optional[type]
    #: The receiver is the type itself.
    of_class: bool
    #: Fewest and most arguments besides the receiver.
    fewest: int
    most: int
    #: What the first argument must be: `index`, `name`, or anything.
    first: str = ""


def modules(facts):
    """The modules whose functions and types are known, imported; and why others are not."""
    missing = {}
    names = {row["module"] for row in facts["module_functions"]}
    names |= {row["tp_name"].rpartition(".")[0] for row in facts["types"] if "." in (row.get("tp_name") or "")}
    for name in sorted(names):
        # Modules for tests of the interpreter, and those that need a display.
        if name.startswith(("xx", "_test", "_tkinter", "_curses", "_ctypes_test")):
            continue
        try:
            importlib.import_module(name)
        except Exception as error:
            missing[name] = f"module {name} is not importable: {error}"
    return missing


def live_types():
    """The types of C by the names that C gives them."""
    found, work = {}, [object]
    while work:
        kind = work.pop()
        for subclass in type.__subclasses__(kind):
            work.append(subclass)
        if not kind.__flags__ & 1 << 9 or kind.__flags__ & 1 << 8 or kind.__module__.startswith("_"):
            prefix = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
            found.setdefault(prefix + kind.__qualname__, kind)
    return found


def ways(facts):
    """Every way that the facts give."""
    live = live_types()
    wrappers = {}
    for row in facts["slotdefs"]:
        wrappers.setdefault(row["slot"], []).append((row["name"], row["wrapper"]))
    for row in facts["types"]:
        kind = live.get(row.get("tp_name") or "")
        if kind is not None:
            yield from _of_type(row, kind, wrappers)
    for row in facts["module_functions"]:
        module = importlib.sys.modules.get(row["module"])
        found = getattr(module, row["name"], None)
        if callable(found):
            yield Way(f"{row['module']}.{row['name']}", row["function"], row["file"], found, None, False, *_arity(row["flags"]))


def _arity(flags):
    if "METH_NOARGS" in flags:
        return 0, 0
    return (1, 1) if "METH_O" in flags else (0, 3)


def _of_type(row, kind, wrappers):
    name, attributes = row["tp_name"], kind.__dict__
    for method in row.get("methods", ()):
        found = attributes.get(method["name"])
        if isinstance(found, (types.MethodDescriptorType, types.WrapperDescriptorType)):
            yield Way(f"{name}.{method['name']}", method["function"], row["file"], found, kind, False, *_arity(method["flags"]))
        elif isinstance(found, (types.ClassMethodDescriptorType, staticmethod)):
            of_class = isinstance(found, types.ClassMethodDescriptorType)
            call = _class_method(found) if of_class else found.__func__
            owner = kind if of_class else None
            yield Way(f"{name}.{method['name']}", method["function"], row["file"], call, owner, of_class, *_arity(method["flags"]))
    for entry in row.get("getset", ()):
        found = attributes.get(entry["name"])
        if isinstance(found, types.GetSetDescriptorType):
            if entry["get"]:
                yield Way(f"{name}.{entry['name']}", entry["get"], row["file"], _getter(found), kind, False, 0, 0)
            if entry["set"]:
                yield Way(f"{name}.{entry['name']} =", entry["set"], row["file"], found.__set__, kind, False, 1, 1)
    for slot, value in row["slots"].items():
        yield from _of_slot(name, row["file"], kind, slot, value["function"], wrappers.get(slot, ()))


def _of_slot(name, file, kind, slot, function, wrappers):
    if slot == "tp_new" and "__new__" in kind.__dict__:
        yield Way(f"{name}.__new__", function, file, kind.__new__, kind, True, 0, 3)
    if slot == "tp_vectorcall":
        yield Way(f"{name}()", function, file, lambda self, *args: self(*args), kind, True, 0, 3)
    for special, wrapper in wrappers:
        found = kind.__dict__.get(special)
        if isinstance(found, types.WrapperDescriptorType) and found.__objclass__ is kind:
            arity = WRAPPERS.get(wrapper) or INDEXED.get(wrapper)
            if arity:
                first = "index" if wrapper in INDEXED else "name" if slot in NAMED else ""
                yield Way(f"{name}.{special}", function, file, found, kind, False, *arity, first)


def _getter(descriptor):
    return lambda receiver: descriptor.__get__(receiver)


def _class_method(descriptor):
    return lambda owner, *args: descriptor.__get__(None, owner)(*args)


