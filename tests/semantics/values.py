"""The values that operations are tried on: each has a name and a factory that makes a fresh equal one."""

import array
import builtins
import collections
import dataclasses
import datetime
import decimal
import fractions
import functools
import itertools
import math
import operator
import types
import typing
import weakref

import classes
from describe import describe

HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE


@dataclasses.dataclass
class Point:
    x: int
    y: int = 2


Pair = collections.namedtuple("Pair", "a b")


def generator():
    received = yield 1
    yield received
    return "end"


def plain(a=1, *args, k=2, **kwargs):
    return a, args, k, kwargs


def recursive():
    value = [1]
    value.append(value)
    return value


def exception():
    error = ValueError("text", 2)
    error.add_note("a note")
    return error


def fresh_class(name="Fresh", bases=(), **body):
    return lambda: type(name, bases, {"attribute": 1, **body})


class Generic:
    def __class_getitem__(cls, item):
        return f"{cls.__name__}[{type(item).__name__}]"


class NewOther:
    def __new__(cls, *args, **kwargs):
        return 5


class InitBad:
    def __init__(self, *args):
        return 3


# Values that nothing can change: one object serves every case.
FIXED = {
    "zero": 0, "one": 1, "minus three": -3, "two": 2, "large": 2**70, "negative large": -(2**65), "digit bound": 2**30, "True": True, "False": False,
    "1.5": 1.5, "-0.0": -0.0, "inf": math.inf, "nan": math.nan, "2j": 2j, "complex": complex(1, -2),
    "empty str": "", "attribute": "attribute", "data": "data", "nondata": "nondata", "a": "a", "failing": "failing", "__len__": "__len__", "é": "é", "emoji": "\U0001f600x", "%s and %d": "%s", "number": " 12 ",
    "lone": "\ud800", "empty bytes": b"", "bytes": b"ab\xff", "empty tuple": (), "tuple": (1, "a"), "nested": ((1, 2), [3]), "types": (int, str),
    "frozenset": frozenset({1, "a"}), "empty frozenset": frozenset(), "range": range(3), "range step": range(10, 0, -3), "range huge": range(2**70),
    "slice": slice(1, None, 2), "slice none": slice(None), "slice bad": slice("a"), "None": None, "Ellipsis": ..., "NotImplemented": NotImplemented,
    "int": int, "str": str, "type": type, "object": object, "dict": dict, "ValueError": ValueError, "bool": bool, "tuple type": tuple, "list type": list, "NoneType": type(None), "property": property, "super": super,
    "len": len, "print": print, "isinstance": isinstance, "list.append": list.append, "int.__add__": int.__add__, "bound wrapper": (3).__add__, "classmethod builtin": dict.fromkeys,
    "getset": type(plain).__code__, "member": types.FunctionType.__closure__ if hasattr(types.FunctionType, "__closure__") else None, "int.real": int.real,
    "alias": list[int], "alias var": dict[str, typing.TypeVar("T")], "union": int | str, "optional": typing.Optional[int],
    "enum": classes.Color.RED, "flag": classes.Level.LOW, "enum class": classes.Color, "pair": Pair(1, 2), "Pair": Pair, "Decimal": decimal.Decimal("1.50"), "Decimal nan": decimal.Decimal("NaN"),
    "Fraction": fractions.Fraction(1, 3), "date": datetime.date(2020, 2, 29), "delta": datetime.timedelta(days=1, seconds=3), "datetime": datetime.datetime(2020, 1, 1),
    "Generic": Generic, "NewOther": NewOther, "InitBad": InitBad, "partial": functools.partial(plain, 1), "itemgetter": operator.itemgetter(0), "Attributes": classes.Attributes,
    "code": plain.__code__, "proxy": types.MappingProxyType({"a": 1}), "method of class": classes.Attributes.of_class, "static": classes.Attributes.static,
}
# Values that can change, or that are made anew for their own sake.
FRESH = {
    "list": lambda: [1, 2, 3], "empty list": list, "mixed list": lambda: [1, "a", None], "recursive": recursive, "dict a": lambda: {"a": 1, 2: 3}, "empty dict": dict,
    "set": lambda: {1, 2}, "empty set": set, "bytearray": lambda: bytearray(b"xy"), "memoryview": lambda: memoryview(b"abc"), "keys": lambda: {1: 2, "a": 3}.keys(),
    "values": lambda: {1: 2}.values(), "items": lambda: {1: 2}.items(), "list iterator": lambda: iter([1, 2]), "dict iterator": lambda: iter({1: 2}),
    "str iterator": lambda: iter("ab"), "range iterator": lambda: iter(range(3)), "long range iterator": lambda: iter(range(2**70, 2**70 + 2)), "tuple iterator": lambda: iter((1, 2)),
    "set iterator": lambda: iter({1}), "callable iterator": lambda: iter(iter([1, 2]).__next__, 2), "sequence iterator": lambda: iter(classes_by_name["Sequence"]()),
    "generator": generator, "started": lambda: (lambda one: (next(one), one)[1])(generator()), "enumerate": lambda: enumerate("ab"), "reversed": lambda: reversed([1, 2]), "zip": lambda: zip([1], "a"), "map": lambda: map(str, [1]),
    "filter": lambda: filter(None, [0, 1]), "count": lambda: itertools.count(3), "chain": lambda: itertools.chain([1], "a"), "function": lambda: types.FunctionType(plain.__code__, {}, "plain", (1,)),
    "lambda": lambda: lambda *args, **kwargs: (args, kwargs), "bound method": lambda: classes.Attributes().method, "bound builtin": lambda: [1].append,
    "namespace": lambda: types.SimpleNamespace(a=1), "module": lambda: types.ModuleType("made"), "dataclass": lambda: Point(1), "exception": exception, "StopIteration": lambda: StopIteration(3),
    "deque": lambda: collections.deque([1, 2], 3), "OrderedDict": lambda: collections.OrderedDict(a=1), "defaultdict": lambda: collections.defaultdict(int, a=1), "Counter": lambda: collections.Counter("aab"),
    "UserDict": lambda: collections.UserDict(a=1), "ChainMap": lambda: collections.ChainMap({"a": 1}), "array": lambda: array.array("i", [1, 2]), "cell": lambda: types.CellType(1), "empty cell": types.CellType,
    "staticmethod": lambda: staticmethod(plain), "classmethod": lambda: classmethod(plain), "property made": lambda: property(plain), "cached": lambda: functools.lru_cache(plain),
    "class": fresh_class(), "class with slots": fresh_class("FreshSlots", __slots__=("s",)), "class of metaclass": lambda: classes.Meta("OfMeta", (), {"attribute": 1}), "subclass of int": fresh_class("FreshInt", (int,)),
    "super object": lambda: super(classes.SubInt, classes.SubInt(3)), "attributes": classes.Attributes, "slotted": classes.Slotted, "missing": lambda: classes.Missing(a=1), "liar": classes.Liar,
    "sub int": lambda: classes.SubInt(3), "sub str": lambda: classes.SubStr("a"), "sub float": lambda: classes.SubFloat(1.5), "plain object": object, "stop": lambda: classes.Stop(2), "weak": lambda: weakref.ref(Point),
    "TypeVar": lambda: typing.TypeVar("U"),  # takes attributes, and has no __dict__ that shows them
}
if hasattr(builtins, "frozendict"):  # from 3.15 on
    FIXED |= {"frozendict": frozendict({"a": 1, 2: 3}), "empty frozendict": frozendict(), "frozendict type": frozendict, "frozendict of lists": frozendict({1: []})}
    FRESH |= {"frozendict of a class": lambda: classes.Frozen(a=1), "frozendict keys": lambda: frozendict({1: 2}).keys()}
