"""What programs ask of functions, methods and classes: how they are written, what they have, what they wrap, who is below."""

import functools
import sys
import types
import unittest

import slotrt
from compared import Compared


def plain(value, other=2):
    """A function from outside."""
    return value, other


plain.mark = [1]


class Thing:
    field = 1

    def __init__(self):
        self.own = 2

    fixed = staticmethod(plain)
    known = classmethod(plain)


class Partials:
    wholly = functools.partialmethod(plain)
    fixed = functools.partialmethod(staticmethod(plain), 8)
    known = functools.partialmethod(classmethod(plain), 9)


class Meta(type):
    pass


class OfMeta(metaclass=Meta):
    pass


class Compares(type):
    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return 1


class OfCompares(metaclass=Compares):
    pass


class Below(Thing):
    def asked(self):
        above = super()
        return above.__self__ is self, above.__thisclass__, above.__self_class__


class Names(Thing):
    __self__ = 5


NUMBER = 7


def parts(first, second=2):
    return first, second, NUMBER


class Whole(int):
    def __new__(cls, value, *rest):
        made = super().__new__(cls, value)
        made.rest = rest
        return made

    @classmethod
    def from_bytes(cls, data):
        return super().from_bytes(data, "big")


class Real(float):
    def __init__(self, value):
        self.given = value


class Bytes(bytes):
    pass


def without_address(text):
    return text.partition(" at 0x")[0]


