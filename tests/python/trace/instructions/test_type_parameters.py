"""Type parameters, type aliases and annotations in a trace, without a graph break. The syntax is 3.12's."""

import sys
import typing
import unittest

import slotrt

SOURCE = '''
def first():
    def first[T](items: list[T], default: T = None) -> T:
        return items[0] if items else default

    return first([1, 2]), first([]), first.__name__, str(first.__annotations__), [str(T) for T in first.__type_params__]


def bounds():
    def most[T: int, *Ts, **P](x):
        return x

    T, Ts, P = most.__type_params__
    return T.__name__, T.__bound__, str(Ts), P.__name__, T.__infer_variance__, T.__module__


def constrained():
    def most[T: (int, str)](x):
        return x

    return most.__type_params__[0].__constraints__


def alias():
    type Pair[A] = tuple[A, A]
    type Plain = int
    return Pair.__name__, Plain.__value__, len(Pair.__type_params__)


def generic():
    class Box[T]:
        def __init__(self, x: T):
            self.x = x

        def get(self) -> T:
            return self.x

    return Box(3).get(), Box.__name__, len(Box.__type_params__), [base.__name__ for base in Box.__mro__]
'''
NEWER = '''
def default():
    def most[T = int](x):
        return x

    return most.__type_params__[0].__default__
'''


def annotated():
    def inner(x: int, *, y: "str" = "") -> float:
        return x

    return inner(1), inner.__annotations__, inner.__kwdefaults__


def annotated_leaves():
    def inner(x: int) -> "later":  # noqa: F821
        return x

    return inner


class Generics(unittest.TestCase):
    def cases(self):
        yield annotated
        scope = {"__name__": __name__}
        if sys.version_info >= (3, 12):
            exec(SOURCE, scope)
        if sys.version_info >= (3, 13):
            exec(NEWER, scope)
        yield from (case for case in scope.values() if hasattr(case, "__code__"))

    def test_without_a_break(self):
        self.assertTrue(typing.Generic)
        for case in self.cases():
            with self.subTest(case=case.__name__):
                compiled = slotrt.compile(case, fullgraph=True)
                self.assertEqual(compiled(), case())
                self.assertEqual(compiled(), case())

    def test_a_function_with_annotations_is_materialised(self):
        made = slotrt.compile(annotated_leaves)()
        self.assertEqual((made(2), made.__annotations__), (2, annotated_leaves().__annotations__))


class Keyed:
    def __class_getitem__(cls, item):
        return cls, item


class Derived(Keyed):
    pass


class OfMeta(type):
    def __getitem__(cls, item):
        return "meta", cls, item


class Subscribed(metaclass=OfMeta):
    pass


def refused():
    try:
        return Generics[1]
    except TypeError as error:
        return str(error)


SUBSCRIBED = [
    lambda: Keyed[1],
    lambda: Derived[Keyed, 2],
    lambda: Subscribed[3],
    lambda: list[int],
    lambda: dict[str, Keyed].__args__,
    lambda: [tuple[int, ...], type[Keyed], list[list[int]]],
    lambda: int | str,
    lambda: (int | None, list[int] | Keyed, repr(int | None)),
    refused,
]


class Subscribing(unittest.TestCase):
    def test_without_a_break(self):
        for case in SUBSCRIBED:
            with self.subTest(case.__code__.co_firstlineno):
                compiled = slotrt.compile(case, fullgraph=True)
                self.assertEqual(compiled(), case())
                self.assertEqual(compiled(), case())

    def test_an_alias_is_made_anew(self):
        compiled = slotrt.compile(lambda: list[int])
        self.assertIsNot(compiled(), compiled())
        self.assertIs(compiled().__origin__, list)

    def test_another_method(self):
        class Changed:
            def __class_getitem__(cls, item):
                return 1

        compiled = slotrt.compile(lambda: Changed[0])
        self.assertEqual(compiled(), 1)
        Changed.__class_getitem__ = classmethod(lambda cls, item: 2)
        self.assertEqual(compiled(), 2)
