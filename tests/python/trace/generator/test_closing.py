"""Generators and coroutines that are closed, dropped or thrown into while compiled code has suspended them: their handlers run, from the first trace on."""

import gc
import types
import unittest
import unittest.mock

import slotrt


@types.coroutine
def given(value):
    got = yield value
    return got


class Awaited:
    def __init__(self, log):
        self.log = log

    def __await__(self):
        return self

    def __iter__(self):
        return self

    def __next__(self):
        return 1

    def throw(self, *error):
        self.log.append(("throw", repr(error[0])))
        raise error[0]

    def close(self):
        self.log.append("close")


class Answers(Awaited):
    """Returns on the first thing that is thrown in."""

    def throw(self, *error):
        self.log.append(("answer", repr(error[0])))
        raise StopIteration(repr(error[0]))


class Replaces(Awaited):
    def throw(self, *error):
        raise KeyError("in its place") from error[0]


class Manager:
    def __init__(self, log):
        self.log = log

    async def __aenter__(self):
        self.log.append("enter")
        print(end="")

    async def __aexit__(self, kind, error, traceback):
        self.log.append(("exit", kind and kind.__name__))
        print(end="")


async def ends(log):
    try:
        print(end="")
        await given(1)
    finally:
        log.append("finally")


async def raises_again(log):
    try:
        print(end="")
        await given(1)
    except BaseException as error:
        print(end="")
        log.append(repr(error))
        raise


async def within(log):
    try:
        await ends(log)
    finally:
        print(end="")
        log.append("outer")


async def of_a_class(log):
    await given(0)
    try:
        print(end="")
        await Awaited(log)
    except BaseException as error:
        log.append(repr(error))
        raise
    finally:
        print(end="")
        log.append("finally")


async def raises_another(log):
    try:
        print(end="")
        await given(1)
    except GeneratorExit:
        print(end="")
        log.append("closed")
        raise ValueError("another") from None


async def goes_on(log):
    for at in range(4):
        try:
            print(end="")
            await given(at)
        except (ValueError, GeneratorExit) as error:
            print(end="")
            log.append((at, repr(error)))
            await given("more")


@types.coroutine
def catches(log):
    try:
        yield "caught"
    except ValueError as error:
        print(end="")
        log.append(repr(error))
    return "returned"


async def gets_an_answer(log):
    print(end="")
    log.append(await Answers(log))
    print(end="")
    log.append(await catches(log))
    await given("after")


async def gets_another(log):
    try:
        print(end="")
        await Replaces(log)
    except KeyError as error:
        print(end="")
        log.append((repr(error), repr(error.__cause__), repr(error.__context__)))
    await given("after")


def gets_an_answer_by_delegating(log):
    print(end="")
    log.append((yield from catches(log)))
    print(end="")
    log.append((yield from Answers(log)))
    yield "after"


async def managed(log):
    async with Manager(log):
        print(end="")
        await given(1)
        await given(2)


async def without_a_handler(log):
    print(end="")
    await given(1)
    log.append("went on")


def generates(log):
    try:
        print(end="")
        yield 1
        yield from given(1)
    finally:
        print(end="")
        log.append("finally")


def delegates(log):
    try:
        print(end="")
        yield from generates(log)
    except BaseException as error:
        print(end="")
        log.append(repr(error))
        raise


def close(suspended, log):
    suspended.close()


def drop(suspended, log):
    pass


def throw(suspended, log):
    suspended.throw(ValueError("thrown"))


def throw_twice(suspended, log):
    log.append(suspended.throw(ValueError("first")))
    log.append(suspended.throw(ValueError("second")))


def throw_exit(suspended, log):
    suspended.throw(GeneratorExit())


def send(suspended, log):
    for _ in range(9):
        log.append(suspended.send(None))


def outcome(make, steps, end):
    log = []
    suspended = make(log)
    try:
        for _ in range(steps):
            log.append(suspended.send(None))
        end(suspended, log)
    except BaseException as error:
        log.append((type(error), str(error)))
        del error
    del suspended
    return log


async def asynchronous(log):
    try:
        print(end="")
        yield await given(1)
        print(end="")
        yield 2
    except BaseException as error:
        print(end="")
        log.append(repr(error))
        raise
    finally:
        print(end="")
        await given(3)
        log.append("finally")


def closed_asynchronous(make, steps):
    log = []
    generator = make(log)
    try:
        for _ in range(steps):
            step = generator.__anext__()
            for _ in range(3):
                log.append(step.send(None))
    except StopIteration as stop:
        log.append(("stop", stop.value))
    step = generator.aclose()
    try:
        for _ in range(4):
            log.append(step.send(None))
    except BaseException as error:
        log.append((type(error), str(error)))
    return log


COROUTINES = (
    ends,
    raises_again,
    within,
    of_a_class,
    raises_another,
    goes_on,
    gets_an_answer,
    gets_another,
    gets_an_answer_by_delegating,
    managed,
    without_a_handler,
    generates,
    delegates,
)


class Closing(unittest.TestCase):
    def test_every_end(self):
        for make in COROUTINES:
            compiled = slotrt.compile(make)
            for end in (close, drop, throw, throw_twice, throw_exit, send):
                for steps in (1, 2, 1, 2):
                    if make in (raises_another, goes_on) and end is drop:
                        continue  # this writes to standard error
                    with self.subTest(make.__name__, end=end.__name__, steps=steps):
                        self.assertEqual(outcome(compiled, steps, end), outcome(make, steps, end))

    def test_within_compiled_code(self):
        for make in (ends, raises_again, within, managed, generates, delegates):
            def program(log):
                suspended = make(log)
                suspended.send(None)
                print(end="")
                suspended.send(None)

            compiled = slotrt.compile(program)
            for _ in range(3):
                theirs, mine = [], []
                for function, log in ((program, theirs), (compiled, mine)):
                    try:
                        function(log)
                    except StopIteration:
                        log.append("stop")
                with self.subTest(make.__name__):
                    self.assertEqual(mine, theirs)

    def test_asynchronous_generators(self):
        compiled = slotrt.compile(asynchronous)
        for steps in (1, 2, 1, 2):
            with self.subTest(steps=steps):
                self.assertEqual(closed_asynchronous(compiled, steps), closed_asynchronous(asynchronous, steps))

    def test_what_a_dropped_one_holds_in_a_cycle(self):
        """One that goes on in a handler when it is dropped: the frame that the exception names holds what was on its stack."""
        ended = []

        def numbers():
            try:
                yield from (1, 2, 3)
            finally:
                ended.append("numbers")

        def generates(kept):
            slotrt.graph_break()
            for number in numbers():
                try:
                    kept = yield number
                finally:
                    kept = yield 7

        def program(make):
            ended.clear()
            suspended = make(0)
            next(suspended)
            with unittest.mock.patch("sys.unraisablehook", lambda _: None):
                del suspended
            early = list(ended)
            gc.collect()
            return early, list(ended)

        compiled = slotrt.compile(generates)
        gc.disable()
        try:
            for _ in range(2):
                self.assertEqual(program(compiled), program(generates))
        finally:
            gc.enable()
            gc.collect()

    def test_many_times_in_one_frame(self):
        async def loop(log):
            for at in range(2000):
                try:
                    print(end="")
                    await given(at)
                except ValueError:
                    log.append(at)

        def program(make):
            log = []
            suspended = make(log)
            suspended.send(None)
            for _ in range(1999):
                suspended.throw(ValueError())
            suspended.close()
            return log

        self.assertEqual(program(slotrt.compile(loop)), program(loop))


if __name__ == "__main__":
    unittest.main()
