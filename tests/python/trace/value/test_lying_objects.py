"""Objects that lie about themselves, in all operations: compiled code does what plain code does, or breaks the graph; it leaks nothing."""

import gc
import operator  # noqa: F401, expressions name it
import re
import unittest
import weakref

import slotrt

log = []


class SaysInt:
    @property
    def __class__(self):
        log.append("class")
        return int


class ClassRaises:
    @property
    def __class__(self):
        raise ZeroDivisionError("class")


class ClassIsNone:
    __class__ = 3


class EqRaises:
    def __eq__(self, other):
        raise ZeroDivisionError("eq")

    def __hash__(self):
        return 1


class EqChangesClass:
    __hash__ = None

    def __eq__(self, other):
        self.__class__ = EqRaises
        return True


class EqRecursive:
    __hash__ = object.__hash__

    def __eq__(self, other):
        return self == other


class HashChanges:
    asked = 0

    def __hash__(self):
        self.asked += 1
        return self.asked

    def __eq__(self, other):
        log.append("eq")
        return type(other) is HashChanges


class HashRaises:
    def __hash__(self):
        raise ZeroDivisionError("hash")


class HashIsText:
    def __hash__(self):
        return "no"


class HashIsHuge:
    def __hash__(self):
        return 1 << 70


class KeysChangeDict(dict):
    def __iter__(self):
        for key in list(dict.keys(self)):
            self[len(self)] = key
            yield key

    def keys(self):
        log.append("keys")
        self["more"] = len(self)
        return dict.keys(self)


class ItemsChangeDict(dict):
    def __getitem__(self, key):
        self.pop(1, None)
        return super().__getitem__(key)

    def __missing__(self, key):
        self[key] = key
        del self[key]
        raise KeyError("mine")


class IterationChangesList(list):
    def __iter__(self):
        for index, item in enumerate(list.__iter__(self)):
            if len(self) < 6:
                self.append(index)
            yield item


class ItemsChangeList(list):
    def __getitem__(self, index):
        if self:
            self.pop()
        return super().__getitem__(index)

    def __len__(self):
        return 2


class IntLies(int):
    def __add__(self, other):
        return "lies"

    def __index__(self):
        return 77

    def __eq__(self, other):
        raise ZeroDivisionError("int eq")

    def __bool__(self):
        raise ZeroDivisionError("int bool")

    __hash__ = int.__hash__


class StrLies(str):
    def __eq__(self, other):
        raise ZeroDivisionError("str eq")

    def __hash__(self):
        return 3

    def __len__(self):
        return 99


class TupleLies(tuple):
    def __iter__(self):
        return iter([7, 8])

    def __len__(self):
        return 5

    def __getitem__(self, index):
        raise KeyError(index)


class SetLies(set):
    def __contains__(self, item):
        return True

    def __iter__(self):
        return iter([1])


class LenNegative:
    def __len__(self):
        return -1

    def __getitem__(self, index):
        if index > 3:
            raise IndexError(index)
        return index


class LenHuge:
    def __len__(self):
        return 1 << 70


class LenIsText:
    def __len__(self):
        return "2"


class HintNegative:
    left = 3

    def __iter__(self):
        return self

    def __next__(self):
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.left

    def __length_hint__(self):
        return -5


class IndexIsText:
    def __index__(self):
        return "x"


class IndexIsBool:
    def __index__(self):
        return True


class IndexHuge:
    def __index__(self):
        return 1 << 80


class IndexClears:
    target = None

    def __index__(self):
        if self.target is not None:
            self.target.clear()
        return 0


class BoolRaises:
    def __bool__(self):
        raise ZeroDivisionError("bool")


class BoolIsOne:
    def __bool__(self):
        return 1


class NoAttributes:
    def __getattribute__(self, name):
        raise KeyError(name)


class AttributesOfAttributes:
    def __getattr__(self, name):
        return getattr(self, name + "x") if len(name) < 12 else name


class DeletesItself:
    def __get__(self, instance, owner):
        if instance is not None:
            del type(instance).attr
        return 7


class ReplacesItself(DeletesItself):
    def __get__(self, instance, owner):
        owner.attr = 8
        return 7

    def __set__(self, instance, value):
        type(instance).attr = value


