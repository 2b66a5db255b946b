"""User classes whose special methods give a result, decline, raise, or give a wrong type; every call is logged."""

import builtins
import enum

from log import LOG, logged, note

BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor", "or")
COMPARE = ("lt", "le", "eq", "ne", "gt", "ge")
UNARY = ("neg", "pos", "invert", "abs", "index", "int", "float", "complex", "len", "bool", "hash", "iter", "next", "repr", "str", "bytes",
         "reversed", "dir", "length_hint", "trunc", "round", "fspath", "await", "aiter", "anext")


def fail(self, *args, **kwargs):
    raise ValueError("from a user method")


def decline(self, *args, **kwargs):
    return NotImplemented


def short(text):
    """An answer of `__getitem__` that ends as a sequence of three."""

    def answer(self, at):
        if type(at) is int and at > 2:
            raise IndexError("the end")
        return f"{text} {type(at).__name__}"

    return answer


def names(prefixes, operators):
    return [f"__{prefix}{name}__" for name in operators for prefix in prefixes if (prefix, name) != ("i", "divmod")]


def made(name, base, methods, answer=None):
    """A class whose methods are logged; `methods` maps names to answers, or lists names that all give `answer`."""
    if not isinstance(methods, dict):
        methods = {method: answer or (lambda self, *args, _name=method, **kwargs: f"answer of {_name}") for method in methods}
    body = {key: logged(key, value) if callable(value) and not isinstance(value, type) else value for key, value in methods.items()}
    return type(name, base if isinstance(base, tuple) else (base,), body)


class SubInt(int):
    """A subclass that special methods give where an int is needed."""


class SubStr(str):
    """The same for str."""


class SubFloat(float):
    """The same for float."""


class Stop:
    """An iterator that ends at once, or fails."""

    def __init__(self, count=0, error=None):
        self.count, self.error = count, error

    def __iter__(self):
        note("Stop", "__iter__")
        return self

    def __next__(self):
        note("Stop", "__next__")
        if self.count:
            self.count -= 1
            return self.count
        raise self.error or StopIteration("the value")


def operators():
    """Classes with operators, by name."""
    out = {}
    for kind, answer in (("Answers", None), ("Declines", decline), ("Raises", fail)):
        left = made("Left" + kind, object, names(("",), BINARY), answer)
        both = made("Both" + kind, object, names(("", "r"), BINARY) + names(("",), COMPARE) + ["__hash__"], answer)
        out |= {
            "Left" + kind: left, "Both" + kind: both,
            "Sub" + kind: made("Sub" + kind, both, names(("r",), BINARY), answer),
            "SubLeft" + kind: made("SubLeft" + kind, left, names(("r",), BINARY), answer),
            "Right" + kind: made("Right" + kind, object, names(("r",), BINARY), answer),
            "InPlace" + kind: made("InPlace" + kind, object, names(("i",), BINARY), answer),
        }
    out["Hidden"] = type("Hidden", (), dict.fromkeys(names(("", "r", "i"), BINARY) + names(("",), COMPARE + UNARY) +
                                                     ["__contains__", "__getitem__", "__setitem__", "__delitem__", "__call__"]))
    return out


