"""Signals and other asynchronous exceptions: a function that is broken at any instruction gets them in its own handlers."""
import _thread
import ctypes
import dis
import functools
import signal
import threading
import traceback
import types
import unittest

import slotrt
from slotrt import bytecode, hook

try:
    import numpy
except ImportError:
    numpy = None

try:
    from _testcapi import _pending_threadfunc as add_pending_call
except ImportError:  # an interpreter without CPython's own test modules
    add_pending_call = None

RAISE = ctypes.pythonapi.PyThreadState_SetAsyncExc


def interrupt():
    raise KeyboardInterrupt


class Trip:
    """`-trip` makes a signal arrive, `+trip` another thread's exception, `~trip` a pending call that raises. The
    interpreter does not look for them at once."""

    __neg__ = _thread.interrupt_main
    __pos__ = staticmethod(functools.partial(RAISE, ctypes.c_ulong(threading.get_ident()), ctypes.py_object(KeyboardInterrupt)))
    __invert__ = staticmethod(functools.partial(add_pending_call, interrupt) if add_pending_call else None)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        return kind is KeyboardInterrupt


trip = Trip()


def in_a_call(a):
    out = []
    try:
        -trip
        b = a + 1
        abs(1)
        out.append("not here")
    except KeyboardInterrupt:
        out.append("caught")
    return out, b


def in_another_thread(a):
    out = []
    try:
        +trip
        b = a + 1
        abs(1)
        out.append("not here")
    except KeyboardInterrupt:
        out.append("caught")
    return out, b


def in_a_pending_call(a):
    out = []
    try:
        ~trip
        b = a + 1
        abs(1)
        out.append("not here")
    except KeyboardInterrupt:
        out.append("caught")
    return out, b


def in_a_while(a):
    try:
        n = 0
        while n < 5:
            n += 1
            if n == a:
                -trip
            n = n
    except KeyboardInterrupt:
        return "caught", n
    return "ran"


def in_a_for(a):
    out = []
    for n in (1, 2, 3):
        try:
            m = n * 2
        except KeyboardInterrupt:
            return "wrong handler"
        if n == a:
            -trip
        m = n
    return out, n, m


def in_the_try_of_a_for(a):
    out = []
    for n in (1, 2, 3):
        try:
            if n == a:
                -trip
            m = n
        except KeyboardInterrupt:
            out += ["caught"]
        finally:
            out += [n]
    return out, m


def at_the_head_of_a_while(a):
    out = []
    try:
        x = a
        try:
            x = x + 1
        except KeyboardInterrupt:
            return "wrong handler"
        while x < 9:
            x += 1
            -trip
            x = x
    except KeyboardInterrupt:
        return "caught", x
    return out


def backward_in_a_handler(a):
    out = []
    try:
        try:
            raise ValueError(a)
        except ValueError as error:
            for n in (1, 2):
                -trip
                m = error
    except KeyboardInterrupt as stop:
        return out, n, repr(m), repr(stop.__context__)


def in_finally(a):
    out = []
    try:
        try:
            out += [1]
        finally:
            -trip
            b = a
            abs(1)
            out += ["not here"]
    except KeyboardInterrupt:
        out += ["caught", b]
    return out


def in_with(a):
    with trip:
        -trip
        b = a
        abs(1)
        b = "not here"
    return b


def left_to_the_caller(a):
    try:
        b = a + 1
    except KeyboardInterrupt:
        return "caught"
    -trip
    return b


def callee(a):
    try:
        b = a
        return abs(2), b
    except KeyboardInterrupt:
        return "caught in the callee", a


def at_the_start_of_a_callee(a):
    try:
        inner = callee
        -trip
        b = inner(a)
    except KeyboardInterrupt:
        return "caught in the caller"
    return b


def with_star(a):
    result = None
    try:
        try:
            -trip
            b = a
            abs(1)
        except* KeyboardInterrupt as group:
            raise ValueError(b)
    except* ValueError as group:
        result = repr(group)
    return result


FUNCTIONS = [
    in_a_call, in_another_thread, in_a_while, in_a_for, in_the_try_of_a_for, at_the_head_of_a_while, backward_in_a_handler,
    in_finally, in_with, left_to_the_caller, at_the_start_of_a_callee, with_star,
] + [in_a_pending_call] * (add_pending_call is not None)


def waits(a):
    for n in range(2):
        try:
            a = yield a
        except KeyboardInterrupt:
            a = "caught"
    return a


def waits_below(a):
    try:
        a = yield from waits(a)
    except KeyboardInterrupt:
        a = "wrong handler"
    return a


def sets(a):
    try:
        b = yield a
        -trip
        c = b
        yield c
        abs(1)
    except KeyboardInterrupt:
        a = yield "caught"
    while True:
        yield a, c


def catches_what_is_thrown(a):
    try:
        yield a
    except ValueError:
        -trip
        b = a
        try:
            yield b
        except KeyboardInterrupt:
            yield "caught"


async def awaits(a):
    try:
        a = await pause(a)
    except KeyboardInterrupt:
        a = "caught"
    return a


@types.coroutine
def pause(a):
    for n in range(2):
        try:
            a = yield a
        except KeyboardInterrupt:
            a = "paused"
    return a


def send_tripped(generator, value):
    """Sends while an arrived signal is not handled yet."""
    send = generator.send
    -trip
    return send(value)


def throw_tripped(generator, value):
    throw, error = generator.throw, ValueError(value)
    -trip
    return throw(error)


def drive(function, script):
    """The outcome of each step."""
    generator, out = function(1), []
    for step, value in script:
        out.append(observed(step, generator, value))
    return out


def send(generator, value):
    return generator.send(value)


def throw(generator, value):
    return generator.throw(ValueError(value))


