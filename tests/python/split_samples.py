"""Functions to split at any instruction, each with arguments that lead through all of it. No tests here."""
import sys


class Manager:
    def __init__(self, swallow=()):
        self.swallow = swallow

    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, kind, value, trace):
        print("exit", kind, value)
        return kind in self.swallow


class Base:
    size = 2

    def __init__(self, n):
        self.n = n

    def method(self, k=1):
        return self.n * k


class Derived(Base):
    def method(self, k=1):
        return super().method(k) + 1

    def via_variable(self):
        parent = super()
        return parent.method(2)

    def captured(self):
        get = lambda: self.n
        return super().method(get())


def for_range(n):
    total = 0
    for i in range(n):
        if i % 2:
            continue
        total += i
    else:
        total += 100
    return total


def for_nested(n):
    out = []
    for i in [1, 2, n]:
        for j in (x for x in range(i)):
            if j > 2:
                break
            out.append((i, j))
    return out


def while_loop(n):
    while n > 0:
        n -= 1
        if n == 2:
            break
    else:
        return "else"
    return n


def with_blocks(n):
    with Manager((ValueError,)) as first, Manager():
        print("in", n)
        if n == 1:
            raise ValueError("swallowed")
        if n == 2:
            raise KeyError("through")
        if n == 3:
            return first.swallow
    return n


def try_blocks(n):
    try:
        try:
            if n == 0:
                1 / 0
            x = [][n]
        except ZeroDivisionError as error:
            print("caught", error, sys.exception())
            try:
                raise KeyError("inner")
            except KeyError:
                print(sys.exception().__context__)
            raise ValueError from error
        finally:
            print("finally", sys.exception())
    except IndexError:
        return "index"
    except ValueError as error:
        return repr(error.__cause__)


def return_in_except(n):
    try:
        raise KeyError(n)
    except KeyError as error:
        return [error.args, sys.exception() is error]
    finally:
        print("left", sys.exception())


def reraise(n):
    try:
        try:
            raise OSError(n)
        except OSError:
            raise
    except OSError as error:
        return error.args, error.__context__


def comprehensions(n):
    a = [i * n for i in range(3)]
    b = {i: j for i, j in zip(a, a)}
    c = {x for x in a if x}
    i = 5
    d = [[y + i for y in range(x)] for x in range(3)]
    if n:
        e = [i for i in a]
    return a, b, c, d, i, e


def closures(n):
    z = 1

    def add():
        nonlocal z
        z += n
        return z

    add()
    double = lambda: z * 2
    return [double() for _ in range(2)], add(), [lambda: n for n in range(2)][0]()


def unpacking(n):
    offset = 1

    def inner(u):
        a, b, c, d, e, f, g, h = (u + i for i in range(8))
        return a, b, c, d, e, f, g, h, offset

    return inner


def calls(a, b=2, *c, d=4, **e):
    p, q = Base(a), Base(3)
    r = p.method(k=b) + q.method(*[2]) + p.method(**{"k": 3})
    return f"{a}{b!r}{c}{d:>3}{sorted(e)}{r}"


def unbound(n):
    if n:
        x = 1
    print("a" if n > 1 else "b")
    try:
        return x
    except UnboundLocalError as error:
        return str(error)


def matching(p):
    match p:
        case [1, x, *rest]:
            return x, rest
        case {"a": value, **rest}:
            return value, rest
        case Base(n=3):
            return "Base(3)"
        case str() | int():
            return "str or int"


def statements(n):
    x = n
    y = [1, 2, 3]
    del y[0]
    y[0] += 5
    y.append(x)
    del x
    a = b = c = n
    a, *b = y
    assert 0 < n < 9, "too big"
    if (m := n + 1) > 2 and not y == b or n is None:
        y[1:2] = [m]
    return locals()


def exception_groups(n):
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), *([KeyError(3)] if n else [])])
    except* ValueError as group:
        print(group.exceptions)
    except* TypeError as group:
        print("types", group.exceptions)
    return 1


def class_body(n):
    class A:
        v = n
        w = [v for _ in range(2)]

    return A.v, A.w


def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


def imports(n):
    import os.path as path
    from math import floor, sqrt

    global imported
    imported = path.basename("a/b"), floor(sqrt(n))
    return imported


CASES = [
    (for_range, (7,)), (for_nested, (5,)), (while_loop, (5,)), (while_loop, (1,)), (with_blocks, (0,)),
    (with_blocks, (1,)), (with_blocks, (2,)), (with_blocks, (3,)), (try_blocks, (0,)), (try_blocks, (1,)),
    (return_in_except, (1,)), (reraise, (1,)), (comprehensions, (2,)), (comprehensions, (0,)), (closures, (3,)),
    (unpacking(0), (5,)), (calls, (1,)), (calls, (1, 2, 3, 4)), (unbound, (0,)), (unbound, (2,)), (matching, ([1, 2, 3],)),
    (matching, ({"a": 1, "b": 2},)), (matching, (Base(3),)), (matching, (3,)), (matching, (None,)),
    (statements, (3,)), (statements, (1,)), (statements, (10,)), (exception_groups, (0,)), (exception_groups, (1,)),
    (Derived.method, (Derived(3),)), (Derived.via_variable, (Derived(3),)), (Derived.captured, (Derived(3),)),
    (class_body, (2,)), (recursion, (5,)), (imports, (10,)),
]
