"""Context variables that the program has: read, set, and reset with their tokens."""

import asyncio
import contextlib
import contextvars
import unittest

import slotrt

depth = contextvars.ContextVar("depth", default=0)
without_default = contextvars.ContextVar("without_default")


@contextlib.contextmanager
def deeper():
    token = depth.set(depth.get() + 1)
    try:
        yield token.old_value
    finally:
        depth.reset(token)


def nested(n):
    with deeper():
        with deeper() as old:
            inside = depth.get()
    held = depth.set(n)
    seen = depth.get(), depth.get(5), held.var is depth
    depth.reset(held)
    return inside, seen, depth.get(), old is contextvars.Token.MISSING


def token_leaves(n):
    token = depth.set(n)
    return type(token).__name__, token, depth.get()


def token_in_a_list(n):
    tokens = [depth.set(n), depth.set(n + 1)]
    values = [depth.get()]
    while tokens:
        depth.reset(tokens.pop())
        values.append(depth.get())
    return values


def compared(n):
    token = depth.set(n)
    try:
        return token == token, isinstance(token, contextvars.Token), hasattr(token, "old_value"), bool(token)
    finally:
        depth.reset(token)


def used_twice(n):
    token = without_default.set(n)
    without_default.reset(token)
    try:
        without_default.reset(token)
    except RuntimeError as error:
        first = str(error).split(" at ")[0]
    try:
        return first, without_default.get()
    except LookupError as error:
        return first, type(error).__name__


def of_another(n):
    token = depth.set(n)
    try:
        without_default.reset(token)
    except ValueError as error:
        return str(error).split(" at ")[0]
    finally:
        depth.reset(token)


def hashed(n):
    token = depth.set(n)
    depth.reset(token)
    try:
        return {token: 1}
    except TypeError as error:
        return str(error)


def in_a_task(n):
    async def inner():
        depth.set(n)
        await asyncio.sleep(0)
        return depth.get()

    return asyncio.run(inner()), depth.get()


class ContextVariables(unittest.TestCase):
    def test_programs(self):
        for program in nested, token_in_a_list, compared, used_twice, of_another, hashed, in_a_task:
            with self.subTest(program.__name__):
                compiled = slotrt.compile(program)
                for n in 3, 4, 3:
                    self.assertEqual(compiled(n), program(n))
                    self.assertEqual(depth.get(), 0)

    def test_a_token_leaves(self):
        compiled = slotrt.compile(token_leaves)
        for n in 3, 4:
            name, token, value = compiled(n)
            self.assertEqual((name, token.old_value, token.var is depth, value), ("Token", contextvars.Token.MISSING, True, n))
            depth.reset(token)
            self.assertEqual(depth.get(), 0)


if __name__ == "__main__":
    unittest.main()
