"""Frames that an exception has left have the function's own code in its traceback, and places in it."""

import sys
import types
import unittest

import slotrt


def helper(x):
    raise ValueError(x)


def direct(x):
    y = x + 1
    raise ValueError(y)


def through_a_call(x):
    y = x * 2
    return helper(y)


def after_a_break(x):
    y = x + 1
    slotrt.graph_break()
    z = y + 1
    raise ValueError(z)


def in_c(x):
    held = [x]
    return len(5)


def from_another(x):
    try:
        helper(x)
    except ValueError as error:
        slotrt.graph_break()
        raise KeyError(x) from error


def in_a_loop(x):
    for i in range(4):
        slotrt.graph_break()
        try:
            if i == 2:
                helper(i)
        finally:
            x = i


def with_cells(x):
    y = x
    inner = lambda: y
    slotrt.graph_break()
    z = inner()
    raise ValueError(z)


def with_free_variables(x):
    def inner():
        slotrt.graph_break()
        w = y + 1
        raise ValueError(w)

    y = x
    CODES[inner.__code__.co_name] = inner.__code__
    inner()


def generator(x):
    yield x
    slotrt.graph_break()
    raise ValueError(x)


def through_a_generator(x):
    for _ in generator(x):
        pass


async def coroutine(x):
    y = x
    slotrt.graph_break()
    raise ValueError(y)


def through_a_coroutine(x):
    coroutine(x).send(None)


def nested(x):
    k = x
    return after_a_break(k)


def with_a_comprehension(x):
    y = [x for x in range(x)]
    slotrt.graph_break()
    return [helper(z) for z in y]


def arguments(x, *rest, key=3, **more):
    del x
    slotrt.graph_break()
    return rest[key]


FUNCTIONS = (
    direct,
    through_a_call,
    after_a_break,
    in_c,
    from_another,
    in_a_loop,
    with_cells,
    with_free_variables,
    through_a_generator,
    through_a_coroutine,
    nested,
    with_a_comprehension,
    arguments,
)
CODES = {name: found.__code__ for name, found in list(globals().items()) if isinstance(found, types.FunctionType)}


def entries(error):
    """What each entry shows, but the first: that is of the caller."""
    found = []
    while error is not None:
        entry = error.__traceback__
        while entry is not None:
            frame = entry.tb_frame
            code = frame.f_code
            if code.co_name != "described":
                places = list(code.co_positions())
                shown = (code.co_name, entry.tb_lineno, frame.f_lineno, places[entry.tb_lasti // 2])
                found.append((*shown, sorted(frame.f_locals), code is CODES.get(code.co_name), code.co_varnames))
            entry = entry.tb_next
        error = error.__cause__ or error.__context__
    return found


def described(function):
    try:
        function(3)
    except Exception as error:
        return entries(error)


class CodeOfFrames(unittest.TestCase):
    @unittest.skipIf(sys.version_info < (3, 12), "an exception need not have been made yet when it leaves a function")
    def test_as_plain(self):
        for function in FUNCTIONS:
            with self.subTest(function.__name__):
                compiled, expected = slotrt.compile(function), described(function)
                for _ in range(3):
                    self.assertEqual(described(compiled), expected)

    def test_a_traceback_that_is_kept_says_the_right_lines(self):
        kept = []

        def keeps(x):
            try:
                helper(x)
            except ValueError as error:
                kept.append(error.__traceback__)
            slotrt.graph_break()
            raise KeyError(x)

        def lines(function):
            try:
                function(1)
            except KeyError as error:
                entry = error.__traceback__.tb_next
            return kept[-1].tb_lineno, kept[-1].tb_next.tb_lineno, entry.tb_lineno

        compiled, expected = slotrt.compile(keeps), lines(keeps)
        for _ in range(3):
            self.assertEqual(lines(compiled), expected)


if __name__ == "__main__":
    unittest.main()
