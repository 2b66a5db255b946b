"""What TorchDynamo's sources say of slots: read as text with `ast`, never imported.

    python dynamo.py .../torch/_dynamo/variables

Prints one JSON object: its table of slot definitions, the method that stands for each slot, and for each type of CPython that a tracker
class names (`_cpython_type = ...`) the methods that the class, or a base of it below `VariableTracker`, defines.
"""

import ast
import collections
import functools
import itertools
import json
import pathlib
import random
import sys
import types


#: What the texts that name a type may name, and the functions that they may call.
NAMES = {module.__name__: module for module in (collections, functools, itertools, random, types)}
NAMES |= {"dict_keys": type({}.keys()), "dict_values": type({}.values()), "dict_items": type({}.items())}
CALLED = ("type", "iter", "reversed", "bytearray", "set", "range", "keys", "values", "items", "deque")


def text(node):
    return ast.unparse(node)


def named_types(expression):
    """The types of CPython that an expression names, as C spells them; none where it names something else."""
    for node in ast.walk(expression):
        if isinstance(node, ast.Call) and text(node.func).rpartition(".")[2] not in CALLED:
            return []
    try:
        found = eval(compile(ast.Expression(expression), "types", "eval"), dict(NAMES))
    except Exception:  # a type of PyTorch
        return []
    all_of = found if isinstance(found, tuple) else (found,)
    prefixes = {kind: "" if kind.__module__ == "builtins" else f"{kind.__module__}." for kind in all_of if isinstance(kind, type)}
    return [prefix + kind.__qualname__ for kind, prefix in prefixes.items()]


class Sources:
    """The classes of a folder of modules, by name."""

    def __init__(self, folder):
        self.classes = {}
        self.trees = {}
        for path in sorted(folder.glob("*.py")):
            tree = self.trees[path.name] = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, node)

    def definitions(self):
        """The rows of `_SLOTDEFS`: special method and the tracker's method; `None` where there is no such table."""
        for tree in self.trees.values():
            for node in tree.body:
                target = node.target if isinstance(node, ast.AnnAssign) else None
                if isinstance(target, ast.Name) and target.id == "_SLOTDEFS":
                    return [(row.args[0].value, row.args[1].value) for row in node.value.elts]
        return None

    def fields(self, structure):
        """The slots that a structure of the trackers has."""
        found = self.classes.get(structure)
        body = found.body if found else ()
        return [node.target.id for node in body if isinstance(node, ast.AnnAssign)]

    def methods(self, name, seen=()):
        """Methods of a class and of its bases, up to the one that all trackers share."""
        node = self.classes.get(name)
        if node is None or name == "VariableTracker" or name in seen:
            return set()
        own = {item.name for item in node.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))}
        own |= {target.id for item in node.body if isinstance(item, ast.Assign) for target in item.targets if isinstance(target, ast.Name)}
        for base in node.bases:
            own |= self.methods(text(base).rpartition(".")[2], (*seen, name))
        return own

    def types(self):
        """The type of CPython that each tracker class names."""
        found = {}
        for name, node in self.classes.items():
            for item in node.body:
                target = item.targets[0] if isinstance(item, ast.Assign) else item.target if isinstance(item, ast.AnnAssign) else None
                if isinstance(target, ast.Name) and target.id == "_cpython_type" and item.value is not None:
                    for named in named_types(item.value):
                        found.setdefault(named, []).append(name)
        return found


def main(folder):
    sources = Sources(pathlib.Path(folder))
    slots = [field for name in ("PyNumberMethods", "PySequenceMethods", "PyMappingMethods", "PyTypeObject")
             for field in sources.fields(name) if not field.startswith("tp_as_")]
    types = {}
    for named, trackers in sources.types().items():
        types[named] = {"trackers": trackers, "methods": sorted(set().union(*map(sources.methods, trackers)))}
    print(json.dumps({"slotdefs": sources.definitions(), "slots": slots, "types": types}))


if __name__ == "__main__":
    main(sys.argv[1])
