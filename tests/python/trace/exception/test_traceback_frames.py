"""Frames in a traceback keep their variables, so the generators among them end when they end in plain Python."""
import asyncio
import contextlib
import gc
import io
import sys
import traceback
import unittest

import slotrt

KEPT = []


def numbers(p):
    try:
        yield p
        yield 2
    finally:
        print("end")


def leaves(b):
    kept = numbers(b)
    print(next(kept))
    try:
        print(next(numbers(None) if b else iter(())))
        len(b)
    finally:
        print("finally")


def leaves_a_with(b):
    kept = numbers(b)
    next(kept)
    with contextlib.ExitStack() as stack:
        stack.callback(print, "exit")
        return b - "x"


def stored(b):
    kept = numbers(b)
    next(kept)
    try:
        len(b)
    except TypeError as error:
        KEPT.append(error)
    after = kept
    print("before the end")
    return 3


def stored_in_a_trace(b):
    try:
        len(5)
    except TypeError as error:
        KEPT.append(error)
    after = [b]
    return after


def of_a_cycle(b):
    kept = numbers(b)
    next(kept)
    try:
        raise KeyError(b)
    except KeyError as error:
        held = error
    print("before the end")
    return 3


def dropped(b):
    kept = numbers(b)
    next(kept)
    try:
        print(b)
        len(b)
    except TypeError:
        print("handled")
    print("after")
    del kept
    print("before the end")


def rebound(b):
    kept = numbers(b)
    next(kept)
    try:
        len(b)
    except TypeError as error:
        print(type(error).__name__)
        held = error
    kept = [b]
    print("rebound")
    later = kept
    print(len(later))
    return later


def rebound_in_a_handler(b):
    kept = numbers(b)
    next(kept)
    try:
        raise KeyError(b)
    except KeyError as error:
        KEPT.append(error)
        print("handler")
        kept = None
        print("after", b)
        other = {b}
        print(len(other))


def in_a_handler(b):
    try:
        kept = numbers(b)
        print(next(kept))
        undefined
    except Exception as error:
        print(type(error).__name__, error)


def raises_again(b):
    kept = numbers(b)
    next(kept)
    try:
        len(b)
    except TypeError as error:
        first = error
        print("handler")
        KEPT.append(first)
    last = numbers(b)
    print(next(last))
    kept.throw(ValueError(b))


def keeps_its_frame(b):
    KEPT.append(Holder(sys._getframe()))
    print(len(KEPT))
    kept = numbers(b)
    next(kept)
    print("before the end")


def in_a_loop(b):
    for index in range(3):
        kept = numbers(index)
        next(kept)
        try:
            print(index + b)
            len(index)
        except TypeError as error:
            KEPT.append(error)
            print("handler")
    print("loop ends")


def inlined(b):
    kept = numbers(b)
    next(kept)
    deeper(2, [b, kept])


def deeper(depth, values):
    if depth == 0:
        return values[5]
    for index in range(depth):
        squares = [value for value in values]
        own = numbers(depth)
        next(own)

        def cell():
            return depth, index

        deeper(depth - 1, values)
    return squares


def handled(b):
    try:
        deeper(1, [numbers(b)])
    except IndexError as error:
        print(error)
    print("after")


def class_body(b):
    def inner():
        class Body:
            first = 3

            def method(self):
                return __class__, b

            second = first + b
            third = second.missing

    inner()


def class_bodies(b):
    class Outer:
        first = [b]

        class Inner:
            second = {b}
            third = numbers(b) + 1


def prepared(b):
    class Meta(type):
        @classmethod
        def __prepare__(meta, name, bases):
            return {"prepared": name}

    class Body(metaclass=Meta):
        first: int = 2
        for index in range(3):
            second = index
        third = list(b)


def class_body_handled(b):
    try:

        class Body:
            first = b
            second = first.missing
    except AttributeError as error:
        frame = error.__traceback__.tb_next.tb_frame
        return frame.f_code.co_name, sorted(frame.f_locals), frame.f_locals["first"]


def executed(b):
    exec("first = 1\nsecond = first.missing", {"b": b}, {"third": b})


def variables(error):
    return sorted(error.__traceback__.tb_frame.f_locals)


