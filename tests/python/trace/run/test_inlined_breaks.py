"""A graph break in an inlined function: the caller's trace reaches up to it, and the function goes on from there."""
import gc
import sys
import traceback
import unittest
import weakref

import slotrt

try:
    import numpy
except ImportError:
    raise unittest.SkipTest("numpy is not installed")


def stop():
    """A Python function, so that the break lies in an inlined frame."""
    slotrt.graph_break()


def frames():
    """Names, lines and variables of the frames from the caller's on, as far as they are the program's."""
    found, frame = [], sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "same":
        found.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
        frame = frame.f_back
    return found


class Box:
    def __init__(self, value):
        self.value = value

    def add(self, other, *, twice=False):
        total = self.value + other
        stop()
        return total * 2 if twice else total


def inner(x, *rest, key=1, **more):
    if False:
        unbound = 1  # noqa: F841
    made = [x, *rest]
    stop()
    return made, key, more, sorted(locals())


def called_in_all_ways(x):
    box = Box(x)
    args, more = (x, 2), {"b": 3}
    return [inner(x), inner(x, 1, key=2), inner(*args), inner(*args, key=4, **more), box.add(1), box.add(x, twice=True)]


def deep(n, seen):
    seen.append(n)
    if n == 0:
        stop()
        return frames()
    below = deep(n - 1, seen)
    return [n, *below]


def closures(x):
    total = 0

    def add(by):
        nonlocal total
        total += by
        stop()
        total += by
        return total

    return add(x), add(x), total


def handlers(x):
    out = []
    for value in (x, 0):
        try:
            try:
                out.append(divide(value))
            finally:
                out.append("finally")
        except ZeroDivisionError as error:
            out.append([(entry.name, entry.line) for entry in traceback.extract_tb(error.__traceback__)])
            out.append(divide(7))
    return out


def divide(value):
    stop()
    return 10 // value


def comprehension(values):
    return [divide(value) for value in values], {value: twice(value) for value in values}


def twice(value):
    stop()
    return value * 2


def handling(value):
    try:
        raise KeyError(value)
    except KeyError as error:
        return broken_while_handled(error), sys.exception() if sys.version_info >= (3, 11) else None


def broken_while_handled(error):
    stop()
    return error is sys.exc_info()[1], error.args


def letting_go(log):
    return let_go(Noted(), log)


class Noted:
    pass


def let_go(noted, log):
    reference = weakref.ref(noted)
    stop()
    del noted
    log.append(reference() is None)
    return reference()


def many_ways(x):
    total = 0
    for index in range(4):
        total += twice(x) if index % 2 else divide(x)
    return total


