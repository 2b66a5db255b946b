"""Class statements in a trace: metaclasses, hooks, namespaces; nothing runs twice and nothing runs untraced."""

import abc
import collections.abc
import dataclasses
import enum
import typing
import unittest

import slotrt

LOG = []


class Base:
    def __init_subclass__(cls, tag=None, **keywords):
        super().__init_subclass__(**keywords)
        cls.tag = tag
        LOG.append((cls.__name__, tag))


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases, **keywords):
        return {"prepared": keywords}

    def __new__(mcs, name, bases, namespace, **keywords):
        made = super().__new__(mcs, name, bases, namespace)
        made.found = sorted(key for key in namespace if not key.startswith("__"))
        return made

    def __init__(cls, name, bases, namespace, **keywords):
        super().__init__(name, bases, namespace)
        cls.keywords = keywords

    def __call__(cls, *args):
        LOG.append(("call", cls.__name__))
        return super().__call__(*args)

    def __delattr__(cls, name):
        LOG.append(("deleted", name))
        super().__delattr__(name)


class WithMeta(metaclass=Meta):
    pass


class Named:
    times = 0

    def __set_name__(self, owner, name):
        self.owner, self.name, self.times = owner.__name__, name, self.times + 1


class Replaced:
    def __set_name__(self, owner, name):
        delattr(owner, name)
        setattr(owner, name, 5)


class Pairs(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value if key.startswith("__") else (key, value))


class Pairing(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Pairs()


class Stands:
    def __mro_entries__(self, bases):
        return (Base,)


def init_subclass():
    class Made(Base, tag=5):
        attribute = 1

    return Made.tag, Made.attribute, Made().tag, Made.__mro__[1:]


def refused_keyword():
    class Made(Base, bad=1):
        pass


def metaclass():
    class Made(WithMeta, key=2):
        attribute = 3

        def own(self):
            return __class__.__name__

    return Made.found, Made.keywords, Made.prepared, Made().own(), type(Made) is Meta


def set_name():
    class Made:
        named = Named()

    return Made.__dict__["named"].name, Made.named.times, Made.named.owner


def set_name_changes_the_class():
    class Made(metaclass=Meta):
        replaced = Replaced()

    return Made.replaced


def own_namespace():
    class Made(metaclass=Pairing):
        first = 1
        second = 2
        del first

    return Made.second, hasattr(Made, "first")


def three_arguments():
    made = type("Made", (Base,), {"attribute": 1})
    return made.attribute, made.tag, made.__name__


def conflict():
    class Left(type):
        pass

    class Right(type):
        pass

    class First(metaclass=Left):
        pass

    class Second(metaclass=Right):
        pass

    class Made(First, Second):
        pass


def entries():
    class Made(Stands()):
        pass

    return Made.__bases__, len(Made.__orig_bases__), Made.tag


def enumeration():
    class Color(enum.Enum):
        RED = 1
        BLUE = 2

    return Color.RED.value, Color(2).name, [color.name for color in Color], Color["RED"] is Color.RED, repr(Color.BLUE)


def data_class():
    @dataclasses.dataclass
    class Point:
        x: int
        y: int = 3

    return repr(Point(1)), Point(1) == Point(1, 3)


def abstract():
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self): ...

    class Square(Shape):
        def area(self):
            return 4

    try:
        Shape()
    except TypeError as error:
        return str(error), Square().area()


def annotations():
    class Made:
        first: int
        second: str = ""

    return Made.__annotations__


def named_tuple():
    class Pair(typing.NamedTuple):
        x: int
        y: int = 3

    return Pair(1), Pair(1).y


def super_of_a_class():
    class Made(Base):
        @classmethod
        def name(cls):
            return super().__init_subclass__.__name__, super(Base, cls).__init_subclass__.__name__

    return Made.name()


def called_through_its_class():
    class Caller:
        def __call__(self, value):
            return value + 1

    class Made:
        pass

    Made.__call__ = Caller()
    return Made()(1)


def methods_set_on_classes():
    class Made:
        @classmethod
        def name(cls):
            return cls.__name__

        def self(self):
            return type(self).__name__

    class Heir(Made):
        pass

    Heir.same = Made.name
    Heir.own = Made().self
    return Heir.same(), Heir().same(), Heir.own(), Heir().own()


class Initialised(type):
    def __init__(cls, name, bases, namespace, **keywords):
        LOG.append(("init", name, sorted(namespace)))
        super().__init__(name, bases, namespace)


class OfInitialised(metaclass=Initialised):
    pass


