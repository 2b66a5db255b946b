"""Objects that exist before a call, and what programs do with them. No tests here."""

import collections
import copy
import dataclasses
import enum
import functools
import json
import operator
import types


class Registry(dict):
    def __getitem__(self, key):
        return super().__getitem__(key.lower())


class Doubling(dict):
    def __missing__(self, key):
        return key * 2


class Output(collections.OrderedDict):
    def to_tuple(self):
        return tuple(self[key] for key in self.keys())


class Recording(collections.OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.__dict__["last"] = key

    def __iter__(self):
        return super().__iter__()


@dataclasses.dataclass
class ModelOutput(collections.OrderedDict):
    """As the outputs of models are made elsewhere: attributes and items say the same."""

    loss: object = None
    logits: object = None

    def __post_init__(self):
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is not None:
                self[field.name] = getattr(self, field.name)

    def __getitem__(self, key):
        return dict(self.items())[key] if isinstance(key, str) else self.to_tuple()[key]

    def __setattr__(self, name, value):
        if name in self.keys() and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def to_tuple(self):
        return tuple(self[key] for key in self.keys())


class Pair(tuple):
    __slots__ = ()


class Stack(list):
    def top(self):
        return self[-1]


class Slotted(list):
    __slots__ = ("note",)


class Odd(list):
    """What its methods say is not what it holds."""

    def __iter__(self):
        return iter([9, 9])

    def __len__(self):
        return 77

    def __getitem__(self, index):
        return "odd"


class Bag(set):
    pass


class Frozen(frozenset):
    pass


class Queue(collections.deque):
    pass


class Default(collections.defaultdict):
    pass


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Thing:
    def __init__(self, value):
        self.value = value

    def plus(self, number):
        return self.value + number


@dataclasses.dataclass
class Data:
    number: int
    items: list = dataclasses.field(default_factory=list)


Point = collections.namedtuple("Point", "x y")
THING = Thing(5)


def tagged():
    stack = Stack([1, 2])
    stack.tag, stack.number = "t", 3
    return stack


def set_entries(dict):
    dict["a"], dict["zz"] = 11, 5


def leave(_):
    pass


DICTS = [
    lambda d: (d["a"], d.get("a"), d.get("q", 7), "a" in d, "q" in d, len(d), bool(d)),
    lambda d: (list(d), tuple(d.items()), list(d.values()), [key for key in d], {key: value for key, value in d.items()}),
    lambda d: (dict(d), {**d}, {"u": 1} | d, [*d], list(reversed(d)), next(iter(d)), sorted(d), max(d.keys())),
    lambda d: d["nope"],
    lambda d: (d == {"a": 1, "b": 2, "c": [3]}, d != {}, d | {"u": 1}, d.copy(), repr(d), type(d)(d)),
    lambda d: (d.keys() & {"a", "x"}, d.keys(), d.values(), d.items(), d.items() >= {("b", 2)}),
    lambda d: (d.setdefault("n", 4), d.pop("a"), d.pop("q", None), d.update(x=1), d.update({"m": 1}), len(d)),
    lambda d: (d.clear(), list(d)),
    lambda d: (d.popitem(), list(d)),
    lambda d: (d.__setitem__("k", 3), operator.delitem(d, "b"), d["k"], "b" in d),
    lambda d: hash(d),
    lambda d: (isinstance(d, dict), list(zip(d, d.values())), list(enumerate(d)), list(map(str, d)), any(d.values())),
    lambda d: ("%(b)s" % d, "{b}".format_map(d), "{b}".format(**d), (lambda **named: named)(**d), json.dumps(d)),
    lambda d: (d["c"].append(4), d),
    lambda d: copy.copy(d),
    lambda d: copy.deepcopy(d),
]

ORDERED = [
    lambda d: (d.move_to_end("a"), list(d)),
    lambda d: (d.popitem(last=False), list(d)),
    lambda d: (d == collections.OrderedDict(a=1, b=2, c=[3]), d.update(b=5), list(d.items())),
]

MODEL_OUTPUTS = [
    lambda d: (d["loss"], d[0], d.loss, d.to_tuple(), list(d.items()), dict(d), len(d), tuple(d), {**d}, d[:1]),
    lambda d: (d.get("loss"), "loss" in d, repr(d), d == d, [value for value in d.values()]),
    lambda d: (d.__setitem__("x", 3), d.x, len(d)),
    lambda d: (setattr(d, "loss", 9), d["loss"], d.to_tuple()),
    lambda d: (copy.copy(d), dataclasses.replace(d, loss=3), dataclasses.asdict(d), ModelOutput(**d)),
    lambda d: (d.to_tuple(), d.update(y=2), d.pop("loss")),
]

SEQUENCES = [
    lambda s: (s[0], s[-1], len(s), 1 in s, s.index(1), s.count(1), bool(s)),
    lambda s: s[7],
    lambda s: (list(s), tuple(s), [item for item in s], sorted(s), max(s), sum(s), (lambda *all: all)(*s)),
    lambda s: (s + type(s)([1]), s * 2, s == type(s)([3, 1, 2]), s < type(s)([9]), repr(s), s.copy()),
    lambda s: (s.append(4), s.extend([5, 6]), s.pop(), s.insert(0, 7), s.remove(1), s.reverse(), len(s)),
    lambda s: (s.clear(), list(s)),
    lambda s: (list(reversed(s)), next(iter(s)), list(zip(s, s)), list(enumerate(s)), ", ".join(map(str, s))),
    lambda s: hash(s),
    lambda s: (operator.iadd(s, [1]), s.append(s[0]), s[-1]),
    lambda s: (copy.copy(s), functools.reduce(operator.add, s), list(filter(None, s)), [0] + list(s)),
]

LISTS = [
    lambda s: (s[1:], s[::-1], [] + s),
    lambda s: (s.sort(), s),
    lambda s: (s.sort(key=lambda item: -item), operator.setitem(s, 0, "z"), operator.delitem(s, 1), s),
    lambda s: (operator.setitem(s, slice(0, 1), [7, 7]), s),
    lambda s: iter(s),
]

TUPLES = [
    lambda t: (t[0], len(t), t == (1, 2), (1, 2) == t, t != (1, 3), hash(t), t + (3,), (0,) + t, t * 2, t[1:]),
    lambda t: t[5],
    lambda t: (list(t), tuple(t), 1 in t, t.index(2), t.count(1), "%s-%s" % t, repr(t), {t: 1}[(1, 2)], t < (2, 0)),
    lambda t: (sorted([t, (0, 9)]), iter(t), [item for item in t], max(t), copy.copy(t), t is tuple(t)),
    lambda t: "ab".startswith(t),
]

SETS = [
    lambda s: (1 in s, 9 in s, len(s), s | {3}, {3} | s, s & {1}, s - {1}, s ^ {1, 9}, s == {1, 2, "a"}, s <= {1, 2, "a", 4}),
    lambda s: (sorted(map(str, s)), set(s), list(s), s.union([7]), s.isdisjoint([5]), s.copy(), bool(s), frozenset(s)),
    lambda s: hash(s),
    lambda s: (s.add(4), s.discard(1), s.update({5, 6}), operator.ior(s, {7}), len(s)),
    lambda s: s.remove(99),
    lambda s: (s.clear(), len(s)),
]

DEFAULTS = [
    lambda d: (d["a"], d["new"], d["new"].append(1), d.get("q"), len(d), dict(d), d.default_factory),
    lambda d: (d == {"a": [1]}, d.copy(), repr(d), d | {"b": 1}, d.setdefault("z", 3), [key for key in d], d.pop("a")),
    lambda d: (d.__missing__("m"), operator.setitem(d, "k", 1), list(d.items())),
]

COUNTERS = [
    lambda c: (c["a"], c["zz"], c.most_common(1), sum(c.values()), c + collections.Counter("a"), c.total()),
    lambda c: (c.update("xx"), list(c.elements()), c - collections.Counter("a"), operator.setitem(c, "a", c["a"] + 1), repr(c)),
]

USER_DICTS = [
    lambda u: (u["a"], u.get("q"), len(u), list(u), dict(u), "a" in u, u == {"a": 1}, repr(u), list(u.items()), {**u}),
    lambda u: (u.__setitem__("z", 3), u | {"c": 3}, u.copy(), u.pop("a")),
]

MAPPING_PROXIES = [
    lambda m: (m["a"], m.get("q"), len(m), list(m), dict(m), "a" in m, m | {"c": 1}, m == {"a": 1, "b": 2}, list(m.items())),
    lambda m: (repr(m), m.copy(), {**m}, (lambda **named: named)(**m)),
    lambda m: m["nope"],
]

VIEWS = [
    lambda v: (list(v[0]), "a" in v[0], len(v[1]), [item for item in v[2]], v[0] | {"z"}, sum(v[1])),
    lambda v: (v[3].__setitem__("q", 3), list(v[0]), len(v[1])),
]

TAGGED = [
    lambda s: (s.number, len(s), list(s), s.tag, s.__dict__, vars(s)["number"], getattr(s, "zz", 1)),
    lambda s: (setattr(s, "number", 8), list(s), copy.copy(s).number),
    lambda s: (list(s), setattr(s, "more", 2), s.more, list(map(operator.attrgetter("number"), [s]))),
    lambda s: (s.append(s.number), s.number),
]

NESTED = [
    lambda d: (d["a"].top(), d["b"][0][1], d["b"][1]["x"], [list(item) for item in d["b"]], d["c"]["k"]),
    lambda d: (d["a"].append(2), operator.setitem(d["b"][1], "y", 3), list(d.values())[0] == [1]),
    lambda d: (d["b"][0] in d["b"], sum(map(len, d.values())), dict(d)["a"] is d["a"], d == d, sorted(d["b"][0])),
    lambda d: copy.deepcopy(d),
]

KEYS_OF_ENUMERATIONS = [
    lambda d: (d[Color.RED], d.get(Color.GREEN), Color.GREEN in d, list(d), {**d} == d),
    lambda d: (d.__setitem__(Color.GREEN, 2), d.pop(Color.RED), list(d.items())),
]

BOUND_METHODS = [
    lambda b: (b[0]("a"), b[1](), b[2](), b[3](1), list(b[4]()), b[5](), b[6](2), b[7](["a", "b"]), list(map(b[0], "ab"))),
    lambda b: (b[8](2), b[8].__self__.value, b[8].__func__ is Thing.plus, list(map(b[8], [1]))),
]

DATA = [
    lambda d: (d.number, d == Data(1, [2]), repr(d), dataclasses.replace(d, number=3), dataclasses.asdict(d), dict(vars(d))),
    lambda d: (d.items.append(3), setattr(d, "number", 9), copy.copy(d), copy.deepcopy(d), d.__dict__.items()),
]


def bound_methods():
    own = [{"a": 1}.get, "abc".upper, [3, 1].sort, {1}.__contains__, collections.OrderedDict(a=1).items]
    return own + [Stack([1]).pop, collections.deque([1]).append, "-".join, THING.plus]


def views(dict):
    return dict.keys(), dict.values(), dict.items(), dict


def of(programs, change, *makers):
    return [(maker, change, program) for maker in makers for program in programs]


def add(container):
    getattr(container, "append", getattr(container, "add", leave))(8)


MAPPINGS = (dict, Registry, Doubling, collections.OrderedDict, Output, Recording)
CASES = [
    *of(DICTS, set_entries, *(lambda kind=kind: kind(a=1, b=2, c=[3]) for kind in MAPPINGS)),
    *of(ORDERED, lambda d: d.move_to_end(next(iter(d))), *(lambda kind=kind: kind(a=1, b=2, c=[3]) for kind in MAPPINGS[3:])),
    *of(MODEL_OUTPUTS, lambda d: d.__setitem__("loss", 4), lambda: ModelOutput(loss=1, logits=[2])),
    *of(SEQUENCES, add, *(lambda kind=kind: kind([3, 1, 2]) for kind in (list, Stack, Slotted, Odd, collections.deque, Queue))),
    *of(SEQUENCES, add, lambda: collections.deque([3, 1, 2], 3)),
    *of(LISTS, add, *(lambda kind=kind: kind([3, 1, 2]) for kind in (list, Stack, Slotted))),
    *of(TUPLES, leave, *(lambda kind=kind: kind((1, 2)) for kind in (tuple, Pair, Point._make))),
    *of(SETS, add, *(lambda kind=kind: kind({1, 2, "a"}) for kind in (set, Bag, frozenset, Frozen))),
    *of(DEFAULTS, lambda d: d["a"].append(2), *(lambda kind=kind: kind(list, a=[1]) for kind in (collections.defaultdict, Default))),
    *of(COUNTERS, lambda c: c.update("b"), lambda: collections.Counter("abca")),
    *of(USER_DICTS, lambda u: u.__setitem__("b", 2), lambda: collections.UserDict(a=1)),
    *of(MAPPING_PROXIES, leave, lambda: types.MappingProxyType({"a": 1, "b": 2})),
    *of(VIEWS, lambda v: v[3].__setitem__("c", 3), lambda: views(dict(a=1, b=2)), lambda: views(collections.OrderedDict(a=1, b=2))),
    *of(TAGGED, lambda s: setattr(s, "number", s.number + 1), tagged),
    *of(NESTED, lambda d: d["a"].append(3), lambda: {"a": Stack([1]), "b": [Pair((1, 2)), Doubling(x=1)], "c": collections.defaultdict(int)}),
    *of(KEYS_OF_ENUMERATIONS, lambda d: d.__setitem__(Color.RED, 9), lambda: {Color.RED: 1, None: 3, 2.5: 4}),
    *of(BOUND_METHODS, leave, bound_methods),
    *of(DATA, lambda d: setattr(d, "number", 5), lambda: Data(1, [2])),
]