class InlinedBreaks(unittest.TestCase):
    def same(self, function, *calls):
        compiled = slotrt.compile(function)
        for args in calls:
            with self.subTest(args=args):
                plain = function(*args())
                self.assertEqual(plain, compiled(*args()))
                self.assertEqual(plain, compiled(*args()))

    def test_all_ways_to_call(self):
        self.same(called_in_all_ways, lambda: (1,), lambda: (5,), lambda: (1.5,))

    def test_frames_are_those_of_the_program(self):
        self.same(deep, lambda: (0, []), lambda: (1, []), lambda: (4, []))

    def test_closures(self):
        self.same(closures, lambda: (1,), lambda: (2.5,))

    def test_exceptions_reach_the_callers_handlers(self):
        self.same(handlers, lambda: (5,), lambda: (0,))

    def test_comprehensions(self):
        self.same(comprehension, lambda: ([1, 2],), lambda: ((3, 4, 5),))

    def test_the_handled_exception(self):
        compiled = slotrt.compile(handling)
        for value in (1, "two"):
            self.assertEqual(repr(handling(value)), repr(compiled(value)))

    def test_what_the_function_lets_go_ends_there(self):
        self.same(letting_go, lambda: ([],))

    def test_again_from_many_places(self):
        self.same(many_ways, lambda: (3,), lambda: (4,), lambda: (0.5,))

    def test_an_exception_that_leaves(self):
        def lines(function, value):
            try:
                function(value)
            except ZeroDivisionError as error:
                return [(entry.name, entry.lineno, entry.line) for entry in traceback.extract_tb(error.__traceback__)][1:]

        def leaves(value):
            return divide(value) + 1

        self.assertEqual(lines(leaves, 0), lines(slotrt.compile(leaves), 0))
        self.assertEqual(len(lines(slotrt.compile(leaves), 0)), 2)

    def test_the_callers_graph_reaches_up_to_the_break(self):
        def outer(x):
            y = x + 1
            return middle(y) * 5

        def middle(y):
            z = y * 2
            return last(z) - 4

        def last(z):
            z = z + 3
            stop()
            return z * 7

        x = numpy.arange(3.0)
        graphs = [frame["graph"] for frame in slotrt.explain(outer)(x).frames if frame["graph"]]
        calls = [sum(node["op"] == "call_function" for node in graph) for graph in graphs]
        self.assertTrue((outer(x) == slotrt.compile(outer)(x)).all())
        self.assertEqual(calls[0], 3, graphs)
        self.assertEqual(sum(calls), 6, graphs)

    def test_it_is_reported_once_at_its_place(self):
        def outer(x):
            return middle(x) + 1

        def middle(x):
            return last(x) * 2

        def last(x):
            x = x + 3
            slotrt.graph_break()
            return x - 1

        line = last.__code__.co_firstlineno + 2
        report = slotrt.explain(outer)(1)
        self.assertEqual(report.breaks, 1)
        told = [(reason["kind"], reason["file"], reason["line"], reason["frame"]) for reason in report.reasons]
        self.assertEqual(told, [("explicit", __file__, line, last.__qualname__)])
        self.assertEqual([frame["end"] for frame in report.frames], ["break", "call", "call", "return", "return", "return"])
        self.assertIn(f"line {line} of {last.__qualname__} ({__file__}): explicit", str(report))
        slotrt.reset()
        compiled = slotrt.compile(outer)
        self.assertEqual((compiled(1), compiled(1), slotrt.stats()["graph_breaks"]), (7, 7, 1))
        with self.assertRaises(slotrt.GraphBreak) as caught:
            slotrt.compile(outer, fullgraph=True)(1)
        self.assertEqual((caught.exception.file, caught.exception.line), (__file__, line))

    def test_each_of_several_breaks_is_reported(self):
        def outer(x):
            return inner(x) + inner(x)

        def inner(x):
            return slotrt.graph_break() or (slotrt.graph_break(), x)[1]

        # The second call goes on in the code that the first one was compiled into.
        self.assertEqual(slotrt.explain(outer)(1).breaks, 3)

    def test_nothing_is_left(self):
        function = slotrt.compile(called_in_all_ways)
        function(1)
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(20):
            function(1)
        gc.collect()
        self.assertLess(len(gc.get_objects()) - before, 20)
        reference = weakref.ref(function)
        del function
        gc.collect()
        self.assertIsNone(reference())

    def test_limits_of_recursion_are_python_s(self):
        def depth(n):
            stop()
            try:
                return depth(n + 1)
            except RecursionError:
                return n

        limit = sys.getrecursionlimit()
        try:
            sys.setrecursionlimit(300)
            plain, compiled = depth(0), slotrt.compile(depth)(0)
        finally:
            sys.setrecursionlimit(limit)
        self.assertLessEqual(abs(plain - compiled), 2)

    def test_a_method_that_calls_itself_through_c_is_compiled_once(self):
        class Compares:
            def __eq__(self, other):
                return self == other

        def compare():
            try:
                return Compares() == 3
            except RecursionError:
                return "too deep"

        slotrt.reset()
        compiled = slotrt.compile(compare)
        for _ in range(3):
            self.assertEqual(compiled(), "too deep")
            self.assertLess(slotrt.stats()["frames_compiled"], 8)


if __name__ == "__main__":
    unittest.main()