def type_called_with_a_base_of_another_metaclass():
    made = type("Made", (WithMeta,), {"x": 1})
    initialised = type("Second", (OfInitialised,), {"y": 2})
    return type(made).__name__, made.x, type(initialised).__name__, initialised.y, made().x


def type_called_with_an_abstract_base():
    made = type("Made", (collections.abc.Hashable,), {"__hash__": lambda self: 7})
    refused = type("Refused", (collections.abc.Hashable,), {"__hash__": collections.abc.Hashable.__hash__})
    try:
        refused()
    except TypeError as error:
        return hash(made()), type(made).__name__, isinstance(made(), collections.abc.Hashable), str(error)


def flags_out_of_order():
    class Flag(enum.Flag):
        FOUR = 4
        TWO = 2

    return repr(Flag.FOUR | Flag.TWO), [flag.name for flag in Flag], (~Flag.TWO).name


WHOLE = [
    init_subclass, refused_keyword, metaclass, set_name, set_name_changes_the_class, own_namespace, three_arguments,
    entries, enumeration, abstract, annotations, called_through_its_class,
    methods_set_on_classes, flags_out_of_order, type_called_with_a_base_of_another_metaclass,
    type_called_with_an_abstract_base,
]  # fmt: skip
# Here an exception or a type leaves the trace, or the library reads a module's namespace.
BROKEN = [conflict, data_class, named_tuple, super_of_a_class]


def outcome(function):
    LOG.clear()
    try:
        return function(), list(LOG)
    except Exception as error:  # noqa: BLE001
        return type(error), str(error), list(LOG)


class Classes(unittest.TestCase):
    def test_without_a_break(self):
        for case in WHOLE:
            with self.subTest(case.__name__):
                self.assertEqual(outcome(slotrt.compile(case, fullgraph=True)), outcome(case))

    def test_with_breaks(self):
        for case in WHOLE + BROKEN:
            with self.subTest(case.__name__):
                compiled = slotrt.compile(case)
                for _ in range(2):
                    self.assertEqual(outcome(compiled), outcome(case))


class Bodies(unittest.TestCase):
    def test_a_break_in_a_body_leaves_no_frame_alone(self):
        natively = slotrt.disable(lambda x: LOG.append(x) or x)

        def double(x):
            return natively(x) * 2

        def makes(x):
            total = x + 1

            class Made:
                first = natively(total)
                second = double(first)

                def method(self):
                    return self.second

            return Made().method(), Made.__qualname__.rpartition(".")[2]

        slotrt.reset()
        compiled = slotrt.compile(makes)
        for x in (1, 2, 1):
            self.assertEqual(outcome(lambda: compiled(x)), outcome(lambda: makes(x)))
        self.assertEqual(slotrt.stats()["frames_skipped"], 0)


class Worded(type):
    def __repr__(cls):
        return "worded " + type.__repr__(cls)


class OfWorded(metaclass=Worded):
    pass


TEXTS = [
    lambda: repr(WithMeta),
    lambda: str(Base),
    lambda: f"{Base} {Base!r:>40} {Base!s}",
    lambda: "%s %r" % (Base, Base),
    lambda: "{} {!r}".format(Base, OfWorded),
    lambda: format(Base, ""),
    lambda: ascii(Base),
    lambda: repr([Base, {OfWorded: (int, Base)}]),
    lambda: (repr(OfWorded), str(OfWorded), f"{OfWorded}"),
    lambda: repr(type("Made", (), {"__module__": "m"})),
]


class ClassTexts(unittest.TestCase):
    def test_without_a_break(self):
        for case in TEXTS:
            self.assertEqual(slotrt.compile(case, fullgraph=True)(), case())

    def test_a_class_that_is_called_otherwise(self):
        class Renamed:
            pass

        compiled = slotrt.compile(lambda: (repr(Renamed), str(Renamed), Renamed.__name__))
        for name, value in [("__qualname__", "Outer.Inner"), ("__module__", "elsewhere"), ("__name__", "Other")]:
            expected = (repr(Renamed), repr(Renamed), Renamed.__name__)
            self.assertEqual(compiled(), expected)
            setattr(Renamed, name, value)
            self.assertEqual(compiled(), (repr(Renamed), repr(Renamed), Renamed.__name__))


class EqualityGivenLater(unittest.TestCase):
    def test_is_hashed_still(self):
        class Later:
            def __init__(self, value):
                self.value = value

        Later.__eq__ = lambda self, other: self.value == other.value

        def keys():
            one = Later(1)
            return {one: 1}.get(one), {}.get(Later(2), 3), Later.__hash__ is object.__hash__

        self.assertEqual(slotrt.compile(keys)(), keys())


if __name__ == "__main__":
    unittest.main()
