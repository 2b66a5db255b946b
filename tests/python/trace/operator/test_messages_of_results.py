"""What operations say of special methods that give what they must not give: each release has its own words, and so has a trace."""

import asyncio  # noqa: F401, expressions name it
import math  # noqa: F401, expressions name it
import operator  # noqa: F401, expressions name it
import re
import sys
import unittest
import warnings

import slotrt


class Outer:
    class Gives:
        """Every special method gives the same, which is of a class within a class."""

        def __init__(self, result):
            self.result = result

        def _give(self, *args):
            return self.result

        def keys(self):
            return self.result

        __repr__ = __str__ = __format__ = __bytes__ = __bool__ = __len__ = __index__ = __int__ = __float__ = _give
        __iter__ = __aiter__ = __anext__ = __await__ = __length_hint__ = __complex__ = __dir__ = __hash__ = _give
        __enter__ = __getitem__ = __contains__ = __round__ = __getstate__ = __reduce_ex__ = __buffer__ = _give
        __trunc__ = __fspath__ = __sizeof__ = __prepare__ = __mro_entries__ = __set_name__ = _give

    class Plain:
        """Has no special method of its own."""


class Wants(str):
    """A text of a class of its own."""


class Count(int):
    """A number of a class of its own."""


class Hint:
    def __init__(self, hint):
        self.hint = hint

    def __length_hint__(self):
        return self.hint

    def __iter__(self):
        return iter("ab")


class Unhashable:
    def __hash__(self):
        raise TypeError("no hash today")


class NoKeys:
    def __getattr__(self, name):
        raise AttributeError(f"nothing is called {name}", name=name)


class KeysFail:
    def keys(self):
        raise AttributeError("no keys today")


class NoExit:
    def __enter__(self):
        return self


class OnlyAsync:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *exception):
        return False


class Names:
    __match_args__ = ["a"]


class Numbers:
    __match_args__ = (1,)


def awaits(value):
    async def run():
        return await value

    return drive(run())


def loops(value):
    async def run():
        async for item in value:
            return item

    return drive(run())


def enters(value):
    async def run():
        async with value:
            return 1

    return drive(run())


