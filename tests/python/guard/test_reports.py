"""What reports say of guards, and how many traces a function may have."""

import unittest

import slotrt
from guard_cases import Case, TELLS, fresh, made
from slotrt import _slotrt


class Reports(Case):
    """Reports name guards as watched or checked, the one that failed, and why a frame is not traced again."""

    def frames(self, function, *calls):
        session = _slotrt.Session(record=True)
        compiled = session.compile(function, None, False)
        for args in calls:
            compiled(*args)
        return session.frames()

    def test_watched_and_checked(self):
        module = fresh(x=1)

        class Thing:
            y = 1

        module.Thing, module.items = Thing, [1]
        module.helper = made("def f(a): return a", {})
        text = "def f(a): return helper(a) + x + Thing.y + len(items)"
        (frame,) = self.frames(made(text, module.__dict__), (1,))
        said = {(guard["source"], guard["check"].split()[0]): (guard["how"], guard["because"]) for guard in frame["guards"]}
        self.assertEqual(said["a", "type"], ("checked", "an argument"))
        self.assertEqual(said["global items", "has"], ("checked", "the contents of a container") if TELLS else said["global items", "has"])
        watched = ["global helper", "global x", "global Thing"]
        for (source, check), (how, because) in said.items():
            if source in watched:
                self.assertEqual(how, "watched" if TELLS else "checked", (source, check))
            self.assertTrue(because, (source, check))
        if TELLS:
            self.assertIn(("watched", "the class"), said.values())
            self.assertEqual(said["global x", "=="], ("watched", "an entry of the globals"))
            self.assertIn(("watched", "the function"), said.values())

    def test_which_guard_failed(self):
        module = fresh(x=1)
        function = made("def f(a): return [a, a, a][x]", module.__dict__)
        session = _slotrt.Session(record=True)
        compiled = session.compile(function, None, False)
        compiled(1)
        module.x = 2
        compiled(1)
        del module.x
        with self.assertRaises(NameError):
            compiled(1)
        reasons = [frame["recompiled_because"] for frame in session.frames()]
        self.assertIsNone(reasons[0])
        self.assertRegex(reasons[1][0], r"^global x == 1 \(.*\): now 2$")
        self.assertRegex(reasons[2][0], r"^global x .*: now there is none$")

    def test_a_type_that_changed(self):
        module = fresh(x=1)
        function = made("def f(a): return a + x", module.__dict__)
        session = _slotrt.Session(record=True)
        compiled = session.compile(function, None, False)
        compiled(1)
        module.x = 2.5
        compiled(1)
        self.assertRegex(session.frames()[-1]["recompiled_because"][0], r"^global x type is int .*: now <class 'float'>$")

    def test_failures_in_words(self):
        class One:
            pass

        class Two:
            pass

        calls = [([1],), ([1, 2],), ({"a": 1},), ({"b": 1},), (One,), (Two,), (None,)]
        frames = self.frames(lambda a: (a, len(a)) if isinstance(a, list) else repr(a), *calls)
        reasons = ["; ".join(frame["recompiled_because"] or ()) for frame in frames]
        self.assertIn("a has length 1", reasons[1])
        self.assertIn(": now 2", reasons[1])
        self.assertIn("now <class 'dict'>", reasons[2])
        self.assertIn("now ['b']", reasons[3])
        self.assertTrue(any("now another one: <class" in reason for reason in reasons), reasons)

    def test_the_limit_of_guards(self):
        frames = self.frames(lambda a: [a] * (a + 1), *((number,) for number in range(12)))
        self.assertEqual([frame["end"] for frame in frames], ["return"] * 8 + ["skip"])
        self.assertEqual(frames[-1]["skipped"], "traced 8 times with different guards, the limit of one frame")
        self.assertEqual(len(frames[-1]["recompiled_because"]), 8)
        self.assertRegex(frames[-1]["recompiled_because"][0], r"^a = s0: s0 == 7 .*: now 8$")

    def test_the_limit_of_traces(self):
        class Thing:
            x = 0

        session = _slotrt.Session(record=True)
        compiled = session.compile(lambda thing: thing.x, None, False)
        for number in range(100):
            Thing.x = number
            self.assertEqual(compiled(Thing()), number)
        frames = session.frames()
        self.assertEqual(len(frames), 65)
        self.assertEqual(frames[-1]["skipped"], "traced 64 times, the limit of one frame")
        self.assertIn("Thing and its bases are unchanged", frames[-1]["recompiled_because"][0])

    def test_a_limit_is_told_once(self):
        compiled = slotrt.compile(lambda a: [a] * (a + 1))
        with self.assertLogs("slotrt", "WARNING") as log:
            for number in range(30):
                self.assertEqual(compiled(number), [number] * (number + 1))
        (told,) = log.output
        self.assertRegex(told, r"<lambda> \(.*test_reports.py:\d+\): traced 8 times with different guards, the limit of one frame")
        self.assertRegex(told, r"the guard that kept failing: a = s0: s0 == 7 .*: now 8")

    def test_another_chance(self):
        """What changed at each call and then does no more is compiled again after a while; what goes on changing costs little."""
        slotrt.reset()
        compiled = slotrt.compile(lambda a: [a] * (a + 1))
        with self.assertLogs("slotrt", "WARNING"):
            for number in range(20):
                compiled(number)
        for _ in range(200):
            self.assertEqual(compiled(100), [100] * 101)
        counts = slotrt.stats()
        self.assertEqual(counts["frames_compiled"], 9)
        self.assertGreater(counts["cache_hits"], 100)
        for number in range(1000, 3000):
            compiled(number)
        self.assertLess(slotrt.stats()["frames_compiled"], 20)

    def test_entries_of_many_kinds(self):
        """In any order of calls the right cache entry is found, among entries with equal first guards and entries out of use."""
        import itertools

        module = fresh(x=0, y=0)
        function = made("def f(a, b): return [a, b, x, y, [10, 20, 30][x], a + b]", module.__dict__)
        compiled = slotrt.compile(function)
        arguments = [(1, 2), (1.5, 2), (1, 2.5), ("a", "b")]
        for x, y, (a, b) in list(itertools.product((0, 1), (0, "y"), arguments)) * 3 + [(0, 0, (1, 2))] * 3:
            module.x, module.y = x, y
            self.assertEqual(compiled(a, b), function(a, b))
            self.assertEqual(compiled(a, b), function(a, b))


if __name__ == "__main__":
    unittest.main()
