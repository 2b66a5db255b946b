"""Keys with `__hash__` and `__eq__` in Python, in dicts and sets from outside: each runs as often as in plain Python, in its order."""

import collections
import dataclasses
import fractions
import pathlib
import random
import typing
import unittest
import uuid

import slotrt

ASKED = []


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int


@dataclasses.dataclass(frozen=True)
class Named:
    point: Point
    name: str


class Pair(typing.NamedTuple):
    first: object
    second: int


class Asked:
    def __init__(self, number):
        self.number = number

    def __hash__(self):
        ASKED.append(f"hash {self.number}")
        return hash(self.number)

    def __eq__(self, other):
        ASKED.append(f"{self.number} == {getattr(other, 'number', other)}")
        return isinstance(other, Asked) and self.number == other.number

    def __repr__(self):
        return f"{type(self).__name__}({self.number})"


class Alike(Asked):
    """All have one hash."""

    def __hash__(self):
        ASKED.append(f"hash {self.number}")
        return 7


class Number(int):
    def __hash__(self):
        ASKED.append("hash of a number")
        return int.__hash__(self)

    def __eq__(self, other):
        ASKED.append("a number is compared")
        return int(self) == other


class Missing(dict):
    def __missing__(self, key):
        return ["missing", key]


KINDS = {
    "dataclass": lambda number: Point(number, 2),
    "nested": lambda number: Named(Point(number, number), "n"),
    "named tuple": lambda number: Pair(Asked(number), 1),
    "tuple": lambda number: (Point(number, 1), "k"),
    "path": lambda number: pathlib.PurePosixPath(f"a/{number}"),
    "uuid": lambda number: uuid.UUID(int=number + 1),
    "fraction": lambda number: fractions.Fraction(number + 1, 7),
    "asked": Asked,
    "number": lambda number: Number(number + 300),
}


def outcome(read):
    try:
        return read()
    except KeyError as error:
        return "KeyError", repr(error)


def reads(d, s, e, t, k, m):
    return d[k], d.get(k), d.get(m, 3), k in d, m in d, k in s, m in s, d.__contains__(k), s.__contains__(m), k not in d


def missing(d, s, e, t, k, m):
    return outcome(lambda: d[m]), outcome(lambda: d.pop(m)), outcome(lambda: s.remove(m)), d.pop(m, 3)


def stores(d, s, e, t, k, m):
    d[k] = "one"
    d[m] = "two"
    first = d[k], d[m], m in d
    d[m] = "three"
    s.add(m)
    s.add(k)
    return first, d.get(m), m in s, d.setdefault(k, 1), d.setdefault(m, 2)


def deletes(d, s, e, t, k, m):
    del d[k]
    s.discard(k)
    s.discard(m)
    first = k in d, k in s, d.get(k)
    d[k] = "again"
    s.add(k)
    return first, d.pop(k), k in d


def setdefaults(d, s, e, t, k, m):
    return d.setdefault(m, []), d.setdefault(k, []), d[m]


def united(d, s, e, t, k, m):
    s |= t
    return s, len(s)


def cut(d, s, e, t, k, m):
    s &= t
    return s


def taken_away(d, s, e, t, k, m):
    s -= t
    return s


def either(d, s, e, t, k, m):
    s ^= t
    return s


def updated(d, s, e, t, k, m):
    s.update(t)
    d.update(e)
    return len(s), len(d)


def merged(d, s, e, t, k, m):
    d |= e
    return d


def made(d, s, e, t, k, m):
    return s | t, s & t, s - t, s ^ t, d | e, s == t, s <= t, s.isdisjoint(t), d == e


def emptied(d, s, e, t, k, m):
    last = d.popitem()
    s.clear()
    return last, len(d), len(s)


def counted(d, s, e, t, k, m):
    count = {}
    for key in (k, m, k, k):
        count[key] = count.get(key, 0) + 1
    return count, {k, m}, {k: m}


def views(d, s, e, t, k, m):
    d[k] = 67
    d[m] = 1
    found = k in d.keys(), (k, 67) in d.items(), make_other(k) in d.keys()
    return found, d == e, list(d.items()), d.keys() & e.keys()


def make_other(key):
    return key, key


