"""Coroutines that nobody awaits, and awaitables of asynchronous generators: the warning comes where plain Python gives it."""

import gc
import sys
import unittest
import warnings

import slotrt


async def coroutine():
    pass


async def generator():
    yield 1


def dropped():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        coroutine()
        return [str(warning.message) for warning in seen]


def variable():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        made = coroutine()
        before = len(seen)
        made = None
        return before, made, [str(warning.message) for warning in seen]


def closed():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        made = coroutine()
        made.close()
        del made
        return [str(warning.message) for warning in seen]


def methods():
    told = []
    for method in ("asend", "athrow", "aclose", "__anext__"):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            of = generator()
            getattr(of, method)(*[ValueError] * (method == "athrow"), *[None] * (method == "asend"))
            gc.collect()
            told.append([str(warning.message) for warning in seen])
    return told


def nested():
    return coroutine()


def origin():
    made = nested()
    told = made.cr_origin
    made.close()
    return told


class ReturnsItself:
    def __await__(self):
        return self


async def awaits_itself():
    await ReturnsItself()


def not_awaitable():
    try:
        awaits_itself().send(None)
    except TypeError as error:
        return str(error)


class Unawaited(unittest.TestCase):
    def test_where_it_was_made(self):
        compiled = slotrt.compile(origin)
        before = sys.get_coroutine_origin_tracking_depth()
        try:
            for depth in (0, 2, 1, 0, 2):
                sys.set_coroutine_origin_tracking_depth(depth)
                with self.subTest(depth=depth):
                    self.assertEqual(compiled(), origin())
        finally:
            sys.set_coroutine_origin_tracking_depth(before)

    def test_what_is_no_iterator(self):
        compiled = slotrt.compile(not_awaitable)
        self.assertEqual([compiled(), compiled()], [not_awaitable()] * 2)

    def test_the_warning_comes_in_its_place(self):
        for function in (dropped, variable, closed, methods):
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function)
                for _ in range(3):
                    self.assertEqual(compiled(), function())


if __name__ == "__main__":
    unittest.main()
