"""Exception groups that `except*` splits before a graph break: what is raised again after it is still seen to be a part of the group, by its
traceback, which the parts share."""

import traceback
import unittest

import slotrt


def told(error):
    """An exception with its parts, and the lines of its traceback."""
    lines = [(entry.name, entry.lineno) for entry in traceback.extract_tb(error.__traceback__) if entry.name != "outcome"]
    parts = [told(part) for part in getattr(error, "exceptions", ())]
    return type(error).__name__, str(error), lines, parts, error.__cause__, error.__context__ and told(error.__context__)


def outcome(function):
    try:
        return function()
    except BaseException as error:
        return told(error)


def raised_again():
    try:
        raise ExceptionGroup("a", [ValueError(1), KeyError(2)])
    except* KeyError:
        slotrt.graph_break()
        raise


def two_raised_again():
    try:
        raise ExceptionGroup("a", [ValueError(1), KeyError(2), OSError(3)])
    except* KeyError:
        slotrt.graph_break()
        raise
    except* OSError:
        slotrt.graph_break()
        raise


def nested():
    try:
        slotrt.graph_break()
        raise ExceptionGroup("a", [ExceptionGroup("b", [ValueError(1), KeyError(2)]), OSError(3)])
    except* (KeyError, OSError):
        slotrt.graph_break()
        raise


def caught():
    try:
        try:
            raise ExceptionGroup("a", [ValueError(1), KeyError(2)])
        except* KeyError:
            slotrt.graph_break()
            raise
    except Exception as error:
        slotrt.graph_break()
        return told(error)


def fails():
    raise ExceptionGroup("a", [ValueError(1), KeyError(2)])


def from_a_callee():
    try:
        fails()
    except* KeyError as error:
        slotrt.graph_break()
        raise
    finally:
        slotrt.graph_break()


def another_one():
    try:
        raise ExceptionGroup("a", [ValueError(1), KeyError(2)])
    except* KeyError:
        slotrt.graph_break()
        raise OSError(3)


def shared():
    error, other = ValueError(1), KeyError(2)
    try:
        raise error
    except ValueError:
        other.__traceback__ = error.__traceback__
    slotrt.graph_break()
    return error.__traceback__ is other.__traceback__, error.__traceback__.tb_lineno - other.__traceback__.tb_lineno


class GroupsRaisedAgain(unittest.TestCase):
    def test_as_plain(self):
        for function in (raised_again, two_raised_again, nested, caught, from_a_callee, another_one, shared):
            with self.subTest(function=function.__name__):
                compiled, expected = slotrt.compile(function), outcome(function)
                for _ in range(3):
                    self.assertEqual(outcome(compiled), expected)


if __name__ == "__main__":
    unittest.main()
