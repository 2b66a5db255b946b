"""Generators and coroutines that go on after a break are one frame for whatever they run, and one call for the limit of recursion."""

import faulthandler
import sys
import tempfile
import types
import unittest
import warnings

import slotrt


def frames():
    found, frame = [], sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "outcome":
        found.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return found


class Looks:
    """Shows the frames without a name that gives them."""

    shown = property(lambda self: frames())


looks = Looks()


@types.coroutine
def pause(value):
    return (yield value)


def generator(x):
    sent = yield looks.shown
    slotrt.graph_break()
    yield looks.shown, sent
    try:
        yield 3
    except ValueError:
        yield looks.shown, x
    return looks.shown


def driven(x):
    running = generator(x)
    found = [next(running), running.send(5), next(running), running.throw(ValueError)]
    try:
        next(running)
    except StopIteration as stop:
        found.append(stop.value)
    return found


def delegating(x):
    result = yield from generator(x)
    yield looks.shown, result


def delegated(x):
    return list(delegating(x))


async def coroutine(x):
    first = looks.shown
    slotrt.graph_break()
    sent = await pause(1)
    second = looks.shown
    try:
        await pause(2)
    except ValueError:
        return first, second, looks.shown, sent


async def awaiting(x):
    return await coroutine(x), looks.shown


def awaited(x):
    running = awaiting(x)
    found = [running.send(None), running.send(9)]
    try:
        running.throw(ValueError)
    except StopIteration as stop:
        found.append(stop.value)
    return found


async def asynchronous(x):
    yield looks.shown
    slotrt.graph_break()
    await pause(1)
    yield looks.shown


async def through_asynchronous(x):
    return [item async for item in asynchronous(x)]


def iterated(x):
    running, found = through_asynchronous(x), []
    try:
        while True:
            found.append(running.send(None))
    except StopIteration as stop:
        return found, stop.value


def warning(x):
    slotrt.graph_break()
    warnings.warn("told to the caller", stacklevel=2)
    yield x


def warned(x):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        list(warning(x))
    return [(entry.lineno, entry.filename) for entry in told]


def dumped(x):
    with tempfile.TemporaryFile() as file:

        def dumping():
            slotrt.graph_break()
            faulthandler.dump_traceback(file, all_threads=False)
            yield x

        list(dumping())
        file.seek(0)
        return file.read().decode().splitlines()[1:4]


def closing(log):
    try:
        yield 1
        slotrt.graph_break()
        yield 2
    except GeneratorExit:
        log.append(looks.shown)
        return 5


async def closing_coroutine(log):
    try:
        await pause(1)
        slotrt.graph_break()
        await pause(2)
    except GeneratorExit:
        log.append(looks.shown)
        return 5


def closed(make):
    log = []
    running = make(log)
    running.send(None)
    running.send(None)
    return running.close(), log


async def going_on(log):
    slotrt.graph_break()
    try:
        await pause(1)
    except GeneratorExit:
        await pause(looks.shown)


def thrown_into(make):
    running = make([])
    running.send(None)
    found = [running.throw(GeneratorExit)]
    try:
        running.send(None)
    except StopIteration as stop:
        found.append(stop.value)
    return found


def outcome(function, *args):
    return function(*args)


def nested(depth, deepest):
    deepest[0] = depth
    slotrt.graph_break()
    yield from nested(depth + 1, deepest)


def nested_loops(depth, deepest):
    deepest[0] = depth
    for item in nested_loops(depth + 1, deepest):
        yield item


async def nested_coroutines(depth, deepest):
    deepest[0] = depth
    slotrt.graph_break()
    await nested_coroutines(depth + 1, deepest)


def depth(name, function):
    plain, deepest, before = globals()[name], [0], sys.getrecursionlimit()
    globals()[name] = function
    # So few calls of Python that no limit of C's counts.
    sys.setrecursionlimit(len(frames()) + 200)
    try:
        function(0, deepest).send(None)
    except RecursionError:
        return deepest[0]
    finally:
        sys.setrecursionlimit(before)
        globals()[name] = plain


class OneFrame(unittest.TestCase):
    def test_as_plain(self):
        for function in (driven, delegated, awaited, iterated, warned, dumped):
            with self.subTest(function.__name__):
                compiled, expected = slotrt.compile(function), outcome(function, 1)
                for _ in range(3):
                    self.assertEqual(outcome(compiled, 1), expected)

    def test_ends(self):
        for function, make in ((closed, closing), (closed, closing_coroutine), (thrown_into, going_on)):
            with self.subTest(make.__name__):
                compiled, expected = slotrt.compile(function), outcome(function, make)
                own = slotrt.compile(make)
                for _ in range(3):
                    self.assertEqual(outcome(compiled, make), expected)
                    self.assertEqual(outcome(function, own), expected)

    @unittest.skipIf(sys.version_info < (3, 12), "calls of C count for the same limit: generators that delegate reach it sooner")
    def test_depth(self):
        for function in (nested, nested_loops, nested_coroutines):
            with self.subTest(function.__name__):
                name = function.__name__
                compiled, expected = slotrt.compile(function), depth(name, function)
                for _ in range(3):
                    self.assertGreaterEqual(depth(name, compiled), expected)

    def test_a_coroutine_is_awaited_once(self):
        running = slotrt.compile(coroutine)(1)
        running.send(None)
        self.assertIsNotNone(running.cr_await)
        self.assertFalse(running.cr_await.cr_running)

        async def again():
            await running

        with self.assertRaisesRegex(RuntimeError, "being awaited already"):
            again().send(None)
        running.close()


if __name__ == "__main__":
    unittest.main()