def drive(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    finally:
        coroutine.close()


def within(value):
    with value:
        return 1


def matches(value, pattern):
    match value:
        case pattern(first):
            return first


def fits(value, pattern):
    match value:
        case pattern():
            return 1


def unpacks(value):
    first, second = value
    return first


def derived(value):
    class Derived(value):
        pass

    return Derived.__mro__


VALUES = {
    "nothing": lambda: Outer.Gives(None),
    "a number": lambda: Outer.Gives(3),
    "less than nothing": lambda: Outer.Gives(-1),
    "a class's number": lambda: Outer.Gives(Count(2)),
    "a text": lambda: Outer.Gives("text"),
    "a class's text": lambda: Outer.Gives(Wants("text")),
    "bytes": lambda: Outer.Gives(b"bytes"),
    "a list": lambda: Outer.Gives([1, 2]),
    "a class": lambda: Outer.Gives(int),
    "another": lambda: Outer.Gives(Outer.Plain()),
    "nothing special": Outer.Plain,
}

USES = """
repr(x) ; str(x) ; format(x) ; format(x, "5") ; f"{x}" ; f"{x!r}" ; f"{x!s:>4}" ; f"{x!a}" ; ascii(x) ; bytes(x) ; bytearray(x)
bool(x) ; not x ; 1 if x else 2 ; x and 1 ; len(x) ; operator.index(x) ; int(x) ; float(x) ; complex(x) ; hash(x) and 1 ; dir(x)
[1, 2][x] ; [1, 2][x:] ; range(x) ; hex(x) ; chr(x) ; "a" * x ; [0] * x ; 1 << x ; x + 1 ; -x ; round(x) ; round(1.5, x)
iter(x) ; list(x) ; tuple(x) ; [*x] ; (*x, 1) ; {*x} ; set(x) ; sorted(x) ; sum(x) ; max(x) ; dict(x) ; {**x} ; dict(**x) ; unpacks(x)
next(x) ; zip(x, x) ; enumerate(x) ; map(str, x) ; any(x) ; 1 in x ; x in [1] ; "".join(x) ; operator.length_hint(x) ; aiter(x)
awaits(x) ; loops(x) ; enters(x) ; within(x) ; matches(x, x) ; fits(x, x) ; matches(3, x) ; derived(x) ; x() ; x[0] ; x.missing
"%d" % x ; "%s" % x ; "%x" % x ; "%f" % x ; "%c" % x ; "%(a)s" % x ; "%*d" % (x, 1) ; "%d %d" % x ; b"%d" % x ; b"%s" % x ; b"%f" % x
math.floor(x) ; math.ceil(x) ; math.trunc(x) ; divmod(x, 2) ; pow(2, x, 5) ; isinstance(1, x) ; issubclass(int, x) ; getattr(x, "a")
{}[x] ; {x: 1} ; {x} ; x in {} ; x in set() ; {}.get(x) ; {}.pop(x, 1) ; {}.setdefault(x) ; [].index(x) ; "a".translate(x)
"a" + x ; x + "a" ; "a".startswith(x) ; "a".find(x) ; "a".replace(x, "b") ; "a".split(x) ; "a".encode(x) ; b"a" + x ; [1] + x
type(x)[0] ; slice(x).indices(5) ; memoryview(x) ; print(x, file=x) ; int("3", x) ; str(b"a", x) ; sum([x]) ; reversed(x)
""".replace(";", "\n").split("\n")

MORE = """
list(Hint(-1)) ; list(Hint("a")) ; list(Hint(Count(1))) ; tuple(Hint("a")) ; [*Hint(-1)] ; operator.length_hint(Hint(-1))
{Unhashable(): 1} ; {Unhashable()} ; {}[Unhashable()] ; Unhashable() in set() ; {[]: 1} ; {[]} ; {}[[]] ; [] in {} ; [] in set() ; {}.get([])
set().add([]) ; set().discard([]) ; {}.setdefault([], 1) ; {}.pop([]) ; dict.fromkeys([[]]) ; set([[]]) ; frozenset([[]]) ; {1: 2} | [1]
{**NoKeys()} ; {**KeysFail()} ; dict(**NoKeys()) ; dict(**KeysFail()) ; dict(KeysFail()) ; {}.update(KeysFail()) ; {**3} ; dict(**3) ; dict([1])
dict([(1,)]) ; within(NoExit()) ; within(OnlyAsync()) ; enters(NoExit()) ; awaits(3) ; awaits(NoExit()) ; loops(NoExit()) ; loops([1])
matches(3, 4) ; fits(3, 4) ; matches(Names(), Names) ; matches(Numbers(), Numbers) ; matches(3, NoExit) ; matches(NoExit(), NoExit)
1.0 / 0 ; 1.0 // 0 ; 1.0 % 0 ; 1 // 0 ; 1 % 0 ; 1 / 0 ; divmod(1, 0) ; divmod(1.0, 0) ; 0 ** -1 ; pow(2, 3, 0) ; 1j / 0
print >> sys.stdout ; 1 in 3 ; [].index(3) ; [1].remove(3) ; (1,).index(3) ; range(3).index(7) ; "a".index("b") ; [].pop() ; bool(NotImplemented)
repr(str.join) ; repr(int.real) ; repr(object.__init__) ; repr(int.__add__) ; int("x") ; float("x") ; int([]) ; float([]) ; complex([]) ; complex("x")
super(int, "a") ; object(1) ; int.__new__(str) ; object.__new__(int) ; type("A", (3,), {}) ; type("A", (bool,), {}) ; type.__new__(type, "A", (), 3)
str.maketrans({"ab": 1}) ; str.maketrans({1.5: 1}) ; "a".translate({97: 0x110000}) ; "%(a)s" % 3 ; "%(a" % {} ; "%" % () ; "%y" % 3 ; "%d" % "a"
"%c" % "ab" ; "%*d" % ("a", 1) ; "%d %d" % (1,) ; b"%d %d" % (1,) ; "%d" % (1, 2) ; b"%c" % "a" ; b"%y" % 3 ; "{" .format() ; "{:y}".format(3)
int.from_bytes("a") ; (3).to_bytes(-1) ; bytes("a") ; bytes(-1) ; bytes([300]) ; bytes(["a"]) ; "a".encode("\\x00") ; b"a".hex(3) ; bytes.fromhex(3)
"".join([1]) ; "a" in 3 ; 3 in "a" ; "a" < 3 ; [1] < 3 ; {}[3] ; [][3] ; "a"[3] ; (1,)["a"] ; "a"["b"] ; None[0] ; None() ; 3 .x ; int.x ; len(3)
iter(3) ; next(3) ; reversed({1}) ; sorted([1, "a"]) ; sum(["a"]) ; max([]) ; max(1) ; zip(3) ; enumerate(3) ; isinstance(1, 2) ; issubclass(1, int)
""".replace(";", "\n").split("\n")


def text_of(error):
    try:
        return str(error)
    except TypeError:  # of a `KeyError` that has such an object for its key
        return [type(arg).__name__ for arg in error.args]


def shown(call):
    """The result, or what is raised, and what is warned of, without addresses."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            found = ("gave", type(result := call()).__name__, repr(result) if type(result) in (int, float, str, bytes, list, tuple, dict) else "")
        except Exception as error:
            found = (type(error).__name__, text_of(error), getattr(error, "__notes__", None), type(error.__context__).__name__, type(error.__cause__).__name__)
    told = [(entry.category.__name__, str(entry.message)) for entry in warned]
    return re.sub(r"0x[0-9a-f]{6,}", "0x", repr((found, told)))


def function(use):
    return eval(f"lambda x: {use.strip()}", globals())


class MessagesOfResults(unittest.TestCase):
    def check(self, use, make):
        plain = function(use)
        wanted = shown(lambda: plain(make()))
        compiled = slotrt.compile(function(use))
        for _ in range(2):
            self.assertEqual(shown(lambda: compiled(make())), wanted)

    def test_uses_of_what_gives_something_else(self):
        for use in filter(str.strip, USES):
            for name, make in VALUES.items():
                with self.subTest(use=use.strip(), gives=name):
                    self.check(use, make)

    def test_other_messages(self):
        for use in filter(str.strip, MORE):
            with self.subTest(use=use.strip()):
                self.check(use, lambda: None)

    def test_classes_that_get_another_name(self):
        """A trace that says a class's name notices that it is another one."""
        for use in 'repr(x)', 'str(x)', 'f"{x}"', "iter(x)", "within(x)", "{**x}", "awaits(x)", "int(x)", "bool(x)", "operator.index(x)":
            for attribute in "__qualname__", "__module__", "__name__":
                with self.subTest(use=use, attribute=attribute):

                    class Renamed(Outer.Gives):
                        pass

                    plain, compiled = function(use), slotrt.compile(function(use))
                    for name in "First", "Second", "Second", "Third":
                        setattr(Renamed, attribute, name)
                        wanted = shown(lambda: plain(Renamed(Renamed)))
                        self.assertEqual(shown(lambda: compiled(Renamed(Renamed))), wanted)


if __name__ == "__main__":
    unittest.main()
