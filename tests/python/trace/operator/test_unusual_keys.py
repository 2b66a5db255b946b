"""Sets and dicts from outside whose keys C hashes by their addresses, or that hash themselves: the trace goes through them."""

import collections
import sys
import unittest
import weakref

import slotrt


class Thing:
    def __init__(self, number):
        self.number = number


class Own(Thing):
    def __eq__(self, other):
        return self.number == other.number

    def __hash__(self):
        return hash(self.number)


class Odd(dict):
    def __iter__(self):
        return iter([Thing(77)])


def numbers(things):
    return sorted(thing.number for thing in things)


DICTS = (
    lambda d: [key.number for key in d],
    lambda d: [(key.number, value) for key, value in d.items()],
    lambda d: (sum(d.values()), len(d), bool(d), len(d.items())),
    lambda d: [type(d.items()).__name__, type(iter(d)).__name__, type(iter(d.values())).__name__],
    lambda d: (list(d.values()), numbers(d.keys()), max(d, key=lambda key: key.number).number),
    lambda d: [value for _, value in sorted(d.items(), key=lambda item: -item[0].number)],
    lambda d: [key for key in d] == list(d),
    lambda d: next(iter(d)).number,
)
SETS = (
    numbers,
    lambda s: [thing.number for thing in sorted(s, key=lambda thing: thing.number)],
    lambda s: any(thing.number == 2 for thing in s),
    lambda s: (len(s), type(iter(s)).__name__, sum(thing.number for thing in s)),
    lambda s: [thing for thing in s] == list(s) == [*s],
)


class UnusualKeys(unittest.TestCase):
    def same(self, program, makers, **options):
        compiled = slotrt.compile(program, **options)
        for make in makers * 2:
            self.assertEqual(compiled(make()), program(make()))

    def test_dicts(self):
        for kind in (Thing, Own):
            makers = [lambda first=first: {kind(first + index): index for index in range(3)} for first in (0, 5)]
            for program in DICTS:
                with self.subTest(kind=kind, line=program.__code__.co_firstlineno):
                    self.same(program, makers, fullgraph=True)
        self.same(DICTS[0], [lambda: Odd({Thing(1): 2})])
        self.same(DICTS[0], [lambda: collections.OrderedDict({Thing(1): 2, Thing(0): 1})], fullgraph=True)

    def test_sets(self):
        for kind, of in ((Thing, set), (Own, set), (Thing, frozenset)):
            kept = [kind(index) for index in range(9)]
            for program in SETS:
                with self.subTest(kind=kind, of=of, line=program.__code__.co_firstlineno):
                    self.same(program, [lambda: of(kept[:3]), lambda: of(kept[3:9])], fullgraph=True)

    def test_no_key_is_hashed_or_compared(self):
        asked = []

        class Asked(Thing):
            def __eq__(self, other):
                asked.append("eq")
                return self is other

            def __hash__(self):
                asked.append("hash")
                return 7

        for program in DICTS[:5] + SETS[:4]:
            given = {Asked(index): index for index in range(3)}
            given = given if program in DICTS else set(given)
            compiled = slotrt.compile(program)
            for _ in range(3):
                asked.clear()
                self.assertEqual(compiled(given), program(given))
                self.assertEqual(asked, [])

    def test_one_trace_for_as_many_other_keys(self):
        slotrt.reset()
        compiled = slotrt.compile(numbers)
        for first in range(4):
            self.assertEqual(compiled({Thing(index) for index in range(1, 3)}), [1, 2])
        # One for each order in which the addresses put them.
        self.assertLessEqual(slotrt.stats()["frames_compiled"], 2)

    def test_what_is_looked_up_and_changed(self):
        one, other = Thing(1), Thing(2)
        programs = (
            lambda d, key: (key in d, d.get(key), len(d)),
            lambda d, key: (d.setdefault(key, 5), len(d), sum(d.values())),
            lambda d, key: (sum(d.values()), d.pop(key, None), [k.number for k in d]),
            lambda d, key: ([k.number for k in d], key in d.keys(), (key, 3) in d.items(), len(d.keys() | {key})),
            lambda d, key: (dict(d) == d, {**d} == d, d.copy() == d, d | {} == d),
        )
        for program in programs:
            compiled = slotrt.compile(program)
            for keys in ((one,), (other,), (one, other), (one,)):
                with self.subTest(line=program.__code__.co_firstlineno, keys=len(keys)):
                    mine, plain = dict.fromkeys(keys, 3), dict.fromkeys(keys, 3)
                    self.assertEqual(compiled(mine, one), program(plain, one))
                    self.assertEqual(mine, plain)

    def test_a_change_while_it_is_gone_through(self):
        def grow(container):
            for thing in container:
                container.add(Thing(3))

        def put(container):
            for thing in container:
                container[Thing(3)] = 1

        for program, make in ((grow, lambda: {Thing(1)}), (put, lambda: {Thing(1): 1})):
            for function in (program, slotrt.compile(program)):
                with self.assertRaisesRegex(RuntimeError, "changed size during iteration"):
                    function(make())

    def test_containers_that_hold_weakly(self):
        kept = [Thing(index) for index in range(6)]
        programs = (
            lambda s, d, k: (numbers(s), len(s), kept[0] in s, kept[5] in s),
            lambda s, d, k: (sorted(d), numbers(d.values()), d["a"].number, d.get("zz"), "b" in d, len(d)),
            lambda s, d, k: (k[kept[1]], k.get(kept[5]), kept[2] in k, sorted(k.values()), numbers(k), len(k)),
            lambda s, d, k: [(key.number, value) for key, value in k.items()],
        )
        for program in programs:
            slotrt.reset()
            # From 3.14 on iteration goes through copies of the containers within.
            compiled = slotrt.compile(program, fullgraph=sys.version_info < (3, 14))
            for count in (3, 4, 3):
                things = kept[:count]
                given = weakref.WeakSet(things), weakref.WeakValueDictionary(zip("abcd", things)), weakref.WeakKeyDictionary(zip(things, range(9)))
                self.assertEqual(compiled(*given), program(*given))


if __name__ == "__main__":
    unittest.main()
