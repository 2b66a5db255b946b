"""Programs of asyncio with breaks at each step: cancelled, timed out, closed, grouped, from the first call and from the cache."""

import asyncio
import contextlib
import gc
import unittest

import slotrt

LOG = []


def log(*items):
    LOG.append(items)


def leave():
    """A call that no trace holds."""
    print(end="")


class Manager:
    def __init__(self, name, swallow=False):
        self.name = name
        self.swallow = swallow

    async def __aenter__(self):
        log("enter", self.name)
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, kind, error, traceback):
        log("exit", self.name, kind and kind.__name__)
        await asyncio.sleep(0)
        return self.swallow


@contextlib.asynccontextmanager
async def managed(name):
    log("enter", name)
    leave()
    try:
        yield name
    except KeyError as error:
        log("swallowed", repr(error))
    finally:
        await asyncio.sleep(0)
        log("exit", name)


async def numbers(count):
    try:
        for number in range(count):
            leave()
            await asyncio.sleep(0)
            yield number
    except GeneratorExit:
        log("closed")
        raise
    finally:
        leave()
        await asyncio.sleep(0)
        log("finally")


class Iterator:
    def __init__(self):
        self.count = 0

    def __aiter__(self):
        return self

    async def __anext__(self):
        self.count += 1
        await asyncio.sleep(0)
        leave()
        if self.count > 3:
            raise StopAsyncIteration
        return self.count


async def cancelled():
    async def waits():
        try:
            leave()
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            log("cancelled")
            leave()
            raise
        finally:
            log("finally")

    task = asyncio.create_task(waits())
    await asyncio.sleep(0)
    leave()
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        log("seen")


async def cancelled_twice():
    async def holds_on():
        try:
            leave()
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            log("once")
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            log("twice")
            return "ended"

    task = asyncio.create_task(holds_on())
    for _ in range(2):
        await asyncio.sleep(0)
        task.cancel()
    log(await task)


async def timed_out():
    async def slow():
        try:
            await asyncio.sleep(10)
        finally:
            leave()
            log("slow ends")

    for at in range(3):
        try:
            async with asyncio.timeout(0.001):
                try:
                    leave()
                    await asyncio.sleep(10)
                finally:
                    await asyncio.sleep(0)
                    log("finally")
        except TimeoutError as error:
            log(at, type(error.__cause__).__name__)
        try:
            await asyncio.wait_for(slow(), 0.001)
        except TimeoutError:
            log("slow")


async def grouped():
    async def fails(number):
        await asyncio.sleep(0)
        leave()
        raise ValueError(number)

    async def holds():
        async with Manager("held"):
            leave()
            await asyncio.sleep(10)

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(holds())
            group.create_task(fails(1))
            group.create_task(fails(2))
    except* ValueError as error:
        log(sorted(inner.args[0] for inner in error.exceptions))


async def gathered():
    async def works(number):
        await asyncio.sleep(0)
        if number % 2:
            raise ValueError(number)
        leave()
        return number

    log([repr(result) for result in await asyncio.gather(*(works(at) for at in range(5)), return_exceptions=True)])


async def generated():
    async for number in numbers(3):
        log(number)
    left = numbers(5)
    async for number in left:
        if number == 2:
            break
    await left.aclose()
    thrown = numbers(5)
    log(await thrown.asend(None))
    try:
        await thrown.athrow(ValueError("thrown"))
    except ValueError as error:
        log(repr(error))
    async with contextlib.aclosing(numbers(4)) as closing:
        async for number in closing:
            log(number)
            break


async def iterated():
    log([number async for number in Iterator()])
    log({number: [inner async for inner in Iterator()] async for number in Iterator() if number != 2})
    async for number in Iterator():
        if number == 2:
            continue
        log(number)
    else:
        log("else")


async def managed_one_by_one():
    for at in range(3):
        async with managed(at) as name:
            leave()
            if at == 1:
                raise KeyError(at)
            log("body", name)
    async with contextlib.AsyncExitStack() as stack:
        for at in range(3):
            await stack.enter_async_context(Manager(at))
            leave()
        stack.push_async_callback(asyncio.sleep, 0)
        stack.callback(log, "callback")
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(Manager("swallows", swallow=True))
        leave()
        raise ValueError


async def nested():
    async def deep(depth):
        if depth == 0:
            await asyncio.sleep(0)
            leave()
            raise OSError("deep")
        async with Manager(depth, swallow=depth == 3):
            leave()
            await deep(depth - 1)
        return depth

    log(await deep(5))


async def queued():
    queue = asyncio.Queue(2)

    async def produces():
        for number in range(6):
            await queue.put(number)
            leave()
        await queue.put(None)

    async def consumes():
        while (number := await queue.get()) is not None:
            log(number)
            leave()

    await asyncio.gather(produces(), consumes())


async def in_turn():
    lock, places, event = asyncio.Lock(), asyncio.Semaphore(2), asyncio.Event()

    async def works(number):
        async with lock:
            log("lock", number)
            leave()
            await asyncio.sleep(0)
        async with places:
            log("place", number)
            await asyncio.sleep(0)
        if number == 3:
            event.set()
        await event.wait()
        log("event", number)

    await asyncio.gather(*(works(at) for at in range(5)))


async def dropped():
    async def waits():
        try:
            leave()
            await asyncio.Future()
        finally:
            log("finally")

    one, two, three = waits(), waits(), waits()
    for waiting in (one, two, three):
        waiting.send(None)
    del one, waiting
    two.close()
    try:
        three.throw(KeyError("thrown"))
    except KeyError as error:
        log(repr(error))


PROGRAMS = (
    cancelled,
    cancelled_twice,
    timed_out,
    grouped,
    gathered,
    generated,
    iterated,
    managed_one_by_one,
    nested,
    queued,
    in_turn,
    dropped,
)


def logged(run):
    LOG.clear()
    try:
        run()
    except Exception as error:
        log(repr(error))
    gc.collect()
    return list(LOG)


class EventLoops(unittest.TestCase):
    def test_the_program_is_compiled(self):
        for program in PROGRAMS:
            plain = logged(lambda: asyncio.run(program()))
            compiled = slotrt.compile(program)
            for call in range(3):
                with self.subTest(program.__name__, call=call):
                    self.assertEqual(logged(lambda: asyncio.run(compiled())), plain)

    def test_the_loop_is_compiled(self):
        for program in PROGRAMS:
            plain = logged(lambda: asyncio.run(program()))
            compiled = slotrt.compile(lambda: asyncio.run(program()))
            for call in range(3):
                with self.subTest(program.__name__, call=call):
                    self.assertEqual(logged(compiled), plain)


if __name__ == "__main__":
    unittest.main()