def with_descriptor(descriptor):
    return type("WithDescriptor", (), {"attr": descriptor()})()


class DictIsOther:
    @property
    def __dict__(self):
        return {"attr": 9}


class ChecksRaise(type):
    def __instancecheck__(cls, instance):
        raise ZeroDivisionError("instancecheck")

    def __subclasscheck__(cls, derived):
        return 1 / 0


class ChecksLie(type):
    def __instancecheck__(cls, instance):
        return "yes"

    def __subclasscheck__(cls, derived):
        return []


class OwnOrder(type):
    def mro(cls):
        own, *rest = super().mro()
        return [own, LenNegative, *rest]


class AllEqual(type):
    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return 5


class ChecksRaiseClass(metaclass=ChecksRaise):
    pass


class ChecksLieClass(metaclass=ChecksLie):
    pass


class OwnOrderClass(metaclass=OwnOrder):
    attr = 4


class AllEqualClass(metaclass=AllEqual):
    pass


class IterIsInt:
    def __iter__(self):
        return 3


class IterChangesClass:
    def __iter__(self):
        self.__class__ = ContainsIsText
        return iter([1, 2])


class NextRaises:
    def __iter__(self):
        return self

    def __next__(self):
        raise KeyError("next")


class ContainsIsText:
    def __contains__(self, item):
        return "truthy"


class TextIsInt:
    def __str__(self):
        return 3

    def __repr__(self):
        return 4

    def __format__(self, spec):
        return 5


class CallIsInt:
    __call__ = 3


class AddDeletesItself:
    def __add__(self, other):
        del type(self).__add__
        return NotImplemented

    def __radd__(self, other):
        del type(self).__radd__
        return 5

    def __new__(cls):
        names = {name: value for name, value in vars(cls).items() if name.endswith("add__")}
        return object.__new__(type("AddDeletesItself", (), names))


class KeysAreInts:
    def keys(self):
        return [1, 2]

    def __getitem__(self, key):
        if key > 3:
            raise IndexError(key)
        return key


class ExitIsInt:
    def __enter__(self):
        return self

    __exit__ = 3


FACTORIES = [
    SaysInt, ClassRaises, ClassIsNone, EqRaises, EqChangesClass, EqRecursive, HashChanges, HashRaises, HashIsText,
    HashIsHuge, LenNegative, LenHuge, LenIsText, HintNegative, IndexIsText, IndexIsBool, IndexHuge, IndexClears,
    BoolRaises, BoolIsOne, NoAttributes, AttributesOfAttributes, DictIsOther, OwnOrderClass,
    IterIsInt, IterChangesClass, NextRaises, ContainsIsText, TextIsInt, CallIsInt, AddDeletesItself, KeysAreInts,
    ExitIsInt,
    lambda: KeysChangeDict({1: 2, 3: 4}), lambda: ItemsChangeDict({1: 2, 3: 4}), lambda: ItemsChangeList([1, 2, 3, 4]),
    lambda: IterationChangesList([1, 2, 3]), lambda: IntLies(5), lambda: StrLies("abc"), lambda: TupleLies((1, 2, 3)),
    lambda: SetLies([4, 5]), lambda: with_descriptor(DeletesItself), lambda: with_descriptor(ReplacesItself),
    lambda: ChecksRaiseClass, lambda: ChecksLieClass, lambda: OwnOrderClass, lambda: AllEqualClass,
]  # fmt: skip

