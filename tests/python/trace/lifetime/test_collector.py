"""`gc.collect()` in a trace and its callbacks, cycles that are due while a trace is made, and code that the interpreter has adapted."""

import contextlib
import functools
import gc
import io
import itertools
import sys
import unittest
import weakref

import slotrt

SEEN = []


def collects():
    gc.collect()
    return len(SEEN)


def adapted():
    return (lambda: 0).__code__._co_code_adaptive


class Plain:
    pass


class Bare:
    __slots__ = ()


def tracked(pairs):
    first = next(itertools.combinations([None, []], 2))
    gc.collect()
    found = [gc.is_tracked(first), gc.is_tracked([]), gc.is_tracked(1), gc.is_tracked("text"), gc.is_tracked({1})]
    return found + [gc.is_tracked(Plain()), gc.is_tracked(Bare()), gc.is_tracked((1, Plain())), gc.is_tracked(next(zip(pairs, [[]])))]


def may_be_tracked(*objects):
    return [gc.is_tracked(object) for object in objects]


class Ending:
    """Part of a cycle."""

    def __init__(self):
        self.me = self

    def __del__(self):
        print("end")
        SEEN.append(self)


class Compared:
    def __init__(self, key):
        self.key = key

    def __lt__(self, other):
        return repr(self) < repr(other)

    def __repr__(self):
        return f"Compared({self.key})"


def through_c(count):
    """C makes objects, looks for signals and calls back."""
    out = []
    for number in range(count):
        out.append(sorted([Compared(number), Compared(3), Compared(5)]))
        out.append(repr(out))
    return len(out)


@slotrt.disable
def made(*names):
    """An object, its attributes objects, too, and weak references to all of them."""
    found = Plain()
    for name in names:
        setattr(found, name, found if name == "me" else Plain())
    return found, weakref.ref(found), *(weakref.ref(getattr(found, name)) for name in names)


def through_an_attribute():
    owner, _ = made()
    owner.x = Plain()
    seen = weakref.ref(owner.x)
    del owner
    return seen() is None


def through_two():
    owner, _ = made()
    owner.x = [Plain()]
    seen, kept = weakref.ref(owner.x[0]), [owner]
    owner = None
    before = seen() is None
    kept.clear()
    return before, seen() is None


def cycle_with_an_outside():
    owner, first = made()
    owner.x = Plain()
    owner.x.back = owner
    second = weakref.ref(owner.x)
    del owner
    gc.collect()
    return first() is None, second() is None


def cycle_outside():
    owner, first, second, _ = made("x", "me")
    del owner
    before = first() is None
    gc.collect()
    return before, first() is None, second() is None


def own_cycle():
    owner = Plain()
    owner.me = owner
    seen = weakref.ref(owner)
    del owner
    gc.collect()
    return seen() is None


def entry():
    HELD["x"], *seen = made("x", "me")
    HELD.clear()
    gc.collect()
    return [reference() is None for reference in seen]


def stays():
    owner, first, second, _ = made("x", "me")
    gc.collect()
    return first() is None, second() is owner.x


HELD = {}


