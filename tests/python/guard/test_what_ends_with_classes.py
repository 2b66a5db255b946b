"""Compiled code does not keep alive classes that the program drops, nor what leads back to them: methods, closures, members, caches."""

import abc
import collections
import dataclasses
import enum
import functools
import gc
import unittest
import weakref

import slotrt

HELD = None


def plain():
    class A:
        def f(self, x):
            return x + 1

    return A, [lambda a: a.f(3), lambda a: a.f], A


def through_super():
    class B:
        def f(self, x):
            return x

    class A(B):
        def f(self, x):
            return super().f(x) + 1

        def g(self):
            return type(self), super().f(1)

    return A, [lambda a: a.f(3), lambda a: a.g()[1]], B


def of_every_kind():
    class A:
        def __init__(self, x=1):
            self.x = x

        @classmethod
        def f(cls, x):
            return cls(x).h(x)

        @staticmethod
        def g(x):
            return x

        def h(self, x):
            return x

        @property
        def p(self):
            return self.h(1)

        @functools.cached_property
        def q(self):
            return self.x

    return A, [lambda a: (a.f(3), a.g(2), a.p, a.q)], A.h


def operators():
    class A:
        def __add__(self, other):
            return self

        def __eq__(self, other):
            return self is other

        def __hash__(self):
            return 4

        def __lt__(self, other):
            return False

        def __len__(self):
            return 1

        def __iter__(self):
            yield 1

    def use(a):
        return a + a == a, a in {a: 1}, len(sorted([a, a])), len(a), list(a), hash(a)

    return A, [use], A


def slots():
    class A:
        __slots__ = ("x",)

    def use(a):
        a.x = 3
        return a.x

    return A, [use], A


def dataclass():
    @dataclasses.dataclass
    class A:
        x: int = 1

    return A, [lambda a: (a.x, a == a, dataclasses.replace(a, x=3).x)], A


def named_tuple():
    A = collections.namedtuple("A", "x y", defaults=(1, 2))
    return A, [lambda a: (a.x, a._replace(x=4)[:], a._asdict())], A


def abstract():
    class B(abc.ABC):
        @abc.abstractmethod
        def x(self):
            pass

    class A(B):
        def x(self):
            return 1

    return A, [lambda a: (isinstance(a, B), issubclass(type(a), A), isinstance(3, type(a)), a.x())], B


def with_a_metaclass():
    class M(type):
        def __len__(cls):
            return 1

        def __call__(cls):
            return type.__call__(cls)

    class A(metaclass=M):
        x = 1

    return A, [lambda a: (type(a).x, len(type(a)), type(type(a)()) is type(a))], M


def of_containers():
    class A(list):
        def append(self, x):
            super().append(x)

    def use(a):
        a.append(2)
        return a[0], len(a), a + a, a.copy(), sorted(a), a == a, list(a), len(type(a)(a))

    return A, [use], A


def of_dicts():
    class A(dict):
        def __missing__(self, key):
            return 3

    def use(a):
        a["x"] = 2
        return a["x"], a["y"], len(a), a | a, sorted(a), a == a, list(a), len(type(a)(a)), a.get("z")

    return A, [use], A


def exceptions():
    class A(Exception):
        pass

    def use(a):
        try:
            raise type(a)(1)
        except type(a) as error:
            return str(error), isinstance(error, Exception)

    return A, [use], A


def contexts():
    class A:
        x = 1

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

    def use(a):
        with a as b:
            return b.x

    return A, [use], A.__exit__


def members_that_lead_back():
    class D:
        def __set_name__(self, owner, name):
            self.owner = owner

        def __get__(self, instance, owner):
            return self.owner.value

    class A:
        d = D()
        value = 3
        names = {"one": 1}
        helper = D()

    A.names["class"] = A
    return A, [lambda a: a.d + a.value, lambda a: a.names["one"] + len(a.names), lambda a: type(a).helper is None], D


def members_of_enumerations():
    class A(enum.Enum):
        X = 1
        Y = 2

    return lambda: A.X, [lambda a: (a.name, a.value, a is a), lambda a: a], A


def closures():
    class A:
        x = 1

    def function(a, default=A, *, other=A):
        return A.x, default is other

    return A, [lambda a: function(a)], function


def caches():
    class A:
        @functools.lru_cache
        def f(self):
            return self

    @functools.lru_cache
    def known(a):
        return A

    def use(a):
        return a.f() is a, known(1) is type(a)

    return A, [use], known


def partials():
    class A:
        def f(self, x):
            return x

    return lambda: functools.partial(A.f, A()), [lambda f: f(3)], A


def single_dispatch():
    class A:
        pass

    @functools.singledispatch
    def f(x):
        return 1

    @f.register(A)
    def _(x):
        return 2

    return A, [lambda a: f(a)], f


def keys():
    class A:
        pass

    known = {A: 1, int: 2}
    return A, [lambda a: (known[type(a)], known.get(object), type(a) in known)], A


