"""Objects made before a graph break are the same after it: state that no constructor sets, slots, attributes behind descriptors."""

import collections
import functools
import operator
import unittest

import slotrt


def outcome(function, *args):
    try:
        return "value", repr(function(*args))
    except Exception as error:  # noqa: BLE001
        return "raises", type(error).__name__, str(error)


class Slotted:
    __slots__ = ("one", "two")

    def __getattr__(self, name):
        return f"missing {name}"


class Watched:
    def __getattribute__(self, name):
        print(name)
        return object.__getattribute__(self, name)


class Hidden:
    @property
    def value(self):
        return "property"


class ArgsIsProperty(Exception):
    @property
    def args(self):
        return "no tuple"


class SlottedError(Exception):
    __slots__ = ("kept",)


def function_attributes():
    def inner():
        return 1

    inner.__name__, inner.__qualname__, inner.__doc__, inner.__module__, inner.extra = "n", "q", "d", "m", 5
    slotrt.graph_break()
    return inner.__name__, inner.__qualname__, inner.__doc__, inner.__module__, inner.extra, inner()


def suppressed_context():
    try:
        try:
            raise KeyError(1)
        except KeyError:
            raise ValueError(2) from None
    except ValueError as error:
        caught = error
    slotrt.graph_break()
    return caught.__cause__, repr(caught.__context__), caught.__suppress_context__


def unset_slot():
    made = Slotted()
    made.one = 1
    slotrt.graph_break()
    return made.one, made.two


def own_getattribute():
    made = Watched()
    made.value = 1
    slotrt.graph_break()
    return made.value


def entry_under_a_property():
    made = Hidden()
    made.__dict__["value"] = 1
    slotrt.graph_break()
    return made.value, made.__dict__


def property_named_args():
    error = ArgsIsProperty(1, 2)
    slotrt.graph_break()
    return error.args, BaseException.args.__get__(error)


def hidden_args_of_an_exception():
    error = ArgsIsProperty(1, 2)
    slotrt.graph_break()
    return BaseException.args.__get__(error)


def slots_and_notes_of_an_exception():
    error = SlottedError(1)
    error.kept, error.free = 2, 3
    error.add_note("note")
    slotrt.graph_break()
    return error.kept, error.free, error.__notes__, error.args


class OwnError(ValueError):
    def __init__(self, code, text="text"):
        super().__init__(text)
        self.code = code


class OwnOSError(OSError):
    pass


class OwnNew(KeyError):
    def __new__(cls, key):
        made = super().__new__(cls, key, "more")
        made.seen = [key]
        return made


def own_exceptions():
    errors = [OwnError(3), OwnOSError(2, "message", "file"), OwnNew("k"), OwnError(4, text=5)]
    try:
        raise OwnError(6) from errors[0]
    except ValueError as error:
        errors.append(error)
    slotrt.graph_break()
    told = [(type(error).__name__, error.args, str(error), sorted(error.__dict__.items())) for error in errors]
    return told, errors[1].filename, errors[2].seen, repr(errors[4].__cause__), errors[4].__cause__ is errors[0]


def exception_of_an_own_class():
    class Local(Exception):
        pass

    error = Local(1)
    slotrt.graph_break()
    return type(error).__name__, error.args


def members_of_an_os_error():
    error = OSError(2, "message", "file")
    slotrt.graph_break()
    return type(error), error.args, error.filename, str(error)


def members_of_a_decode_error():
    error = UnicodeDecodeError("utf8", b"abc", 0, 1, "reason")
    error.start = 1
    slotrt.graph_break()
    return error.start, str(error)


def members_set_by_hand():
    stop, leave, missing, syntax = StopIteration(3), SystemExit(4), ImportError("m", name="n", path="p"), SyntaxError("s")
    stop.value, leave.code, syntax.lineno = None, None, 4
    stop.args = (5,)
    slotrt.graph_break()
    return stop.value, stop.args, leave.code, missing.name, missing.path, syntax.lineno, str(syntax)


class Counter:
    def __init__(self, by):
        self.by = by

    def add(self, to):
        return self.by + to

    @classmethod
    def name(cls):
        return cls.__name__


def deques():
    items = []
    limited, plain = collections.deque([1, items, 2, 3], maxlen=3), collections.deque()
    limited.rotate(1)
    plain.append(limited)
    ring = collections.deque([items])
    ring.append(ring)
    slotrt.graph_break()
    return ring, ring[1] is ring, limited, plain, limited.maxlen, plain.maxlen, plain[0] is limited, items in limited, items is limited[1]


def bound_methods():
    counter = Counter(2)
    methods = list(map(operator.attrgetter("add"), [counter])) + [counter.add, Counter.name]
    slotrt.graph_break()
    return [method.__name__ for method in methods], methods[0](3), methods[0] == methods[1], methods[2]()


def partials():
    part = functools.partial(sorted, [3, 1], reverse=True)
    slotrt.graph_break()
    return part(), part.func, part.args, part.keywords


def yields(first, *rest, by=1, **more):
    def shift():
        return first + by

    yield shift()
    for item in rest:
        yield item * by
    yield sorted(more)


def generators():
    values = [1, 2]
    made = yields(3, 4, 5, by=2, name="x")
    squares = (value * value for value in values)
    ended, closed = yields(1), yields(2)
    list(ended)
    closed.close()
    slotrt.graph_break()
    values.append(3)
    told = [(one.__name__, one.__qualname__, one.gi_frame is None, one.gi_running) for one in (made, squares, ended)]
    return told, list(made), list(squares), list(ended), next(closed, "ended"), closed.gi_frame


