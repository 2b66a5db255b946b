"""Generators, coroutines, asynchronous generators and `except*` inside a trace: CPython's results, without a graph break."""

import sys
import types
import unittest

import slotrt


def drive(coroutine):
    out = []
    try:
        while True:
            out.append(coroutine.send(None))
    except StopIteration as stop:
        return out, stop.value


@types.coroutine
def tick(n=0):
    got = yield ("tick", n)
    return got


class Manager:
    def __init__(self, log, swallow=False):
        self.log = log
        self.swallow = swallow

    async def __aenter__(self):
        self.log.append("enter")
        await tick(1)
        return 7

    async def __aexit__(self, kind, value, traceback):
        self.log.append(("exit", kind and kind.__name__))
        await tick(2)
        return self.swallow


async def numbers(n):
    try:
        for i in range(n):
            await tick(i)
            got = yield i
            if got:
                yield ("got", got)
    finally:
        await tick("end")


def message_of(coroutine):
    try:
        drive(coroutine)
    except Exception as error:
        return type(error).__name__, str(error), repr(error.__cause__), repr(error.__context__)
    return None


def awaits():
    class Waiter:
        def __await__(self):
            got = yield "waiting"
            return got, "done"

    async def inner():
        return 5

    async def outer():
        return await inner() + 1, await Waiter()

    return drive(outer())


def enters_and_leaves():
    log = []

    async def plain():
        async with Manager(log) as value:
            return value

    async def swallowed():
        async with Manager(log, True):
            raise ValueError(1)
        return "after"

    async def raised():
        async with Manager(log):
            raise KeyError(1)

    return drive(plain()), drive(swallowed()), message_of(raised()), log


def iterates():
    async def pairs():
        for i in range(2):
            yield i, str(i)

    async def run():
        out = []
        async for x in numbers(3):
            out.append(x)
        else:
            out.append("else")
        return out, [x async for x in numbers(3) if x], {x: y async for x, y in pairs()}

    return drive(run())


def sends_and_closes():
    async def run():
        made = numbers(3)
        out = [await made.__anext__(), await made.asend("hi"), await anext(made)]
        await made.aclose()
        try:
            await anext(made)
        except StopAsyncIteration:
            out.append("stopped")
        return out

    return drive(run())


def throws_asynchronously():
    async def catching():
        try:
            yield 1
        except ValueError as error:
            yield ("caught", str(error))

    async def run():
        made = catching()
        out = [await anext(made), await made.athrow(ValueError("x"))]
        try:
            await anext(made)
        except StopAsyncIteration:
            out.append("ended")
        return out

    return drive(run())


def refusals():
    class NoIterator:
        def __await__(self):
            return 5

    class Half:
        def __aiter__(self):
            return self

        def __anext__(self):
            return 5

    async def of_int():
        await 5

    async def of_no_iterator():
        await NoIterator()

    async def over_int():
        async for _ in 5:
            pass

    async def over_half():
        async for _ in Half():
            pass

    async def with_int():
        async with 5:
            pass

    async def stops():
        raise StopIteration(3)

    async def stopping():
        yield 1
        raise StopAsyncIteration

    async def over_stopping():
        async for _ in stopping():
            pass

    made = [of_int(), of_no_iterator(), over_int(), over_half(), with_int(), stops(), over_stopping()]
    return [message_of(coroutine) for coroutine in made]


def used_twice():
    async def three():
        return 3

    async def once():
        yield 1

    async def run():
        made = once()
        first, second = made.asend(None), made.asend(None)
        out = []
        for step in (first, first, second):
            try:
                out.append(await step)
            except BaseException as error:
                out.append(repr(error))
        return out

    coroutine = three()
    coroutine.close()
    return message_of(coroutine), drive(run())


def states():
    async def waits():
        return await tick()

    async def other(coroutine):
        await coroutine

    coroutine = waits()
    before = coroutine.cr_running, coroutine.cr_suspended, coroutine.cr_await, coroutine.__name__
    coroutine.send(None)
    between = coroutine.cr_suspended, message_of(other(coroutine))
    try:
        coroutine.send(9)
    except StopIteration as stop:
        return before, between, stop.value, coroutine.cr_frame, type(coroutine).__name__


def delegates():
    class Stops:
        def __iter__(self):
            return self

        def __next__(self):
            raise StopIteration(42)

    def inner(log):
        try:
            yield 1
        except ValueError:
            yield 2
        finally:
            log.append("closed")
        return "inner"

    def outer(log):
        return (yield from inner(log)), (yield from Stops())

    log = []
    made = outer(log)
    out = [next(made), made.throw(ValueError)]
    try:
        next(made)
    except StopIteration as stop:
        out.append(stop.value)
    closed = outer(log)
    next(closed)
    closed.close()
    return out, log