ONE_METHOD = {
    # Class name: methods and what they give.
    "BoolInt": {"__bool__": lambda self: 3}, "BoolFalse": {"__bool__": lambda self: False}, "BoolRaises": {"__bool__": fail},
    "LenNegative": {"__len__": lambda self: -1}, "LenHuge": {"__len__": lambda self: 2**70}, "LenText": {"__len__": lambda self: "no"},
    "LenZero": {"__len__": lambda self: 0}, "LenIndex": {"__len__": lambda self: SubInt(2)}, "LenRaises": {"__len__": fail},
    "IndexTwo": {"__index__": lambda self: 2}, "IndexSub": {"__index__": lambda self: SubInt(1)}, "IndexText": {"__index__": lambda self: "no"},
    "IndexHuge": {"__index__": lambda self: 2**70}, "IndexRaises": {"__index__": fail},
    "IntOnly": {"__int__": lambda self: 5}, "IntSub": {"__int__": lambda self: SubInt(6)}, "IntText": {"__int__": lambda self: "no"},
    "FloatOnly": {"__float__": lambda self: 2.5}, "FloatInt": {"__float__": lambda self: 1}, "FloatSub": {"__float__": lambda self: SubFloat(1.5)},
    "ComplexOnly": {"__complex__": lambda self: 1j}, "TruncOnly": {"__trunc__": lambda self: 7},
    "HashBool": {"__hash__": lambda self: True}, "HashText": {"__hash__": lambda self: "no"}, "HashHuge": {"__hash__": lambda self: 2**200},
    "HashMinus": {"__hash__": lambda self: -1}, "HashRaises": {"__hash__": fail}, "HashNone": {"__hash__": None},
    "IterNone": {"__iter__": None}, "IterInt": {"__iter__": lambda self: 3}, "IterGood": {"__iter__": lambda self: Stop(3)},
    "IterFails": {"__iter__": lambda self: Stop(1, KeyError("late"))}, "IterRaises": {"__iter__": fail},
    "NextOnly": {"__next__": lambda self: 1}, "NextRaises": {"__iter__": lambda self: self, "__next__": fail},
    "Sequence": {"__getitem__": lambda self, at: (10, 20, 30)[at], "__len__": lambda self: 3},
    "Getter": {"__getitem__": short("item"), "__setitem__": lambda self, at, value: None,
               "__delitem__": lambda self, at: None},
    "GetterRaises": {"__getitem__": fail, "__setitem__": fail, "__delitem__": fail},
    "ContainsText": {"__contains__": lambda self, item: "yes"}, "ContainsNone": {"__contains__": None, "__iter__": lambda self: Stop(2)},
    "ContainsRaises": {"__contains__": fail},
    "StrInt": {"__str__": lambda self: 5}, "StrSub": {"__str__": lambda self: SubStr("sub")}, "StrRaises": {"__str__": fail},
    "ReprInt": {"__repr__": lambda self: 5}, "ReprSub": {"__repr__": lambda self: SubStr("ré")}, "ReprRaises": {"__repr__": fail},
    "FormatInt": {"__format__": lambda self, spec: 5}, "FormatGood": {"__format__": lambda self, spec: f"<{spec}>"},
    "BytesText": {"__bytes__": lambda self: "no"}, "BytesGood": {"__bytes__": lambda self: b"ab"},
    "GetattrOnly": {"__getattr__": lambda self, name: f"got {name}"}, "GetattrRaises": {"__getattr__": fail},
    "AttributeBoth": {"__getattribute__": lambda self, name: (_ for _ in ()).throw(AttributeError(name)), "__getattr__": lambda self, name: "late"},
    "AttributeRaises": {"__getattribute__": fail},
    "Setter": {"__setattr__": lambda self, name, value: None, "__delattr__": lambda self, name: None}, "SetterRaises": {"__setattr__": fail, "__delattr__": fail},
    "Calls": {"__call__": lambda self, *args, **kwargs: (args, kwargs)}, "CallRaises": {"__call__": fail}, "CallNone": {"__call__": None},
    "HintText": {"__length_hint__": lambda self: "no"}, "HintNegative": {"__length_hint__": lambda self: -1},
    "HintDeclines": {"__length_hint__": decline}, "HintGood": {"__length_hint__": lambda self: 4},
    "Checks": {"__instancecheck__": lambda self, other: "yes", "__subclasscheck__": lambda self, other: ""},
    "ChecksRaise": {"__instancecheck__": fail, "__subclasscheck__": fail},
    "Descriptor": {"__get__": lambda self, of, owner=None: "got", "__set__": lambda self, of, value: None, "__delete__": lambda self, of: None},
    "Bases": {"__bases__": ()}, "BasesBad": {"__bases__": 3}, "Dir": {"__dir__": lambda self: ["b", "a"]}, "DirInt": {"__dir__": lambda self: 3},
    "FsPath": {"__fspath__": lambda self: "path"}, "Keys": {"keys": lambda self: ["a"], "items": lambda self: 3, "values": lambda self: ("v",)},
    "InitInt": {"__init__": lambda self, *args: None}, "Pow": {"__pow__": lambda self, *args: args, "__ipow__": lambda self, *args: args, "__rpow__": lambda self, *args: args},
}
INHERITED = {
    # A class of this name for each of these builtins, with these methods.
    "Reflects": (("__radd__", "__ror__", "__rmul__", "__rsub__", "__rmod__", "__rpow__", "__lt__", "__eq__"), None),
    "Counts": (("__len__", "__iter__", "__contains__", "__getitem__", "__repr__", "__hash__"), None),
}