class Functions(Compared):
    def test_texts(self):
        def texts():
            def inner():
                pass

            class Local:
                def method(self):
                    pass

                @property
                def read(self):
                    return 1

            wrapped = functools.partial(inner)
            values = [inner, Local.method, Local().method, Local.read, classmethod(inner), staticmethod(inner), wrapped]
            inner.__qualname__ = "renamed"
            return [without_address(repr(value)) for value in values] + [without_address(f"{inner} {inner!s}")]

        self.same(texts)

    def test_a_text_tells_the_address_of_the_function(self):
        def told():
            def inner():
                pass

            return repr(inner), inner

        compiled = slotrt.compile(told)
        for _ in range(3):
            text, inner = compiled()
            self.assertEqual(text, repr(inner))

    def test_wrappers(self):
        def wrapped(function):
            @functools.wraps(function)
            def inner(*args):
                return function(*args)

            inner.mark.append(len(inner.mark))
            return inner.__name__, inner.__doc__, inner.mark, inner.__wrapped__ is function, inner(3)

        compiled = slotrt.compile(wrapped, fullgraph=True)
        for _ in range(2):
            plain.mark = [1]
            expected = wrapped(plain)
            plain.mark = [1]
            self.assertEqual(compiled(plain), expected)
        plain.mark, plain.more = [5], 6
        self.addCleanup(delattr, plain, "more")
        asked = slotrt.compile(lambda function: (dict(function.__dict__), vars(function) == {}), fullgraph=True)
        self.assertEqual(asked(plain), ({"mark": [5], "more": 6}, False))
        plain.more = 7
        self.assertEqual(asked(plain)[0]["more"], 7)

    def test_names(self):
        def of_objects(thing, function):
            first, second = 1, 2
            return dir(thing), dir(function), dir(), sorted(vars()), vars()["first"], second, thing.own, first

        thing = Thing()
        compiled = self.same(of_objects, thing, plain)
        thing.later = 3
        self.assertEqual(compiled(thing, plain), of_objects(thing, plain))
        Thing.also = 4
        self.addCleanup(delattr, Thing, "also")
        self.assertEqual(compiled(thing, plain), of_objects(thing, plain))

    def test_descriptors_from_outside(self):
        held = Partials()

        def bound(fixed, known, thing, held):
            one = fixed.__get__(thing, Thing)(4), known.__get__(thing)(5), known.__get__(None, Thing)(6)
            return one, held.fixed(1), Partials.fixed(2), held.known(), Partials.known(), held.wholly(3)[1]

        self.same(bound, Thing.__dict__["fixed"], Thing.__dict__["known"], Thing(), held)

    def test_unions_with_classes_of_metaclasses(self):
        def joined():
            both, repeated = int | OfMeta, OfMeta | OfMeta
            return both.__args__, (OfMeta | None).__args__, repeated is OfMeta, repr(both), isinstance(3, both)

        def compared():
            return (OfCompares | int).__args__[0] is OfCompares

        self.same(joined)
        compiled = slotrt.compile(compared)
        self.assertEqual([compiled(), compiled()], [compared()] * 2)

    def test_class_methods_of_builtins_make_derived_values(self):
        def converted(text):
            try:
                real = Real.fromhex(text)
            except ValueError as error:
                return str(error)
            whole, data = Whole.from_bytes(b"ab"), Bytes.fromhex("ab12")
            return real, real.given, type(real), whole, whole.rest, type(whole), data, type(data)

        self.same(converted, "0x1.8p3")
        self.same(converted, "none")

    def test_classes_below(self):
        def below():
            class First:
                pass

            class Second(First):
                pass

            before = First.__subclasses__() == [Second]
            third = type("Third", (First,), {})
            return before, First.__subclasses__() == [Second, third], Second.__subclasses__()

        self.same(below)

    def test_classes_that_are_refused(self):
        def refused(*given):
            said = []
            for make in (type, Meta, functools.partial(type.__new__, Meta)):
                try:
                    said.append(make(*given).__name__)
                except (TypeError, ValueError) as error:
                    said.append(str(error))
            return said

        for given in ((1, 2), ("A", ()), ("A", [], {}), (3, (), {}), ("A", (), None), (b"x", (), {}), ("A", (), {}, 1), ("A", (), {})):
            with self.subTest(given=given):
                slotrt.reset()
                compiled = slotrt.compile(refused)
                self.assertEqual([compiled(*given), compiled(*given)], [refused(*given)] * 2)

    def test_functions_made_of_their_parts(self):
        def made(default):
            number, names = 3, {"NUMBER": 4}
            given = default + 1

            def inner():
                return number

            one = types.FunctionType(parts.__code__, globals(), "one", (default,))
            two = types.FunctionType(parts.__code__, names)
            three = types.FunctionType(inner.__code__, names, closure=(types.CellType(8),))
            four = types.FunctionType(inner.__code__, globals(), None, None, inner.__closure__)
            found = one(1), two(2, 3), three(), four(), one.__name__, two.__name__, given
            names["NUMBER"], number = 5, 6
            return found, two(2, 3), four(), one.__module__, two.__module__

        def refused():
            def inner():
                return made

            said = []
            for given in (
                (inner.__code__, {}),
                (inner.__code__, {}, 3),
                (parts.__code__, {}, "x", 3),
                (parts.__code__, {}, "x", None, (1,)),
                (inner.__code__, {}, None, None, (1,)),
            ):
                try:
                    types.FunctionType(*given)
                except (TypeError, ValueError) as error:
                    said.append(str(error))
            return said

        global NUMBER
        compiled = self.same(made, 5)
        self.same(refused)
        NUMBER, before = 70, NUMBER
        self.assertEqual(compiled(6), made(6))
        NUMBER = before
        leaves = slotrt.compile(lambda: types.FunctionType(parts.__code__, globals()), fullgraph=True)
        self.assertEqual(leaves()(1, 2), (1, 2, NUMBER))
        self.assertIs(leaves().__globals__, globals())

    def test_audits_of_functions_made_of_their_parts(self):
        def made():
            return types.FunctionType(parts.__code__, globals())(1, 2)

        compiled = self.same(made)
        heard, listens = [], [True]

        def hook(event, args):
            if listens and event == "function.__new__":
                heard.append(args)

        sys.addaudithook(hook)
        self.addCleanup(listens.clear)
        compiled()
        self.assertEqual(heard, [(parts.__code__,)])

    def test_cells(self):
        def cells():
            empty = types.CellType()
            try:
                said = empty.cell_contents
            except ValueError as error:
                said = str(error)
            empty.cell_contents = 3
            return said, empty.cell_contents, empty == types.CellType(3), types.CellType(2) < types.CellType(3)

        self.same(cells)

    def test_members_of_super_objects(self):
        def members(below):
            of_class = super(Below, Below)
            return below.asked(), of_class.__self__, of_class.__self_class__, super(Thing, below).__thisclass__

        self.same(members, Below())
        hidden = slotrt.compile(lambda names: super(Names, names).__self__)
        names = Names()
        self.assertIs(hidden(names), super(Names, names).__self__)

    def test_classes_called_past_their_metaclass(self):
        def called():
            return type.__call__(Thing).own, type.__call__(type, 3), type.__call__(OfMeta).__class__

        self.same(called)

    def test_constants_have_classes(self):
        def made():
            try:
                type(None)(1)
            except TypeError as error:
                return str(error), type(None)() is None, type(...)() is ..., type(NotImplemented)() is NotImplemented

        self.same(made)

    def test_settings(self):
        def asked():
            return sys.getdlopenflags(), sys.get_asyncgen_hooks().firstiter, sys.get_coroutine_origin_tracking_depth()

        compiled = self.same(asked)
        sys.set_coroutine_origin_tracking_depth(2)
        self.addCleanup(sys.set_coroutine_origin_tracking_depth, 0)
        self.assertEqual(compiled(), asked())


if __name__ == "__main__":
    unittest.main()
