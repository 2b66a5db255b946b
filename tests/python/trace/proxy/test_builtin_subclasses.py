"""Proxies for instances of builtins' subclasses: whose operators C asks, and how C works on their items."""

import functools
import operator
import unittest

import slotrt


class OwnText(str):
    def __str__(self):
        return "own"


class Reflected(Exception):
    def __ror__(self, other):
        return "ror"

    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return "radd"


class MoreReflected(Reflected):
    def __radd__(self, other):
        return "radd of the derived class"


class ReflectedList(list):
    def __ror__(self, other):
        return "ror"

    def __rsub__(self, other):
        return "rsub"


class OneClass(unittest.TestCase):
    """Operators of C on an object that the trace made and one from outside, for which C has a proxy."""

    def test_whose_operator_runs(self):
        def outside_first(outside, own, operate):
            return list(map(operate, [outside], [own()]))

        def own_first(outside, own, operate):
            return list(map(operate, [own()], [outside]))

        def said(function, *args):
            try:
                return function(*args)
            except TypeError as error:
                return str(error)

        for function in (outside_first, own_first):
            for operate in (operator.or_, operator.add, operator.iadd, operator.sub):
                pairs = [(Reflected, Reflected), (MoreReflected, Reflected), (Reflected, MoreReflected)]
                for outside, own in (*pairs, (ReflectedList, ReflectedList), (Reflected, ReflectedList)):
                    with self.subTest(function.__name__, operate=operate, outside=outside, own=own):
                        compiled = slotrt.compile(function)
                        for _ in range(2):
                            self.assertEqual(said(compiled, outside(), own, operate), said(function, outside(), own, operate))


class Listed(tuple):
    """A tuple by its layout."""

    __slots__ = ()

    def __gt__(self, other):
        return "greater"


class ListItems(list):
    """A list by its layout."""


class ItemsOfContainers(unittest.TestCase):
    """C functions that work on the items of their arguments: they recognise subclasses of builtins by their layout."""

    def test_added(self):
        def to_tuple(item):
            try:
                return sum([item, (4,)], (1, 2))
            except TypeError as error:
                return str(error)

        def to_list(item):
            try:
                return sum([item, [4]], [1, 2])
            except TypeError as error:
                return str(error)

        def reduced(item):
            try:
                return functools.reduce(operator.add, [(1, 2), item])
            except TypeError as error:
                return str(error)

        def mapped(item):
            try:
                return list(map(operator.add, [(1, 2), (), "text"], [item] * 3))
            except TypeError as error:
                return str(error)

        for item in (Listed((3,)), Listed(), ListItems([3]), OwnText("text")):
            for function in (to_tuple, to_list, reduced, mapped):
                with self.subTest(function.__name__, item=item):
                    compiled = slotrt.compile(function)
                    for _ in range(2):
                        self.assertEqual(compiled(item), function(item))


if __name__ == "__main__":
    unittest.main()
