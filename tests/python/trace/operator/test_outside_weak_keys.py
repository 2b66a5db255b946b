"""Sets and dicts from outside that a trace changes by weak references, as weak sets and weak dictionaries do."""

import gc
import unittest
import weakref

import slotrt


class Thing:
    pass


class Loud:
    def __init__(self, said):
        self.said = said

    def __call__(self, reference):
        self.said.append("called")

    def __del__(self):
        self.said.append("ended")


def stores(d, a, b):
    found = [a in d, d.get(a, "none")]
    d[a] = 1
    d[a] = 2
    found += [a in d, d[a], d.get(a), d.setdefault(b, 9), d.setdefault(a, 0)]
    d[a] += 5
    found += [d[a], d.pop(b, "gone"), b in d]
    del d[a]
    return found + [a in d, d.pop(a, None)]


def keeps(d, a, b):
    d[a] = "a"
    return d.setdefault(b, "b"), a in d


def counts(d, a, b):
    d[a] = 1
    found = [len(d.data)]
    d[b] = 2
    found.append(len(d.data))
    d.pop(a, None)
    d[a] = 3
    return found + [len(d.data)]


def puts(s, a, b):
    s.add(a)
    found = [a in s, b in s]
    s.discard(b)
    s.add(a)
    found += [a in s, b in s]
    s.add(b)
    s.discard(a)
    return found + [a in s, b in s]


def removes(s, a, b):
    s.add(b)
    s.remove(a)
    return a in s, b in s


def called(program, *args):
    try:
        return program(*args)
    except KeyError as error:
        return "KeyError", error.args


