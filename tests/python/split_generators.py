"""Generators, coroutines and asynchronous generators to split at any instruction, with scripts that drive them. No tests here."""

import asyncio
import contextlib
import sys
import traceback


def chain(error):
    """Type, message and lines of an exception, and the types of its cause and context."""
    frames = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:]]
    return type(error).__name__, str(error), frames, repr(error.__cause__), repr(error.__context__)


def counting(n):
    total = 0
    try:
        for i in range(n):
            try:
                sent = yield i
                total += sent or 1
            except ValueError as error:
                total += 100
                yield "caught", str(error)
            if i == 2:
                raise KeyError("two")
    except KeyError as error:
        yield repr(error)
    finally:
        total += 1000
    return total, [j for j in range(total) if j % 500 == 0]


def delegating(n):
    result = yield from counting(n)
    yield result
    return result


def catching(n):
    """Delegates to what delegates: what is thrown ends both, or neither; far ahead the end of a long body."""
    result = None
    try:
        result = yield from delegating(n)
    except (TypeError, KeyError) as error:
        result = type(error).__name__, (yield from counting(1))
    else:
        result = [result, len(str(result)), max(result[0], 0), min(result[0], 9), sum(result[1]), sorted(result[1])]
    finally:
        yield "finally", result, dict(a=result, b=result, c=result), (result, result, result), {1: result, 2: result}
    yield str(result) + repr(result) + ascii(result) + format(str(result)) + "".join(map(str, (result, result, result)))
    return result


def with_arguments(a, *rest, key=1, **others):
    @contextlib.contextmanager
    def manager():
        yield 7

    with manager() as seven:
        yield seven, a, rest, key, others
        cell = [a]
        get = lambda: cell
        yield get()
    raise StopIteration(3)


def raising_while_handling(n):
    """What is handled here is seen by what is called, and is let go where the handler ends, however that happens."""
    seen = []
    for i in range(n):
        try:
            try:
                seen.append(repr(sys.exc_info()[1]))
                yield i
            except ValueError as error:
                seen.append(repr(sys.exc_info()[1]))
                raise TypeError(str(error))
            finally:
                seen.append(repr(sys.exc_info()[1]))
        except Exception as error:
            seen.append(repr(error.__context__))
            yield repr(sys.exc_info()[1])
        yield repr(sys.exc_info()[1])
    seen.append(repr(sys.exc_info()[1]))
    return seen


def failing():
    yield 1
    1 / 0


GENERATORS = [(counting, (4,)), (counting, (2,)), (delegating, (2,)), (catching, (2,)), (raising_while_handling, (2,)), (with_arguments, (1, 2)), (failing, ())]
SCRIPTS = [
    ["send None"] * 8,
    ["send None", "send 5", "throw ValueError v", "send None", "send None", "send None", "send None"],
    ["send None", "throw KeyError k", "send None"],
    ["send None", "send 5", "throw TypeError t", "send None", "send 2", "send None", "send None", "send None"],
    ["send None", "throw ValueError v", "throw TypeError t", "throw TypeError u", "send None", "send None", "send None"],
    ["send None", "send 1", "close"],
]


def drive(generator, script):
    """What a generator answers."""
    out = []
    try:
        for step in script:
            match step.split():
                case ["send", value]:
                    out.append(generator.send(eval(value)))
                case ["throw", kind, message]:
                    out.append(generator.throw(eval(kind)(message)))
                case ["close"]:
                    out.append(generator.close())
    except StopIteration as stop:
        out.append(("returned", stop.value))
    except BaseException as error:
        out.append(chain(error))
    return out


async def plus_one(x):
    await asyncio.sleep(0)
    return x + 1


class Manager:
    async def __aenter__(self):
        await asyncio.sleep(0)
        return 5

    async def __aexit__(self, *raised):
        await asyncio.sleep(0)
        return raised[0] is KeyError


