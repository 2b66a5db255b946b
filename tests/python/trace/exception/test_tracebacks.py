"""Tracebacks of exceptions that a trace raises: read inside the trace, and after they leave it."""

import contextlib
import sys
import traceback
import unittest

import slotrt


def raiser(depth):
    if depth:
        raiser(depth - 1)
    raise ValueError(depth)


def lines_of(chain):
    lines = []
    while chain is not None:
        code = chain.tb_frame.f_code
        lines.append((chain.tb_lineno - code.co_firstlineno, code.co_name, chain.tb_frame.f_lineno - code.co_firstlineno))
        chain = chain.tb_next
    return lines


def read_within():
    try:
        raiser(2)
    except ValueError as error:
        return lines_of(error.__traceback__), lines_of(error.__context__.__traceback__ if error.__context__ else None)


def lasti():
    try:
        raiser(1)
    except ValueError as error:
        chain = error.__traceback__.tb_next
        return chain.tb_lasti, chain.tb_frame.f_code is raiser.__code__, chain.tb_next.tb_lasti


def raised_again():
    def middle():
        try:
            raiser(0)
        except ValueError:
            raise

    try:
        middle()
    except ValueError as error:
        return lines_of(error.__traceback__)


def raised_by_name():
    def middle():
        try:
            raiser(0)
        except ValueError as error:
            raise error

    try:
        middle()
    except ValueError as error:
        return lines_of(error.__traceback__)


def given_another():
    def first():
        try:
            raiser(1)
        except ValueError as error:
            return error.__traceback__

    try:
        raise KeyError(1).with_traceback(first())
    except KeyError as error:
        seen = lines_of(error.__traceback__)
        error.__traceback__ = None
        seen.append(error.__traceback__)
        try:
            error.__traceback__ = 3
        except TypeError as wrong:
            seen.append(str(wrong))
        return seen


class Keeper:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, chain):
        self.seen = kind, error.args, chain is error.__traceback__, lines_of(chain), sys.exc_info()[2] is chain
        return True


def with_statement():
    with Keeper() as keeper:
        raiser(1)
    return keeper.seen, sys.exc_info()


@contextlib.contextmanager
def manager():
    try:
        yield 1
    except ValueError as error:
        raise KeyError(2) from error


def through_a_manager():
    try:
        with manager():
            raiser(0)
    except KeyError as error:
        return lines_of(error.__traceback__), lines_of(error.__cause__.__traceback__)


def stacked():
    with contextlib.ExitStack() as stack:
        keeper = stack.enter_context(Keeper())
        stack.push(lambda *details: False)
        raiser(0)
    return keeper.seen


def loops():
    try:
        for number in range(3):
            if number == 2:
                raiser(0)
    except ValueError as error:
        number = 7
        return lines_of(error.__traceback__)
    finally:
        number = 8


def generator():
    try:
        yield 1
    finally:
        raiser(0)


def in_generators():
    made = generator()
    next(made)
    try:
        made.throw(KeyError(3))
    except ValueError as error:
        return lines_of(error.__traceback__), lines_of(error.__context__.__traceback__)


def escapes():
    try:
        raiser(2)
    except ValueError as error:
        return error


def chained():
    try:
        try:
            raiser(1)
        except ValueError as error:
            raise KeyError(1) from error
    except KeyError as error:
        return error


class Refusing:
    def __set_name__(self, owner, name):
        owner.first(owner)


class Base:
    def __new__(cls, *args):
        raise TypeError("not this way") from None


class Renewing(type):
    def __new__(meta, name, bases, namespace):
        namespace["first"] = namespace["__new__"]
        namespace["refusing"] = Refusing()
        try:
            return super().__new__(meta, name, bases, namespace)
        except Exception as error:
            renewed = type(error)(str(error))
            chain = error.__traceback__
        raise renewed.with_traceback(chain)


def class_that_cannot_be_made():
    try:

        class Bad(Base, metaclass=Renewing):
            def __new__(cls, value=1):
                return super().__new__(cls, value)

    except (TypeError, RuntimeError) as error:  # up to 3.11 what __set_name__ raises is wrapped
        return str(error), [line[1] for line in lines_of(error.__traceback__)]


WITHIN = [
    class_that_cannot_be_made, read_within, raised_again, raised_by_name, given_another, with_statement, through_a_manager, stacked, loops, in_generators,
]  # fmt: skip
if sys.version_info >= (3, 13):
    # Before, an evaluation hook changes the caller's position: before or after the caches of its CALL.
    WITHIN.append(lasti)


