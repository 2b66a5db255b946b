"""The evaluation hook: programs behave as they do without it."""
import sys
import threading
import traceback
import unittest

from slotrt import hook

try:
    import _interpreters as interpreters
except ImportError:  # before 3.13
    import _xxsubinterpreters as interpreters


MODES = ("observe", "reassemble", "split", "split-every")


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def generator(n):
    got = yield 1
    yield got
    yield from (i for i in range(n))


def closure(n):
    z = 0

    def add():
        nonlocal z
        z += n
        return z

    return add(), add(), [lambda: n][0]()

ENDED = []


class Ending:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        ENDED.append(f"end {self.name}")

    def method(self, q=1):
        self = None
        ENDED.append("method")


def one(p, q=2):
    p = None
    ENDED.append("one")


def two(p, q=None):
    p = q = None
    ENDED.append("two")
    return Ending("given")


def rest(*p):
    p = None
    ENDED.append("rest")


def named(*, k=None, j=None):
    k = None
    ENDED.append("named")


def lent(p):
    ENDED.append("lent")
    yield 1
    p = None
    ENDED.append("let go")
    yield 2


def receivers():
    """The same of what methods are called on. From 3.14 on the caller keeps these until the call is over."""
    Ending(11).method(), Ending(12).method(q=2)
    bound = Ending(13).method
    bound()
    del bound


def arguments():
    """Which objects end in the called function, and which others still hold."""
    one(Ending(1)), one(Ending(2), 3), one(p=Ending(3)), one(q=1, p=Ending(4)), one([Ending(5)]), one((Ending(6), 1))
    rest(Ending(7), 8), named(k=Ending(9), j=1), named(j=Ending(10))
    if sys.version_info < (3, 14):
        receivers()
    held = Ending(14)
    one(held), two(held, two(held, held)), two(held, list(map(one, [held]))), two(held, one(held))
    two(Ending(15), list(map(one, [held, Ending(16)])))
    ENDED.append("held")
    del held
    two(two(Ending(17), one(Ending(18))), two(Ending(19), Ending(20)))
    sorted([Ending(21)], key=lambda k: 1)
    (lambda p: [p := None, ENDED.append("lambda")])(Ending(22))
    for _ in lent(Ending(23)):
        ENDED.append("next")
    x = Ending(24)
    getattr(x, "method")(), one.__call__(x), one.__get__(x)()


def ended():
    ENDED.clear()
    arguments()
    return ENDED[:]


async def coroutine():
    return 5


class A:
    table = [i for i in range(3)]

    def method(self, *args, k=2, **kwargs):
        return args, k, kwargs, super().__repr__()[:5], sorted(locals())


def everything():
    g = generator(2)
    out = [next(g), g.send(4), list(g), fib(10), closure(3), A().method(1, k=3, z=1)]
    try:
        coroutine().send(None)
    except StopIteration as stop:
        out.append(stop.value)
    space = {}
    exec("a = 1\nclass B:\n  y = [j for j in range(2)]\n  z = sorted(locals())\nb = [k for k in (1, 2)]\n", space)
    out += [space["B"].y, space["B"].z, space["b"]]
    try:
        {}["missing"]
    except KeyError:
        out.append(traceback.format_exc())
    out.append(sys._getframe().f_code.co_name)
    return out


def raised_in(other, source):
    """The name of the exception that the code raises in a sub-interpreter."""
    if hasattr(interpreters, "exec"):
        failed = interpreters.exec(other, source)
        return failed and failed.type.__name__
    try:
        interpreters.run_string(other, source)
    except interpreters.RunFailedError as failed:
        return str(failed).partition("'")[2].partition("'")[0]


