"""C objects from outside that a trace calls: partial functions, getters of `operator`, context variables, type variables, bound slots."""

import array
import contextvars
import functools
import operator
import re
import sys
import typing
import unittest
import zlib

import slotrt

PARTIAL = functools.partial(lambda *args, **names: (args, names), 1, z=2)
NESTED = functools.partial(PARTIAL, 5, y=[3])
ITEM, REAL, GET = operator.itemgetter(1), operator.attrgetter("real"), operator.methodcaller("get", "a", 7)
EMPTY, SET, DEFAULT = (contextvars.ContextVar(name) for name in ("EMPTY", "SET", "OTHER"))
DEFAULT = contextvars.ContextVar("DEFAULT", default=[1])
KEY = typing.TypeVar("KEY")


def partials(value):
    return PARTIAL(value), PARTIAL(value, z=3, q=1), NESTED(value), NESTED.args, NESTED.func(value)


def getters(value):
    ordered = sorted([(2, 1), (1, value)], key=ITEM)
    return ITEM([value, 2]), REAL(value), GET({"a": value}), GET({}), list(map(ITEM, [(1, value)])), ordered


def variables(value):
    try:
        first = SET.get()
    except LookupError as error:
        first = type(error)
    SET.set(value)
    return first, SET.get(), DEFAULT.get(), DEFAULT.get(5), EMPTY.get(value)


def type_variables(value):
    one, names, many = typing.TypeVar("one", bound=int), typing.ParamSpec("names"), typing.TypeVarTuple("many")
    made = [(made.__name__, made.__module__, repr(made)) for made in (one, names, many)]
    return made, one.__bound__, names.args.__origin__ is names, type(one) is typing.TypeVar


def generic(value):
    class Made(typing.Generic[KEY]):
        pass

    return repr(Made[int])[-9:], Made.__parameters__


def instances(value):
    return isinstance(value, int | str), isinstance(value, (str, int | float)), issubclass(bool, int | str)


def methods_told_their_class(value):
    match = re.compile("(a+)b").match
    packer, numbers = zlib.compressobj().copy, array.array("i", [value])
    again = numbers.__reduce_ex__
    return match("aab").groups(), match("b"), type(packer()).__name__, again(3)[1:]


class Meta(type):
    def __instancecheck__(cls, value):
        return value == 3

    def __subclasscheck__(cls, other):
        return other is int


class Odd(metaclass=Meta):
    pass


def metaclasses(value):
    return isinstance(value, Odd), isinstance("a", (Odd, bytes)), issubclass(int, Odd), issubclass(str, Odd)


def no_classes(value):
    said = []
    for given in (3, [int], (int, 3)):
        for ask in (isinstance, issubclass):
            try:
                said.append(ask(str if ask is issubclass else "a", given))
            except TypeError as error:
                said.append(str(error))
    return said


