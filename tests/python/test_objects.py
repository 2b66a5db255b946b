"""Objects of the trace behave as CPython's: identity, what is handled where, and classes that borrow a name."""

import sys
import unittest

import slotrt


def functions_compared():
    def first():
        pass

    def second():
        pass

    listed = [first]
    return first == first, first != first, first == second, listed[0] == first, [first] == listed, first in listed


def handled_in_nested_generators():
    def inner():
        for _ in range(3):
            yield type(sys.exception())

    def outer():
        try:
            raise TypeError
        except TypeError:
            yield from (kind for kind in inner())

    seen = []
    try:
        raise ValueError
    except ValueError:
        for kind in outer():
            seen.append((kind, type(sys.exception())))
    return seen, sys.exception()


def thrown_into_a_generator():
    def handler():
        try:
            raise KeyError(1)
        except KeyError:
            try:
                yield 1
            except ValueError as error:
                yield repr(error.__context__)
        yield type(sys.exception())

    generator = handler()
    seen = [next(generator), sys.exception(), generator.throw(ValueError(2))]
    try:
        raise OSError
    except OSError:
        seen.extend(generator)
    return seen


class property:  # noqa: A001
    """A descriptor with a builtin's name."""

    def __init__(self, member):
        self.member = member

    def __get__(self, instance, owner=None):
        return self.member if instance is None else (self.member, type(instance).__name__)


class function:
    """Has no `__get__`: is never bound."""

    def __call__(self, *args):
        return args


class list(list):  # noqa: A001
    def __eq__(self, other):
        return "asked"

    def __iter__(self):
        return iter("own")


class Holder:
    first = property(5)
    second = function()


def borrowed_names():
    holder = Holder()
    return Holder.first, holder.first, Holder.second(1), holder.second(2), list((1, 2)) == [1, 2], [*list((1, 2))]


class Objects(unittest.TestCase):
    def test_same_as_plain(self):
        for case in (
            functions_compared,
            handled_in_nested_generators,
            thrown_into_a_generator,
            borrowed_names,
        ):
            with self.subTest(case.__name__):
                self.assertEqual(slotrt.compile(case)(), case())


if __name__ == "__main__":
    unittest.main()
