"""Without a graph break: `super()` and other calls that read their caller's frame, generators and how they end, `__getattr__` of metaclasses."""

import collections
import sys
import unittest

import slotrt

LEVEL = 5


class Base:
    kind = "base"

    def __init__(self, value):
        self.value = value

    def doubled(self):
        return self.value * 2

    @classmethod
    def named(cls):
        return cls.__name__

    def __getitem__(self, key):
        return (self.value, key)


class Derived(Base):
    kind = "derived"

    def __init__(self, value):
        parent = super()
        parent.__init__(value + 1)

    def doubled(self):
        above = super()
        return above.doubled(), above.kind, above.__class__.__name__, super(Derived, self).doubled()

    @classmethod
    def named(cls):
        above = super()
        return above.named() + "!"

    def captured(self):
        def inner():
            return self.value

        return super().doubled() + inner()

    def __getitem__(self, key):
        return super().__getitem__(key)

    def missing(self):
        return super().nothing

    def kept(self):
        return [super(), super(Derived, self)]


def supers():
    made = Derived(3)
    return made.doubled(), Derived.named(), made.captured(), made["x"]


def missing():
    try:
        Derived(1).missing()
    except AttributeError as error:
        return str(error)


def no_arguments():
    def without():
        return super()

    try:
        without()
    except RuntimeError as error:
        return str(error)


def kept():
    return [above.doubled() for above in Derived(4).kept()]


def escapes():
    return Derived(4).kept()[0]


def namespaces():
    names = globals()
    found = names["LEVEL"], names.get("LEVEL"), names.get("NOTHING", 7), "LEVEL" in names, "NOTHING" in names
    try:
        names["NOTHING"]
    except KeyError as error:
        return found, error.args


def stored():
    globals()["WRITTEN"] = LEVEL
    return WRITTEN + globals()["WRITTEN"]  # noqa: F821


def frames():
    def module():
        return sys._getframe(1).f_globals["__name__"]

    return module() == __name__, sys._getframe().f_code.co_name


def tuples():
    Pair = collections.namedtuple("Pair", "left right")
    return Pair(1, 2).right, Pair.__module__ == __name__


class Asked(type):
    def __getattr__(cls, name):
        if name.startswith("made_"):
            return name, cls.__name__
        raise AttributeError(name)


class Answering(metaclass=Asked):
    there = 1


def asked():
    try:
        Answering.other
    except AttributeError as error:
        return Answering.there, Answering.made_up, str(error)


def inner(log):
    try:
        got = yield 1
        log.append(got)
        yield 2
    except ValueError as error:
        log.append(str(error))
        return "handled"


def outer(log):
    result = yield from inner(log)
    yield result
    try:
        yield from iter([10, 20])
    except KeyError as error:
        yield repr(error)
    raise StopIteration("escaped")


def generators():
    log = []
    made = outer(log)
    seen = [next(made), made.send("sent"), made.throw(ValueError("thrown")), next(made), made.throw(KeyError("k"))]
    try:
        next(made)
    except RuntimeError as error:
        seen += [str(error), repr(error.__cause__), error.__context__ is error.__cause__]
    return seen, log


def closing():
    def stubborn():
        try:
            yield 1
        except GeneratorExit:
            return "left"

    made = stubborn()
    next(made)
    return made.close(), list(made)


def thrown_through():
    def innermost():
        yield 1

    def middle():
        yield from innermost()

    made = middle()
    next(made)
    try:
        made.throw(LookupError("lost"))
    except LookupError as error:
        return error.args, list(made)


def short_circuits(a=0, b=None, c="c"):
    return (a or b or c, a and c, c and a, not a, +True, -a if a else ~a, [x for x in (a, b, c) if x is not None])


CASES = [
    supers, missing, no_arguments, kept, namespaces, stored, frames, tuples, asked, generators, closing, thrown_through, short_circuits,
]


class Callers(unittest.TestCase):
    def test_without_a_break(self):
        for case in CASES:
            with self.subTest(case=case.__name__):
                compiled = slotrt.compile(case, fullgraph=True)
                plain = case()
                self.assertEqual(compiled(), plain)
                self.assertEqual(compiled(), plain)

    def test_changed_globals(self):
        global LEVEL
        compiled = slotrt.compile(namespaces)
        compiled()
        LEVEL = 6
        try:
            self.assertEqual(compiled(), namespaces())
        finally:
            LEVEL = 5

    def test_an_object_of_super_is_materialised(self):
        made = slotrt.compile(escapes)()
        self.assertIs(type(made), super)
        self.assertEqual(made.doubled(), 10)
