"""Exception groups that are split, partly caught and raised again: structure, tracebacks, contexts."""

import traceback
import unittest

import slotrt


class Own(Exception):
    pass


class Derived(ExceptionGroup):
    def derive(self, parts):
        return Derived("derived " + self.message, parts)


def nested(last):
    return ExceptionGroup("whole", [ValueError(1), ExceptionGroup("part", [TypeError(2), Own(last)])])


def not_caught(last):
    try:
        raise nested(last)
    except* (OSError, LookupError):
        pass


def caught_in_part(last):
    try:
        raise nested(last)
    except* TypeError as caught:
        count = len(caught.exceptions)
    return count


def raised_again(last):
    try:
        raise nested(last)
    except* ValueError as caught:
        raise caught


def raised_again_bare(last):
    try:
        raise nested(last)
    except* ValueError:
        raise


def naked(last):
    try:
        raise Own(last)
    except* Own as caught:
        raise caught


def naked_bare(last):
    try:
        raise Own(last)
    except* ValueError:
        last = 1
    except* (KeyError, Own):
        raise


def naked_lines(last):
    try:
        raise Own(last)
    except* Own as caught:
        lines = traceback.extract_tb(caught.__traceback__)
    return [(line.name, line.lineno) for line in lines], str(caught) if "caught" in locals() else None


def raised_anew(last):
    try:
        raise nested(last)
    except* (ValueError, Own):
        raise OSError(last)


def of_a_derived_class(last):
    try:
        raise Derived("whole", [ValueError(1), Derived("part", [TypeError(2), Own(last)])])
    except* Own as caught:
        raise caught.exceptions[0] from None


def split(last):
    try:
        raise nested(last)
    except ExceptionGroup as whole:
        parts = [*whole.split(TypeError), whole.subgroup(Own), whole.derive([OSError(last)])]
        raise ExceptionGroup("parts", parts)


def split_by_classes(last):
    whole = nested(last)
    matched, rest = whole.split((Own, TypeError))
    return repr(matched), repr(rest), whole.split(KeyError)[0], repr(whole.subgroup(Own)), whole.subgroup((KeyError, OSError))


def split_by_function(last):
    return repr(nested(last).split(lambda error: isinstance(error, Own)))


def lines_of_parts(last):
    try:
        raise nested(last)
    except ExceptionGroup as whole:
        part = whole.subgroup(Own)
        return part.__traceback__ is whole.__traceback__, part.__traceback__.tb_lineno, part.exceptions[0].__traceback__


def bare_within_another(last):
    try:
        nested[last]
    except* Exception:
        try:
            raise
        except* GeneratorExit:
            pass


def bare_within_another_that_catches(last):
    try:
        nested[last]
    except* Exception:
        try:
            raise
        except* TypeError as error:
            caught = repr(error)
        return_of = caught
    return return_of


def described(error):
    """An exception with everything that it refers to, without the frames of this test."""
    lines, entry = [], error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code.co_name not in ("outcome", "described"):
            lines.append((entry.tb_frame.f_code.co_name, entry.tb_lineno))
        entry = entry.tb_next
    parts = [described(part) for part in getattr(error, "exceptions", ())]
    return type(error), str(error), lines, parts, repr(error.__context__), repr(error.__cause__)


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return described(error)


class Groups(unittest.TestCase):
    def test_split_groups_keep_tracebacks(self):
        functions = [
            not_caught, caught_in_part, raised_again, raised_again_bare, naked, naked_bare, naked_lines, raised_anew, of_a_derived_class, split, split_by_classes,
            split_by_function, lines_of_parts, bare_within_another, bare_within_another_that_catches,
        ]
        for function in functions:
            with self.subTest(function.__name__):
                compiled = slotrt.compile(function)
                for last in (3, 3, 4):
                    self.assertEqual(outcome(compiled, last), outcome(function, last))


if __name__ == "__main__":
    unittest.main()
