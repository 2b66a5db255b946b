"""CPython's watchers: watches end when nobody needs them, watched objects may die, and guards are checked where no watcher is free."""

import gc
import sys
import unittest
import weakref

import slotrt
from guard_cases import Case, TELLS, fresh, made
from slotrt import _slotrt


class Bookkeeping(Case):
    def watched(self):
        gc.collect()
        return [count or 0 for count in _slotrt._watched()]

    def test_nothing_is_watched_for_ever(self):
        before = self.watched()

        def work():
            module = fresh(x=1)

            class Thing:
                y = 2

            def helper(a, *, k=1):
                return a + k

            module.Thing, module.helper = Thing, helper
            function = made("def f(): return helper(x + Thing.y)", module.__dict__)
            compiled = slotrt.compile(function)
            for _ in range(4):
                self.assertEqual(compiled(), 4)
            inside = [count or 0 for count in _slotrt._watched()]
            if TELLS:
                for count, earlier in zip(inside, before):
                    self.assertGreater(count, earlier)
            return weakref.ref(Thing), weakref.ref(function), weakref.ref(compiled), weakref.ref(helper), weakref.ref(module)

        for _ in range(20):
            references = work()
            gc.collect()
            self.assertEqual([reference() for reference in references], [None] * 5)
        self.assertEqual(self.watched(), before)

    def test_reset_and_changes_take_watches_down(self):
        before = self.watched()
        module = fresh(x=1)
        function = made("def f(): return x", module.__dict__)
        compiled = slotrt.compile(function)
        for number in range(50):
            module.x = float(number)
            self.assertEqual(compiled(), float(number))
        compiled()
        slotrt.reset()
        compiled()
        del compiled
        self.assertEqual(self.watched(), before)

    @unittest.skipUnless(TELLS, "nothing is watched")
    def test_what_changes_from_call_to_call_is_soon_left_alone(self):
        """Of several things that all change at each call none is watched after two calls of compiled code."""
        modules = [fresh(x=[0]) for _ in range(8)]
        text = "def f(): return [" + ", ".join(f"len(m{number}.x)" for number in range(8)) + "]"
        compiled = slotrt.compile(made(text, fresh(**{f"m{number}": module for number, module in enumerate(modules)}).__dict__))
        before, counts = self.watched()[0], []
        for _ in range(5):
            for module in modules:
                module.x = [0]
            self.assertEqual(compiled(), [1] * 8)
            counts.append(_slotrt._watched()[0] - before)
        self.assertEqual(slotrt.stats()["frames_compiled"], 1)
        self.assertGreaterEqual(counts[1], 8)
        self.assertLess(counts[3], 8)

    def test_what_is_watched_may_die(self):
        module = fresh(thing=None)

        class Thing:
            x = 1

        module.thing = Thing()
        seen = weakref.ref(module.thing)
        compiled = slotrt.compile(made("def f(): return thing.x", module.__dict__))
        for _ in range(3):
            compiled()
        module.thing = None
        self.assertIsNone(seen())
        with self.assertRaises(AttributeError):
            compiled()

    def test_namespaces_that_die_and_others_in_their_place(self):
        inner = fresh(x=0)
        namespace = {"inner": inner}
        compiled = slotrt.compile(made("def f(): return inner.x", namespace))
        for number in range(200):
            namespace["inner"] = inner = fresh(x=number)
            self.assertEqual(compiled(), number)
            self.assertEqual(compiled(), number)
            inner.x = -number
            self.assertEqual(compiled(), -number)

    def test_two_functions_watch_one_name(self):
        module = fresh(x=1)
        one, two = (slotrt.compile(made(f"def f(): return x + {number}", module.__dict__)) for number in (1, 2))
        for value in (1, 5, 1, 7):
            module.x = value
            for _ in range(3):
                self.assertEqual((one(), two()), (value + 1, value + 2))
        del one
        module.x = 9
        self.assertEqual(two(), 11)

    def test_a_guard_that_changes_what_is_watched(self):
        """A guard on a set calls into the program: the same call sees what the program changes there."""
        module = fresh(x=1)

        class Element:
            def __hash__(self):
                return 1

            def __eq__(self, other):
                return self is other

        function = made("def f(items): return x, len(items)", module.__dict__)
        compiled = slotrt.compile(function)
        items = {Element()}
        for _ in range(3):
            self.assertEqual(compiled(items), (1, 1))
        module.x = 2
        self.assertEqual(compiled(items), (2, 1))

    def test_all_watchers_taken(self):
        """Where no watcher is free, every guard is checked. In a process of its own, since watchers are never given back."""
        import subprocess

        program = """
import ctypes, types
api = ctypes.pythonapi
take = ctypes.cast(api.Py_IsInitialized, ctypes.c_void_p)  # does nothing, and does not fail
for add in (api.PyDict_AddWatcher, api.PyType_AddWatcher, api.PyFunction_AddWatcher):
    try:
        while True:
            add(take)
    except RuntimeError:
        pass
import slotrt
from slotrt import _slotrt
module = types.ModuleType("m")
module.x = 1
class Thing:
    y = 1
def helper(a): return a
module.Thing, module.helper = Thing, helper
exec("def f(): return helper(x) + Thing.y", module.__dict__)
compiled = slotrt.compile(module.f)
assert [compiled() for _ in range(3)] == [2, 2, 2]
module.x = 5
assert compiled() == 6
Thing.y = 2
assert compiled() == 7
helper.__code__ = (lambda a: a + 10).__code__
assert compiled() == 17
assert slotrt._slotrt._watched() == [None] * 3, slotrt._slotrt._watched()
frame = slotrt.explain(module.f)().frames[0]
assert {guard["how"] for guard in frame["guards"]} == {"checked"}, frame["guards"]
"""
        if TELLS:
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_other_interpreters_are_refused(self):
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        other = interpreters.create()
        text = "try:\n import slotrt\nexcept ImportError as error:\n assert 'interpreter' in str(error), error\nelse:\n raise AssertionError('imported')"
        run = getattr(interpreters, "exec", None) or interpreters.run_string
        try:
            self.assertIsNone(run(other, text))
        finally:
            interpreters.destroy(other)

    def test_threads(self):
        import threading

        module = fresh(x=0, stop=False)
        compiled = slotrt.compile(made("def f(): return x", module.__dict__))
        failures = []

        def read():
            last = 0
            while not module.stop:
                now = compiled()
                if now < last:
                    failures.append((last, now))
                last = now

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(2000):
            module.x = float(number)
            if compiled() != number:
                failures.append(number)
        module.stop = True
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