EXPRESSIONS = """
x.__class__ is int, type(x).__name__
isinstance(x, int), isinstance(x, (list, str)), isinstance(x, dict)
isinstance(3, x)
issubclass(int, x)
x == x, x == 3, x != 3
x in [1, x], 3 in [x, 3]
[1, 2, x].index(x), (1, x, x).count(3)
{x: 1, **{x: 2}} and 1
len({x, x})
{1: 2, "abc": 3}[x]
hash(x) and 1
len(x)
bool(x)
1 if x else 2
not x
bool(x and 1)
list(x)
tuple(x)
[y for y in x][:9]
[*x, *x][:9]
dict(x)
{**x}
{0: 0} | x
list(x.items()), list(x.keys())
x.get(1), x.get(77)
x[0], x[1]
x[0:2]
[1, 2, 3][x]
[1, 2, 3][x:], [1, 2, 3][:x:x]
[y for y, _ in zip(range(x), "abc")]
[1] * x
round(2.345, x)
int(x)
float(x)
operator.index(x)
x + 1
1 + x
x < 3
sorted([x, 1])
max(x, 1)
sum(x)
all(x), any(x)
str(x)
f"{x}"
repr(x)
",".join(x)
x.attr, x.attr
hasattr(x, "attr"), hasattr(x, "other")
getattr(x, "attr", 5)
x()
next(iter(x))
next(x)
list(enumerate(x))[:9]
list(zip(x, [1, 2]))
list(map(str, x))[:9]
list(reversed(x))
sorted(vars(x))
sorted(x.__dict__)
3 in x
sorted(set(x), key=str)
dict.fromkeys(x, 1)
1 < x < 3
"abc".startswith(x)
bytes(x)
divmod(7, x)
"attr" in dir(x)
(lambda *args, **named: (args, named))(*x)
(lambda *args, **named: (args, named))(**x)
""".strip().splitlines()

STATEMENTS = [
    "a, b = x; return a, b",
    "a, *b = x; return a, b",
    "x[0] = 5; return list(x)",
    "del x[0]; return len(x)",
    "x.attr = 3; y = x.attr; del x.attr; return y",
    "y = [1]; y += x; return y",
    "y = [1, 2, 3]; x.target = y; z = y[x]; return z, y",
    "y = [1, 2, 3]; x.target = y; y[x] = 4; return y",
    "d = {}; d.update(x); return d",
    "d = {x: 1}; d[x] = 2; return len(d), x in d",
    "\n with x as y: return 3",
    "\n for y in x: x = 3\n return x, y",
    "\n try: raise ValueError(1)\n except x: return 1",
    "\n match x:\n  case int(): return 'int'\n  case [a, b]: return 'two'\n  case {'a': a}: return 'dict'",
    "raise x",
]


def functions():
    for source in EXPRESSIONS:
        yield source, eval(f"lambda x: ({source})", globals())
    for source in STATEMENTS:
        namespace = {}
        exec(f"def function(x): {source}", globals(), namespace)
        yield source, namespace["function"]


FUNCTIONS = list(functions())
ADDRESS = re.compile("0x[0-9a-f]+")
PLAIN = {int, str, float, bool, type(None), bytes, complex}


def shown(value, depth=0):
    """A value in a form that can be compared without its own methods."""
    kind = type.__repr__(type(value))
    if depth > 4:
        return kind
    if type(value) in (list, tuple):
        return kind, [shown(item, depth + 1) for item in value]
    if type(value) is set:
        return kind, sorted(repr(shown(item, depth + 1)) for item in value)
    if type(value) is dict:
        return kind, [(shown(key, depth + 1), shown(item, depth + 1)) for key, item in value.items()]
    return (kind, ADDRESS.sub("0x", repr(value))) if kind in map(repr, PLAIN) else kind


def said(error):
    if type(error) is RecursionError:
        return None
    try:
        return ADDRESS.sub("0x", str(error))
    except Exception as other:
        return type(other)


def outcome(function, *args):
    log.clear()
    try:
        result = shown(function(*args))
    except Exception as error:
        result = type(error), said(error)
    return result, list(log)


class LyingObjects(unittest.TestCase):
    def check(self, factory):
        ends = []
        for source, function in FUNCTIONS:
            with self.subTest(source):
                slotrt.reset()
                compiled, inside = slotrt.compile(function), slotrt.compile(lambda: function(factory()))
                for _ in range(2):
                    wanted = outcome(function, factory())
                    given = factory()
                    self.assertEqual(outcome(compiled, given), wanted)
                    self.assertEqual(outcome(inside), wanted)
                    if type(given).__weakrefoffset__ and type not in type(given).__mro__:
                        ends.append((source, weakref.ref(given)))
                    del given
        return ends

    def test_all(self):
        for factory in FACTORIES:
            with self.subTest(type.__repr__(type(factory()))):
                ends = self.check(factory)
                gc.collect()
                self.assertEqual([source for source, end in ends if end() is not None], [])


if __name__ == "__main__":
    unittest.main()
