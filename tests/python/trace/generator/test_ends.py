"""How generators end that are made in a trace: the traceback of what is thrown before they start, the context of what stops them."""

import traceback
import unittest

import slotrt


def lines(error):
    first = error.__traceback__.tb_lineno
    return [(entry.name, entry.lineno - first) for entry in traceback.extract_tb(error.__traceback__)]


def thrown_before_the_start(make, thrown):
    steps = make()
    try:
        steps.throw(thrown)
    except BaseException as error:
        return repr(error), lines(error)


def generator():
    yield 1


async def coroutine():
    return 1


def expression():
    return (x for x in [1])


def delegating():
    yield from generator()


def ended(step):
    """What ends the step while an exception is handled, and its context."""
    try:
        raise KeyError("handled")
    except KeyError:
        try:
            step()
        except BaseException as error:
            return repr(error), repr(error.__context__), lines(error)


def returning(value):
    if value == "yields":
        yield
    return value


async def awaited(value):
    return value


async def asynchronous(values):
    for value in values:
        try:
            yield value
        except ValueError:
            yield None


def next_of(value):
    return ended(lambda: next(returning(value)))


def method_of(value):
    return ended(returning(value).__next__)


def sent_to(value):
    return ended(lambda: returning(value).send(None))


def sent_to_coroutine(value):
    return ended(lambda: awaited(value).send(None))


def asked_of_asynchronous(value):
    steps = asynchronous([value])
    return ended(lambda: steps.__anext__().send(None))


def thrown_into_asynchronous(value):
    steps = asynchronous([value])
    first = ended(lambda: steps.asend(None).send(None))
    thrown = ended(lambda: steps.athrow(ValueError).send(None))
    closed = ended(lambda: steps.aclose().send(None))
    again = ended(lambda: steps.athrow(ValueError).send(None))
    return first, thrown, closed, again


def returned_to_delegate(value):
    def outer():
        inner = returning(value)
        try:
            raise IndexError
        except IndexError:
            got = yield from inner
        return got

    return ended(lambda: next(outer()))


class Ends(unittest.TestCase):
    def compare(self, function, *args):
        plain = function(*args)
        compiled = slotrt.compile(function)
        for _ in range(2):
            self.assertEqual(compiled(*args), plain)

    def test_thrown_before_the_start(self):
        for make in generator, coroutine, expression, delegating:
            for thrown in GeneratorExit, ValueError, StopIteration, OSError:
                with self.subTest(make=make.__name__, thrown=thrown):
                    self.compare(thrown_before_the_start, make, thrown)

    def test_context_of_the_end(self):
        of_one = [next_of, method_of, sent_to, sent_to_coroutine, returned_to_delegate]
        for step in of_one + [asked_of_asynchronous, thrown_into_asynchronous]:
            for value in None, "", (1, 2), ValueError("returned"), (), 5:
                with self.subTest(step=step.__name__, value=value):
                    self.compare(step, value)