class Collector(unittest.TestCase):
    def test_what_weak_references_lead_to(self):
        functions = through_an_attribute, through_two, cycle_with_an_outside, cycle_outside, own_cycle, entry, stays
        for function in functions:
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function)
                for _ in range(3):
                    self.assertEqual(compiled(), function())

    def setUp(self):
        gc.collect()
        SEEN.clear()

    def test_what_is_tracked(self):
        compiled = slotrt.compile(tracked, fullgraph=True)
        self.assertEqual([compiled((1, 2)), compiled((1, 2))], [tracked((1, 2))] * 2)
        changing = (1, 2), {}, {"key": []}, int, ((1,), 2), frozenset(), iter([])
        gc.collect()
        self.assertEqual(slotrt.compile(may_be_tracked)(*changing), may_be_tracked(*changing))

    def test_cycles_that_are_due_end_outside_the_trace(self):
        expected, before, threshold = through_c(7), sys.unraisablehook, gc.get_threshold()
        gc.collect()
        unraisable = []
        sys.unraisablehook = unraisable.append
        try:
            for number in (1, 10, 50, 100, 200, 300, 500):
                gc.set_threshold(number, 2, 2)
                for _ in range(5):
                    SEEN.clear()
                    compiled, said = slotrt.compile(through_c), io.StringIO()
                    gc.disable()
                    for _ in range(20):
                        Ending()
                    with contextlib.redirect_stdout(said):
                        gc.enable()
                        self.assertEqual(compiled(7), expected)
                        self.assertTrue(gc.isenabled())
                        gc.collect()
                        self.assertEqual(compiled(7), expected)
                        gc.collect()
                    self.assertEqual((len(SEEN), said.getvalue()), (20, "end\n" * 20))
        finally:
            gc.set_threshold(*threshold)
            sys.unraisablehook = before
        self.assertEqual(unraisable, [])

    def test_a_collector_that_is_off_stays_off(self):
        gc.disable()
        try:
            self.assertEqual(slotrt.compile(through_c)(7), through_c(7))
            self.assertFalse(gc.isenabled())
        finally:
            gc.enable()

    def test_callbacks_run_where_the_program_collects(self):
        compiled = slotrt.compile(collects)
        self.assertEqual(compiled(), 0)

        def follow(phase, info):
            SEEN.append(phase)

        gc.callbacks.append(follow)
        try:
            self.assertEqual(compiled(), 2)
            self.assertEqual(compiled(), 4)
            with self.assertRaises(slotrt.GraphBreak):
                slotrt.compile(collects, fullgraph=True)()
        finally:
            gc.callbacks.remove(follow)
        self.assertEqual(slotrt.compile(collects, fullgraph=True)(), len(SEEN))

    def test_a_trace_sees_the_collector_as_the_program_has_it(self):
        def asks():
            return 1 if gc.isenabled() else 2

        def through_c():
            return list(itertools.starmap(gc.isenabled, [(), ()])), sorted([3, 1], key=lambda _: gc.isenabled())

        def partial():
            return functools.partial(gc.isenabled)(), [f() for f in (gc.isenabled,)], gc.get_threshold()

        def toggles():
            gc.disable()
            off = gc.isenabled()
            gc.enable()
            return off, gc.isenabled()

        for function in (asks, through_c, partial, toggles):
            compiled = slotrt.compile(function)
            self.assertEqual(compiled(), function())
            gc.disable()
            try:
                self.assertEqual(compiled(), function())
                gc.disable()
                self.assertEqual(slotrt.compile(function)(), function())
            finally:
                gc.enable()
            self.assertEqual(compiled(), function())

    def test_adapted_code_is_read_natively(self):
        self.assertEqual(slotrt.compile(adapted)(), adapted())
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(adapted, fullgraph=True)()


class CollectorInCompiledCode(unittest.TestCase):
    def test_the_collector_runs_when_compiled_code_does(self):
        class Cycle:
            def __init__(self):
                self.me = self

        def through(value):
            gc.collect()
            return value

        ended = []
        compiled = slotrt.compile(through)
        compiled(1)
        gc.disable()
        try:
            cycle = Cycle()
            watch = __import__("weakref").ref(cycle, ended.append)
            del cycle
            self.assertEqual(compiled(2), 2)
            self.assertEqual(len(ended), 1)
            del watch
        finally:
            gc.enable()

    def test_objects_that_the_collector_tracks(self):
        """What a trace has left behind can be looked at until the collector has come by."""

        def of_each(classes):
            made = {Plain(): 1, Plain(): 2}
            return [isinstance(one, classes) for one in made], sorted(made.values(), key=lambda value: -value)

        gc.collect()
        gc.disable()
        try:
            self.assertEqual(slotrt.compile(of_each)(Plain), of_each(Plain))
            found = [found for found in gc.get_objects() if isinstance(found, Plain)]
        finally:
            gc.enable()
        self.assertLess(len(found), 10)

    def test_the_collector_s_count_is_unknown(self):
        def through():
            return type(gc.collect())

        self.assertIs(slotrt.compile(through)(), int)
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(lambda: gc.collect() + 0, fullgraph=True)()


if __name__ == "__main__":
    unittest.main()
