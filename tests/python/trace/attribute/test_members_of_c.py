"""Members that a class of Python code has from C: what C refuses is refused where the program sets it."""

import types
import unittest

import slotrt


class Plain:
    pass


class Module(types.ModuleType, Plain):
    pass


class Error(Exception):
    pass


class Syntax(SyntaxError):
    pass


class Slotted:
    __slots__ = ("member",)


def read_only(object, value):
    try:
        object.__dict__ = value
    except (AttributeError, TypeError) as error:
        return str(error)
    return vars(object)


def typed(object, value):
    try:
        object.__suppress_context__ = value
    except TypeError as error:
        return str(error)
    return object.__suppress_context__


def any_object(object, value):
    object.lineno = value
    return object.lineno


def slot(object, value):
    object.member = value
    return object.member


def of_class(code):
    positions = code.co_positions()
    kind = type(positions)
    return kind.__doc__, kind.__mro__, positions.__sizeof__() > 0, next(positions)


class MembersOfC(unittest.TestCase):
    def test_where_they_are_set(self):
        rows = [
            (read_only, lambda: Module("made"), ({}, 1)),
            (read_only, Plain, ({"a": 1}, 1)),
            (typed, Error, (True, False, 5)),
            (any_object, Syntax, (True, 5, "text")),
            (slot, Slotted, (1, "text")),
        ]
        for function, make, values in rows:
            with self.subTest(function=function.__name__, of=type(make()).__name__):
                compiled = slotrt.compile(function)
                for value in values * 2:
                    self.assertEqual(compiled(make(), value), function(make(), value))

    def test_a_slot_is_traced(self):
        self.assertEqual(slotrt.explain(slot)(Slotted(), 1).breaks, 0)

    def test_a_class_that_gets_ready_late(self):
        # CPython 3.11 gets this class ready at the first lookup in it, which is the trace's.
        compiled = slotrt.compile(of_class)
        traced = [compiled(slot.__code__) for _ in range(2)]
        self.assertEqual(traced, [of_class(slot.__code__)] * 2)


if __name__ == "__main__":
    unittest.main()
