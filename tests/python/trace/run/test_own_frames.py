"""Functions that look at their own frame, themselves or through a function that they name: a graph break leaves them alone, so that the
frame is the one that plain Python has, with the function's code."""

import inspect
import sys
import traceback
import types
import unittest

import slotrt


def break_here():
    slotrt.graph_break()


def code_of_caller():
    return sys._getframe(1).f_code


def set_in_caller(value):
    sys._getframe(1).f_locals["x"] = value


def stack():
    found, frame = [], sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "outcome":
        found.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return found


def own_code(x):
    made = x + 1
    slotrt.graph_break()
    code = sys._getframe().f_code
    return code.co_consts, code.co_varnames, code.co_argcount, list(code.co_positions()), made


def own_code_by_callee(x):
    first = code_of_caller()
    slotrt.graph_break()
    return first is code_of_caller(), first.co_code == code_of_caller().co_code, first.co_varnames


def same_frame(x):
    first = sys._getframe()
    slotrt.graph_break()
    second = inspect.currentframe()
    break_here()
    return first is second, first is sys._getframe(), first.f_lineno - first.f_code.co_firstlineno


def written_locals(x):
    shown = sys._getframe().f_locals
    slotrt.graph_break()
    if sys.version_info >= (3, 13):
        shown["x"] = 5
    y = x + 1
    slotrt.graph_break()
    if sys.version_info >= (3, 13):
        set_in_caller(11)
    return x, y, sorted(sys._getframe().f_locals)


def cleared(x):
    slotrt.graph_break()
    try:
        sys._getframe().clear()
    except RuntimeError as error:
        return str(error)


def arguments(x, *rest, key=3, **more):
    slotrt.graph_break()
    found = inspect.getargvalues(inspect.currentframe())
    return found.args, found.varargs, found.keywords, sorted(found.locals)


def place(x):
    slotrt.graph_break()
    frame = sys._getframe()
    for _ in range(2):
        slotrt.graph_break()
    return frame.f_lasti, [summary.lineno for summary in traceback.extract_stack(frame, limit=1)]


def generator(x):
    yield stack()
    slotrt.graph_break()
    yield stack()
    yield sys._getframe().f_code.co_varnames, x


def through_generator(x):
    found = []
    for item in generator(x):
        found.append(item)
    slotrt.graph_break()
    return found, stack()


@types.coroutine
def pause():
    yield


async def coroutine(x):
    first = stack()
    slotrt.graph_break()
    await pause()
    return first, stack(), x


def through_coroutine(x):
    running, found = coroutine(x), []
    try:
        while True:
            running.send(None)
            slotrt.graph_break()
    except StopIteration as stop:
        found.append(stop.value)
    return found


def looks_without_a_break(x):
    return sys._getframe().f_code.co_name, x


def outcome(function, *args):
    return function(*args)


class OwnFrames(unittest.TestCase):
    def test_as_plain(self):
        for function in (
            own_code,
            own_code_by_callee,
            same_frame,
            written_locals,
            cleared,
            arguments,
            place,
            through_generator,
            through_coroutine,
        ):
            with self.subTest(function=function.__name__):
                compiled, expected = slotrt.compile(function), outcome(function, 1)
                for _ in range(3):
                    self.assertEqual(outcome(compiled, 1), expected)

    def test_the_function_s_own_code(self):
        def own(x):
            slotrt.graph_break()
            return sys._getframe().f_code is own.__code__, code_of_caller() is own.__code__

        compiled = slotrt.compile(own)
        for _ in range(3):
            self.assertEqual(compiled(1), (True, True))

    def test_generators_code(self):
        def own(x):
            slotrt.graph_break()
            yield sys._getframe().f_code is own.__code__

        running = slotrt.compile(own)(1)
        self.assertIs(running.gi_code, own.__code__)
        self.assertEqual(list(running), [True])

    def test_what_breaks_nothing_is_compiled(self):
        slotrt.reset()
        compiled = slotrt.compile(looks_without_a_break, fullgraph=True)
        self.assertEqual(compiled(1), ("looks_without_a_break", 1))
        self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_what_such_a_function_calls_is_compiled(self):
        slotrt.reset()
        self.assertEqual(slotrt.compile(through_generator)(1), through_generator(1))
        report = slotrt.explain(same_frame)(1)
        self.assertIn("looks at its own frame", str(report))


if __name__ == "__main__":
    unittest.main()