class Attributes:
    """Attributes of every kind."""

    class Data:
        def __get__(self, of, owner=None):
            note("Data", "__get__", of is None)
            return "data"

        def __set__(self, of, value):
            note("Data", "__set__")

        def __delete__(self, of):
            note("Data", "__delete__")

    class NonData:
        def __get__(self, of, owner=None):
            note("NonData", "__get__", of is None)
            return "non-data"

    class Raising:
        def __get__(self, of, owner=None):
            note("Raising", "__get__")
            raise AttributeError("from a descriptor")

        def __set__(self, of, value):
            raise TypeError("from a descriptor")

    data, nondata, raising = Data(), NonData(), Raising()
    plain = "class attribute"

    def __init__(self):
        self.__dict__.update(data="hidden", nondata="instance attribute", own=1)

    @property
    def readonly(self):
        note("readonly")
        return "property"

    @property
    def failing(self):
        note("failing")
        raise AttributeError("from a property")

    @staticmethod
    def static(*args):
        return args

    @classmethod
    def of_class(cls, *args):
        return cls.__name__, args

    def method(self, *args):
        note("method", len(args))
        return args


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


class Missing(dict):
    def __missing__(self, key):
        note("__missing__", type(key).__name__)
        return "missing"


class Frozen(getattr(builtins, "frozendict", dict)):
    """Has keys and items of its own, which C does not ask for where it knows the class."""

    def keys(self):
        note("keys")
        return ["other"]

    def __getitem__(self, key):
        note("__getitem__", type(key).__name__)
        return "other"


class Meta(type):
    """A metaclass that overrides everything."""

    def __call__(cls, *args, **kwargs):
        note("Meta", "__call__", len(args), tuple(kwargs))
        return super().__call__(*args, **kwargs)

    def __getattr__(cls, name):
        note("Meta", "__getattr__", name)
        raise AttributeError(f"no {name}")

    def __instancecheck__(cls, other):
        note("Meta", "__instancecheck__")
        return [other]

    def __subclasscheck__(cls, other):
        note("Meta", "__subclasscheck__")
        return ()

    def __or__(cls, other):
        note("Meta", "__or__")
        return "meta"

    def __len__(cls):
        note("Meta", "__len__")
        return 2

    def __getitem__(cls, item):
        note("Meta", "__getitem__")
        return short("item of the class")(cls, item)


class Liar:
    """An object whose `__class__` is another."""

    @property
    def __class__(self):
        note("Liar", "__class__")
        return int


class Color(enum.Enum):
    RED = 1


class Level(enum.IntFlag):
    LOW = 1
    HIGH = 2


def singles():
    """Classes of one special method each, by name."""
    out = {name: made(name, object, methods) for name, methods in ONE_METHOD.items()}
    for prefix, (methods, answer) in INHERITED.items():
        for base in (int, str, list, tuple, dict, set, float, bytes):
            name = prefix + base.__name__.capitalize()
            out[name] = made(name, base, methods, answer)
    return out