class CCallables(unittest.TestCase):
    def both(self, function, *args):
        compiled = slotrt.compile(function, fullgraph=True)
        plain, traced = contextvars.copy_context(), contextvars.copy_context()
        for _ in range(3):
            self.assertEqual(traced.run(compiled, *args), plain.run(function, *args))
        self.assertEqual(traced.get(SET), plain.get(SET))
        return compiled

    def test_partial_functions(self):
        self.both(partials, 3)

    def test_a_partial_function_whose_keywords_change(self):
        partial = functools.partial(lambda **names: names, a=1)
        compiled = slotrt.compile(lambda: partial(), fullgraph=True)
        self.assertEqual(compiled(), {"a": 1})
        partial.keywords["b"] = 2
        self.assertEqual(compiled(), {"a": 1, "b": 2})

    def test_getters(self):
        self.both(getters, 3)

    def test_a_getter_of_the_trace_is_new_each_time(self):
        compiled = slotrt.compile(lambda: operator.itemgetter(0), fullgraph=True)
        self.assertIsNot(compiled(), compiled())

    def test_context_variables(self):
        for value in (3, 4):
            self.both(variables, value)

    def test_a_context_variable_that_changes_outside(self):
        compiled = slotrt.compile(lambda: SET.get("none"), fullgraph=True)

        def changes():
            seen = [compiled()]
            for value in ([1], [1], None):
                token = SET.set(value)
                seen.append(compiled())
                SET.reset(token)
            return seen + [compiled()]

        self.assertEqual(contextvars.copy_context().run(changes), ["none", [1], [1], None, "none"])

    @unittest.skipUnless(hasattr(typing, "TypeAliasType"), "type variables are classes of C from 3.12 on")
    @unittest.skipIf(sys.version_info >= (3, 15), "typing imports annotationlib when it reads the name, for which a trace ends")
    def test_type_variables(self):
        self.both(type_variables, 3)
        self.both(generic, 3)

    def test_methods_that_get_their_class(self):
        slotrt.reset()
        compiled = slotrt.compile(methods_told_their_class)
        for _ in range(3):
            self.assertEqual(compiled(3), methods_told_their_class(3))

    def test_unions(self):
        self.both(instances, 3)

    def test_metaclasses_that_decide(self):
        for value in (3, 4):
            self.both(metaclasses, value)

    def test_what_is_no_class_is_refused(self):
        self.both(no_classes, 3)

    def test_errors_name_the_class_that_a_method_was_bound_to(self):
        class Plain(set):
            pass

        class Hooked(set):
            def __getattr__(self, name):
                raise AttributeError(name)

        def wrong(make):
            said = []
            for call in (lambda it: it.pop(1, None), lambda it: (lambda method: method(1, None))(it.pop), lambda it: it.add()):
                try:
                    call(make())
                except TypeError as error:
                    said.append(str(error))
            return said

        for kind in (Plain, Hooked):
            given = kind()
            for make in (kind, lambda given=given: given):
                self.assertEqual(slotrt.compile(wrong)(make), wrong(make))


class Ending:
    """Has a finaliser, so the trace ends before an instance ends."""

    def __del__(self):
        pass


def until(step):
    return list(iter(step, Ending()))


def over(step):
    return list(map(step, [Ending(), Ending()]))


def steps_of(values):
    return list(iter(iter(values).__next__, Ending()))


class BoundSlots(unittest.TestCase):
    """C calls slot functions bound to objects from outside: a trace that is given up must not have called them."""

    def test_iterators(self):
        makers = (lambda: iter([1, 2]), lambda: iter({3: 4, 5: 6}), lambda: iter((1, 2)), lambda: map(str, [1, 2]), lambda: iter("ab"))
        for number, make in enumerate(makers):
            with self.subTest(number):
                step, same = make().__next__, make().__next__
                self.assertEqual(slotrt.compile(until)(step), until(same))
                self.assertEqual(slotrt.compile(steps_of)(make()), steps_of(make()))

    def test_slots_that_the_trace_binds(self):
        class Frozen:
            __slots__ = ("a", "b")

            def __init__(self, a):
                store = object.__setattr__.__get__(self)
                store("a", a)
                store("b", [a])

            def __setattr__(self, name, value):
                raise AttributeError("frozen")

        class Items(list):
            def append(self, item):
                raise TypeError("frozen")

        def made(value):
            one = Frozen(value)
            add = list.append.__get__(items := Items())
            add(value)
            try:
                one.a = 3
            except AttributeError as error:
                return str(error), one.a, one.b, items
            finally:
                object.__delattr__.__get__(one, Frozen)("b")
                hasattr(one, "b")

        def refused(value):
            try:
                Frozen(value).a = 3
            except AttributeError as error:
                return str(error), dict.get.__get__({value: 2})(value), int.__rsub__.__get__(value)(7)

        def plain(make):
            try:
                object.__setattr__.__get__(make())("a", 1)
            except AttributeError as error:
                return str(error)

        for value in (3, 4):
            self.assertEqual(slotrt.compile(made)(value), made(value))
            self.assertEqual(slotrt.compile(refused)(value), refused(value))
        for make in (type("Plain", (), {}), object, int):
            self.assertEqual(slotrt.compile(plain)(make), plain(make))

    def test_containers(self):
        for values in ([1], {2: 3}, {4}):
            with self.subTest(values=values):
                compiled = slotrt.compile(over)
                for _ in range(2):
                    self.assertEqual(compiled(values.__contains__), over(values.__contains__))


if __name__ == "__main__":
    unittest.main()
