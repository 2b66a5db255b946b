"""Compiled functions leak no reference: objects are counted before and after many calls."""

import gc
import os
import sys
import unittest
import weakref

import slotrt

ROUNDS = 20 if os.environ.get("SLOTRT_TEST_STRICT") else 200


class Marker:
    """Counted by its weak references."""

    def __or__(self, other):
        return Marker()


def grown(work, rounds=ROUNDS):
    """How many more objects the collector knows after as many rounds again."""
    for _ in range(rounds):
        work()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(rounds):
        work()
    gc.collect()
    return len(gc.get_objects()) - before


class Leaks(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def test_calls_keep_nothing(self):
        def function(a, b):
            c = [a | b, {"k": a}]
            slotrt.graph_break()
            return c, (lambda: a)

        compiled = slotrt.compile(function)
        compiled(Marker(), 1)
        counts = [sys.getrefcount(item) for item in (function, Marker, compiled)]
        self.assertLess(grown(lambda: compiled(Marker(), 1)), 20)
        for _ in range(ROUNDS):
            marker = Marker()
            seen = weakref.ref(marker)
            compiled(marker, 1)
            del marker
            self.assertIsNone(seen())
        after = [sys.getrefcount(item) for item in (function, Marker, compiled)]
        self.assertEqual(after, counts)

    def test_raising_calls_keep_nothing(self):
        def function(a):
            a.items = [a]
            return a.missing

        compiled = slotrt.compile(function)

        def work():
            try:
                compiled(Marker())
            except AttributeError:
                pass

        self.assertLess(grown(work), 20)

    def test_compiled_functions_die(self):
        def work():
            def function(a):
                slotrt.graph_break()
                return a + 1

            compiled = slotrt.compile(function)
            compiled(1)
            compiled(2)
            return weakref.ref(compiled), weakref.ref(function)

        for dead in work():
            self.assertIsNone(dead())
        self.assertLess(grown(work), 20)

    def test_breaks_in_loops_die(self):
        def work():
            def function(n):
                total = 0
                for number in range(n):
                    slotrt.graph_break()
                    total += number
                return total

            compiled = slotrt.compile(function)
            self.assertEqual(compiled(4), 6)
            return weakref.ref(compiled), weakref.ref(function)

        for dead in work():
            self.assertIsNone(dead())
        self.assertLess(grown(work), 20)

    def test_cycles_through_compiled_code_are_collected(self):
        def work():
            @slotrt.compile
            def fact(n):
                return 1 if n < 2 else n * fact(n - 1)

            self.assertEqual(fact(3), 6)

            class Thing:
                @slotrt.compile
                def me(self):
                    slotrt.graph_break()
                    return Thing, self

            Thing().me()
            return weakref.ref(fact), weakref.ref(Thing)

        refs = work()
        gc.collect()
        self.assertEqual([ref() for ref in refs], [None, None])
        self.assertLess(grown(work), 20)

    def test_reset_lets_go(self):
        def function(a):
            return [a, Marker()]

        compiled = slotrt.compile(function)

        def work():
            compiled(1)
            slotrt.reset()

        self.assertLess(grown(work), 20)

    def test_explain_lets_go(self):
        def work():
            slotrt.explain(lambda a: [a, a])(Marker())

        self.assertLess(grown(work), 20)


if __name__ == "__main__":
    unittest.main()