class Hook(unittest.TestCase):
    def tearDown(self):
        if hook.installed():
            hook.uninstall()

    def test_off_by_default(self):
        self.assertFalse(hook.installed())

    def test_both_modes(self):
        expected = everything()
        for mode in ("observe", "reassemble"):
            with self.subTest(mode):
                counters = hook.install(mode)
                got = everything()
                hook.uninstall()
                self.assertEqual(got, expected)
                self.assertGreater(counters.counters()["frames"], 200)
                self.assertEqual(counters.counters()["replaced"] > 200, mode == "reassemble")
                self.assertEqual(counters.counters()["declined"], 0)

    def test_deep_recursion(self):
        def depth(n):
            return 0 if n == 0 else 1 + depth(n - 1)

        def overflow():
            try:
                depth(10**6)
            except RecursionError as error:
                return str(error)

        expected = overflow()
        for mode in ("observe", "reassemble"):
            hook.install(mode)
            got = overflow(), depth(500)
            hook.uninstall()
            self.assertEqual(got, (expected, 500))

    def test_threads(self):
        def work(results):
            results.append((fib(15), list(generator(3)), closure(2)))

        expected = []
        work(expected)
        for mode in MODES:
            with self.subTest(mode):
                results = []
                counters = hook.install(mode)
                threads = [threading.Thread(target=work, args=(results,)) for _ in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                hook.uninstall()
                self.assertEqual(results, expected * 4)
                self.assertGreater(counters.counters()["frames"], 4 * 1973)
                self.assertEqual(counters.counters()["replaced"] > 0, mode != "observe")

    def test_threads_that_outlive_the_hook(self):
        started, go = threading.Event(), threading.Event()
        results = []

        def work():
            started.set()
            go.wait()
            results.append(fib(12))

        hook.install("reassemble")
        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        hook.uninstall()
        go.set()
        thread.join()
        self.assertEqual(results, [144])
        self.assertFalse(hook.installed())

    def test_tracing_sees_the_same(self):
        def traced(mode):
            events = []

            def tracer(frame, event, arg):
                if frame.f_code.co_filename == __file__:
                    events.append((frame.f_code.co_name, frame.f_lineno, event))
                return tracer

            if mode:
                hook.install(mode)
            sys.settrace(tracer)
            closure(2)
            list(generator(1))
            sys.settrace(None)
            if mode:
                hook.uninstall()
            return [event for event in events if event[0] != "traced"]

        expected = traced(None)
        self.assertEqual(traced("observe"), expected)
        self.assertEqual(traced("reassemble"), expected)

    def test_sub_interpreter(self):
        program = "import sys\ndef f(n): return n and f(n - 1)\nassert f(100) == 0\ndef g():\n  yield sys._getframe().f_code is g.__code__\nassert list(g()) == [True]"
        for mode in MODES:
            with self.subTest(mode):
                counters = hook.install(mode)
                other = interpreters.create()
                try:
                    before = counters.counters()["frames"]
                    self.assertIsNone(raised_in(other, program))
                    self.assertLess(counters.counters()["frames"] - before, 50)
                    self.assertEqual(raised_in(other, "import slotrt"), "ImportError")
                    self.assertEqual(fib(10), 55)
                finally:
                    interpreters.destroy(other)
                    hook.uninstall()

    def test_ends_of_arguments(self):
        plain = ended()
        for _ in range(20):
            self.assertEqual(ended(), plain)
        for mode in MODES:
            with self.subTest(mode):
                hook.install(mode)
                for _ in range(3):
                    self.assertEqual(ended(), plain)
                hook.uninstall()

    def test_receivers_end(self):
        ENDED.clear()
        receivers()
        plain = sorted(ENDED)
        for mode in MODES:
            with self.subTest(mode):
                ENDED.clear()
                hook.install(mode)
                receivers()
                hook.uninstall()
                self.assertEqual(sorted(ENDED), plain)

    def test_ends_of_arguments_while_code_is_traced(self):
        plain = ended()
        hook.install("observe")
        before = sys.gettrace()
        sys.settrace(lambda *_: None)
        try:
            traced = ended()
        finally:
            sys.settrace(before)
        self.assertEqual(sorted(traced), sorted(plain))

    def test_errors(self):
        with self.assertRaisesRegex(ValueError, "observe"):
            hook.install("other")
        with self.assertRaisesRegex(RuntimeError, "not installed"):
            hook.uninstall()
        hook.install("observe")
        with self.assertRaisesRegex(RuntimeError, "installed already"):
            hook.install("observe")


if __name__ == "__main__":
    unittest.main()