def looked_at(b):
    kept = [b]

    def inner():
        return kept

    try:
        len(b)
    except TypeError as error:
        first = 1
        print(sorted(error.__traceback__.tb_frame.f_locals), error.__traceback__.tb_frame.f_lineno)
        second = variables(error)
        frame = sys.exc_info()[2].tb_frame
        print(second, frame.f_locals["kept"] is inner(), frame.f_lineno)
        kept = {b}
        del first
        print(variables(error), frame.f_locals["kept"] is inner())
    print(sorted(frame.f_locals), frame.f_lineno)
    return frame.f_locals["second"]


def looked_at_in_a_loop(b):
    for index in range(3):
        try:
            b + str(index)
        except TypeError as error:
            print(index, variables(error))
            kept = error
        kept.add_note("note") if hasattr(kept, "add_note") else None
    return variables(kept), kept.__traceback__.tb_frame.f_locals["index"]


def looked_at_through_traceback(b):
    kept = [b, 7]
    try:
        len(b)
    except TypeError as error:
        told = traceback.TracebackException.from_exception(error, capture_locals=True)
        return told.stack[0].locals


def looked_at_in_a_deeper_handler(b):
    first = numbers(b)
    next(first)
    try:
        len(b)
    except TypeError as error:
        try:
            error.missing
        except AttributeError as other:
            second = [other]
            print(variables(error), variables(other), variables(other.__context__))
            first = None
            print("rebound")
            print(variables(error))


def kept_frame(b):
    frame = sys._getframe()
    first = [b]
    print(sorted(frame.f_locals), frame.f_locals["first"] is first, frame.f_lineno)
    second = b
    first = None
    print(sorted(frame.f_locals), frame.f_locals["first"], frame.f_lineno)
    return sorted(frame.f_locals)


class Ending:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("end", self.name)


def handles(b):
    first = Ending("first")
    try:
        len(b)
    except TypeError as error:
        KEPT.append(error)
        print(variables(error))
        second = 1
        print(variables(error), error.__traceback__.tb_frame.f_lineno)
    yield 1
    first = None
    print("first is gone")
    third = [3]
    yield 2
    print(variables(KEPT[0]))
    third = Ending("third")
    yield 3
    print("last")


def prints_and_raises(b):
    print("called")
    return len(b)


def let_go_by_a_cleanup(b):
    try:
        try:
            ending = Ending("held by a frame")

            def takes(held):
                nonlocal ending
                del ending
                len(b)

            takes(ending)
        except TypeError as first:
            local = prints_and_raises
            local(b)
    except TypeError as second:
        pass
    try:
        print(ending)
    except NameError as error:
        print(type(error).__name__)


def of_a_generator(b):
    values = list(handles(b))
    print("used")
    return values


def lets_out(b):
    first = Ending("first")
    yield 1
    second = Ending("second")
    print("raises")
    len(b)


def out_of_a_generator(b):
    try:
        for value in lets_out(b):
            print(value)
    except TypeError as error:
        KEPT.append(error)
    print("after")


async def awaits(b):
    first = Ending("first")
    try:
        await asyncio.sleep(0)
        len(b)
    except TypeError as error:
        KEPT.append(error)
        print(variables(error))
        await asyncio.sleep(0)
        first = None
        print("first is gone")
    await asyncio.sleep(0)
    second = 3
    return second


def of_a_coroutine(b):
    return asyncio.run(awaits(b))


async def gives(b):
    first = Ending("first")
    try:
        yield 1
        len(b)
    except TypeError as error:
        KEPT.append(error)
        yield 2
        first = None
        print("first is gone")
    yield 3


async def taken(b):
    return [value async for value in gives(b)]


def of_an_asynchronous_generator(b):
    return asyncio.run(taken(b))


class Leaves:
    """A context manager that lets exceptions pass."""

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return False


def leaves_two_withs(b):
    with Leaves():
        first = 1
        with Leaves() as second:
            print(first)
            len(b)
        third = 2


def leaves_a_with_by_lines(b):
    first = 1
    with Leaves() as second:
        third = [
            first,
            len(
                b
            ),
        ]
    fourth = 2


def leaves_after_another(b):
    with Leaves():
        try:
            print(b)
            len(b)
        finally:
            try:
                print("again")
                int("x" * int(b))
            except ValueError:
                second = 1
            third = len([b])
            print(third)
    fourth = 2


async def leaves_an_asynchronous_with(b):
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(print, "exit")
        await asyncio.sleep(0)
        first = 1
        len(b)
    second = 2


def of_an_asynchronous_with(b):
    return asyncio.run(leaves_an_asynchronous_with(b))


