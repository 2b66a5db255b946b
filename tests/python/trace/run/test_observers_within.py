"""Functions that have somebody told of frames (sys.setprofile, sys.settrace, sys.monitoring, cProfile) while they run: what is told is what
plain Python tells."""

import cProfile
import sys
import unittest

import slotrt

TOOL = 3


def leaf(x):
    y = x + 1
    return y


def observer(log):
    def told(frame, event, arg):
        if frame.f_code.co_filename == __file__ and frame.f_code.co_name not in ("seen", "setUp"):
            log.append((event, frame.f_code.co_name, frame.f_lineno))
        return told

    return told


def start(log, begin):
    begin(observer(log))


def begin_profile(told):
    sys.setprofile(told)


def begin_trace(told):
    sys.settrace(told)


def stop():
    sys.setprofile(None)
    sys.settrace(None)


def in_the_middle(log, begin):
    a = leaf(1)
    start(log, begin)
    b = leaf(a)
    c = [leaf(b)]
    stop()
    return a, b, c, leaf(b)


def after_a_break(log, begin):
    a = leaf(1)
    slotrt.graph_break()
    start(log, begin)
    b = leaf(a)
    slotrt.graph_break()
    c = leaf(b)
    stop()
    return a, b, c


def by_itself(log, begin):
    a = leaf(1)
    sys.setprofile(observer(log))
    b = leaf(a)
    sys.setprofile(None)
    return leaf(b)


def left_on(log, begin):
    a = leaf(1)
    start(log, begin)
    return leaf(leaf(a))


def taken_away(log):
    a = leaf(1)
    slotrt.graph_break()
    stop()
    return leaf(a)


def taken_away_by_a_callee(log, begin):
    start(log, begin)
    return taken_away(log), leaf(2)


def generator(log, begin):
    yield leaf(1)
    start_within(log, begin)
    yield leaf(2)
    slotrt.graph_break()
    yield leaf(3)
    sys.setprofile(None)
    sys.settrace(None)
    yield leaf(4)


def start_within(log, begin):
    start(log, begin)


def through_a_generator(log, begin):
    found = []
    for item in generator(log, begin):
        found.append(item)
    return found


def monitored(log, begin):
    a = leaf(1)
    events = sys.monitoring.events
    sys.monitoring.use_tool_id(TOOL, "test")
    for name in ("PY_START", "PY_RETURN", "PY_RESUME", "PY_YIELD"):
        told = lambda code, *rest, name=name: code.co_filename == __file__ and log.append((name, code.co_name))
        sys.monitoring.register_callback(TOOL, getattr(events, name), told)
    sys.monitoring.set_events(TOOL, events.PY_START | events.PY_RETURN | events.PY_RESUME | events.PY_YIELD)
    b = leaf(a)
    slotrt.graph_break()
    c = leaf(b)
    sys.monitoring.set_events(TOOL, 0)
    sys.monitoring.free_tool_id(TOOL)
    return a, b, c


def profiled(log, begin):
    profile = cProfile.Profile()
    a = leaf(1)
    profile.enable()
    b = leaf(a)
    slotrt.graph_break()
    c = leaf(b)
    profile.disable()
    of_this_file = (entry for entry in profile.getstats() if getattr(entry.code, "co_filename", None) == __file__)
    log.extend(sorted((entry.code.co_name, entry.callcount, entry.reccallcount) for entry in of_this_file))
    return a, b, c


FUNCTIONS = [in_the_middle, after_a_break, by_itself, left_on, taken_away_by_a_callee, through_a_generator, profiled]
if hasattr(sys, "monitoring"):
    FUNCTIONS.append(monitored)


def seen(function, begin):
    log = []
    try:
        result = function(log, begin)
    finally:
        stop()
    return result, [entry for entry in log if entry[1] != "stop"]


class ObserversWithin(unittest.TestCase):
    def setUp(self):
        self.addCleanup(sys.settrace, sys.gettrace())

    def test_as_plain(self):
        for begin in (begin_profile, begin_trace):
            for function in FUNCTIONS:
                with self.subTest(function.__name__, begin=begin.__name__):
                    compiled, expected = slotrt.compile(function), seen(function, begin)
                    for _ in range(3):
                        self.assertEqual(seen(compiled, begin), expected)

    def test_a_report_says_why(self):
        report = slotrt.explain(in_the_middle)([], lambda told: sys.setprofile(None))
        self.assertEqual(report.result, (2, 3, [4], 4))
        report = slotrt.explain(left_on)([], begin_profile)
        stop()
        self.assertIn("would be told of a graph break", str(report))


if __name__ == "__main__":
    unittest.main()
