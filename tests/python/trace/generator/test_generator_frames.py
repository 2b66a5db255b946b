"""Compiled frames of generators do what they do uncompiled, however they are driven."""
import contextlib
import gc
import sys
import unittest
import weakref

import numpy
import slotrt
import split_generators

X = numpy.arange(4.0)


def stop():
    slotrt.graph_break()


@contextlib.contextmanager
def manager(log):
    log.append("enter")
    try:
        yield 1
    finally:
        log.append("exit")


def around_breaks(x, n):
    for i in range(n):
        x = x + i
        stop()
        x = x * 2
        got = yield x
        if got is not None:
            x = x - got
    return x


def around_breaks_ignoring(log):
    stop()
    yield 0
    stop()
    try:
        yield 1
    except BaseException:
        yield 2
    finally:
        log.append("finally")


def in_with(x, log):
    with manager(log) as one:
        x = x + one
        stop()
        x = x * 2
        yield x
        x = x + 5
        yield x
    yield x - 1


def in_try(x, log):
    try:
        x = x + 1
        stop()
        yield x
        x = x * 3
        yield x
    except ValueError as error:
        x = x - 1
        stop()
        x = x * 7
        yield x, str(error)
    finally:
        x = x + 100
        stop()
        log.append(x + 1)


def stops(x):
    stop()
    yield x + 1
    raise StopIteration(x)


def unbound(x):
    if x[0] > 5:
        y = 1
    stop()
    z = x + 1
    yield z
    yield y


def delegates(x, log):
    result = yield from in_try(x + 1, log)
    stop()
    yield result, x * 2
    return (yield from around_breaks(x, 2))


SCRIPTS = [
    ["send None"] * 8,
    ["send None", "send 5.0", "send None", "send None", "send None"],
    ["send None", "throw ValueError v", "send None", "send None"],
    ["send None", "send None", "throw KeyError k", "send None"],
    ["send None", "close", "send None"],
    ["close"],
    ["throw ValueError v"],
]


def driven(function, script, *args):
    """The outcomes of driving, and the log."""
    return repr(split_generators.drive(function(*args), script)), repr(args)


class GeneratorFrames(unittest.TestCase):
    def tearDown(self):
        slotrt.reset()

    def test_driven_as_uncompiled(self):
        cases = [
            (around_breaks, lambda: (X, 3)), (in_with, lambda: (X, [])), (in_try, lambda: (X, [])), (stops, lambda: (X,)),
            (unbound, lambda: (X,)), (delegates, lambda: (X, [])),
        ]
        for function, args in cases:
            compiled = slotrt.compile(function)
            for script in SCRIPTS:
                expected = driven(function, script, *args())
                for again in range(2):
                    with self.subTest(function=function.__name__, script=script, again=again):
                        self.assertEqual(driven(compiled, script, *args()), expected)

    def test_samples(self):
        for function, args in split_generators.GENERATORS:
            compiled = slotrt.compile(function)
            for script in split_generators.SCRIPTS:
                expected = driven(function, script, *args)
                for again in range(2):
                    with self.subTest(function=function.__name__, script=script, again=again):
                        self.assertEqual(driven(compiled, script, *args), expected)

    def test_operations_are_in_graphs(self):
        def outer(x):
            return [item for item in around_breaks(x, 2)]

        report = slotrt.explain(outer)(X)
        self.assertEqual(repr(report.result), repr(outer(X)))
        nodes = [node for frame in report.frames for node in frame["graph"] or () if node["op"].startswith("call")]
        first = around_breaks.__code__.co_firstlineno
        self.assertLessEqual({first + 2, first + 4}, {node["line"] for node in nodes})

    def test_a_long_loop_costs_no_stack(self):
        def counts(n):
            total = 0
            for i in range(n):
                total = total + i
                stop()
                yield total

        compiled = slotrt.compile(counts)
        limit = sys.getrecursionlimit()
        self.assertEqual(sum(compiled(limit * 3)), sum(counts(limit * 3)))

    def test_nothing_is_kept_alive(self):
        class Thing:
            pass

        def holds(thing):
            stop()
            yield 1
            del thing
            stop()
            yield 2

        compiled = slotrt.compile(holds)
        for _ in range(2):
            thing = Thing()
            seen = weakref.ref(thing)
            generator = compiled(thing)
            del thing
            self.assertEqual(next(generator), 1)
            self.assertIsNotNone(seen())
            self.assertEqual(next(generator), 2)
            self.assertIsNone(seen())
            del generator
        gone = weakref.ref(compiled)
        del compiled
        gc.collect()
        self.assertIsNone(gone())

    def test_left_suspended(self):
        log = []
        generator = slotrt.compile(in_with)(X, log)
        next(generator)
        del generator
        self.assertEqual(log, ["enter", "exit"])

    def test_left_where_they_ignore_their_end(self):
        ignored = []
        hook, sys.unraisablehook = sys.unraisablehook, lambda told: ignored.append(str(told.exc_value))
        try:
            for function in (around_breaks_ignoring, slotrt.compile(around_breaks_ignoring)):
                log = []
                generator = function(log)
                self.assertEqual((next(generator), next(generator)), (0, 1))
                del generator
                self.assertEqual(log, [])
        finally:
            sys.unraisablehook = hook
        self.assertEqual(ignored, ["generator ignored GeneratorExit"] * 2)

    def test_names(self):
        generator = slotrt.compile(around_breaks)(X, 1)
        self.assertEqual((generator.__name__, generator.__qualname__), ("around_breaks", "around_breaks"))
        generator.close()


if __name__ == "__main__":
    unittest.main()