OUTSIDE = {"a": 1, "b": 2, "c": 3}


def iterators_over_dicts():
    made = {"p": [1], "q": [2], "r": [3]}
    some = [iter(made), iter(made.values()), iter(made.items()), reversed(made), reversed(made.values()), iter(OUTSIDE), iter(made)]
    for number, iterator in enumerate(some[:-1]):
        for _ in range(number % 3):
            next(iterator)
    ended = iter(made)
    list(ended)
    slotrt.graph_break()
    told = [type(iterator).__name__ for iterator in some]
    left = [iterator.__length_hint__() for iterator in (*some, ended)]
    same = next(some[1]) is made["q"]
    rest = [list(iterator) for iterator in some[:-1]]
    made["s"] = 1
    try:
        next(some[-1])
    except RuntimeError as error:
        return told, left, same, rest, list(ended), str(error)


class Text(str):
    pass


def iterators_over_text():
    some = [iter(text) for text in ("", "ab", "\u00e9", Text(), Text("ab"))]
    ended = [iter(text) for text in ("ab", "\u00e9", Text("ab"))]
    for iterator in ended:
        list(iterator)
    slotrt.graph_break()
    return [(type(iterator).__name__, list(iterator)) for iterator in (*some, *ended)]


class Logged(collections.OrderedDict):
    def __init__(self, **items):
        super().__init__(**items)
        for name, value in items.items():
            object.__setattr__(self, name, value)

    def __setitem__(self, key, value):
        object.__setattr__(self, "log", [*getattr(self, "log", ()), key])
        super().__setitem__(key, value)

    def __iter__(self):
        raise RuntimeError("asked for its keys")


class Counted(collections.defaultdict):
    __slots__ = ("count",)

    def __missing__(self, key):
        self.count = getattr(self, "count", 0) + 1
        return super().__missing__(key)


def told(made):
    """A dict of any class with its attributes, in its own order."""
    kind = collections.OrderedDict if isinstance(made, collections.OrderedDict) else dict
    items = [(key, value if value is not made else "itself") for key, value in kind.items(made)]
    rest = [getattr(made, name, None) for name in ("__dict__", "default_factory", "count")]
    table = [key for key, _ in dict.items(made)]
    return type(made).__name__, items, table, len(made), rest, kind.__eq__(made, made)


def kinds_of_dict():
    ordered = collections.OrderedDict([("a", 1), ("b", [2]), ("c", 3)])
    ordered.move_to_end("a")
    ordered.extra = ordered["b"]
    del ordered["c"]
    ordered["c"] = 4
    itself = collections.OrderedDict()
    itself["own"] = itself
    groups, plain = collections.defaultdict(list), collections.defaultdict(None, {(1, 2): 3})
    groups["x"].append(groups["y"])
    logged, counted = Logged(first=1), Counted(int)
    logged["second"] = counted["one"] + counted["two"]
    logged.move_to_end("first")
    slotrt.graph_break()
    groups["z"].append(ordered.extra is ordered["b"])
    counted["three"]
    ordered.popitem(last=False)
    logged["third"] = itself["own"] is itself
    return [told(made) for made in (ordered, itself, groups, plain, logged, counted)]


def loop_over_a_dict():
    seen = []
    for key, value in {"x": 1, "y": 2, "z": 3}.items():
        seen.append((key, value))
        slotrt.graph_break()
    for key in OUTSIDE:
        seen.append(key)
        slotrt.graph_break()
    return seen


def changed_while_iterated():
    made = {1: 1, 2: 2}
    iterator = iter(made)
    next(iterator)
    made[3] = 3
    slotrt.graph_break()
    try:
        return list(iterator)
    except RuntimeError as error:
        return str(error)


async def waits(value):
    return value


def coroutines():
    begun, closed = waits([1]), waits(2)
    closed.close()
    slotrt.graph_break()
    try:
        begun.send(None)
    except StopIteration as stop:
        result = stop.value
    try:
        closed.send(None)
    except RuntimeError as error:
        return begun.__name__, begun.cr_frame, result, closed.cr_frame, str(error)


class Materialise(unittest.TestCase):
    CASES = (
        function_attributes,
        suppressed_context,
        unset_slot,
        own_getattribute,
        entry_under_a_property,
        property_named_args,
        slots_and_notes_of_an_exception,
        own_exceptions,
        exception_of_an_own_class,
        hidden_args_of_an_exception,
        members_of_an_os_error,
        members_of_a_decode_error,
        members_set_by_hand,
        deques,
        bound_methods,
        partials,
        generators,
        iterators_over_dicts,
        iterators_over_text,
        kinds_of_dict,
        loop_over_a_dict,
        changed_while_iterated,
        coroutines,
    )

    def test_state_survives_a_break(self):
        for case in self.CASES:
            with self.subTest(case.__name__):
                slotrt.reset()
                compiled = slotrt.compile(case)
                self.assertEqual(outcome(case), outcome(compiled))
                self.assertEqual(outcome(case), outcome(compiled))

    def test_they_leave_at_the_explicit_break(self):
        for case in (deques, bound_methods, partials, generators, own_exceptions, iterators_over_dicts, kinds_of_dict, loop_over_a_dict, coroutines):
            with self.subTest(case.__name__):
                first = slotrt.explain(case)().frames[0]
                self.assertEqual(first["break"]["context"], "slotrt.graph_break()")
                self.assertNotIn("which compiled code could not make again", first["break"]["explanation"])


if __name__ == "__main__":
    unittest.main()
