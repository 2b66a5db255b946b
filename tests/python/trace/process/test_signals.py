"""Signals that arrive while a trace runs C code: the program handles them, and the trace is given up."""
import signal
import unittest

import slotrt

HUGE = 10**20


class Late(BaseException):
    pass


def power(base, exponent):
    try:
        return -(base**exponent)
    except ValueError:
        return "not this"


def caught(compiled):
    try:
        return compiled(3, HUGE)
    except Late:
        return "late"


def late(signum, frame):
    raise Late


def late_of_any(*args, **more):
    raise Late


class Methods:
    seen = 0

    def late(self, signum, frame):
        self.seen += 1
        raise Late


class SignalTest(unittest.TestCase):
    def setUp(self):
        self.before = signal.getsignal(signal.SIGALRM)

    def tearDown(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)

    def run_late(self, function, handler):
        signal.signal(signal.SIGALRM, handler)
        compiled = slotrt.compile(function)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        return compiled(3, HUGE)

    def test_a_handler_ends_what_is_folded(self):
        for handler in (late, late_of_any, Methods().late):
            with self.subTest(handler=handler), self.assertRaises(Late):
                self.run_late(power, handler)

    def test_under_fullgraph(self):
        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with self.assertRaises(Late):
            slotrt.compile(power, fullgraph=True)(3, HUGE)

    def test_a_bound_handler_runs_once(self):
        methods = Methods()
        with self.assertRaises(Late):
            self.run_late(power, methods.late)
        self.assertEqual(methods.seen, 1)

    def test_the_caller_may_handle_it(self):
        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        self.assertEqual(slotrt.compile(caught)(power), "late")

    def test_what_is_traced_later_is_not_hurt(self):
        compiled = slotrt.compile(power)
        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with self.assertRaises(Late):
            compiled(3, HUGE)
        slotrt.reset()
        self.assertEqual([compiled(3, 4), compiled(3, 4)], [-81, -81])
        self.assertEqual(slotrt.stats()["frames_compiled"], 1)
        self.assertEqual(slotrt.stats()["cache_hits"], 1)

    def test_the_default_handler_of_sigint(self):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with self.assertRaises(KeyboardInterrupt):
            slotrt.compile(power)(3, HUGE)

    def test_a_handler_that_returns(self):
        seen = []
        signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
        compiled = slotrt.compile(remainder)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        self.assertEqual(compiled(3, 400_000), remainder(3, 400_000))
        self.assertEqual(seen, [signal.SIGALRM])

    def test_arguments_are_not_taken_for_signals(self):
        class Asked:
            def __getitem__(self, key):
                return "item"

            def __index__(self):
                asked.append(self)
                return int(signal.SIGALRM)

        asked = []
        self.assertEqual(slotrt.compile(lambda: "%(key)s" % Asked())(), "item")
        self.assertEqual(asked, [])


def remainder(base, exponent):
    return base**exponent % base**(exponent - 1)


if __name__ == "__main__":
    unittest.main()
