"""Code that a collection runs for cycles which the program has dropped before, and what a collection counts."""

import gc
import unittest
import weakref

import slotrt

SEEN = []


class Ending:
    """Part of a cycle."""

    def __init__(self):
        self.me = self

    def __del__(self):
        SEEN.append("end")


class Bare:
    """No object that the collector tracks."""

    __slots__ = ()

    def __del__(self):
        SEEN.append("bare")


class Plain:
    pass


def collects():
    before = len(SEEN)
    gc.collect()
    return before, len(SEEN), [*SEEN]


def ended(make):
    gc.disable()
    try:
        return make()
    finally:
        gc.enable()


def cycle():
    Ending()


def callback():
    owner = Plain()
    owner.me = owner
    return weakref.ref(owner, lambda _: SEEN.append("callback"))


def held_by_a_cycle():
    owner = Plain()
    owner.me, owner.held = owner, Bare()


def generator():
    def run():
        try:
            yield
        finally:
            SEEN.append("left")

    started = run()
    next(started)
    owner = [started]
    owner.append(owner)


def silent():
    owner = [Plain()]
    owner.append(owner)


class PendingEnds(unittest.TestCase):
    def setUp(self):
        gc.collect()
        SEEN.clear()

    def outcome(self, function, make):
        SEEN.clear()
        kept = ended(make)
        result = function()
        del kept
        return result

    def test_cycles_from_before(self):
        compiled = slotrt.compile(collects)
        for make in (silent, cycle, callback, held_by_a_cycle, generator, silent):
            for function in (compiled, slotrt.compile(collects)):
                with self.subTest(make=make.__name__):
                    self.assertEqual(self.outcome(function, make), self.outcome(collects, make))

    def test_what_ends_silently_is_no_break(self):
        ended(silent)
        before = slotrt.stats()["graph_breaks"]
        compiled = slotrt.compile(collects, fullgraph=True)
        self.assertEqual([compiled(), compiled()], [(0, 0, [])] * 2)
        ended(cycle)
        with self.assertRaises(slotrt.GraphBreak):
            compiled()
        self.assertEqual(slotrt.stats()["graph_breaks"], before + 1)

    def test_what_a_collection_counts(self):
        def of_a_list():
            made = []
            made.append(made)
            gc.collect()
            del made
            return gc.collect()

        def of_a_class():
            class A:
                pass

            gc.collect()
            del A
            return gc.collect() > 0

        for function in (of_a_list, of_a_class):
            compiled = slotrt.compile(function)
            self.assertEqual([compiled(), compiled()], [function(), function()])


if __name__ == "__main__":
    unittest.main()
