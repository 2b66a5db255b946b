"""What an exception that the program holds says of itself: by the generated bodies of its class, with guards on what they read."""

import sys
import unittest

import slotrt


def held(exception):
    try:
        raise exception
    except BaseException as error:
        return error


class Own(ValueError):
    pass


class Worded(ValueError):
    def __str__(self):
        return "worded " + self.args[0]


class Hidden(ValueError):
    args = "a name of its own"


def text(error):
    return str(error)


def shown(error):
    return repr(error)


def formatted(error):
    return f"{error}", "%s" % (error,)


def emptied():
    error = OSError(2, "no", "file")
    del error.filename
    return error


def unnamed():
    error = OSError(2, "no")
    error.filename = None
    return error


def changed_group(at):
    exceptions = [ValueError(at), KeyError(at)]
    group = ExceptionGroup("group", exceptions)
    exceptions.pop()
    return group


MADE = [
    lambda at: ValueError(),
    lambda at: ValueError("v%d" % at),
    lambda at: ValueError(None),
    lambda at: ValueError("v", at),
    lambda at: ValueError(["v", at]),
    lambda at: KeyError("k%d" % at),
    lambda at: KeyError("k", at),
    lambda at: OSError(2, "no"),
    lambda at: OSError(2, "no%d" % at, "file"),
    lambda at: OSError(2, "no", "file", None, "other"),
    lambda at: emptied(),
    lambda at: unnamed(),
    lambda at: ImportError("x%d" % at),
    lambda at: ImportError("x", name="n"),
    lambda at: SyntaxError("s", ("f", 1, 2, "t")),
    lambda at: SyntaxError(),
    lambda at: StopIteration(at),
    lambda at: UnicodeDecodeError("ascii", b"\xff", 0, 1, "r"),
    lambda at: SystemExit(at),
    lambda at: changed_group(at),
    lambda at: Own("o%d" % at),
    lambda at: Worded("w%d" % at),
    lambda at: Hidden("h%d" % at),
]


@slotrt.disable
def fail(at):
    raise ValueError("failed %d" % at)


def handled(at):
    try:
        fail(at)
    except ValueError as error:
        return str(error)


def renamed(error):
    error.filename = None
    return str(error)


def cleared(error):
    before = str(error)
    del error.filename
    return before, str(error)


def given_other_args(error):
    before = str(error), repr(error)
    error.args = ("other", 1)
    return before, str(error), repr(error)


def numbered(error):
    error.errno = 7
    return str(error), error.errno


class Texts(unittest.TestCase):
    def test_what_the_trace_has_changed(self):
        for function in (renamed, cleared, given_other_args, numbered):
            compiled = slotrt.compile(function)
            for at in (1, 2, 1):
                for make in (lambda at: OSError(2, "no%d" % at, "file"), lambda at: OSError(2, "no%d" % at, "file", None, "other")):
                    with self.subTest(function=function.__name__, at=at):
                        one, other = held(make(at)), held(make(at))
                        self.assertEqual(compiled(one), function(other))
                        self.assertEqual((str(one), repr(one), one.filename), (str(other), repr(other), other.filename))

    def test_as_in_plain_python(self):
        for number, make in enumerate(MADE):
            for function in (text, shown, formatted):
                compiled = slotrt.compile(function)
                for at in (1, 2, 1):
                    with self.subTest(number=number, function=function.__name__, at=at):
                        error = held(make(at))
                        self.assertEqual(compiled(error), function(error))

    def test_members_that_are_nothing(self):
        """`None` and nothing look alike as attributes, and are not to C."""
        compiled = slotrt.compile(text)
        for error in (OSError(2, "no"), unnamed(), emptied(), OSError(2, "no", "file"), unnamed(), OSError(2, "no")):
            self.assertEqual(compiled(error), str(error))

    def test_without_a_break(self):
        # Only members tell nothing and `None` apart; where they lie in later releases their own bodies say.
        nothing = MADE[7:8] if sys.version_info < (3, 14) else []
        for make in (MADE[0], MADE[1], MADE[2], MADE[3], MADE[5], MADE[12], *nothing):
            for function in (text, shown):
                error = held(make(1))
                # Its own way of showing itself has no body before the release's own are generated.
                if isinstance(error, ImportError) and function is shown and sys.version_info >= (3, 15):
                    continue
                self.assertEqual(slotrt.compile(function, fullgraph=True)(error), function(error))

    def test_one_trace_for_all_texts(self):
        compiled = slotrt.compile(handled)
        compiled(0)
        before = slotrt.stats()["frames_compiled"]
        for at in range(1, 12):
            self.assertEqual(compiled(at), "failed %d" % at)
        self.assertEqual(slotrt.stats()["frames_compiled"], before)


if __name__ == "__main__":
    unittest.main()