CASES = [
    plain,
    through_super,
    of_every_kind,
    operators,
    slots,
    dataclass,
    named_tuple,
    abstract,
    with_a_metaclass,
    of_containers,
    of_dicts,
    exceptions,
    contexts,
    members_that_lead_back,
    members_of_enumerations,
    closures,
    caches,
    partials,
    single_dispatch,
    keys,
]

KEPT = []


class WhatEndsWithClasses(unittest.TestCase):
    def run_case(self, case, index, compiled):
        """What the function gives for instances, and whether the class and another object of the case live on; the compiled one stays."""
        make, functions, other = case()
        function = functions[index]
        use = compiled(function.__code__)
        given = [use(function.__closure__, make()) for _ in range(3)]
        first = make() if not isinstance(make, type) else None
        class_of = make if first is None else other
        return [repr(result) for result in given], weakref.ref(class_of), weakref.ref(other)

    def test_nothing_lives_on(self):
        def plainly(code):
            return lambda closure, a: _function(code, closure)(a)

        def compiled(code):
            one = slotrt.compile(call)
            KEPT.append(one)
            return lambda closure, a: one(_function(code, closure), a)

        for case in CASES:
            for index in range(len(case()[1])):
                with self.subTest(case=case.__name__, index=index):
                    expected, *references = self.run_case(case, index, plainly)
                    gc.collect()
                    self.assertEqual([reference() for reference in references], [None, None])
                    found, *references = self.run_case(case, index, compiled)
                    gc.collect()
                    self.assertEqual([reference() for reference in references], [None, None])
                    if "0x" not in str(expected):
                        self.assertEqual(found, expected)


def _function(code, closure):
    return type(call)(code, globals(), "f", None, closure)


def call(function, a):
    return function(a)


class Replaced(unittest.TestCase):
    def test_classes_of_globals_and_cells(self):
        global HELD

        @slotrt.compile
        def use():
            return HELD().f(), HELD.x, isinstance(4, HELD)

        def made(number):
            class A:
                x = number

                def f(self):
                    return number

            return A

        references = []
        for number in range(20):
            HELD = made(number)
            references.append(weakref.ref(HELD))
            self.assertEqual([use(), use()], [(number, number, False)] * 2)
            HELD = None
            gc.collect()
            self.assertIsNone(references[-1]())

        cell = made(1)

        @slotrt.compile
        def through_a_cell():
            return cell().f()

        self.assertEqual(through_a_cell(), 1)
        reference, cell = weakref.ref(cell), None
        gc.collect()
        self.assertIsNone(reference())

    def test_traces_for_classes_that_are_gone_make_room(self):
        @slotrt.compile
        def use(a):
            return a.f(3)

        def go(number):
            class A:
                def f(self, x):
                    return x + number

            return use(A()), use(A())

        before = slotrt.stats()["frames_skipped"]
        for number in range(30):
            self.assertEqual(go(number), (number + 3,) * 2)
            gc.collect()
        self.assertEqual(slotrt.stats()["frames_skipped"], before)

    def test_another_class_in_the_same_place(self):
        """Of a class that has ended, and of what it held, nothing is taken for that of a class which comes to lie there."""

        @slotrt.compile
        def use(a):
            return a.x, a.f(), type(a).__name__

        def go(number):
            A = type(f"A{number}", (), {"x": number, "f": (lambda self: self.x) if number % 2 else (lambda self: -self.x)})
            return id(A), use(A())

        places = set()
        for number in range(60):
            place, found = go(number)
            places.add(place)
            self.assertEqual(found, (number, number if number % 2 else -number, f"A{number}"))
            gc.collect()
        self.assertLess(len(places), 60)

    def test_a_method_that_becomes_none(self):
        """An object that is gone is not `None`."""

        class A:
            f = staticmethod(lambda: 1)
            g = lambda self: 2

        @slotrt.compile
        def use(a):
            return a.g is None, a.f is None

        self.assertEqual([use(A()), use(A())], [(False, False)] * 2)
        A.g = A.f = None
        gc.collect()
        self.assertEqual(use(A()), (True, True))

    def test_what_is_put_back_is_the_same(self):
        class A:
            @classmethod
            def f(cls):
                return 1

            @property
            def p(self):
                return 2

        @slotrt.compile
        def use(a):
            return a.f(), a.p

        self.assertEqual([use(A()), use(A())], [(1, 2)] * 2)
        before, old = slotrt.stats()["frames_compiled"], vars(A)["f"]
        A.f = classmethod(lambda cls: 3)
        self.assertEqual(use(A()), (3, 2))
        A.f = old
        self.assertEqual(use(A()), (1, 2))
        self.assertEqual(slotrt.stats()["frames_compiled"], before + 1)

    def test_references_to_a_class_are_not_more(self):
        class A:
            def f(self):
                return 1

        plain = weakref.getweakrefcount(A)
        use = slotrt.compile(lambda a: (a.f(), type(a)()))
        use(A()), use(A())
        self.assertEqual(weakref.getweakrefcount(A), plain)


if __name__ == "__main__":
    unittest.main()
