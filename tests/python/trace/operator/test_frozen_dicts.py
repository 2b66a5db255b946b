"""Frozen dicts, which are builtins from 3.15 on: what takes a dict may take one of these, too."""

import builtins
import copy
import json
import types
import unittest

import slotrt

PROGRAMS = '''
def compared(n):
    d = frozendict(a=n, b=2)
    return [d == {"a": n, "b": 2}, {"a": n, "b": 2} == d, d != {"a": n}, d == frozendict({"b": 2, "a": n}), d == n, {} == frozendict(), frozendict() != {}]

def outside(d):
    return [d == {"a": 1}, {"a": 1} == d, d != {}, d == d, d == [1], {"a": 1} != d]

def joined(d):
    e = {"z": 1}
    f = e | d
    e |= d
    return d | {"c": 1}, {"c": 1} | d, f, e, type(d | d), {**d, "q": 1}

def joined_with_others(d):
    return [outcome(operation) for operation in (lambda: d | [1], lambda: [1] | d, lambda: d | None, lambda: d + d)]

def made(d):
    e = {}
    e.update(d)
    return dict(d), dict(d, z=1), e, frozendict(d) is d, frozendict({"a": [1]}), set(d), list(d), sorted(d.items(), key=repr)

def looked_up(d):
    return d.get("a"), d.get("q", 5), "a" in d, len(d), outcome(lambda: d["q"]), outcome(lambda: d[[]]), bool(d), bool(frozendict())

def hashed(d):
    return hash(d) == hash(frozendict(d)), outcome(lambda: hash(frozendict(a=[]))), {d: 1}[frozendict(d)], d in [dict(d)]

def views(d):
    return d.keys() == dict(d).keys(), d.items() == dict(d).items(), d.keys() | {3}, list(reversed(d)), d.keys() & {"a"}

def received(**kwargs):
    return kwargs

def given(d):
    return received(**d), outcome(lambda: received(**frozendict({1: 2}))), "%(a)s" % d, "{a}".format_map(d), "a".translate(frozendict({97: "b"}))

def refused(d):
    def store():
        d["x"] = 1
    def delete():
        del d["a"]
    return outcome(store), outcome(delete), outcome(lambda: d.update({})), outcome(lambda: setattr(d, "x", 1))

def matched(d):
    match d:
        case {"a": n, **rest}:
            return n, rest
        case _:
            return "else"

def wrapped(d):
    proxy = types.MappingProxyType(d)
    return proxy == d, proxy["a"], proxy | {"k": 1}, json.dumps(d), copy.copy(d) is d, copy.deepcopy(d) == d, repr(d)
'''


def outcome(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__, str(error)


@unittest.skipUnless(hasattr(builtins, "frozendict"), "there are no frozen dicts")
class FrozenDicts(unittest.TestCase):
    def test_as_plain(self):
        namespace = {"__name__": "program", "outcome": outcome, "types": types, "json": json, "copy": copy}
        exec(compile(PROGRAMS, "program.py", "exec"), namespace)

        class Derived(frozendict):  # noqa: F821
            def keys(self):
                return ["other"]

            def __getitem__(self, key):
                return "item"

        objects = [frozendict(a=1), frozendict({"a": 1, "b": 2}), Derived(a=1)]  # noqa: F821
        for name in [name for name, made in namespace.items() if type(made) is types.FunctionType and name not in ("outcome", "received")]:
            function = namespace[name]
            for argument in (1, 2) if name == "compared" else objects:
                with self.subTest(name, argument=argument):
                    compiled = slotrt.compile(function)
                    for _ in range(2):
                        self.assertEqual(repr(outcome(lambda: compiled(argument))), repr(outcome(lambda: function(argument))))

    def test_as_globals(self):
        names = frozendict(abs=5, __builtins__=builtins)  # noqa: F821
        made = eval(compile("lambda: (abs, len)", "program.py", "eval"), names)
        missing = eval(compile("lambda: missing", "program.py", "eval"), names)

        def calls(function):
            return function()

        for function in made, missing:
            for compiled in (slotrt.compile(function), lambda: slotrt.compile(calls)(function)):
                for _ in range(2):
                    self.assertEqual(outcome(compiled), outcome(function))


if __name__ == "__main__":
    unittest.main()
