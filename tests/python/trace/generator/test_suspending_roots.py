"""Generators, coroutines and asynchronous generators compiled in their own right: each stretch between suspensions is a trace."""

import asyncio
import gc
import types
import unittest
import warnings

import slotrt


class Failure(Exception):
    pass


def count(n):
    total = 0
    for step in range(n):
        total += step
        received = yield total
        if received is not None:
            total += received
    return total


def guarded(log):
    try:
        while True:
            try:
                log.append((yield len(log)))
            except Failure as error:
                log.append(repr(error))
    finally:
        log.append("closed")


def delegating(n):
    result = yield from count(n)
    yield result
    yield from (item * 2 for item in range(n))


@types.coroutine
def paused(n):
    received = yield n
    return received


async def waiting(n):
    return await paused(n), n


async def sleepy(n):
    await asyncio.sleep(0)
    return n * 2


async def several(n):
    first = await sleepy(n)
    second, third = await asyncio.gather(sleepy(first), sleepy(n + 1))
    async with asyncio.timeout(5):
        last = await asyncio.wait_for(sleepy(third), 5)
    return first, second, third, last


async def ticks(n):
    for step in range(n):
        try:
            yield step
        except Failure:
            yield "thrown"
        await asyncio.sleep(0)


async def consuming(n):
    seen = [tick async for tick in ticks(n)]
    generator = ticks(n)
    async for tick in generator:
        seen.append(tick)
        break
    seen.append(await generator.athrow(Failure()))
    await generator.aclose()
    return seen


async def failing(n):
    try:
        await sleepy(n)
        raise Failure(n)
    finally:
        await asyncio.sleep(0)


async def cancelled(n):
    task = asyncio.create_task(asyncio.sleep(60))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return "cancelled", n


def steps(generator, *sent):
    """What a generator gives for these values, exceptions and ends."""
    seen = []
    for value in sent:
        try:
            if isinstance(value, BaseException):
                seen.append(generator.throw(value))
            elif value == "close":
                seen.append(generator.close())
            else:
                seen.append(generator.send(value))
        except StopIteration as stop:
            seen.append(("stop", stop.value))
        except BaseException as error:
            seen.append((type(error).__name__, str(error)))
    return seen


class TestGenerators(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def assert_same(self, function, run, *arguments):
        compiled = slotrt.compile(function)
        for argument in arguments:
            self.assertEqual(run(compiled(argument)), run(function(argument)), argument)
        self.assertEqual(slotrt.stats()["frames_skipped"], 0)
        self.assertGreater(slotrt.stats()["frames_compiled"], 0)

    def test_values_go_in_and_out(self):
        self.assert_same(count, list, 3, 3, 4, 0)
        self.assert_same(count, lambda made: steps(made, None, 5, None, 7, None, None), 3, 3, 5)

    def test_delegation(self):
        self.assert_same(delegating, list, 3, 3, 2)

    def test_generators_that_are_awaited(self):
        self.assert_same(waiting, lambda made: steps(made, None, 5), 1, 1, 2)
        self.assert_same(paused, lambda made: steps(made, None, 5), 1, 1, 2)

    def test_exceptions_and_close(self):
        for sent in ((None, 1, Failure("in"), 2, "close"), (Failure("first"), None), (None, "close", None), (None, KeyError(1))):
            logs = [], []
            compiled = slotrt.compile(guarded)
            self.assertEqual(steps(compiled(logs[0]), *sent), steps(guarded(logs[1]), *sent))
            self.assertEqual(*logs)

    def test_one_that_is_let_go(self):
        logs = [], []
        for function, log in zip((slotrt.compile(guarded), guarded), logs, strict=True):
            generator = function(log)
            next(generator)
            del generator
            gc.collect()
        self.assertEqual(*logs)


class TestCoroutines(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def assert_same(self, function, *arguments):
        compiled = slotrt.compile(function)
        for argument in arguments:
            self.assertEqual(asyncio.run(compiled(argument)), asyncio.run(function(argument)))
        self.assertEqual(slotrt.stats()["frames_skipped"], 0)
        self.assertGreater(slotrt.stats()["frames_compiled"], 0)

    def test_awaiting(self):
        self.assert_same(sleepy, 1, 1, 2)
        self.assert_same(several, 1, 1, 2)

    def test_asynchronous_generators(self):
        self.assert_same(consuming, 3, 3, 2)

        async def collect(made):
            return [item async for item in made]

        compiled = slotrt.compile(ticks)
        for n in (3, 3, 2):
            self.assertEqual(asyncio.run(collect(compiled(n))), asyncio.run(collect(ticks(n))))

    def test_cancellation(self):
        self.assert_same(cancelled, 1, 1)

    def test_exceptions_leave_with_their_traceback(self):
        compiled = slotrt.compile(failing)
        for function in (compiled, failing, compiled):
            try:
                asyncio.run(function(3))
            except Failure as caught:
                error = caught
            self.assertEqual(error.args, (3,))
            names, entry = [], error.__traceback__
            while entry is not None:
                names.append((entry.tb_frame.f_code.co_name, entry.tb_lineno))
                entry = entry.tb_next
            self.assertEqual(names[-1], ("failing", failing.__code__.co_firstlineno + 3))

    def test_the_interpreter_knows_what_it_is(self):
        for function in (count, sleepy, ticks):
            compiled = slotrt.compile(function)
            made, plain = compiled(1), function(1)
            self.assertIs(type(made), type(plain))
            self.assertEqual(made.__qualname__, plain.__qualname__)
            if function is sleepy:
                made.close()
                plain.close()

    def test_one_that_is_never_awaited(self):
        compiled = slotrt.compile(sleepy)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled(1)
            gc.collect()
        self.assertIn("was never awaited", str(caught[0].message))

    def test_fullgraph_where_nothing_breaks(self):
        async def plain(n):
            return [i * n for i in range(3)]

        compiled = slotrt.compile(plain, fullgraph=True)
        for n in (1, 1, 2):
            self.assertEqual(asyncio.run(compiled(n)), [0, n, 2 * n])

        async def breaks(n):
            slotrt.graph_break()
            return n

        compiled = slotrt.compile(breaks, fullgraph=True)
        with self.assertRaises(slotrt.GraphBreak):
            compiled(1).send(None)

    def test_below_a_break(self):
        async def inner(n):
            slotrt.graph_break()
            return await sleepy(n)

        def run(n):
            try:
                return asyncio.run(inner(n))
            finally:
                slotrt.graph_break()

        compiled = slotrt.compile(run)
        for n in (1, 1, 2):
            self.assertEqual(compiled(n), run(n))


if __name__ == "__main__":
    unittest.main()
