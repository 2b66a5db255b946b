"""While frames are told to somebody (sys.settrace, sys.setprofile, sys.monitoring), calls run as they are: each frame is seen."""

import sys
import threading
import unittest

import slotrt

NAME = "observed.py"
PROGRAM = """
def leaf(value):
    if value > 2:
        raise ValueError(value)
    return value + 1

def middle(values):
    total = 0
    for value in values:
        try:
            total += leaf(value)
        except ValueError as error:
            total -= len(error.args)
    return total

def program(values):
    print(end="")
    first = middle(values)
    return first, middle([value + 1 for value in values])
"""
VALUES = [0, 1, 2, 3]
TOOL = 4


def space():
    made = {}
    exec(compile(PROGRAM, NAME, "exec"), made)
    return made


def traced(call):
    """What a trace function is told while `call` runs."""
    events = []

    def tracer(frame, event, arg):
        if frame.f_code.co_filename == NAME:
            events.append((frame.f_code.co_name, frame.f_lineno, event))
            return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        call()
    finally:
        sys.settrace(before)
    return events


def profiled(call):
    """What a profile function is told."""
    events = []

    def profiler(frame, event, arg):
        if frame.f_code.co_filename == NAME:
            events.append((frame.f_code.co_name, frame.f_lineno, event, getattr(arg, "__name__", None)))

    sys.setprofile(profiler)
    try:
        call()
    finally:
        sys.setprofile(None)
    return events


def monitored(call):
    """What a tool of sys.monitoring is told."""
    log, monitoring = [], sys.monitoring
    numbers = {name: getattr(monitoring.events, name) for name in ("PY_START", "PY_RETURN", "LINE", "PY_UNWIND")}

    def callback(name):
        def told(code, *rest):
            if code.co_filename == NAME:
                log.append((name, code.co_name, rest[0]))

        return told

    monitoring.use_tool_id(TOOL, "test")
    try:
        for name, number in numbers.items():
            monitoring.register_callback(TOOL, number, callback(name))
        monitoring.set_events(TOOL, sum(numbers.values()))
        try:
            call()
        finally:
            monitoring.set_events(TOOL, 0)
            for number in numbers.values():
                monitoring.register_callback(TOOL, number, None)
    finally:
        monitoring.free_tool_id(TOOL)
    return log


OBSERVERS = [traced, profiled] + ([monitored] if hasattr(sys, "monitoring") else [])


class Observers(unittest.TestCase):
    def compiled(self):
        """A compiled program that the cache serves."""
        program = slotrt.compile(space()["program"])
        for _ in range(2):
            self.assertEqual(program(VALUES), (5, 3))
        self.assertTrue(self.runs_compiled(program))
        return program

    def runs_compiled(self, program):
        before = slotrt.stats()["cache_hits"]
        self.assertEqual(program(VALUES), (5, 3))
        return slotrt.stats()["cache_hits"] > before

    def setUp(self):
        slotrt.reset()

    def test_each_frame_is_seen(self):
        for observer in OBSERVERS:
            with self.subTest(observer.__name__):
                plain = space()["program"]
                expected = observer(lambda: plain(VALUES))
                self.assertIn("leaf", str(expected))
                program = self.compiled()
                before = slotrt.stats()
                self.assertEqual(observer(lambda: program(VALUES)), expected)
                after = slotrt.stats()
                for counter in ("cache_hits", "frames_compiled"):
                    self.assertEqual(after[counter], before[counter], counter)
                self.assertTrue(self.runs_compiled(program))

    def test_nothing_is_compiled_meanwhile(self):
        for observer in OBSERVERS:
            with self.subTest(observer.__name__):
                plain = space()["program"]
                expected = observer(lambda: plain(VALUES))
                program = slotrt.compile(space()["program"])
                self.assertEqual(observer(lambda: program(VALUES)), expected)
                self.assertEqual(slotrt.stats()["frames_compiled"], 0)
                self.compiled()
                slotrt.reset()

    def test_a_report_says_why_nothing_was_compiled(self):
        reports = []
        profiled(lambda: reports.append(slotrt.explain(space()["program"])(VALUES)))
        self.assertEqual(reports[0].result, (5, 3))
        self.assertIn("sys.setprofile", str(reports[0]))

    def test_functions_that_go_on_after_a_break(self):
        """The break leaves the frame to a continuation; what that calls is seen, too."""
        made = space()
        exec(compile("def starts(begin, values):\n    begin()\n    return middle(values)\n", NAME, "exec"), made)
        function = made["starts"]
        program = slotrt.compile(function)
        program(lambda: print(end=""), VALUES)
        seen = []

        def profiler(frame, event, arg):
            if frame.f_code.co_filename == NAME and frame.f_code.co_name != "starts":
                seen.append((frame.f_code.co_name, frame.f_lineno, event))

        def of(function):
            seen.clear()
            try:
                self.assertEqual(function(lambda: sys.setprofile(profiler), VALUES), 5)
            finally:
                sys.setprofile(None)
            return list(seen)

        expected = of(function)
        self.assertIn("leaf", str(expected))
        for _ in range(2):
            self.assertEqual(of(program), expected)

    def test_a_tool_without_events(self):
        if not hasattr(sys, "monitoring"):
            self.skipTest("this release has no sys.monitoring")
        program = self.compiled()
        sys.monitoring.use_tool_id(TOOL, "test")
        try:
            self.assertTrue(self.runs_compiled(program))
            sys.monitoring.set_events(TOOL, sys.monitoring.events.PY_START)
            self.assertFalse(self.runs_compiled(program))
            sys.monitoring.set_events(TOOL, 0)
            self.assertTrue(self.runs_compiled(program))
        finally:
            sys.monitoring.set_events(TOOL, 0)
            sys.monitoring.free_tool_id(TOOL)

    def test_functions_of_another_thread(self):
        program = self.compiled()
        ready, done, seen = threading.Event(), threading.Event(), []

        def other():
            sys.setprofile(lambda *_: None)
            seen.append(self.runs_compiled(program))
            ready.set()
            done.wait(60)
            sys.setprofile(None)

        thread = threading.Thread(target=other)
        thread.start()
        self.assertTrue(ready.wait(60))
        try:
            self.assertTrue(self.runs_compiled(program))
        finally:
            done.set()
            thread.join()
        self.assertEqual(seen, [False])


if __name__ == "__main__":
    unittest.main()
