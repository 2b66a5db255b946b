"""Frames of generators, coroutines and asynchronous generators that compiled code has suspended: they show the program's variables, and its line."""

import asyncio
import inspect
import io
import re
import types
import unittest
import weakref

import slotrt


class Held:
    pass


@types.coroutine
def given(value):
    got = yield value
    return got


def generates(n, *rest, key=3):
    total = n + key
    slotrt.graph_break()
    for number in range(total):
        got = yield number
        print(end="")
        squares = [number * x for x in rest]
    total = None
    yield total


def with_cells(n):
    outer = [n]

    def inner():
        return outer, n

    slotrt.graph_break()
    outer = inner()
    yield outer
    n = 9
    yield inner()


def delegates(n):
    first = yield from generates(n)
    yield first


def handles(n):
    try:
        slotrt.graph_break()
        yield n
    except ValueError as error:
        caught = str(error)
        yield caught
        print(end="")
        yield n


async def awaits(n):
    slotrt.graph_break()
    k = n + 1
    first = await given(k)
    second = await given(first)
    return second


async def asynchronous(n):
    slotrt.graph_break()
    for i in range(n):
        yield i
        await given(i)


def shown(frame, make):
    locals_ = {name: repr(value) for name, value in frame.f_locals.items() if not callable(value)}
    return locals_, frame.f_lineno - make.__code__.co_firstlineno


def steps(make, function):
    found = []
    suspended = make(2, *([5, 6] if function is generates else []))
    for step in range(6):
        try:
            if function is handles and step == 1:
                suspended.throw(ValueError("thrown"))
            else:
                suspended.send(None)
        except StopIteration:
            break
        frame = suspended.cr_frame if inspect.iscoroutine(suspended) else suspended.gi_frame
        found.append((shown(frame, function), shown(frame, function)))
    return found


class SuspendedFrames(unittest.TestCase):
    def test_variables_and_lines(self):
        for function in (generates, with_cells, delegates, handles, awaits):
            compiled = slotrt.compile(function)
            expected = steps(function, function)
            self.assertGreater(len(expected), 1)
            for _ in range(3):
                with self.subTest(function.__name__):
                    self.assertEqual(steps(compiled, function), expected)

    def test_inspect(self):
        compiled = slotrt.compile(generates)
        for make in (generates, compiled, compiled):
            suspended = make(1, 7)
            next(suspended)
            next(suspended)
            self.assertEqual(
                inspect.getgeneratorlocals(suspended),
                {"n": 1, "rest": (7,), "key": 3, "total": 4, "number": 1, "got": None, "squares": [0]}
            )

    def test_asynchronous_generators(self):
        async def program(make):
            found = []
            async for _ in (suspended := make(2)):
                found.append(shown(suspended.ag_frame, asynchronous))
            return found

        def run(make):
            coroutine, got = program(make), None
            while True:
                try:
                    got = coroutine.send(got)
                except StopIteration as ended:
                    return ended.value

        compiled = slotrt.compile(asynchronous)
        for _ in range(3):
            self.assertEqual(run(compiled), run(asynchronous))

    def test_tasks(self):
        async def main(n):
            k = n + 1
            await asyncio.sleep(0)
            for _ in range(2):
                await asyncio.sleep(0.001)
            return k

        async def watched(function):
            task, found = asyncio.create_task(function(2), name="task"), []
            while not task.done():
                await asyncio.sleep(0)
                written = io.StringIO()
                task.print_stack(file=written)
                look = re.sub("0x[0-9a-f]+", "", repr(task)), written.getvalue()
                if not task.done() and look not in found:
                    found.append(look)
            return found[:2]

        compiled = slotrt.compile(main)
        expected = asyncio.run(watched(main))
        for _ in range(2):
            self.assertEqual(asyncio.run(watched(compiled)), expected)

    def test_nothing_lives_longer(self):
        def program(log):
            held = Held()
            weakref.finalize(held, log.append, "ended")
            slotrt.graph_break()
            yield 1
            log.append("before")
            del held
            log.append("after")
            yield 2
            held = Held()
            weakref.finalize(held, log.append, "ended, too")
            yield 3

        def run(make):
            log = []
            suspended = make(log)
            for step in range(3):
                next(suspended)
                log.append(sorted(suspended.gi_frame.f_locals))
            suspended.close()
            log.append("closed")
            return log

        compiled = slotrt.compile(program)
        for _ in range(3):
            self.assertEqual(run(compiled), run(program))


if __name__ == "__main__":
    unittest.main()
