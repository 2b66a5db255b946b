"""How often code asks for a slot, an instruction or a name: counted in code objects, nothing of them is run.

    python usage.py < request.json

The request has the special methods of `slotdefs[]` and folders by name. Which instruction asks for which special method is found out with an
object that notes which instruction of its caller called it; which builtin does so, likewise. Prints one JSON object.
"""

import builtins
import collections
import contextlib
import dis
import importlib.util
import io
import json
import marshal
import pathlib
import sys
import types
import warnings

#: What programs write, with objects `a` and `b`; operators are added from the interpreter's own table.
FORMS = [
    "-a", "+a", "~a", "not a", "a[b]", "a[b] = b", "del a[b]", "a in b", "a.x", "a.x = b", "del a.x", "a()", "a(b, *b)", "f'{a}'", "f'{a!r}'",
    "a < b", "a <= b", "a == b", "a != b", "a > b", "a >= b", "a[b:b]", "[*a]", "{a: b}", "{**a}", "x, y = a",
    "if a: pass", "while a: break", "for x in a: pass", "[x for x in a]", "yield from a", "await a", "async for x in a: pass",
    "with a: pass", "async with a: pass",
]
#: Builtins that stop, talk or run text.
LEFT_OUT = {"breakpoint", "input", "exit", "quit", "help", "open", "print", "exec", "eval", "compile", "__import__", "copyright", "credits", "license"}

#: Answers that C checks.
ANSWERS = {
    "__bool__": True, "__len__": 0, "__hash__": 1, "__index__": 0, "__int__": 0, "__float__": 0.0, "__repr__": "", "__str__": "",
    "__contains__": False, "__init__": None, "__setattr__": None, "__delattr__": None, "__setitem__": None, "__delitem__": None,
    "__complex__": 0j,
}


#: Instructions whose argument is an index, a place or a count.
PLAIN = frozenset(dis.hasname) | frozenset(dis.haslocal) | frozenset(dis.hasfree) | frozenset(dis.hasconst) | frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
#: Instructions whose argument chooses among operators: `dis` shows it as a word.
CHOOSING = frozenset(op for op, name in enumerate(dis.opname) if name in ("BINARY_OP", "COMPARE_OP", "CALL_INTRINSIC_1", "CONTAINS_OP"))
NAMED = frozenset(dis.hasname)


def key(op, arg):
    """What tells instructions apart: the operation, and its argument where that chooses among operators."""
    return (op, arg or 0) if op in CHOOSING and op not in PLAIN else (op, 0)


def instructions(code):
    for offset, *_, op, arg in dis._unpack_opargs(code.co_code):
        yield offset, op, arg


async def ended():
    raise StopAsyncIteration


class Notes:
    """Objects whose special methods note the instruction that called them."""

    def __init__(self, methods):
        self.by_instruction = collections.defaultdict(set)
        self.called = set()
        self.watching = False
        self.kind = type("Noting", (), {})
        for name in methods:
            if name not in ("__new__", "__del__", "__getattribute__"):
                setattr(self.kind, name, self.method(name))

    def method(self, name):
        def noting(instance, *args):
            if self.watching:
                self.called.add(name)
                frame = sys._getframe(1)
                for offset, op, arg in instructions(frame.f_code):
                    if offset == frame.f_lasti and frame.f_code.co_filename == "<form>":
                        self.by_instruction[key(op, arg)].add(name)
            if name == "__next__":
                raise StopIteration
            if name == "__anext__":
                return ended()
            if name == "__getattr__":
                raise AttributeError(args[0])
            return ANSWERS.get(name, instance)
        return noting

    def run(self, call):
        """The special methods that a call asks for."""
        self.called, self.watching = set(), True
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = call()
                if isinstance(result, (types.GeneratorType, types.CoroutineType)):
                    with contextlib.suppress(BaseException):
                        result.send(None)
                    result.close()
        except BaseException:  # most forms end so: the object is no real operand
            pass
        finally:
            self.watching = False
        return sorted(self.called)


def learn(methods):
    """The special methods by instruction and by builtin."""
    notes = Notes(methods)
    symbols = {symbol for _, symbol in getattr(dis, "_nb_ops", ())}
    forms = FORMS + [f"a {symbol} b" for symbol in sorted(symbols)]
    for form in forms:
        for head in ("async def f(a, b):", "def f(a, b):"):
            try:
                space = {}
                exec(compile(f"{head}\n    {form}\n", "<form>", "exec"), space)
            except SyntaxError:
                continue
            notes.run(lambda: space["f"](notes.kind(), notes.kind()))
            break
    by_builtin = {}
    for name, found in sorted(vars(builtins).items()):
        if callable(found) and name not in LEFT_OUT and not (isinstance(found, type) and issubclass(found, BaseException)):
            asked = set()
            for count in (1, 2):
                asked.update(notes.run(lambda: found(*(notes.kind() for _ in range(count)))))
            by_builtin[name] = sorted(asked - {"__init__"})
    return notes.by_instruction, by_builtin


def code_objects(code):
    waiting = [code]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(constant for constant in found.co_consts if isinstance(constant, types.CodeType))


def read(path):
    """The code of a file: from its cache if that is of this interpreter, else compiled."""
    with contextlib.suppress(Exception):
        data = pathlib.Path(importlib.util.cache_from_source(path)).read_bytes()
        if data[:4] == importlib.util.MAGIC_NUMBER:
            return marshal.loads(data[16:])
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    return None


def name_of(code, op, arg):
    """The name that an instruction looks up."""
    shift = {"LOAD_GLOBAL": 1 if sys.version_info >= (3, 11) else 0, "LOAD_ATTR": 1 if sys.version_info >= (3, 12) else 0, "LOAD_SUPER_ATTR": 2}
    index = (arg or 0) >> shift.get(dis.opname[op], 0)
    return code.co_names[index] if index < len(code.co_names) else None


def main():
    request = json.load(sys.stdin)
    by_instruction, by_builtin = learn(request["methods"])
    operations, keys, attributes, globals_ = (collections.Counter() for _ in range(4))
    counted = {}
    for title, folder in request["folders"].items():
        amount = 0
        for path in sorted(pathlib.Path(folder).rglob("*.py")):
            if {"test", "tests", "site-packages", "idlelib", "lib2to3"} & set(path.relative_to(folder).parts):
                continue
            code = read(path)
            for found in code_objects(code) if code else ():
                amount += 1
                for _, op, arg in instructions(found):
                    operations[dis.opname[op]] += 1
                    keys[key(op, arg)] += 1
                    if op in NAMED:
                        looked = name_of(found, op, arg)
                        (globals_ if "GLOBAL" in dis.opname[op] or dis.opname[op] == "LOAD_NAME" else attributes)[looked] += 1
        counted[title] = amount
    methods = collections.Counter()
    for found, names in by_instruction.items():
        for name in names:
            methods[name] += keys[found]
    for builtin, names in by_builtin.items():
        for name in names:
            methods[name] += globals_[builtin]
    print(json.dumps({"counted": counted, "operations": operations, "methods": methods, "attributes": {k: v for k, v in attributes.items() if k},
                      "globals": {k: v for k, v in globals_.items() if k}}))


if __name__ == "__main__":
    main()