async def numbers(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


async def coroutine(n):
    out = []
    async with Manager() as five:
        out.append(five)
        async for value in numbers(n):
            out.append(await plus_one(value))
            if value == 2:
                raise KeyError(value)
    out.append([value async for value in numbers(3)])
    try:
        await asyncio.wait_for(asyncio.Event().wait(), 0.001)
    except TimeoutError:
        out.append("timeout")
    if n == 1:
        raise ValueError(n)
    return out


LOG = []


async def asynchronous(n):
    try:
        for i in range(n):
            await asyncio.sleep(0)
            try:
                sent = yield i
                if sent:
                    yield "sent", sent
            except ValueError as error:
                yield "caught", str(error)
            async with Manager() as five:
                yield five
                if i == 1:
                    raise KeyError(i)
        if n == 3:
            raise StopIteration(3)
        if n == 4:
            raise StopAsyncIteration(3)
        if n == 5:
            raise OSError("x")
    finally:
        await asyncio.sleep(0)
        LOG.append("finally")


ASYNC_SCRIPTS = [
    ["for"],
    ["asend None", "asend 5", "asend None", "athrow ValueError q", "for"],
    ["asend None", "aclose"],
    ["asend None", "athrow OSError z", "for"],
    ["aclose"],
    [],
]


async def immediate(n):
    return n


async def drive_async(generator, script):
    """What an asynchronous generator answers."""
    out = []
    try:
        for step in script:
            match step.split():
                case ["for"]:
                    out.append([value async for value in generator])
                case ["asend", value]:
                    out.append(await generator.asend(eval(value)))
                case ["athrow", kind, message]:
                    out.append(await generator.athrow(eval(kind)(message)))
                case ["aclose"]:
                    out.append(await generator.aclose())
    except BaseException as error:
        out.append(chain(error))
    out.append(list(LOG))
    LOG.clear()
    return out


def cases():
    """Functions to break, each with a function that observes it or what it was broken into."""
    for function, args in GENERATORS:
        for script in SCRIPTS:
            yield function, lambda f, args=args, script=script: drive(f(*args), script)
    for n in (1, 4):
        yield coroutine, lambda f, n=n: awaited(f, n)
    yield immediate, lambda f: awaited(f, 3)
    for n in (0, 2, 3, 4, 5):
        for script in ASYNC_SCRIPTS:
            yield asynchronous, lambda f, n=n, script=script: asyncio.run(drive_async(f(n), script))


def awaited(function, n):
    try:
        return asyncio.run(function(n))
    except Exception as error:
        kind, message, frames, *rest = chain(error)
        return kind, message, [frame for frame in frames if frame[0] in ("coroutine", "plus_one")], rest


BODIES = '''
import contextlib
out = []
class Meta(type):
    def __new__(meta, name, bases, namespace, **keywords):
        out.append((name, list(namespace), keywords))
        return super().__new__(meta, name, bases, namespace)
class A(metaclass=Meta, k=3):
    x = 1
    y = [j for j in range(3)]
    def f(self):
        return super().__init__, __class__
    for i in range(4):
        if i == 2:
            continue
        x += i
    try:
        raise ValueError(x)
    except ValueError as error:
        z = str(error)
    with contextlib.suppress(KeyError):
        {}["a"]
    class B:
        q = x if "x" in dir() else 5
        def g(self):
            return __class__
    names = sorted(locals())
    made = list(k for k in (1, 2))
out.append((A.x, A.y, A().f()[1].__name__, A.z, A.B().g().__name__, A.names, A.made))
T = int
class C%(T)s:
    a: T
    b: int = 3
    def m(self, x: T) -> T:
        return x
out.append(C.__annotations__)
def make():
    v = 10
    class D:
        w = v + 1
        def h(self):
            return v
    return D
out.append((make().w, make()().h()))
class E:
    try:
        1 / 0
    finally:
        out.append("finally")
'''


PARAMETERS = {"T": "[T]" if sys.version_info >= (3, 12) else ""}
CODE = compile(BODIES % PARAMETERS, "bodies.py", "exec")  # once: what is broken is a code object


def run_bodies():
    """Runs the bodies: what they say, what they raise, what names are left."""
    space = {"__name__": "bodies"}
    try:
        exec(CODE, space)
        raised = None
    except ZeroDivisionError as error:
        raised = chain(error)
    return repr((space["out"], raised, sorted(space)))