def leaves_finally(b):
    try:
        len(b)
    finally:
        first = 1
        print(first)
        second = 2


def leaves_finally_in_a_trace(b):
    try:
        len(b)
    finally:
        first = 1
        second = 2


def leaves_a_handler(b):
    try:
        len(b)
    except ValueError:
        first = 1
    except TypeError as error:
        first = 2
        raise


def leaves_a_generator(b):
    try:
        yield b
        len(b)
    finally:
        first = 1
        yield first
        second = 2


def left_calls(b):
    for call in (leaves_two_withs, leaves_finally, leaves_finally_in_a_trace, leaves_a_handler):
        try:
            call(b)
        except TypeError as error:
            KEPT.append(error)
    try:
        for value in leaves_a_generator(b):
            KEPT[0].value = value
    except TypeError as error:
        KEPT.append(error)
    try:
        leaves_two_withs(b)
    except TypeError as error:
        frame = error.__traceback__.tb_next.tb_frame
        return frame.f_lineno, sorted(frame.f_locals)


class Holder:
    """An object with a traceback's attributes."""

    def __init__(self, frame):
        self.tb_frame, self.tb_next, self.tb_lineno = frame, None, 0
        self.__traceback__ = self


def names(error):
    """Lines, and names of variables, of the frames that an exception's traceback names."""
    found, entry = [], error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == __file__:
            frame = entry.tb_frame
            found.append((frame.f_code.co_name, entry.tb_lineno, frame.f_lineno, sorted(frame.f_locals)))
        entry = entry.tb_next
    return found[1:] if found and found[0][0] == "seen" else found


def seen(run, argument):
    """The prints while the function runs, after it while its exception lives, and at the end; and the variables."""
    KEPT.clear()
    gc.collect()
    gc.disable()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            found = [run(argument)]
        except Exception as error:
            found = [type(error), str(error), printed.getvalue(), names(error)]
        found.append(printed.getvalue())
        found += [names(error) for error in KEPT]
        KEPT.clear()
        found.append(printed.getvalue())
        gc.enable()
        gc.collect()
        found.append(printed.getvalue())
    return found


def two_of_one_name(p):
    released = memoryview(b"released")
    released.release()
    values = [1, released]
    return (lambda: [values for values in values if values])()


FUNCTIONS = (
    two_of_one_name,
    leaves,
    leaves_a_with,
    stored,
    stored_in_a_trace,
    of_a_cycle,
    dropped,
    rebound,
    rebound_in_a_handler,
    in_a_handler,
    raises_again,
    keeps_its_frame,
    in_a_loop,
    inlined,
    handled,
    class_body,
    class_bodies,
    prepared,
    class_body_handled,
    executed,
    looked_at,
    looked_at_in_a_loop,
    looked_at_through_traceback,
    looked_at_in_a_deeper_handler,
    kept_frame,
    let_go_by_a_cleanup,
    of_a_generator,
    out_of_a_generator,
    of_a_coroutine,
    of_an_asynchronous_generator,
    leaves_two_withs,
    leaves_a_with_by_lines,
    leaves_after_another,
    of_an_asynchronous_with,
    leaves_finally,
    leaves_finally_in_a_trace,
    leaves_a_handler,
    left_calls,
)


LEAVING = (
    leaves_a_with,
    leaves_two_withs,
    leaves_a_with_by_lines,
    leaves_after_another,
    of_an_asynchronous_with,
    leaves_finally,
    leaves_a_handler,
    left_calls,
)


class TracebackFrames(unittest.TestCase):
    def test_as_in_plain_python(self):
        for function in FUNCTIONS:
            with self.subTest(function.__name__):
                if function is looked_at_in_a_deeper_handler and sys.version_info < (3, 13):
                    self.skipTest("the snapshot that f_locals is there keeps alive what it showed; a compiled frame's does not yet")
                expected, compiled = seen(function, 1), slotrt.compile(function)
                self.assertEqual(seen(compiled, 1), expected)
                self.assertEqual(seen(compiled, 1), expected)

    def test_rests_beyond_the_limit(self):
        for function in LEAVING:
            with self.subTest(function.__name__):
                compiled = slotrt.compile(function, recompile_limit=1)
                for argument in (1, 2.0, True, 1):
                    self.assertEqual(seen(compiled, argument), seen(function, argument))


if __name__ == "__main__":
    unittest.main()
