"""Weak references and proxies of `weakref` to objects of the trace: as in plain Python."""

import functools
import unittest
import weakref
from functools import singledispatch

import slotrt


class Node:
    def __init__(self, value=0):
        self.value = value

    def get(self):
        return self.value

    def __len__(self):
        return 3


class Slotted:
    __slots__ = ()


def with_its_list():
    node = Node(5)
    before = node.__weakref__
    reference = weakref.ref(node)
    return before, node.__weakref__ is reference, weakref.getweakrefcount(node)


def dereferenced():
    node = Node(5)
    reference = weakref.ref(node)
    return reference().value, reference() is node, reference is weakref.ref(node), reference.__callback__


def through_a_proxy():
    node = Node(5)
    proxy = weakref.proxy(node)
    proxy.other = 4
    del proxy.value
    return node.other, hasattr(node, "value"), type(proxy), isinstance(proxy, Node), len(proxy), proxy == node, node == proxy, proxy != node, [proxy] == [node]


def chain():
    first = Node(1)
    first.next = Node(2)
    first.next.back = weakref.proxy(first)
    return first.next.back.value, first.next.back.next.value


def escaping():
    node = Node(5)
    return node, weakref.ref(node), weakref.proxy(node)


def only_the_reference():
    return weakref.ref(Node(5))()


def refused():
    messages = []
    for thing in (Slotted(), 3, "a"):
        try:
            weakref.ref(thing)
        except TypeError as error:
            messages.append(str(error))
    return messages


def keyed_by_classes():
    table = weakref.WeakKeyDictionary()
    table[Node] = 5
    table[int] = 7
    return table[Node], table[int], len(table), list(table), Node in table, str in table


def dispatched():
    @singledispatch
    def kind(value):
        return "base"

    @kind.register(int)
    def _(value):
        return "int"

    @kind.register(Node)
    def _(value):
        return "node"

    return kind(1), kind("s"), kind(Node()), kind(True), kind.dispatch(int) is kind.registry[int]


def in_a_weak_set():
    held = weakref.WeakSet()
    node = Node(1)
    held.add(node)
    return len(held), node in held, node


class Items(list):
    """C gets its instances as they are."""


def of_c():
    def function():
        return 3

    items, numbers = Items([1]), {1, 2}
    held = weakref.WeakValueDictionary(items=items)
    keys = weakref.WeakKeyDictionary({function: 4})
    references = [weakref.ref(value) for value in (items, numbers, function)]
    items.append(5)
    found = [reference() for reference in references]
    return found[0][1], found[1] is numbers, found[2](), held["items"] is items, keys[function], len(keys)


WHOLE = [of_c, dereferenced, through_a_proxy, chain, escaping, refused, keyed_by_classes, dispatched, in_a_weak_set]


def deleted():
    node = Node(5)
    reference = weakref.ref(node)
    del node
    return reference()


def given_away():
    def look(reference):
        return reference()

    return look(weakref.ref(Node()))


def overwritten():
    node = Node(1)
    node.next = Node(2)
    reference = weakref.ref(node.next)
    alive = reference() is not None
    node.next = None
    return alive, reference()


def emptied():
    held = [Node(1)]
    reference = weakref.ref(held[0])
    held.clear()
    return reference()


def dead_proxy():
    try:
        return weakref.proxy(Node(5)).value
    except ReferenceError as error:
        return str(error)


def called_back():
    out = []
    node = Node(5)
    reference = weakref.ref(node, lambda reference: out.append(reference() is None))
    node = None
    return out, reference()


def leaves_a_weak_set():
    held = weakref.WeakSet()
    node = Node(1)
    held.add(node)
    before = len(held)
    del node
    return before, len(held)


def in_a_generator():
    def generator():
        node = Node(3)
        reference = weakref.ref(node)
        yield reference
        del node
        yield reference

    made = generator()
    alive = next(made)() is not None
    return alive, next(made)()


def returned_with_callback():
    out = []
    node = Node(5)
    return node, weakref.ref(node, lambda reference: out.append(1)), out


def items_gone():
    items = Items()
    reference = weakref.ref(items)
    items = None
    return reference(), items


def several_gone():
    one, other = Items([1]), Items([1])
    references = weakref.ref(one), weakref.ref(other)
    alive = references[0] == references[1]
    one = other = None
    return alive, references[0] == references[1], one, other


def proxy_of_c_gone():
    function = functools.partial(int, base=16)
    proxy = weakref.proxy(function)
    alive, function = proxy.func, None
    try:
        return alive, proxy.func, function
    except ReferenceError as error:
        return alive, str(error)


BROKEN = [
    items_gone, several_gone, proxy_of_c_gone,
    with_its_list,
    deleted, given_away, overwritten, emptied, dead_proxy, called_back, leaves_a_weak_set, in_a_generator, only_the_reference,
    returned_with_callback,
]  # fmt: skip


def shown(value):
    """Without addresses."""
    if isinstance(value, (tuple, list)):
        return [shown(item) for item in value]
    if isinstance(value, weakref.ReferenceType):
        return "reference", shown(value())
    return type(value).__name__, value.value if isinstance(value, Node) else repr(value).partition(" at ")[0]


class Weak(unittest.TestCase):
    def test_within_the_trace(self):
        for function in WHOLE:
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function, fullgraph=True)
                self.assertEqual(shown(compiled()), shown(function()))
                self.assertEqual(shown(compiled()), shown(function()))

    def test_objects_that_are_gone(self):
        for function in BROKEN:
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function)
                self.assertEqual(shown(compiled()), shown(function()))
                self.assertEqual(shown(compiled()), shown(function()))

    def test_materialised_references_refer_to_the_materialised_object(self):
        node, reference, proxy = slotrt.compile(escaping, fullgraph=True)()
        self.assertIs(reference(), node)
        self.assertIs(weakref.proxy(node), proxy)

    def test_proxies_from_outside(self):
        node = Node(4)
        proxy = weakref.proxy(node)
        for function in (len, lambda it: it.value, lambda it: isinstance(it, Node), lambda it: it.__class__, type):
            self.assertEqual(slotrt.compile(lambda it, function=function: function(it))(proxy), function(proxy))

    def test_references_that_end_in_the_trace_are_not_made(self):
        compiled = slotrt.compile(keyed_by_classes, fullgraph=True)
        before = weakref.getweakrefcount(Node)
        compiled(), compiled()
        self.assertEqual(weakref.getweakrefcount(Node), before)


if __name__ == "__main__":
    unittest.main()
