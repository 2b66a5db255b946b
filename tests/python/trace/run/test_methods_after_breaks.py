"""Breaks before `super()` without arguments, whose first argument lies in a cell, and within `with`, whose methods wait on the stack."""

import functools
import sys
import threading
import unittest

import slotrt

DEBUG = hasattr(sys, "gettotalrefcount")


class Base:
    def __init__(self, n):
        self.n = n

    def method(self, k=1):
        return self.n * k


class Derived(Base):
    def captured(self):
        get = lambda: self.n
        slotrt.graph_break()
        return super().method(get())

    def in_a_loop(self):
        get = lambda: self.n
        total = 0
        for _ in range(3):
            slotrt.graph_break()
            total += super().method(get())
        return total

    def rebound(self):
        get = lambda: self.n
        slotrt.graph_break()
        self = Derived(7)
        slotrt.graph_break()
        return super().method(get()), get()

    def unbound(self):
        get = lambda: self.n
        slotrt.graph_break()
        del self
        try:
            return super().method(), get()
        except (RuntimeError, UnboundLocalError) as error:  # which one, the release decides
            return type(error), str(error)

    def later(self):
        get = lambda: self.n
        yield get()
        slotrt.graph_break()
        yield super().method(get())


def listed(method):
    return lambda self: list(method(self))


class Plain:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, *rest):
        self.log.append(("exit", kind))
        return kind is ValueError


class Cached(Plain):
    __exit__ = functools.lru_cache(Plain.__exit__)

    @functools.lru_cache
    def later(self):
        return len(self.log)


def cached(manager):
    method = manager.later
    slotrt.graph_break()
    return method(), type(method)


class Native(Plain):
    def __init__(self, log):
        super().__init__(log)
        lock = threading.Lock()
        self.log = log
        Native.__enter__, Native.__exit__ = lock.__enter__, lock.__exit__


class Static(Plain):
    __enter__ = staticmethod(lambda: "static")
    __exit__ = staticmethod(lambda kind, *rest: kind is ValueError)


class OfClass(Plain):
    __enter__ = classmethod(lambda cls: cls.__name__)
    __exit__ = classmethod(lambda cls, kind, *rest: kind is ValueError)


def within(kind, error):
    log = []
    try:
        with kind(log) as entered:
            slotrt.graph_break()
            log.append(type(entered).__name__)
            if error:
                raise error
        log.append("after")
    except Exception as raised:
        log.append(type(raised).__name__)
    return log


class MethodsAfterBreaks(unittest.TestCase):
    def test_super_without_arguments(self):
        for method in Derived.captured, Derived.in_a_loop, Derived.rebound, Derived.unbound, listed(Derived.later):
            compiled = slotrt.compile(method)
            for n in range(4):
                self.assertEqual(compiled(Derived(n)), method(Derived(n)), method.__name__)

    def test_cached_methods(self):
        """C of `functools` binds them, as methods of Python code are bound."""
        compiled = slotrt.compile(cached)
        for log in [], [1], [1, 2]:
            self.assertEqual(compiled(Cached(log)), cached(Cached(log)))

    def test_methods_of_managers(self):
        kinds = [Plain, Cached]
        if not DEBUG or sys.version_info < (3, 14):  # CPython's own debug build ends where `__exit__` is bound already
            kinds += [Native, Static, OfClass]
        for kind in kinds:
            for error in None, ValueError, KeyError:
                compiled = slotrt.compile(within)
                for _ in range(3):
                    self.assertEqual(compiled(kind, error), within(kind, error), (kind.__name__, error))


if __name__ == "__main__":
    unittest.main()
