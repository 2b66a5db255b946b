"""Writes random Python programs: operators, classes, containers, control flow, exceptions, closures, generators, arrays.

A program is a module that defines `main(a, b, c)`. It is deterministic, terminates (loops and recursions have constant
bounds) and uses nothing but builtins, modules of the standard library and, some of them, numpy. The same seed
gives the same program.
"""

import random

from arrays import ARRAYS
from classes import CLASSES, LIBRARY
from flows import FLOWS, Flows
from functions import DRIVERS
from modules import MODULES
from vocabulary import LITERALS, PRELUDE

#: What happens to the module between two calls; `{0}` is one of its classes.
CHANGES = [
    "TOTAL += 1", "SHARED.append(2)", "TABLE['k'] = [3]", "TABLE = {'other': 1}", "pair = lambda x, y=3: [x, y]", "{0}.value = 8", "{0}.twice = lambda self: 'changed'",
    "{0}.__len__ = lambda self: 4", "{0}.__add__ = lambda self, other: 'added'", "{0}.__getattr__ = lambda self, name: 'found'", "len = lambda x: 'len'",
    "pair.__defaults__ = (4,)", "{0}.__eq__ = lambda self, other: True", "{0} = Mixin", "self_index = None", "Mixin.value = [1]", "del TOTAL", "del {0}.twice",
    "{0}.__bool__ = lambda self: False", "Manager.__exit__ = lambda self, *info: True", "OwnError.__str__ = Exception.__str__", "Meta.__call__ = type.__call__",
    "every.__kwdefaults__ = {'y': 5, 'k': 6}", "every.__code__ = pair.__code__", "int = float", "Plain.__get__ = lambda *args: 'plain'", "del len", "functools = None",
]


def module(writer):
    """The whole module."""
    if writer.arrays:
        writer.line("import numpy as np")
    parts = [PRELUDE, DRIVERS, CLASSES, LIBRARY * writer.library, MODULES * writer.modules, FLOWS * writer.flows]
    writer.line("".join(parts).rstrip("\n"))
    for index in range(writer.random.randint(1, 3)):
        writer.user_class(index)
    for index in range(writer.random.randint(0, 2)):
        writer.helper(index)
    writer.line("def main(a, b, c):")
    writer.depth = 1
    writer.names = ["a", "b", "c"]
    writer.guarded(writer.random.randint(4, 10))
    writer.line(f"return {writer.expression(2)}")
    return "\n".join(writer.lines) + "\n"


def program(seed, small=False):
    """The program of a seed: its text, and its calls: what is done to the module before, and the arguments of `main`.

    A small one has no arrays and none of the classes that the standard library makes.
    """
    writer = Flows(seed)
    writer.arrays = writer.chance(0.2) and not small
    writer.library = not small
    writer.modules = writer.chance(0.5) and not small
    writer.flows = random.Random(f"flows {seed}").random() < 0.3 and not small
    text = module(writer)
    values = LITERALS + (ARRAYS * 6 if writer.arrays else []) + [f"{name}()" for name in writer.classes] * 3
    first, other = ([writer.pick(values) for _ in range(3)] for _ in range(2))
    change = writer.pick(CHANGES).replace("{0}", writer.pick(writer.classes))
    return text, [("", first), ("", first), ("", other), (change, first), ("", first)]


if __name__ == "__main__":
    import sys

    print(program(int(sys.argv[1]))[0])