class Tracebacks(unittest.TestCase):
    maxDiff = None

    def test_within_the_trace(self):
        for function in WITHIN:
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function, fullgraph=True)
                self.assertEqual(compiled(), function())
                self.assertEqual(compiled(), function())

    def test_leaving_the_trace(self):
        for function in (escapes, chained):
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function, fullgraph=True)
                for _ in range(2):
                    plain, made = function(), compiled()
                    lines = [[line[:2] for line in lines_of(error.__traceback__)] for error in (made, plain)]
                    self.assertEqual(*lines)
                    # The traced frame itself has other code: its columns are not marked.
                    shown = ["".join(traceback.format_exception(error.with_traceback(error.__traceback__.tb_next))) for error in (made, plain)]
                    if function is escapes:
                        self.assertEqual(*shown)
                        self.assertIs(made.__traceback__.tb_frame.f_code, raiser.__code__)
                        self.assertIs(made.__traceback__.tb_frame.f_globals, globals())

    def test_a_break_where_the_exception_leaves(self):
        def leaves():
            try:
                raiser(1)
            except ValueError as error:
                return error.__traceback__

        self.assertEqual(lines_of(slotrt.compile(leaves)()), lines_of(leaves()))

    def test_an_exception_from_outside_passes_through_again(self):
        @contextlib.contextmanager
        def no_generator():
            pass

        def resumed():
            try:
                with no_generator():
                    pass
            finally:

                def again():
                    raise

                again()
                yield

        def started():
            try:
                with no_generator():
                    pass
            finally:

                def again():
                    raise

                again()

        def group():
            try:
                raise ExceptionGroup("group", [ValueError(1), KeyError(2)])
            except* ValueError:
                slotrt.graph_break()

                def again(number):
                    for _ in range(number):
                        raise

                again(2)

        def lines(function):
            try:
                list(function() or ())
            except BaseException as error:  # noqa: BLE001
                return repr(error), [line[:2] for line in lines_of(error.__traceback__)]

        for function in (resumed, started, group):
            with self.subTest(function.__name__):
                compiled = slotrt.compile(lines)
                self.assertEqual(compiled(function), lines(function))
                self.assertEqual(compiled(function), lines(function))

    def test_a_generator_expression_over_what_does_not_iterate(self):
        """Where it asks for the iterator (on 3.15 in a frame of its own, which no traceback names) is CPython's choice."""

        def over(given):
            try:
                return [item for item in (part for part in given)]
            except TypeError as error:
                return str(error), [line[:2] for line in lines_of(error.__traceback__)]

        compiled = slotrt.compile(over)
        for given in (2, [1], None, (3,)):
            self.assertEqual(compiled(given), over(given))


def divides(number):
    return 1 / number


def handled(number):
    try:
        return [1,
                divides(number), 2]
    except ZeroDivisionError as error:
        kept = error
    slotrt.graph_break()
    return kept


def handled_twice(number):
    try:
        try:
            return divides(number)
        except ZeroDivisionError as error:
            raise ValueError(number) from error
    except ValueError as error:
        return error


def refuse(key):
    raise IndexError(key)


def says_why(key):
    reason = None
    try:
        refuse(key)
    except IndexError as error:
        reason = error
    raise KeyError(key) from reason


class Columns(unittest.TestCase):
    def test_what_an_exception_marks_that_compiled_code_has_handled(self):
        def marked(error):
            found = []
            while error is not None:
                for entry in traceback.extract_tb(error.__traceback__):
                    found.append((entry.name, entry.lineno, entry.end_lineno, entry.colno, entry.end_colno))
                error = error.__cause__
            return found

        for function in (handled, handled_twice):
            compiled = slotrt.compile(function)
            for _ in range(2):
                self.assertEqual(marked(compiled(0)), marked(function(0)))

    def test_code_of_frames_has_a_hash(self):
        compiled = slotrt.compile(says_why)
        for _ in range(3):
            try:
                compiled(5)
            except KeyError as error:
                codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
            self.assertEqual([code.co_name for code in codes], ["test_code_of_frames_has_a_hash", "says_why"])
            self.assertEqual(len({*codes}), 2)


if __name__ == "__main__":
    unittest.main()