class WeakKeys(unittest.TestCase):
    def setUp(self):
        self.things = [Thing() for _ in range(4)]

    def shown(self, container):
        numbers = {id(thing): number for number, thing in enumerate(self.things)}
        if isinstance(container, weakref.WeakSet):
            return sorted(numbers[id(thing)] for thing in container)
        return [(numbers[id(thing)], value) for thing, value in container.items()]

    def same(self, program, make, **options):
        """For keys that are there, that are not, and that are one."""
        compiled = slotrt.compile(program, **options)
        a, b, c, d = self.things
        for first, second in ((a, c), (a, b), (c, d), (c, c), (a, a), (b, a)) * 2:
            plain, other = make(), make()
            results = []
            for function, container in (program, plain), (compiled, other):
                results.append(called(function, container, first, second))
            self.assertEqual(*(str(result).replace("0x", "") if "KeyError" in str(result) else result for result in results))
            self.assertEqual(self.shown(other), self.shown(plain))

    def test_dictionaries(self):
        for program in stores, keeps, counts:
            with self.subTest(program=program.__name__):
                self.same(program, weakref.WeakKeyDictionary)
                self.same(program, lambda: weakref.WeakKeyDictionary({self.things[2]: "two", self.things[3]: "three"}))

    def test_sets(self):
        for program in puts, removes:
            with self.subTest(program=program.__name__):
                self.same(program, weakref.WeakSet)
                self.same(program, lambda: weakref.WeakSet(self.things[2:]))

    def test_one_piece(self):
        for program, make in (puts, weakref.WeakSet), (keeps, weakref.WeakKeyDictionary), (stores, weakref.WeakKeyDictionary):
            with self.subTest(program=program.__name__):
                kept = make()
                kept_entry = kept.__setitem__ if program is not puts else lambda key, value: kept.add(key)
                kept_entry(self.things[2], 2)
                compiled = slotrt.compile(program, fullgraph=True)
                for _ in range(3):
                    compiled(kept, *self.things[:2])

    def test_entries_go_with_what_they_refer_to(self):
        def registers(dictionary, weak_set, thing):
            dictionary[thing] = len(weak_set.__dict__)
            weak_set.add(Thing())
            return thing in dictionary

        def adds(weak_set, things):
            made = Thing()
            things.append(made)
            weak_set.add(made)
            return made in weak_set

        for program in registers, slotrt.compile(registers):
            dictionary, weak_set, thing = weakref.WeakKeyDictionary(), weakref.WeakSet(), Thing()
            self.assertTrue(program(dictionary, weak_set, thing))
            self.assertEqual((len(dictionary), len(weak_set)), (1, 0))
            del thing
            gc.collect()
            self.assertEqual(len(dictionary), 0)
        for program in adds, slotrt.compile(adds):
            weak_set, things = weakref.WeakSet(), []
            self.assertTrue(program(weak_set, things))
            self.assertTrue(program(weak_set, things))
            self.assertEqual(len(weak_set), 2)
            things.pop()
            gc.collect()
            self.assertEqual(len(weak_set), 1)

    def test_callbacks(self):
        def watches(references, thing, said):
            references.add(weakref.ref(thing, lambda reference: said.append("gone")))
            return weakref.ref(thing) in references

        def watches_twice(references, thing, said):
            first = weakref.ref(thing, lambda reference: said.append("first"))
            second = weakref.ref(thing, lambda reference: said.append("second"))
            references.update({"a": first, "b": second})

        for program in watches, slotrt.compile(watches):
            references, thing, said = set(), Thing(), []
            self.assertTrue(program(references, thing, said))
            self.assertTrue(program(references, thing, said))
            del thing
            self.assertEqual((said, len(references)), (["gone"], 1))
        for program in watches_twice, slotrt.compile(watches_twice):
            references, thing, said = {}, Thing(), []
            program(references, thing, said)
            del thing
            self.assertEqual(said, ["second", "first"])

    def test_a_callback_whose_end_runs_code(self):
        def drops(references, thing, said):
            references.discard(weakref.ref(thing))
            said.append("after")

        for program in drops, slotrt.compile(drops):
            said, thing = [], Thing()
            for make in lambda: Loud(said), lambda: said.append:
                said.clear()
                references = {weakref.ref(thing, make())}
                program(references, thing, said)
                self.assertEqual(said, (["ended"] if "ended" in said else []) + ["after"])
                self.assertEqual(len(references), 0)
            self.assertIs(Thing, type(thing))
        said, references = [], {weakref.ref(self.things[0], Loud([]))}
        next(iter(references)).__callback__.said = said
        slotrt.compile(drops)(references, self.things[0], said)
        self.assertEqual(said, ["ended", "after"])

    def test_weak_values(self):
        def caches(cache, kept, key):
            found = cache.get(key)
            if found is None:
                found = cache[key] = Thing()
                found.key = key
                kept.append(found)
            return found.key, key in cache, [reference.key for reference in cache.valuerefs()]

        def stores_in_two(first, second, thing):
            first["a"] = thing
            second["b"] = thing

        slotrt.compile(caches, fullgraph=True)(weakref.WeakValueDictionary(), [], 1)
        shown = []
        for program in caches, slotrt.compile(caches):
            cache, kept = weakref.WeakValueDictionary(), []
            results = [program(cache, kept, key) for key in (1, 2, 1, 3, 2)]
            kept.pop()
            gc.collect()
            shown.append((results, len(cache), [thing.key for thing in cache.values()]))
        self.assertEqual(*shown)
        for program in stores_in_two, slotrt.compile(stores_in_two):
            first, second, thing = weakref.WeakValueDictionary(), weakref.WeakValueDictionary(), Thing()
            program(first, second, thing)
            self.assertEqual((len(first), len(second)), (1, 1))
            del thing
            self.assertEqual((len(first), len(second)), (0, 0))

    def test_classes_as_keys(self):
        def registers(registry, cls):
            if cls in registry:
                return registry[cls]
            registry[cls] = cls.__name__
            return "new"

        registries = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()
        compiled = slotrt.compile(registers, fullgraph=True)
        for cls in (Thing, Loud, Thing, int, Loud):
            self.assertEqual(compiled(registries[0], cls), registers(registries[1], cls))
        self.assertEqual(dict(registries[0]), dict(registries[1]))

    def test_dead_keys(self):
        def stores(references, thing):
            references[weakref.ref(thing)] = 1
            return weakref.ref(thing) in references

        def make():
            gone, kept = Thing(), weakref.ref(self.things[1])
            dead = weakref.ref(gone)
            hash(dead)
            return {dead: 0, kept: 1}

        compiled = slotrt.compile(stores)
        for _ in range(3):
            container = make()
            self.assertTrue(compiled(container, self.things[0]))
            self.assertTrue(compiled(container, self.things[1]))
            self.assertEqual(len(container), 3)


if __name__ == "__main__":
    unittest.main()
