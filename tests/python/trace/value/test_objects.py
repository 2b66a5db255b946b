"""Objects of the trace behave as CPython's: identity, handled exceptions, and classes with the name of a builtin."""

import collections.abc as abc
import enum
import re
import sys
import types
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


OwnList = list
del list, property, function


def borrowed_names():
    holder, own = Holder(), OwnList((1, 2))
    return Holder.first, holder.first, Holder.second(1), holder.second(2), own == [1, 2], [*own]


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Flags(enum.IntFlag):
    READ = 1
    WRITE = 2


class Text(str):
    pass


class Odd(int):
    def __eq__(self, other):
        return "eq"

    def __hash__(self):
        return 5

    def __add__(self, other):
        return "add", other


TEXT, ODD = Text("abc"), Odd(4)


def subclasses_of_scalars():
    low, high, read = Level.LOW, Level.HIGH, Flags.READ
    return (
        (low + 1, high * low, low < high, low == 1, hash(low), repr(low), str(low), f"{low}", bool(low)),
        ((read | Flags.WRITE).value, bool(Flags(0)), ~read, len(TEXT), TEXT.upper(), TEXT + "d", TEXT[1]),
        (ODD + 1, 1 + ODD, ODD == 4, 4 == ODD, hash(ODD), ODD * 2),
    )


HOLDER = types.ModuleType("holder")
HOLDER.x = 1
OWN = sys.modules[__name__]
shared = 1


def attributes_of_modules():
    global shared
    seen = [HOLDER.x]
    HOLDER.x = 2
    HOLDER.y = shared = 3
    seen += [HOLDER.x, HOLDER.y, OWN.shared]
    OWN.shared = 4
    seen.append(shared)
    del HOLDER.x
    try:
        HOLDER.x
    except AttributeError as error:
        seen.append(str(error))
    HOLDER.x = shared = 1
    return seen


def patterns():
    found = re.match("a(?P<x>b)", "ab")
    try:
        re.compile("(")
    except re.error as error:
        return found.group("x"), str(error)


def special_method_set_late():
    class Made:
        def __init__(self, value):
            self.value = value

        def __repr__(self):
            return f"Made({self.value})"

    made = [Made(1), Made(2)]
    before = made == [Made(1), Made(2)]
    Made.__eq__ = lambda self, other: self.value == other.value
    after = made == [Made(1), Made(2)]
    del Made.__eq__
    return before, after, made == [Made(1), Made(2)], repr(made)


LOG = []


class Missing(dict):
    def __missing__(self, key):
        LOG.append(("missing", key))
        return 5


class Watched(list):
    def __iter__(self):
        LOG.append("iter")
        return super().__iter__()

    def __len__(self):
        LOG.append("len")
        return super().__len__()


class Word(str):
    def __eq__(self, other):
        LOG.append("eq")
        return str.__eq__(self, other)

    __hash__ = str.__hash__

    def __str__(self):
        LOG.append("str")
        return "word"


class Whole(int):
    def __index__(self):
        LOG.append("index")
        return 1

    def __repr__(self):
        LOG.append("repr")
        return "Whole"


def subclasses_that_answer_themselves():
    """Each method that C calls on them runs once in the trace, and again at each call."""
    missing, watched, word, whole = Missing(), Watched([1, 2]), Word("a"), Whole(3)
    return (
        (missing["x"], missing.get("y")),
        (list(watched), len(watched), sorted(watched), tuple(watched), sum(watched), watched.index(2), [*watched]),
        (word == "a", "a" == word, {word: 1}["a"], str(word), f"{word}", "%s" % word, ["a"].index(word)),
        ([1, 2, 3, 4][whole], repr(whole), str([whole]), range(whole), whole + 1, max(whole, Whole(1)) == 3),
    )


class Number(str):
    """Text with methods of numbers: `complex` reads the text first, `int` and `float` call the method first."""

    def __complex__(self):
        return 1j

    def __int__(self):
        return 5

    def __float__(self):
        return 2.5


def text_that_is_a_number():
    found = []
    for text in ("7", "x", "1+2j"):
        for kind in (complex, int, float):
            try:
                found.append(kind(Number(text)))
            except ValueError as error:
                found.append(str(error))
    return found


class Claims:
    @property
    def __class__(self):
        return dict


def claimed_classes():
    values = Claims(), [], {}, 5, Word("a")
    return [(isinstance(value, dict), isinstance(value, (abc.Mapping, list, int))) for value in values]


class Objects(unittest.TestCase):
    def test_same_as_plain(self):
        for case in (
            functions_compared,
            handled_in_nested_generators,
            thrown_into_a_generator,
            borrowed_names,
            subclasses_of_scalars,
            text_that_is_a_number,
            attributes_of_modules,
            patterns,
            special_method_set_late,
            claimed_classes,
        ):
            with self.subTest(case.__name__):
                compiled = slotrt.compile(case)
                for _ in range(2):
                    self.assertEqual(compiled(), case())

    def test_python_code_that_c_runs(self):
        LOG.clear()
        plain, log = subclasses_that_answer_themselves(), list(LOG)
        compiled = slotrt.compile(subclasses_that_answer_themselves, fullgraph=True)
        for _ in range(2):
            LOG.clear()
            self.assertEqual(compiled(), plain)
            self.assertEqual(LOG, log)

    def test_messages_name_the_class_that_has_the_method(self):
        def refused(value):
            try:
                return value.pop(1, 2)
            except TypeError as error:
                return str(error)

        class Own(set):
            pass

        self.assertEqual(slotrt.compile(refused)(Own()), refused(Own()))

    def test_messages_name_it_too_where_the_method_load_ran_natively(self):
        def refused(value):
            return value.pop(1, 2)

        def refused_above(value):
            return super(Own, value).pop(1, 2)

        class Own(set):
            pass

        for function in (refused, refused_above):
            compiled = slotrt.compile(function)
            for value in ((), Own(), Own()):
                with self.subTest(function=function.__name__, value=value):
                    self.assertEqual(self.error(compiled, value), self.error(function, value))

    @staticmethod
    def error(function, value):
        try:
            return function(value)
        except (AttributeError, TypeError) as error:
            return repr(error)

    def test_what_the_caller_handles_is_the_context(self):
        def caught():
            try:
                raise ValueError(1)
            except ValueError as error:
                return repr(error.__context__), repr(sys.exception())

        compiled = slotrt.compile(caught)
        for _ in range(2):
            self.assertEqual(compiled(), caught())
            try:
                raise TypeError(2)
            except TypeError:
                self.assertEqual(compiled(), caught())


if __name__ == "__main__":
    unittest.main()