ONE_BY_ONE = [reads, stores, deletes, setdefaults]
AS_A_WHOLE = [united, cut, taken_away, either, updated, merged, made, emptied, counted, views]


class HashedKeys(unittest.TestCase):
    def arguments(self, make, known):
        a, b, c = (make(number) for number in range(3))
        return {a: 1, b: 2}, {a, b}, {make(1): 20, c: 30}, {make(1), c}, b if known else make(1), make(2)

    def check(self, function, make, known=False, calls=3):
        """The same as plain, as often asked; how many graphs broke."""
        slotrt.reset()
        compiled = slotrt.compile(function)
        for _ in range(calls):
            seen = []
            for run in function, compiled:
                given = self.arguments(make, known)
                ASKED.clear()
                result = run(*given)
                asked = list(ASKED)
                seen.append((repr(result), repr(given), asked))
            self.assertEqual(seen[1], seen[0])
        return slotrt.stats()["graph_breaks"]

    def test_one_by_one(self):
        for name, make in KINDS.items():
            for function in ONE_BY_ONE:
                for known in False, True:
                    with self.subTest(kind=name, function=function.__name__, known=known):
                        self.assertEqual(self.check(function, make, known), 0)

    def test_what_is_missing(self):
        for name, make in KINDS.items():
            with self.subTest(kind=name):
                self.check(missing, make)

    def test_as_a_whole(self):
        for name, make in KINDS.items():
            for function in AS_A_WHOLE:
                for known in False, True:
                    with self.subTest(kind=name, function=function.__name__, known=known):
                        self.assertEqual(self.check(function, make, known), 0)

    def test_keys_of_one_hash(self):
        for function in [*ONE_BY_ONE, missing, *AS_A_WHOLE]:
            with self.subTest(function=function.__name__):
                self.check(function, Alike)

    def test_keys_made_in_the_trace(self):
        def program(d, s, number):
            d[Point(number, 9)] = Point(number, 1) in d, Point(5, 5) in s
            s.add(Point(number, 9))
            return d[Point(0, 0)], d.get(Point(7, 7)), d[Point(number, 9)]

        compiled = slotrt.compile(program, fullgraph=True)
        for number in 1, 1, 2, 0:
            seen = []
            for run in program, compiled:
                d, s = {Point(0, 0): "zero", Point(1, 1): "one"}, {Point(5, 5)}
                seen.append((run(d, s, number), d, s))
            self.assertEqual(seen[1], seen[0])

    def test_a_trace_is_kept_where_other_entries_change(self):
        def program(d, key):
            d[Point(3, 3)] = 1
            return d[key]

        slotrt.reset()
        compiled = slotrt.compile(program, fullgraph=True)
        for count in range(1, 9):
            d = {Point(number, number): number for number in range(count)}
            self.assertEqual(compiled(d, Point(0, 0)), 0)
            self.assertEqual(d[Point(3, 3)], 1)
        self.assertLessEqual(slotrt.stats()["frames_compiled"], 2)

    def test_random_programs(self):
        def step(d, s, key, other, what):
            if what == 0:
                return d.get(key), key in s
            if what == 1:
                d[key] = other
                s.add(other)
            if what == 2:
                d.pop(key, None)
                s.discard(key)
            if what == 3:
                return d.setdefault(key, other), d[key]
            if what == 4:
                s.add(key)
                d[other] = key
                return other in d, key in s
            return None

        for make in (lambda number: Point(number, 0)), Asked, Alike, (lambda number: (Asked(number), 2)):
            slotrt.reset()
            compiled = slotrt.compile(step)
            chance = random.Random(5)
            states = [({}, set()), ({}, set())]
            for _ in range(120):
                numbers, what = (chance.randrange(9), chance.randrange(9)), chance.randrange(5)
                seen = []
                for run, (d, s) in zip((step, compiled), states):
                    ASKED.clear()
                    result = run(d, s, make(numbers[0]), make(numbers[1]), what)
                    seen.append((repr(result), list(ASKED), repr(d), repr(s)))
                self.assertEqual(seen[1], seen[0])

    def test_other_dicts(self):
        for make in (lambda: Missing({Point(1, 1): 5}), lambda: collections.OrderedDict({Point(1, 1): 5}), lambda: collections.defaultdict(list, {Point(1, 1): 5})):
            for program in (
                lambda d: (d[Point(1, 1)], d.get(Point(2, 2)), Point(1, 1) in d),
                lambda d: d[Point(3, 3)],
                lambda d: (d.pop(Point(1, 1)), d.setdefault(Point(2, 2), 1)),
            ):
                compiled = slotrt.compile(program)
                for _ in range(2):
                    d, e = make(), make()
                    self.assertEqual(outcome(lambda: compiled(d)), outcome(lambda: program(e)))
                    self.assertEqual(list(d.items()), list(e.items()))

    def test_contrary_keys(self):
        class Changing(Asked):
            def __hash__(self):
                return self.hash

        def program(d, s, key):
            return key in d, d.get(key), key in s

        def changes(d, key):
            return d.get(key), len(d)

        class Growing(Asked):
            def __eq__(self, other):
                TABLE[Point(len(TABLE), 0)] = 1
                return True

            __hash__ = Alike.__hash__

        compiled = slotrt.compile(program)
        for before, after in (1, 1), (1, 9), (1, 1), (8, 0), (1, 9):
            key = Changing(1)
            key.hash = before
            d, s = {key: 1, Point(1, 1): 2}, {key}
            key.hash = after
            self.assertEqual(compiled(d, s, key), program(d, s, key))

        def raises(self, other):
            raise ValueError("no comparison")

        raising = type("Raising", (Alike,), {"__eq__": raises, "__hash__": Alike.__hash__})
        for function in (program, slotrt.compile(program)) * 2:
            with self.assertRaisesRegex(ValueError, "no comparison"):
                function({raising(1): 1}, set(), raising(2))
        unhashable = type("Unhashable", (Asked,), {"__hash__": None})
        for make in (lambda: unhashable(1), lambda: (Asked(1), [])):
            messages = []
            for function in program, slotrt.compile(program):
                with self.assertRaises(TypeError) as caught:
                    function({Asked(1): 1}, set(), make())
                messages.append(str(caught.exception))
            self.assertEqual(messages[1], messages[0])
        compiled = slotrt.compile(changes)
        for _ in range(2):
            seen = []
            for run in changes, compiled:
                TABLE.clear()
                dict.__setitem__(TABLE, Growing(1), 1)
                seen.append((run(TABLE, Growing(1)), len(TABLE)))
            self.assertEqual(seen[1], seen[0])

    def test_guards_compare_nothing(self):
        """A plain key has the hash of one that compares itself: no guard of a trace for another dict looks it up."""

        def program(d, s):
            return d.get(7), 7 in d, 7 in s

        compiled = slotrt.compile(program)
        for keys in [7], [1], [Alike(1)], [Alike(1), 7], [7], []:
            seen = []
            for run in program, compiled:
                d, s = dict.fromkeys(keys, 1), set(keys)
                ASKED.clear()
                seen.append((run(d, s), list(ASKED)))
            self.assertEqual(seen[1], seen[0])

    def test_what_a_hash_is_made_of(self):
        """An address is another one when compiled code makes the key again."""

        class Holder:
            def __init__(self, held):
                self.held = held

            def __hash__(self):
                return hash((self.held, 1))

            def __eq__(self, other):
                return self is other

        def program(d, s):
            key = Holder(object())
            d[key] = 1
            s.add(key)
            made = {key: 1}
            return key, made, {key}

        compiled = slotrt.compile(program)
        for _ in range(3):
            d, s = {Point(1, 1): 1}, {Point(1, 1)}
            key, made, one = compiled(d, s)
            self.assertTrue(key in d and key in s and key in made and key in one)

    def test_what_is_let_go(self):
        ended = []

        class Ending(Asked):
            def __del__(self):
                ended.append("end")

        def program(d, key):
            d[key] = None
            ended.append("after")

        compiled = slotrt.compile(program)
        for value in Ending(9), 5, Ending(9):
            seen = []
            for run in program, compiled:
                d = {Asked(1): value if value == 5 else Ending(9)}
                ended.clear()
                run(d, Asked(1))
                seen.append(list(ended))
            self.assertEqual(seen[1], seen[0])


TABLE = {}

if __name__ == "__main__":
    unittest.main()
