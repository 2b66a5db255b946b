"""Functions with `functools.lru_cache` from outside: their results, and the contents and counts of their caches afterwards."""

import functools
import unittest

import slotrt


@functools.lru_cache
def fresh(a, b=2):
    return a, b, object()


@functools.lru_cache(maxsize=2, typed=True)
def small(a):
    return [a]


@functools.cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.lru_cache(maxsize=0)
def none(n):
    return n * 2


@functools.lru_cache
def refuses(n):
    raise ValueError(n)


class Plain:
    pass


class Equal:
    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return isinstance(other, Equal) and self.value == other.value


class Bare:
    """Cannot be referred to weakly."""

    __slots__ = ()


class Ending:
    ended = []

    def __init__(self, name):
        self.name = name

    def __del__(self):
        Ending.ended.append(self.name)


CACHES = fresh, small, fib, none, refuses


def several(x):
    one, other, named = fresh(x), fresh(x), fresh(x, b=3)
    try:
        refuses(x)
    except ValueError as error:
        said = str(error)
    try:
        fresh([x])
    except TypeError as error:
        unhashable = str(error)
    return one is other, one is named, small(x), small(float(x)), fib(x + 10), none(x), said, unhashable


def of_a_class(x):
    class Made:
        pass

    return fresh(Made) is fresh(Made), fresh(Made) is fresh(x)


def of_classes(x):
    return fresh(int) is fresh(int), fresh((Plain, x)) is fresh((Plain, x)), fresh(x) is fresh(Plain)


def overflows(x):
    return [small(x + step) for step in range(3)]


def one(x):
    return small(x)


def of_its_own(x):
    kept = functools.lru_cache(maxsize=2)(lambda one, y=2: x)
    return kept(Ending(x)), kept(x), kept(x)


def asks(cache, x):
    return cache(x), cache(x), cache((x, 1))


def state():
    return [cache.cache_info()[:] for cache in CACHES]


class Caches(unittest.TestCase):
    def setUp(self):
        slotrt.reset()
        for cache in CACHES:
            cache.cache_clear()

    def same(self, function, *args, fullgraph=True):
        compiled = slotrt.compile(function, fullgraph=fullgraph)
        seen = []
        for run in (function, compiled):
            for cache in CACHES:
                cache.cache_clear()
            seen.append([(run(*args), state()) for _ in range(3)])
        self.assertEqual(seen[0], seen[1])

    def test_results_hits_and_misses(self):
        for x in (1, 1, 2, 3, 1):
            self.same(several, x)

    def test_a_class_of_the_trace_leaves_an_entry_that_nobody_finds(self):
        self.same(of_a_class, 1)

    def test_classes_and_tuples_from_outside(self):
        self.same(of_classes, 1)

    def test_a_full_cache_drops_the_oldest(self):
        self.same(overflows, 1, fullgraph=False)
        self.same(one, 1)
        for first in range(4):
            small(first)
        kept = [small(3), small(2)]
        compiled = slotrt.compile(one, fullgraph=True)
        self.assertIs(compiled(2), kept[1])
        self.assertIs(compiled(3), kept[0])
        compiled(5)
        before = small.cache_info().misses
        small(3), small(5)
        self.assertEqual(small.cache_info().misses, before)

    def test_what_was_cached_elsewhere_is_given(self):
        kept = fresh(9)
        compiled = slotrt.compile(lambda x: fresh(x), fullgraph=True)
        self.assertIs(compiled(9), kept)
        fresh.cache_clear()
        again = compiled(9)
        self.assertIsNot(again, kept)
        self.assertIs(fresh(9), again)

    def test_arguments_with_a_hash_of_their_own_are_a_break(self):
        compiled = slotrt.compile(lambda x: fresh(x))
        self.assertIs(compiled(Equal(1)), fresh(Equal(1)))
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(lambda x: fresh(x) and 1, fullgraph=True)(Equal(2))

    def test_neither_caches_nor_their_contents_are_kept_alive(self):
        for run in (of_its_own, slotrt.compile(of_its_own)):
            for x in range(3):
                self.assertEqual(run(x), (x, x, x))
                self.assertEqual(Ending.ended, [x])
                Ending.ended.clear()

    def test_arguments_and_results_end_with_the_cache(self):
        compiled = slotrt.compile(asks)
        for run in (asks, compiled, compiled, compiled):
            cache = functools.lru_cache(lambda x: Ending("result"))
            self.assertEqual(len({id(result) for result in run(cache, Ending("argument"))}), 2)
            self.assertEqual(Ending.ended, [])
            cache.cache_clear()
            self.assertEqual(sorted(Ending.ended), ["argument", "result", "result"])
            Ending.ended.clear()

    def test_arguments_that_nothing_can_refer_to_weakly(self):
        cache = functools.lru_cache(lambda x: [x])
        compiled = slotrt.compile(lambda x: cache(x))
        one, other = Bare(), Bare()
        for _ in range(3):
            for x in (one, other):
                self.assertIs(compiled(x)[0], x)

    def test_a_cached_method_of_a_cached_function(self):
        twice = functools.lru_cache(maxsize=3)(functools.lru_cache(typed=True)(lambda x: [x]))
        compiled = slotrt.compile(lambda x: (twice(x), twice(x)), fullgraph=True)
        first = compiled(1)
        self.assertIs(first[0], first[1])
        self.assertIs(twice(1), first[0])
        self.assertEqual(twice.cache_info()[:], (2, 1, 3, 1))
        self.assertEqual(twice.__wrapped__.cache_info()[:], (0, 1, 128, 1))


if __name__ == "__main__":
    unittest.main()
