"""Copies of whole containers from outside, and containers made of two, whose keys have an address or code of Python for a hash."""

import copy
import itertools
import unittest

import slotrt


class Thing:
    pass


class Keyed:
    """Equal to others of its number."""

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        LOOKED_UP.append(self.number)
        return hash(self.number % 2)

    def __eq__(self, other):
        LOOKED_UP.append(("eq", self.number))
        return isinstance(other, Keyed) and self.number == other.number


LOOKED_UP = []

COPIES_OF_SETS = {
    "set(s)": lambda s: set(s),
    "frozenset(s)": lambda s: frozenset(s),
    "s.copy()": lambda s: s.copy(),
    "s.union()": lambda s: s.union(),
    "copy.copy(s)": lambda s: copy.copy(s),
}
COPIES_OF_DICTS = {
    "dict(d)": lambda d: dict(d),
    "d.copy()": lambda d: d.copy(),
    "copy.copy(d)": lambda d: copy.copy(d),
}
OF_TWO_SETS = {
    "s | t": lambda s, t: s | t,
    "s & t": lambda s, t: s & t,
    "s - t": lambda s, t: s - t,
    "s ^ t": lambda s, t: s ^ t,
    "s.union(t)": lambda s, t: s.union(t),
    "s.intersection(t)": lambda s, t: s.intersection(t),
    "s.difference(t)": lambda s, t: s.difference(t),
    "s.symmetric_difference(t)": lambda s, t: s.symmetric_difference(t),
}

RELATIONS = {
    "s == t": lambda s, t: s == t,
    "s != t": lambda s, t: s != t,
    "s < t": lambda s, t: s < t,
    "s <= t": lambda s, t: s <= t,
    "s > t": lambda s, t: s > t,
    "s >= t": lambda s, t: s >= t,
    "s.isdisjoint(t)": lambda s, t: s.isdisjoint(t),
    "s.issubset(t)": lambda s, t: s.issubset(t),
    "s.issuperset(t)": lambda s, t: s.issuperset(t),
    "len(s | t)": lambda s, t: len(s | t),
    "len(s & t)": lambda s, t: (len(s & t), bool(s - t), not s.symmetric_difference(t)),
}


def shown(container):
    """The class, and the very keys in order, with the values of a dict."""
    held = list(container.items()) if isinstance(container, dict) else list(container)
    return type(container), [tuple(map(id, item)) if isinstance(item, tuple) else id(item) for item in held]


