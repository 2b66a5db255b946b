"""What the library does in C and hands to Python, or asks of the interpreter: pickles, abstract classes, dates, the collector, imports."""

import abc
import collections.abc
import datetime
import enum
import gc
import pickle
import unittest

import slotrt


class Point:
    """Compares by what it holds."""

    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return type(other) is Point and self.x == other.x


class Day(datetime.date, enum.Enum):
    """Members that are dates."""

    FIRST = 2020, 1, 1
    SECOND = 2021, 2, 2


class Empty:
    """Has no method of its own."""


class Compared(unittest.TestCase):
    """Compares compiled with plain, on the first call and from the cache."""

    def same(self, function, *args):
        compiled = slotrt.compile(function, fullgraph=True)
        for _ in range(2):
            self.assertEqual(compiled(*args), function(*args))
        return compiled


class Pickles(Compared):
    def test_values(self):
        def through(value, protocol):
            made = pickle.dumps(value, protocol)
            return made, pickle.loads(made)

        compiled = slotrt.compile(through, fullgraph=True)
        shared = [1]
        for value in (1, "text", [1, 2.5, (None, True)], {"a": b"x", 2: {3}}, [shared, shared], 1 << 80):
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                self.assertEqual(pickle.loads(compiled(value, protocol)[0]), value)
                self.assertEqual(compiled(value, protocol)[1], value)

    def test_the_same_bytes(self):
        def through(value):
            return pickle.dumps({"key": [value, (value, 2)], "other": {"key": value}})

        compiled = self.same(through, 1)
        for value in (300, 1, -5, True, None):
            self.assertEqual(compiled(value), through(value))

    def test_instances_and_classes(self):
        def through(x):
            copy = pickle.loads(pickle.dumps(Point([x])))
            return copy.x, copy == Point([x]), pickle.loads(pickle.dumps(Point)) is Point

        compiled = self.same(through, 1)
        self.assertEqual(compiled("y"), through("y"))

    def test_what_cannot_be_pickled(self):
        def through():
            try:
                pickle.dumps(lambda: 1)
            except (pickle.PicklingError, AttributeError) as error:
                return str(error)

        self.assertEqual(slotrt.compile(through)(), through())


class Abstract(Compared):
    def test_builtin_and_user_classes(self):
        class Sized:
            def __len__(self):
                return 0

        def ask(value):
            return isinstance(value, collections.abc.Sized), issubclass(type(value), collections.abc.Mapping)

        compiled = self.same(ask, Sized())
        for value in ([], {}, Empty(), 1):
            self.assertEqual(compiled(value), ask(value))

    def test_registration_is_noticed(self):
        class Base(abc.ABC):
            pass

        def ask(value):
            return isinstance(value, Base), issubclass(type(value), Base)

        compiled = self.same(ask, Empty())
        self.assertEqual(compiled(Empty()), (False, False))
        Base.register(Empty)
        self.assertEqual(compiled(Empty()), (True, True))

    def test_a_hook_of_the_program(self):
        class Base(abc.ABC):
            @classmethod
            def __subclasshook__(cls, other):
                return "answer" in other.__dict__ or NotImplemented

        class Other:
            pass

        def ask(value):
            return isinstance(value, Base)

        compiled = self.same(ask, Other())

        class Third:
            answer = 1

        self.assertTrue(compiled(Third()))
        self.assertFalse(compiled(Other()))

    def test_a_class_of_the_trace(self):
        def ask():
            class Made:
                def __iter__(self):
                    return iter(())

            return isinstance(Made(), collections.abc.Iterable), isinstance(Made(), collections.abc.Sized)

        self.same(ask)


class Dates(Compared):
    def test_dates_from_outside(self):
        def ask(one, other):
            return one == other, one < other, str(one), one.year, (other - one).days, hash(one) == hash(other), {one: 1}.get(other)

        first, second = datetime.date(2020, 1, 1), datetime.date(2021, 5, 6)
        compiled = self.same(ask, first, second)
        self.assertEqual(compiled(second, first), ask(second, first))
        self.assertEqual(compiled(first, first), ask(first, first))
        self.assertEqual(compiled(datetime.date(2020, 1, 1), first), ask(first, first))

    def test_members_that_are_dates(self):
        def ask(member):
            return str(member), repr(member), format(member), hash(member), member == Day.FIRST, Day(member), member.day

        compiled = self.same(ask, Day.FIRST)
        self.assertEqual(compiled(Day.SECOND), ask(Day.SECOND))