classes_by_name = classes.operators() | classes.singles()


def instance(kind):
    """A factory of instances: of a builtin's subclass, one that holds something."""
    for base, given in ((int, 5), (str, "s"), (list, [1]), (tuple, (1,)), (dict, {"a": 1}), (set, {1}), (float, 2.5), (bytes, b"b")):
        if issubclass(kind, base):
            return lambda: kind(given)
    return kind


class Value:
    """A value: its name, its factory, whether an operation can change it."""

    def __init__(self, name, make, fixed):
        self.name, self.make, self.fixed = name, make, fixed
        self.sample = make()
        self.kind = type(self.sample)
        self.is_type = issubclass(self.kind, type)
        self.own = dictionary(self.sample) if fixed else None
        self.kept = None if self.own is None else dict(self.own)

    def changes(self):
        """What a case set on a value that all cases share; it is taken off again."""
        if self.kept is None:
            return []
        now = dictionary(self.sample)
        out = []
        if now is not self.own and not isinstance(self.sample, type):
            out.append(("__dict__", repr(describe(now))))
            object.__setattr__(self.sample, "__dict__", self.own)
            now = self.own
        for name in [name for name in now.keys() | self.kept.keys() if now.get(name, self) is not self.kept.get(name, self)]:
            # `copyreg` keeps __slotnames__ on a class for whoever asks first.
            if name != "__slotnames__":
                out.append((str(name), repr(describe(now[name])) if name in now else "deleted"))
            self.put(name, now)
        return sorted(out)

    def put(self, name, own):
        """Makes an attribute what it was."""
        of_class = isinstance(self.sample, type)
        if name not in self.kept:
            type.__delattr__(self.sample, name) if of_class else own.pop(name)
        elif of_class:
            type.__setattr__(self.sample, name, self.kept[name])
        else:
            own[name] = self.kept[name]


def dictionary(value):
    """The dictionary of the attributes that can be set on a value; nothing if none can."""
    if isinstance(value, type):
        return type.__dict__["__dict__"].__get__(value) if value.__flags__ & HEAP else None
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def everything():
    """All values, builtins first."""
    out = [Value(name, lambda value=value: value, True) for name, value in FIXED.items()]
    out += [Value(name, make, False) for name, make in FRESH.items()]
    out += [Value(name, instance(kind), False) for name, kind in classes_by_name.items()]
    return out
