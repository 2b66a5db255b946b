"""Callables of C that change an object from outside, called by C: by their `__call__`, as keys, hooks and callbacks, through what stands for
them. The change happens in every call, and once."""

import bisect
import contextvars
import functools
import heapq
import itertools
import json
import operator
import re
import types
import unittest

import slotrt

LINES = []
note = LINES.append
CALLED = None

CALLABLES = {
    "method": note,
    "its slot": note.__call__,
    "partial": functools.partial(note),
    "partial of a partial": functools.partial(functools.partial(note)),
    "static method": staticmethod(note),
    "alias": types.GenericAlias(note, (int,)),
    "cache": functools.lru_cache(maxsize=0)(note),
}


class Empty:
    pass


USES = [
    lambda: CALLED(3),
    lambda: CALLED.__call__(3),
    lambda: type(CALLED).__call__(CALLED, 3),
    lambda: operator.methodcaller("__call__", 3)(CALLED),
    lambda: operator.call(CALLED, 3),
    lambda: json.loads('{"a": [1]}', object_hook=CALLED),
    lambda: json.loads("[1.5]", parse_float=CALLED),
    lambda: json.dumps(Empty(), default=CALLED),
    lambda: json.JSONEncoder(default=CALLED).encode(Empty()),
    lambda: re.sub("a", CALLED, "abc"),
    lambda: sorted([3], key=CALLED),
    lambda: [3].sort(key=CALLED),
    lambda: max([3], key=CALLED),
    lambda: list(map(CALLED, [3])),
    lambda: [*map(CALLED.__call__, [3])],
    lambda: list(filter(CALLED, [3])),
    lambda: list(itertools.starmap(CALLED, [(3,)])),
    lambda: [key for key, _ in itertools.groupby([1, 2], CALLED)],
    lambda: functools.reduce(lambda _, item: CALLED(item), [1, 2]),
    lambda: bisect.bisect([], 1, key=CALLED),
    lambda: heapq.nlargest(1, [1], key=CALLED),
    lambda: functools.partial(CALLED, 3)(),
    lambda: next(iter(functools.partial(CALLED, 3), 5)),
    lambda: contextvars.copy_context().run(CALLED, 3),
    lambda: property(CALLED).__get__(Empty()),
    lambda: types.MethodType(CALLED, 3)(),
    lambda: classmethod(CALLED).__get__(None, int)(),
    lambda: staticmethod(CALLED)(3),
    lambda: functools.lru_cache(CALLED)(3),
    lambda: list(map(staticmethod(CALLED), [3])),
    lambda: ",".join(map(str, map(CALLED, [1]))),
]


OTHER = None

LOOKS = [
    lambda: repr(CALLED),
    lambda: f"{CALLED}",
    lambda: CALLED.__eq__(OTHER),
    lambda: CALLED.__ne__(OTHER),
    lambda: CALLED == OTHER,
    lambda: operator.eq(CALLED, OTHER),
    lambda: operator.is_(CALLED, CALLED),
    lambda: [CALLED].count(OTHER),
    lambda: [CALLED].index(OTHER),
    lambda: {CALLED: 1}.get(OTHER),
    lambda: types.MethodType(CALLED, 1) == types.MethodType(OTHER, 1),
    lambda: types.SimpleNamespace(a=CALLED) == types.SimpleNamespace(a=OTHER),
    lambda: isinstance(CALLED, types.BuiltinFunctionType),
    lambda: callable(CALLED),
    lambda: property(CALLED).fget is CALLED,
    lambda: functools.partial(CALLED).func == OTHER,
    lambda: staticmethod(CALLED).__wrapped__ == OTHER,
    lambda: types.CellType(CALLED).cell_contents is CALLED,
    lambda: slice(CALLED).stop is CALLED,
    lambda: ValueError(CALLED).args,
    lambda: operator.attrgetter("__self__")(CALLED) is LINES,
    lambda: int(CALLED),
    lambda: list(CALLED),
    lambda: sum(CALLED),
]


def seen(function):
    """What four calls gave, and what lay in the list after each."""
    LINES.clear()
    found = []
    for _ in range(4):
        try:
            given = repr(function())
        except Exception as error:
            given = f"{type(error).__name__}: {error}"
        found.append((re.sub("0x[0-9a-f]+", "", given), [type(line).__name__ for line in LINES]))
    return found


class ActingCallables(unittest.TestCase):
    def test_they_act_at_every_call(self):
        global CALLED
        for name, CALLED in CALLABLES.items():
            for index, use in enumerate(USES):
                with self.subTest(callable=name, use=index):
                    self.assertEqual(seen(slotrt.compile(use)), seen(use))

    def test_what_looks_at_them_sees_them(self):
        global CALLED, OTHER
        pairs = [(LINES.append, LINES.append), (LINES.append.__call__, LINES.append.__call__), (print, print)]
        for CALLED, OTHER in pairs:
            for index, look in enumerate(LOOKS):
                with self.subTest(callable=CALLED, look=index):
                    self.assertEqual(seen(slotrt.compile(look)), seen(look))

    def test_a_partial_object_that_calls_itself(self):
        own = functools.partial(len)
        own.__setstate__((own, (), {}, None))
        # A call of it ends plain Python, too.
        uses = [
            lambda: list(map(own, [])),
            lambda: sorted([], key=own),
            lambda: json.dumps(1, default=own),
            lambda: staticmethod(own).__wrapped__ is own,
            lambda: property(own).fget is own,
            lambda: callable(own),
            lambda: next(iter([3]), own),
        ]
        for index, use in enumerate(uses):
            with self.subTest(use=index):
                self.assertEqual(seen(slotrt.compile(use)), seen(use))

    def test_the_slot_of_a_method_is_traced(self):
        found = slotrt.explain(lambda: note.__call__(3))()
        self.assertEqual(found.breaks, 0, found.text)


if __name__ == "__main__":
    unittest.main()
