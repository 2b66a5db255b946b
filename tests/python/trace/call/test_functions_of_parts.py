"""Functions that the program makes of code and a dict of its own, and code that awaits outside of a function."""

import ast
import types
import unittest

import slotrt


def reads():
    global a
    a = 5
    return b  # noqa: F821


BODY = compile("a = 1\nc = [a, b]", "body", "exec")
AWAITS = compile("a = await later()", "body", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


async def later():
    return 4


def kept():
    names = {"b": 3}
    function = types.FunctionType(reads.__code__, names)
    return function, names


def kept_beyond_a_break():
    names = {"b": 3}
    function = types.FunctionType(BODY, names)
    slotrt.graph_break()
    return function, names


def called():
    names = {"b": 3}
    return types.FunctionType(reads.__code__, names)(), names.get("a"), len(names)


def body():
    names = {"b": 3}
    return types.FunctionType(BODY, names)(), names["a"], names["c"], len(names)


def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def awaiting():
    names = {"later": later}
    return run(types.FunctionType(AWAITS, names)()), names["a"]


def awaiting_by_eval():
    names = {"later": later}
    return run(eval(AWAITS, names)), names["a"]


class FunctionsOfParts(unittest.TestCase):
    def test_they_are_made_anew(self):
        for function in (kept, kept_beyond_a_break):
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function)
                (first, names), (second, others) = compiled(), compiled()
                self.assertIsNot(first, second)
                self.assertIs(first.__globals__, names)
                self.assertIs(second.__globals__, others)

    def test_what_they_do(self):
        for function in (called, body, awaiting, awaiting_by_eval):
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function)
                self.assertEqual([compiled(), compiled()], [function()] * 2)


if __name__ == "__main__":
    unittest.main()
