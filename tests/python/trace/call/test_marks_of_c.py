"""What C tells by its address, and what C counts on having for itself."""

import functools
import sys
import unittest

import slotrt

PLACEHOLDER = getattr(functools, "Placeholder", None)


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


def show(*args, **kwargs):
    return args, kwargs


def trailing(mark):
    return functools.partial(show, 1, mark)


def named(mark):
    return functools.partial(show, a=mark)


def called(mark):
    made = functools.partial(show, mark, 1, mark, 2)
    return made(3, 4), outcome(made, 5)


def within(mark):
    outer = functools.partial(functools.partial(show, mark, 1), 7, x=mark is None)
    return outer.args, outer(8), list(map(functools.partial(show, mark, 0), "ab"))


def state(mark):
    made = functools.partial(show)
    made.__setstate__((show, (mark, 1), {}, None))
    return made(2), outcome(made), outcome(made.__setstate__, (show, (1, mark), {}, None))


class Marks(unittest.TestCase):
    @unittest.skipIf(PLACEHOLDER is None, "partial has no placeholders before 3.14")
    def test_placeholders(self):
        outside = functools.partial(show, PLACEHOLDER, "b")
        for program in (trailing, named, called, within, state, lambda mark: outside("a"), lambda mark: outside()):
            with self.subTest(program.__name__):
                compiled = slotrt.compile(program)
                for mark in (PLACEHOLDER, PLACEHOLDER):
                    self.assertEqual(outcome(compiled, mark), outcome(program, mark))

    def test_other_marks(self):
        for mark in (None, Ellipsis, NotImplemented, 5):
            self.assertEqual(slotrt.compile(lambda x: functools.partial(show, 1, x)())(mark), ((1, mark), {}))


class PartsOfC(unittest.TestCase):
    def test_large_numbers_from_text(self):
        """C changes the sign of what its part in Python gives."""
        def program(text):
            return int("-" + text), int(" -" + text), int(" +" + text + " "), -int(text)

        before = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(0)
        try:
            text = str(1 << 100_000)
            compiled = slotrt.compile(program)
            for _ in range(2):
                self.assertEqual(compiled(text), program(text))
            shown = slotrt.compile(lambda number: str(-number))
            self.assertEqual(shown(1 << 100_000), "-" + text)
        finally:
            sys.set_int_max_str_digits(before)


if __name__ == "__main__":
    unittest.main()