class OutsideWholes(unittest.TestCase):
    def check(self, function, *calls):
        """All calls give what the function gives, run no more code of keys, and are one trace."""
        slotrt.reset()
        compiled = slotrt.compile(function)
        for args in calls:
            LOOKED_UP.clear()
            wanted, looked_up = function(*args), list(LOOKED_UP)
            LOOKED_UP.clear()
            given = compiled(*args)
            self.assertEqual(LOOKED_UP, looked_up)
            self.assertEqual(shown(given), shown(wanted))
            self.assertIsNot(given, args[0])
        stats = slotrt.stats()
        self.assertEqual((stats["graph_breaks"], stats["recompiles"]), (0, 0))

    def test_copies_of_any_keys(self):
        for kind in Thing, lambda: Keyed(len(made)):
            calls = []
            for size in 1, 3, 40:
                made = []
                for _ in range(size):
                    made.append(kind())
                calls.append(made)
            for name, function in COPIES_OF_SETS.items():
                with self.subTest(name, kind=kind):
                    self.check(function, *[(set(keys),) for keys in calls])
            for name, function in COPIES_OF_DICTS.items():
                with self.subTest(name, kind=kind):
                    self.check(function, *[(dict.fromkeys(keys, [0]),) for keys in calls])

    def test_a_frozenset_is_its_own_copy(self):
        whole = frozenset([Thing()])
        self.assertIs(slotrt.compile(lambda s: frozenset(s))(whole), whole)
        self.assertIs(slotrt.compile(lambda s: s.copy())(whole), whole)

    def test_of_two_sets(self):
        for name, function in OF_TWO_SETS.items():
            with self.subTest(name):
                things = [Thing() for _ in range(30)]
                calls = [(set(things[:3]), set(things[2:4])), (set(things[:20]), set(things[9:])), (set(things), {*things, 1, "b"})]
                self.check(function, *calls)
                self.check(function, *[(frozenset(s), t) for s, t in calls])

    def test_how_two_sets_are_to_one_another(self):
        things = [Thing() for _ in range(6)]
        pairs = [(things[:3], things[:3]), (things[:2], things[:4]), (things[1:5], things[2:4]), (things[:3], things[3:]), ([], things)]
        for name, function in RELATIONS.items():
            with self.subTest(name):
                slotrt.reset()
                compiled = slotrt.compile(function, recompile_limit=64)
                for make in (set, set), (frozenset, set), (frozenset, frozenset):
                    for one, other in pairs:
                        s, t = make[0](one), make[1](other)
                        self.assertEqual(compiled(s, t), function(s, t))
                        self.assertEqual(compiled(t, s), function(t, s))
                self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_a_relation_is_asked_again_and_runs_no_more_code_of_keys(self):
        keys = [Keyed(number) for number in range(4)]
        things = [Thing() for _ in range(2)]
        for name, function in RELATIONS.items():
            compiled = slotrt.compile(function)
            for s, t in (set(things), set(things)), (set(keys[:3]), {Keyed(1), keys[2]}), (set(things[:1]), set(things)), ({1}, {1, "a"}):
                with self.subTest(name, s=s):
                    LOOKED_UP.clear()
                    wanted, looked_up = function(s, t), list(LOOKED_UP)
                    LOOKED_UP.clear()
                    self.assertEqual((compiled(s, t), LOOKED_UP), (wanted, looked_up))

    def test_a_relation_after_a_change(self):
        def function(s, t, key):
            before = s <= t
            s.add(key)
            return before, s <= t, len(s | t)

        things = [Thing() for _ in range(4)]
        compiled = slotrt.compile(function)
        for key in things:
            given, wanted = (set(things[:2]), set(things[:3]), key), (set(things[:2]), set(things[:3]), key)
            self.assertEqual((compiled(*given), given), (function(*wanted), wanted))

    def test_of_two_dicts(self):
        things = [Thing() for _ in range(9)]
        one, other = dict.fromkeys(things[:5], [1]), dict.fromkeys(things[3:], [2])
        self.check(lambda d, e: d | e, (one, other), (other, one), (one, one))

    def test_keys_that_python_compares_are_looked_for_in_order(self):
        keys = [Keyed(number) for number in range(5)]

        def function(s, t):
            return s | t

        compiled = slotrt.compile(function)
        for s, t in (set(keys[:3]), set(keys[2:])), ({Thing()}, {Thing()}), (set(keys[:2]), {Thing()}):
            LOOKED_UP.clear()
            wanted, looked_up = function(s, t), list(LOOKED_UP)
            LOOKED_UP.clear()
            given = compiled(s, t)
            self.assertEqual((shown(given), LOOKED_UP), (shown(wanted), looked_up))
        # Compiled for keys that C hashes.
        LOOKED_UP.clear()
        compiled = slotrt.compile(lambda s, t: s | t)
        for s, t in ({Thing()}, {Thing()}), (set(keys[:3]), {Keyed(2), Keyed(9)}):
            self.assertEqual(len(compiled(s, t)), len(s | t))

    def test_what_a_copy_is_asked(self):
        def function(s, d, key):
            one, other = set(s), d.copy()
            return len(one), key in one, bool(other), key in other, other.get(key), isinstance(one, set), one is s, one

        things = [Thing() for _ in range(4)]
        compiled = slotrt.compile(function)
        for key in things:
            for size in 1, 3:
                args = set(things[:size]), dict.fromkeys(things[:size], 5), key
                *wanted, made = function(*args)
                *given, copied = compiled(*args)
                self.assertEqual((given, shown(copied)), (wanted, shown(made)))

    def test_a_copy_that_is_looked_at_or_changed(self):
        def goes_through(s):
            return [key for key in set(s)]

        def adds(s, key):
            made = s.copy()
            made.add(key)
            return made, len(s)

        def changes_the_original(s, key):
            s.add(key)
            made = set(s)
            s.discard(key)
            return made, s

        def compares(s, t):
            return set(s) == set(t), set(s) <= t, sorted(map(id, s.union(t))), set(s).isdisjoint(t)

        things = [Thing() for _ in range(6)]
        new = Thing()
        for function, args in (
            (goes_through, lambda: (set(things),)),
            (adds, lambda: (set(things), new)),
            (changes_the_original, lambda: (set(things), new)),
            (compares, lambda: (set(things[:4]), set(things[1:]))),
        ):
            with self.subTest(function.__name__):
                compiled = slotrt.compile(function)
                for _ in range(3):
                    self.assertEqual(compiled(*args()), function(*args()))

    def test_the_original_is_changed_afterwards(self):
        def function(s, d, key):
            one, other = set(s), dict(d)
            s.add(key)
            d[key] = "new"
            return one, other

        things, new = [Thing() for _ in range(3)], Thing()
        compiled = slotrt.compile(function)
        for _ in range(2):
            one, other = set(things), dict.fromkeys(things, 1)
            copies = compiled(one, other, new)
            self.assertEqual((new in one, other[new]), (True, "new"))
            self.assertEqual((copies[0], copies[1]), (set(things), dict.fromkeys(things, 1)))
        # Two names of one set.
        both = slotrt.compile(lambda s, t, key: (t.add(key), set(s))[1])
        self.assertEqual(both({things[0]}, {things[1]}, new), {things[0]})
        one = {things[0]}
        self.assertEqual(both(one, one, new), {things[0], new})

    def test_the_order_of_a_set_with_itself(self):
        operations = {
            "&": lambda s, t: s & t,
            "&=": lambda s, t: s.intersection_update(t) or s.copy(),
            "intersection": lambda s, t: s.intersection(t),
        }
        for name, function in operations.items():
            compiled = slotrt.compile(function)
            # Numbers that share places of the table: their order depends on who came first.
            for numbers in itertools.permutations((7, 15, 2)):
                with self.subTest(name, numbers=numbers):
                    one = {*numbers}
                    self.assertEqual(list(compiled(one, one)), list(self.with_itself(function, numbers)))

    def with_itself(self, function, numbers):
        one = {*numbers}
        return function(one, one)


if __name__ == "__main__":
    unittest.main()