class SpecialMethods(Compared):
    """C finds the methods of classes that the trace makes, and calls them unbound or bound."""

    def test_missing(self):
        def ask(value):
            class Made(dict):
                def __missing__(self, key):
                    return [key]

            return Made({1: 2})[1], Made()[value]

        compiled = self.same(ask, 3)
        self.assertEqual(compiled("x"), ask("x"))

    def test_hashes_of_text(self):
        def ask(value):
            class Folded(str):
                def __hash__(self):
                    return hash(self.lower())

                def __eq__(self, other):
                    return self.lower() == other.lower()

            return {Folded("A"): value}[Folded("a")], Folded("x") in {Folded("X")}, len({Folded("q"), Folded("Q")})

        compiled = self.same(ask, 3)
        self.assertEqual(compiled("x"), ask("x"))

    def test_an_order_of_bases_of_its_own(self):
        def ask():
            class Meta(type):
                def mro(cls):
                    return type.mro(cls)[:1] + [Empty, object]

            class Made(metaclass=Meta):
                pass

            return [base.__name__ for base in Made.__mro__]

        self.same(ask)

    def test_setters_that_are_functions_of_c(self):
        def ask(value):
            class Made(dict):
                __getattr__ = dict.__getitem__
                __setattr__ = dict.__setitem__
                __delattr__ = dict.__delitem__

            made = Made()
            made.x = value
            made.y = 1
            del made.y
            return made.x, dict(made)

        compiled = self.same(ask, 3)
        self.assertEqual(compiled("x"), ask("x"))

    def test_no_iterator(self):
        def ask():
            class Made:
                def __iter__(self):
                    return self

            said = []
            for call in (iter, next, list):
                try:
                    call(Made())
                except TypeError as error:
                    said.append(str(error))
            return said

        self.same(ask)

    def test_documents_that_are_descriptors(self):
        def ask():
            class Words:
                def __get__(self, instance, owner):
                    return owner.__name__ + ("" if instance is None else "!")

            class Made:
                __doc__ = Words()

            return Made.__doc__, Made().__doc__

        self.same(ask)

    def test_abstract_classes_of_the_trace(self):
        def ask():
            class Base(abc.ABC):
                @abc.abstractmethod
                def f(self):
                    """Is to be defined."""

            class Under(Base):
                def f(self):
                    return 1

            try:
                Base()
            except TypeError as error:
                return Under().f(), sorted(Base.__abstractmethods__), "Base" in str(error), isinstance(Under(), Base)

        self.same(ask)

    def test_patterns_that_are_refused(self):
        class Thing:
            __match_args__ = ("x", "x")
            x = 1

        def ask(value):
            said = []
            for pattern in (
                "match value:\n case Thing(1, 1): pass",
                "match value:\n case Thing(1, 1, 1): pass",
                "match value:\n case Thing(1, x=1): pass",
            ):
                try:
                    exec(pattern, {"value": value, "Thing": Thing})
                except TypeError as error:
                    said.append(str(error))
            return said

        self.same(ask, Thing())

    def test_refused_calls_say_what_c_says(self):
        def ask():
            class Made(dict):
                __missing__ = 3

            try:
                Made()[1]
            except TypeError as error:
                return str(error)

        self.same(ask)


class Interpreter(Compared):
    def test_the_collector_runs_when_compiled_code_does(self):
        class Cycle:
            def __init__(self):
                self.me = self

        def through(value):
            gc.collect()
            return value

        ended = []
        compiled = slotrt.compile(through, fullgraph=True)
        compiled(1)
        gc.disable()
        try:
            cycle = Cycle()
            watch = __import__("weakref").ref(cycle, ended.append)
            del cycle
            self.assertEqual(compiled(2), 2)
            self.assertEqual(len(ended), 1)
            del watch
        finally:
            gc.enable()

    def test_what_the_collector_finds_is_not_known(self):
        def through():
            return type(gc.collect())

        self.assertIs(slotrt.compile(through)(), int)
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(lambda: gc.collect() + 0, fullgraph=True)()

    def test_import_by_function(self):
        def through(name):
            return __import__(name).__name__, __import__("collections.abc").__name__, __import__("json.decoder", None, None, ["JSONDecoder"]).__name__

        compiled = self.same(through, "json")
        self.assertEqual(compiled("collections"), through("collections"))

    def test_identity_of_what_has_no_comparison(self):
        def through(one, other):
            return object.__eq__(one, other), object.__eq__(one, one), object.__repr__(one), object.__hash__(one) == hash(one)

        one, other = Empty(), Empty()
        compiled = self.same(through, one, other)
        self.assertEqual(compiled(other, one), through(other, one))
        self.assertEqual(compiled(one, one), through(one, one))

    def test_the_order_of_bases(self):
        class Under(Empty):
            pass

        def through(cls):
            found = cls.mro()
            found.append(1)
            return found

        compiled = self.same(through, Under)
        Under.__bases__ = (Point,)
        self.assertEqual(compiled(Under), through(Under))


if __name__ == "__main__":
    unittest.main()
