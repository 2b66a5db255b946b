"""Static C functions and what they are compared with: the order of bases, and slots that follow attributes."""

import gc
import itertools

import rows
import values
from native import Native, kinds_of
from subjects import Subject

from slotrt import protocol


class Given(type):
    """A metaclass that sets the order of bases by hand."""

    ORDERS = {}

    def mro(cls):
        return [cls, *Given.ORDERS[cls.__name__]]


class A:
    pass


class B:
    pass


class C(A, B):
    pass


class D(A):
    pass


class E(C, D):
    pass


def given(name, bases, order):
    """A class with an order of its own: itself, then `order`."""
    Given.ORDERS[name] = order
    return Given(name, bases, {})


FORWARD, BACKWARD = given("Forward", (object,), (A, B, object)), given("Backward", (object,), (B, A, object))
# Inconsistent: no order has A before B and B before A.
CROSSED = given("Crossed", (FORWARD, BACKWARD), (object,))
CROSSED_MORE = given("CrossedMore", (C, BACKWARD, D), (C, D, A, B, object))
CLASSES = (A, B, C, D, E, FORWARD, BACKWARD, CROSSED, CROSSED_MORE, *(given(f"Of{first.__name__}{second.__name__}", (object,), (first, second, object)) for first, second in itertools.permutations((A, B, D), 2)))

METHODS = {
    "function": lambda *args: NotImplemented, "None": None, "int": 1, "wrapper of int": int.__add__, "wrapper of object": object.__hash__, "wrapper of list": list.__getitem__,
    "wrapper of type": type.__call__, "static": staticmethod(lambda *args: None), "new of dict": dict.__new__, "next of list": type(iter([])).__next__, "repr of str": str.__repr__, "getattribute": object.__getattribute__,
}


def own(kind):
    """The real dictionary of a class: no slot follows its changes."""
    return next(one for one in gc.get_referents(type.__dict__["__dict__"].__get__(kind)) if type(one) is dict)


def changed(name, bases, method):
    """A class, with a subclass, whose dictionary has a special method that its slots do not know of."""

    def make():
        kind = type("Changed", bases, {"attribute": 1})
        kind.below = type("Below", (kind,), {})
        kind.aside = type("Aside", (kind,), {name: lambda *args: 0})
        own(kind)[name] = METHODS[method]
        return kind

    return make


def fixed(label, value):
    return values.Value(label, lambda: value, True)


def names():
    return [fixed(name, name) for name in rows.SPECIAL]


def orders():
    return [fixed(kind.__name__, kind) for kind in CLASSES]


def all_subjects(everything, report):
    """The functions that are compared beside those that programs reach."""
    types = [one for one in everything if one.is_type] + orders()
    classes = [values.Value(f"{name} = {method} of {base.__name__}", changed(name, (base,), method), False) for base in (object, int, list) for name in rows.SPECIAL for method in METHODS]
    # The state of a class is its dictionary, in which `copyreg` leaves what it found out.
    instances = [one for one in everything if not one.is_type]
    rest = {
        "type_mro": ([types, (None,)], lambda kind, _: type.mro(kind)),
        "mro_implementation": ([types], None), "mro_implementation_unlocked": ([types], None),
        "object_getstate_default": ([instances, (0, 1)], None),
        "object___reduce_ex___impl": ([instances, (0, 1, 2, 4)], lambda of, protocol: object.__reduce_ex__(of, protocol)),
        "update_slot": ([classes, names()], None),
    }
    translated = {function.__name__: function for function in protocol.functions() if function.file == "Objects/typeobject.c"}
    for name, (choices, theirs) in rest.items():
        function = translated.get(name)
        if function is None:
            continue
        kinds, _, returns = kinds_of(function)
        address = protocol.address(function)
        if theirs is None and not address:
            report["left out"][f"{name}: no symbol names it"] = 1
            continue
        yield Subject(function, theirs or Native(name, address, kinds, returns), choices, "hidden")


def slots_after(kind):
    """What the slots of a class of Python code hold, and those of its subclasses."""
    if not kind.__flags__ & values.HEAP:
        return ()
    return [[(slot, address) for slot, address, _ in protocol.slots_of(one)] for one in (kind, *type.__subclasses__(kind)) if one.__flags__ & values.HEAP]
