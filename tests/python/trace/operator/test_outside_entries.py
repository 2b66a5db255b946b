"""Sets and dicts from outside that a trace changes by keys that C hashes by their addresses."""

import collections
import unittest

import slotrt


class Thing:
    pass


class Derived(dict):
    pass


class Loud:
    def __del__(self):
        ENDS.append("end")


ENDS = []


def stores(d, a, b):
    found = [a in d, d.get(a, "none")]
    d[a] = 1
    d[a] = 2
    found += [a in d, d[a], d.get(a)]
    d[a] += 5
    found += [d[a], d.pop(b, "gone"), b in d, d.get(b), d.setdefault(b, 9), d.setdefault(a, 0)]
    del d[a]
    return found + [a in d, d.pop(a, None)]


def stores_new(d, a, b):
    new, other = Thing(), Thing()
    d[new] = "new"
    found = [new in d, d[new], other in d, d.get(other), d.setdefault(other, 3)]
    del d[other]
    return found + [other in d, a in d]


def puts(s, a, b):
    new = Thing()
    s.add(a)
    s.add(new)
    s.discard(b)
    found = [a in s, b in s, new in s]
    s.discard(new)
    s.add(b)
    s.remove(a)
    return found + [a in s, b in s, new in s]


class OutsideEntries(unittest.TestCase):
    def setUp(self):
        self.things = [Thing() for _ in range(4)]

    def shown(self, container):
        name = {id(thing): number for number, thing in enumerate(self.things)}.get
        if isinstance(container, dict):
            return [(name(id(key), "new"), value) for key, value in container.items()]
        return sorted(str(name(id(key), "new")) for key in container)

    def same(self, program, make, **options):
        """For keys that are there, that are not, and that are one."""
        compiled = slotrt.compile(program, **options)
        a, b, c, d = self.things
        for first, second in ((a, c), (a, b), (c, d), (c, c), (a, a), (b, a)) * 2:
            plain, other = make(), make()
            self.assertEqual(compiled(other, first, second), program(plain, first, second))
            self.assertEqual(self.shown(other), self.shown(plain))

    def dict(self):
        return {self.things[2]: "two", "key": 0, self.things[3]: "three"}

    def test_dicts(self):
        for program in stores, stores_new:
            with self.subTest(program=program.__name__):
                self.same(program, self.dict, fullgraph=True)
                self.same(program, dict)
                self.same(program, lambda: collections.defaultdict(list, self.dict()))
                self.same(program, lambda: Derived(self.dict()))
                self.same(program, lambda: collections.OrderedDict(self.dict()))

    def test_sets(self):
        self.same(puts, lambda: set(self.things[2:]), fullgraph=True)
        self.same(puts, lambda: {1, self.things[2]}, fullgraph=True)

    def test_seen_as_a_whole(self):
        def whole(d, a, b):
            d[a] = 1
            return len(d), list(d.values()), b in d

        self.same(whole, self.dict)
        self.assertIn("as a whole", str(slotrt.explain(whole)(self.dict(), *self.things[:2])))

    def test_keys_of_the_trace_seen_as_a_whole(self):
        def whole(d):
            new = Thing()
            d[new] = 1
            found = [len(d), list(d.values()), new in d, bool(d)]
            d[Thing()] = 2
            return found + [len(d), [key is new for key in d]]

        def counted(s):
            new = Thing()
            s.add(new)
            found = len(s), sorted(key is new for key in s)
            s.remove(new)
            return found, len(s), not s

        for program, make in (whole, dict), (whole, lambda: {"key": 0}), (whole, self.dict), (counted, set), (counted, lambda: set(self.things)):
            compiled = slotrt.compile(program)
            for _ in range(2):
                plain, other = make(), make()
                self.assertEqual(compiled(other), program(plain))
                self.assertEqual(self.shown(other), self.shown(plain))

    def test_a_change_in_a_loop(self):
        def grows(d, key):
            for _ in d:
                d[key] = 1

        def shrinks(s, key):
            for _ in s:
                s.discard(key)

        for program, make in (grows, self.dict), (shrinks, lambda: set(self.things)):
            for function in program, slotrt.compile(program):
                with self.assertRaisesRegex(RuntimeError, "changed size during iteration"):
                    function(make(), self.things[0])

    def test_one_dict_by_two_names(self):
        def twice(d, e, key):
            d[key] = 1
            return key in e, e.get(key), d is e

        compiled, key = slotrt.compile(twice), self.things[0]
        for _ in range(2):
            one = self.dict()
            self.assertEqual(compiled(one, one, key), (True, 1, True))
            self.assertEqual(compiled(self.dict(), self.dict(), key), (False, None, False))

    def test_missing(self):
        def removes(s, key):
            s.remove(key)

        def deletes(d, key):
            del d[key]

        def reads(d, key):
            d[key] = 1
            d.pop(key)
            return d[key]

        def pops(d, key):
            return d.pop(key), d[key]

        for program, key in (reads, self.things[0]), (reads, self.things[2]), (pops, self.things[2]):
            other = self.dict()
            with self.assertRaises(KeyError):
                slotrt.compile(program)(other, key)
            self.assertNotIn(key, other)
        for program, container in (removes, set(self.things[1:])), (deletes, self.dict()):
            before = len(container)
            with self.assertRaises(KeyError) as raised:
                slotrt.compile(program)(container, self.things[0])
            self.assertIs(raised.exception.args[0], self.things[0])
            self.assertEqual(len(container), before)

    def test_ends_of_values(self):
        def replaces(d, key):
            d[key] = 1
            ENDS.append("after")

        def pops(d, key):
            d.pop(key)
            ENDS.append("after")

        for program in replaces, pops:
            ENDS.clear()
            slotrt.compile(program)({self.things[0]: Loud()}, self.things[0])
            self.assertEqual(ENDS, ["end", "after"])

    def test_a_cache(self):
        def cached(cache, key):
            if key in cache:
                return cache[key]
            cache[key] = len(cache_of)
            return cache[key]

        cache_of = [1, 2]
        compiled, cache = slotrt.compile(cached, fullgraph=True), {}
        self.assertEqual([compiled(cache, thing) for thing in self.things * 2], [2] * 8)
        self.assertEqual(list(cache), self.things)

    def test_many(self):
        def fills(s, things):
            for thing in things:
                s.add(thing)
            return all(thing in s for thing in things)

        things, filled = [Thing() for _ in range(100)], set()
        self.assertTrue(slotrt.compile(fills)(filled, things))
        self.assertEqual(filled, set(things))


if __name__ == "__main__":
    unittest.main()
