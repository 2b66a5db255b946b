"""Sets from outside and sets made in the trace: the order of their items, also of later ones, is as in plain Python."""

import gc
import random
import sys
import unittest

import slotrt


class Thing:
    pass


class Hashed:
    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return self.value % 5

    def __eq__(self, other):
        return isinstance(other, Hashed) and self.value == other.value

    def __repr__(self):
        return f"H{self.value}"


def some(size, seed):
    chosen = random.Random(seed)
    items = set()
    for _ in range(size):
        items.add(chosen.choice([chosen.randrange(1000), str(chosen.randrange(50)), chosen.random(), (chosen.randrange(9), "a")]))
        if chosen.random() < 0.3:
            items.pop()
    return items


def read(items):
    return list(items), len(items), 3 in items, sorted(map(repr, items))


def changed(items):
    items.add("new")
    items.discard(3)
    items |= {1, 2, 3}
    items -= {"1", 2}
    return list(items)


def emptied(items):
    out = [items.pop() for _ in range(len(items) // 2)]
    items.add(5)
    return out, list(items)


def cleared(items):
    items.clear()
    items.update("abc")
    return list(items)


def with_own_hashes(items):
    one = Hashed(3)
    items.add(one)
    items.add(Hashed(8))
    items.add(Hashed(3))
    return len(items), [item for item in items if isinstance(item, Hashed)], one in items


def copied(items):
    other = items.copy()
    other.discard("1")
    return other, items | other, items & {1, "2"}, items ^ other


def made(items):
    return {Hashed(1), Hashed(6), Hashed(2)}, {letter for letter in "slotrt and set"} - {"s"}


def classes(items):
    items.add(Thing)
    items.add((Thing, 1))
    return Thing in items, int in items, (Thing, 1) in items, Hashed in items


CASES = [read, changed, emptied, cleared, with_own_hashes, copied, made, classes]


class Sets(unittest.TestCase):
    def test_as_plain_python(self):
        for function in CASES:
            compiled = slotrt.compile(function)
            for size in (0, 1, 3, 7, 30, 200):
                with self.subTest(function=function.__name__, size=size):
                    for seed in (size, size, size + 1):
                        plain, ours = some(size, seed), some(size, seed)
                        results = [function(plain), compiled(ours)]
                        results = [result if isinstance(result, tuple) else (result,) for result in results]
                        self.assertEqual(*[[list(map(repr, part)) if isinstance(part, set) else repr(part) for part in result] for result in results])
                        for items in (plain, ours):
                            items.update(range(0, 90, 7))
                            items.discard(14)
                        self.assertEqual(list(map(repr, plain)), list(map(repr, ours)))

    def test_whole(self):
        for function in CASES:
            with self.subTest(function=function.__name__):
                slotrt.compile(function, fullgraph=True)(some(9, 4))

    def test_the_second_call_has_another_set(self):
        compiled = slotrt.compile(read, fullgraph=True)
        for items in ({1, 2}, {2, 1}, {1.0, 2}, {True, 2}, {1, 2, 3}, set("ab"), set("ba"), {8, 0}, {0, 8}):
            self.assertEqual(compiled(set(items)), read(set(items)))

    def test_references(self):
        key = ("key", 1)
        compiled = slotrt.compile(changed)
        compiled(set([key]))
        items = set([key])
        compiled(items)
        items.clear()
        del items
        gc.collect()
        before = sys.getrefcount(key)
        for _ in range(20):
            items = set([key])
            compiled(items)
            items = None
        self.assertLessEqual(sys.getrefcount(key) - before, 1)

    def test_dicts_keyed_by_classes(self):
        table = {Thing: 1, (Thing, 2): 3, len: 4, Hashed.__hash__: 5}

        def look():
            return table[Thing], Thing in table, table.get(Thing), table.get((Thing, 2)), table.get(len), Hashed in table, table.get(Hashed.__hash__)

        self.assertEqual(slotrt.compile(look)(), look())

    def test_operators_with_sets_of_other_classes(self):
        class Own(set):
            def __rand__(self, other):
                return "rand"

            def __ror__(self, other):
                return "ror"

        class Refusing(set):
            def __and__(self, other):
                return NotImplemented

        def combine(own):
            plain = frozenset((1, 3))
            return plain & own, plain | own, own & plain, plain - own, plain ^ own, plain <= own

        for made in (Own, Refusing):
            with self.subTest(made.__name__):
                self.assertEqual(slotrt.compile(combine)(made([1, 2])), combine(made([1, 2])))


if __name__ == "__main__":
    unittest.main()
