"""Which types of CPython expressions name, such as `types.FunctionType` or `type(iter([]))`: evaluated with the standard library alone.

    python type_names.py < expressions.json

Prints for each expression the names as C spells them; none where it names something else.
"""

import ast
import collections
import functools
import itertools
import json
import random
import sys
import types

#: What the texts may name, and the functions that they may call.
NAMES = {module.__name__: module for module in (collections, functools, itertools, random, types)}
NAMES |= {"dict_keys": type({}.keys()), "dict_values": type({}.values()), "dict_items": type({}.items())}
CALLED = {"type", "iter", "reversed", "bytearray", "set", "range", "keys", "values", "items", "deque"}


def named_types(text):
    try:
        expression = ast.parse(text, mode="eval")
        for node in ast.walk(expression):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] not in CALLED:
                return []
            if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                return []
        found = eval(compile(expression, "types", "eval"), dict(NAMES))
    except Exception:  # a type of PyTorch
        return []
    all_of = found if isinstance(found, tuple) else (found,)
    return [("" if kind.__module__ == "builtins" else f"{kind.__module__}.") + kind.__qualname__ for kind in all_of if isinstance(kind, type)]


print(json.dumps([named_types(text) for text in json.load(sys.stdin)]))