GENERATORS = [waits, waits_below, sets, catches_what_is_thrown, awaits, pause]
SCRIPTS = [
    [(send, None), (send_tripped, 5), (send, 6), (send, 7)],
    [(send_tripped, None), (send, 5), (send, 6)],
    [(send, None), (send, 4), (send_tripped, 5), (send, 6), (send, 7)],
    [(send, None), (throw_tripped, "v"), (send, 6), (send, 7)],
    [(send, None), (throw, "v"), (send_tripped, 6), (send, 7)],
]


def described(error):
    frames = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:]]
    return type(error).__name__, str(error), frames


def observed(function, *args):
    try:
        try:
            return function(*args)
        finally:
            abs(0)  # a signal that is not handled yet arrives here
    except BaseException as error:
        return described(error)


def offsets(function):
    return [i.offset for i in dis.get_instructions(function) if i.opname not in ("CACHE", "EXTENDED_ARG")]


def broken(function):
    """The function broken at each of its instructions."""
    for offset in offsets(function):
        for every in (False, True):
            try:
                yield offset, every, bytecode.break_at(function, offset, every)
            except ValueError as error:
                if "unreachable" not in str(error):
                    raise


class Interrupts(unittest.TestCase):
    def setUp(self):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)

    def test_functions(self):
        tried = caught = 0
        for function in FUNCTIONS:
            for argument in (1, 2, 3):
                expected = observed(function, argument)
                caught += "caught" in str(expected)
                for offset, every, other in broken(function):
                    tried += 1
                    self.assertEqual(observed(other, argument), expected, (function.__name__, argument, offset, every))
        self.assertGreater(caught, 10)
        self.assertGreater(tried, 2_000)

    def test_generators_and_coroutines(self):
        tried = caught = 0
        for function in GENERATORS:
            for script in SCRIPTS:
                expected = drive(function, script)
                caught += "caught" in str(expected)
                for offset, every, other in broken(function):
                    tried += 1
                    self.assertEqual(drive(other, script), expected, (function.__name__, script, offset, every))
        self.assertGreater(caught, 5)
        self.assertGreater(tried, 1_000)

    def test_everywhere(self):
        """Every frame is split, the callers' and callees', too."""
        def run():
            results = [observed(function, argument) for function in FUNCTIONS for argument in (1, 2, 3)]
            return results + [drive(function, script) for function in GENERATORS for script in SCRIPTS]

        expected, before = run(), -1
        for mode in ("split", "split-every"):
            counters = hook.install(mode)
            try:
                for _ in range(100):
                    self.assertEqual(run(), expected, mode)
                    before, last = counters.counters()["pairs"], before
                    if before == last:
                        break
            finally:
                hook.uninstall()
            self.assertGreater(before, 500)

    def test_endless_loops_end(self):
        def turns():
            while True:
                pass

        def counts():
            n = 0
            while n >= 0:
                n += 1

        for function in (turns, counts):
            for offset, every, other in broken(function):
                timer = threading.Timer(0.05, _thread.interrupt_main)
                timer.start()
                with self.assertRaises(KeyboardInterrupt, msg=(function.__name__, offset, every)):
                    other()
                timer.join()


def appends(x, out):
    try:
        out.append("one")
        y = x + 1
        out.append("two")
        slotrt.graph_break()
        out.append(len(y))
    except KeyboardInterrupt:
        out.append("caught")
    return out


def trips_at_the_end(graph, examples):
    """A backend whose code returns with an arrived signal that is not handled yet."""
    def run(*inputs):
        results = graph(*inputs)
        -trip
        return results

    return run


@unittest.skipUnless(hasattr(slotrt, "compile"), "slotrt does not trace this release")
class Compiled(unittest.TestCase):
    """Signals that arrive while functions are compiled or compiled code runs: none is lost, and none is raised in the
    middle of one of the program's instructions."""

    def setUp(self):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        slotrt.reset()

    def test_same_place_and_same_handlers(self):
        """A signal that waits when a compiled function, a continuation or a generator begins is handled where plain Python handles it."""
        caught = 0
        for function in FUNCTIONS:
            for argument in (1, 2, 3):
                expected = observed(function, argument)
                compiled = slotrt.compile(function)
                for _ in range(3):
                    self.assertEqual(observed(compiled, argument), expected, (function.__name__, argument))
                caught += "caught" in str(expected)
        for function in GENERATORS:
            for script in SCRIPTS:
                expected = drive(function, script)
                compiled = slotrt.compile(function)
                for _ in range(3):
                    self.assertEqual(drive(compiled, script), expected, (function.__name__, script))
                caught += "caught" in str(expected)
        self.assertGreater(caught, 20)

    def test_at_the_start(self):
        """Also where everything is compiled already and no code looks for signals."""
        def function(a):
            try:
                a = a + 1
                return abs(a)
            except KeyboardInterrupt:
                return "caught"

        def tripped(called, a):
            -trip
            return called(a)

        compiled = slotrt.compile(function)
        self.assertEqual(compiled(1), 2)
        for make in (lambda: -trip, lambda: +trip) + ((lambda: ~trip,) if add_pending_call else ()):
            def before(called, a):
                make()
                return called(a)

            for called in (compiled, function):
                self.assertEqual(observed(before, called, 1), observed(before, function, 1), called)
                self.assertEqual(observed(tripped, called, 1), observed(tripped, function, 1), called)
        self.assertEqual(compiled(1), 2)

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_effects_are_whole(self):
        """Side effects after the graph are complete before a signal is handled; then the program's handlers apply."""
        compiled = slotrt.compile(appends, backend=trips_at_the_end)
        for _ in range(3):
            self.assertEqual(compiled(numpy.arange(3), []), ["one", "two", "caught"])


if __name__ == "__main__":
    unittest.main()