def misused():
    def waits():
        yield 1

    def itself():
        yield next(made)

    made = itself()
    out = []
    for attempt in (lambda: waits().send(5), lambda: next(made), lambda: waits().throw(3)):
        try:
            out.append(attempt())
        except Exception as error:
            out.append((type(error).__name__, str(error)))
    return out


def groups():
    log = []
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
    except* ValueError as group:
        log.append(("value", repr(group), repr(sys.exception())))
    except* (TypeError, KeyError) as group:
        log.append(("others", repr(group), repr(group.__context__)))
    else:
        log.append("else")
    finally:
        log.append("finally")
    return log


def groups_left():
    out = []
    try:
        try:
            raise ExceptionGroup("g", [ValueError(1), TypeError(2), ExceptionGroup("n", [ValueError(3)])])
        except* ValueError:
            raise KeyError("new")
        except* TypeError:
            raise
    except BaseExceptionGroup as error:
        out.append((repr(error), repr(error.exceptions[0].__context__)))
    try:
        try:
            raise ValueError(3)
        except* ValueError as group:
            out.append((repr(group), group.exceptions[0].args))
            raise group
    except BaseExceptionGroup as error:
        out.append(repr(error))
    try:
        try:
            raise ValueError
        except* ExceptionGroup:
            pass
    except TypeError as error:
        out.append(str(error))
    try:
        try:
            1 / 0
        except* ValueError:
            pass
    except ZeroDivisionError as error:
        out.append((repr(error), repr(error.__context__)))
    return out


def groups_derived():
    class Own(ExceptionGroup):
        def derive(self, exceptions):
            return Own(self.message + "!", exceptions)

    try:
        try:
            raise Own("g", [ValueError(1), OSError(2)])
        except* ValueError as group:
            caught = repr(group)
    except Own as error:
        return caught, repr(error), type(error).__name__


WITHOUT_BREAKS = [
    awaits, enters_and_leaves, iterates, sends_and_closes, throws_asynchronously, refusals, used_twice, states, delegates, groups, groups_left,
]
WITH_BREAKS = [misused, groups_derived]


class Asynchronous(unittest.TestCase):
    def test_without_a_break(self):
        for function in WITHOUT_BREAKS:
            with self.subTest(function.__name__):
                compiled = slotrt.compile(function, fullgraph=True)
                self.assertEqual(compiled(), function())
                self.assertEqual(compiled(), function(), "from the cache")

    def test_with_breaks(self):
        for function in WITH_BREAKS:
            with self.subTest(function.__name__):
                compiled = slotrt.compile(function)
                self.assertEqual(compiled(), function())
                self.assertEqual(compiled(), function(), "from the cache")

    def test_hooks_of_an_event_loop(self):
        seen = []

        async def run():
            return [x async for x in numbers(1)]

        def go():
            return drive(run())

        compiled = slotrt.compile(go)
        expected = go()
        self.assertEqual(compiled(), expected)
        old = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(firstiter=lambda made: seen.append(type(made).__name__))
        try:
            self.assertEqual(compiled(), expected)
        finally:
            sys.set_asyncgen_hooks(*old)
        self.assertEqual(seen, ["async_generator"])

    def test_exceptions_that_leave_the_rest_of_an_asynchronous_generator(self):
        printed = []

        async def yields(error):
            try:
                for x in (1, 2):
                    printed.append((yield x))
                    slotrt.disable(printed.append)("natively")
                    if error is not None:
                        raise error
            finally:
                slotrt.disable(printed.append)("closing")

        async def closes(error):
            running = yields(error)
            seen = [await running.asend(None)]
            if error is None:
                seen.append(await running.asend("sent"))
                await running.aclose()
            else:
                try:
                    await running.asend("sent")
                except (RuntimeError, KeyError) as raised:
                    seen.append((type(raised), str(raised), type(raised.__cause__), type(raised.__context__)))
            return seen

        async def thrown(error):
            running = yields(None)
            await running.asend(None)
            try:
                await running.athrow(error or KeyError("thrown"))
            except (RuntimeError, KeyError) as raised:
                return type(raised), str(raised), type(raised.__cause__)
            return None

        def run(coroutine, error):
            return drive(coroutine(error))

        for coroutine in (closes, thrown):
            for error in (None, KeyError("mine"), StopIteration(3), StopAsyncIteration(4)):
                with self.subTest(coroutine=coroutine.__name__, error=error):
                    slotrt.reset()
                    compiled = slotrt.compile(run)
                    for _ in range(3):
                        printed.clear()
                        wanted = run(coroutine, error), printed.copy()
                        printed.clear()
                        self.assertEqual((compiled(coroutine, error), printed), wanted)

    def test_never_awaited(self):
        def forgets():
            async def nobody_waits():
                pass

            nobody_waits()
            return 1

        with self.assertWarnsRegex(RuntimeWarning, "never awaited"):
            self.assertEqual(slotrt.compile(forgets)(), 1)


if __name__ == "__main__":
    unittest.main()
