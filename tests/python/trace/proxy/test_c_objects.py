"""Objects of C that a trace makes: Python classes among their arguments and bases, and how they end."""

import argparse
import io
import os
import shutil
import sys
import time
import typing
import unittest
import weakref

import slotrt


class Plain:
    pass


class Derived(Plain):
    pass


class Equal:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Equal) and self.value == other.value

    __hash__ = None


class Text(io.StringIO):
    def twice(self, text):
        self.write(text * 2)
        return self.getvalue()


class Layered(io.TextIOWrapper):
    def __init__(self, text=""):
        super().__init__(io.BufferedWriter(io.BytesIO(text.encode())), "utf-8", newline="\n")

    def getvalue(self):
        self.flush()
        return self.buffer.raw.getvalue().decode()


class Closing(io.StringIO):
    closed_so_far = 0

    def close(self):
        Closing.closed_so_far += 1
        super().close()


def classes():
    union, other = Plain | str, typing.Union[Plain, str]
    made = type("Made", (Plain,), {})
    return (
        set(union.__args__) == set(other.__args__),
        union == other,
        {Plain, Derived, object} == set(Derived.__mro__),
        Plain in Derived.__mro__,
        Derived.__mro__.index(Plain),
        list(made.__bases__) == [Plain],
        {made: 1}[made.__mro__[0]],
        len({Plain, *union.__args__, *other.__args__}),
        (Plain | Derived).__args__ != (Derived, Plain),
        list[Plain].__args__ == (Plain,),
    )


def referents(value):
    one, other, third = Equal(value), Equal(value), Equal(value + 1)
    first, second, last = map(weakref.ref, (one, other, third))
    return first == second, first != second, first == last, first != last


def aliases(value):
    made = type[int](value), type[int]("Made", (), {}).__name__, list[int]([value])
    return made, list[int](), tuple[int](), frozenset[int](), type[int]("") is str


def files(text):
    memory, layered = Text(), Layered("abc")
    print(text, file=memory)
    layered.write(text)
    return memory.twice(text), layered.getvalue(), layered.fileno.__name__, memory.closed


def terminal():
    return shutil.get_terminal_size(), os.terminal_size((1, 2)).lines, sys.__stdout__.fileno(), sys.__stderr__.isatty()


def parse(*words):
    parser = argparse.ArgumentParser(prog="program", exit_on_error=False)
    parser.add_argument("--number", type=int, help="a number")
    parser.add_argument("rest", nargs="*")
    return vars(parser.parse_args(words)), parser.format_help()


def leave(*status):
    try:
        sys.exit(*status)
    except SystemExit as error:
        return error.code, error.args


def leave_handling(status):
    try:
        raise KeyError(status)
    except KeyError:
        try:
            sys.exit(status)
        except SystemExit as error:
            return error.code, type(error.__context__)


def initialised(*more):
    reference = weakref.ref(Plain)
    try:
        return reference.__init__(*more)
    except TypeError as error:
        return str(error)


def broken_down():
    return time.struct_time(range(9)), os.terminal_size((3, 4))


def yields():
    yield 1


async def awaits():
    return 1


async def yields_later():
    yield 1


def what_says_its_address():
    """C functions that read a generator's fields get only a real generator."""
    coroutine = awaits()
    said = [str(made) for made in (yields(), yields_later(), coroutine)]
    said += map(str, [yields()])
    said.append("%s" % (yields(),))
    coroutine.close()
    return [text.partition(" at ")[0] for text in said]


CASES = [
    (classes,),
    (referents, 3),
    (aliases, 3),
    (files, "text"),
    (terminal,),
    (parse, "--number", "3", "a"),
    (leave,),
    (leave, None),
    (leave, 3),
    (leave, "said"),
    (leave_handling, 2),
    (initialised,),
    (initialised, Plain),
    (initialised, Plain, None),
    (initialised, Plain, None, 1),
    (broken_down,),
]


class CObjects(unittest.TestCase):
    def test_as_in_plain_python(self):
        for function, *args in CASES:
            with self.subTest(function=function.__name__, args=args):
                # Up to 3.11 the formatter looks up a cache by a pattern, which has its own `__hash__`; 3.15 has a new method of patterns.
                whole = function is not parse or (3, 12) <= sys.version_info < (3, 15)
                compiled = slotrt.compile(function, fullgraph=whole)
                for _ in range(3):
                    self.assertEqual(compiled(*args), function(*args))

    def test_generators_say_what_they_are(self):
        compiled = slotrt.compile(what_says_its_address)
        for _ in range(3):
            self.assertEqual(compiled(), what_says_its_address())

    def test_files_from_outside_are_read_again(self):
        def number(file):
            try:
                return file.fileno()
            except OSError as error:
                return str(error)

        compiled = slotrt.compile(number, fullgraph=True)
        with open(os.devnull) as one, open(os.devnull) as other:
            for file in (one, other, one, io.StringIO(), io.BytesIO()):
                self.assertEqual(compiled(file), number(file))
        self.assertEqual(compiled.__name__, "number")
        with self.assertRaises(ValueError):
            slotrt.compile(number)(one)

    def test_exit_leaves_the_frame(self):
        with self.assertRaises(SystemExit) as caught:
            slotrt.compile(lambda: sys.exit(4))()
        self.assertEqual(caught.exception.code, 4)

    def test_a_close_of_python_code_runs_where_it_runs(self):
        def used(text):
            file = Closing(text)
            read = file.read()
            del file
            return read, Closing.closed_so_far

        for function in (used, slotrt.compile(used)):
            Closing.closed_so_far = 0
            self.assertEqual(function("text"), ("text", 1))


if __name__ == "__main__":
    unittest.main()
