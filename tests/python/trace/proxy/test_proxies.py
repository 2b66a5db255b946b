"""Proxies: what C code sees of the values that they stand for, and what runs when a trace drops what it made."""

import contextlib
import copy
import functools
import io
import math
import operator
import unittest

import slotrt


class OwnError(Exception):
    def __init__(self, *args, code=3):
        super().__init__(*args)
        self.code = code


class OwnText(str):
    def __str__(self):
        return "own"


class OwnList(list):
    pass


class Given:
    def __init__(self, *values):
        self.values = values

    def __iter__(self):
        yield from self.values


class Plain:
    def __get__(self, obj, cls=None):
        return obj is None, cls.__name__


class Base:
    other = Plain()

    @property
    def value(self):
        return 1

    @classmethod
    def build(cls):
        return cls.__name__


class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class Made(Base, metaclass=Meta):
    @classmethod
    def above(cls):
        return super().other, isinstance(super().value, property), super().build()

    def here(self):
        return super().other, super().value, super().build()


class Bare:
    pass


class Special:
    """Special methods, each of which prints that it was called."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number

    def __lt__(self, other):
        return self.number > other.number

    def __hash__(self):
        return self.number // 2

    def __add__(self, other):
        return ("add", self.number, getattr(other, "number", other))

    def __radd__(self, other):
        return ("radd", self.number, other)

    def __neg__(self):
        return ("neg", self.number)

    def __bool__(self):
        return self.number % 2 == 0

    def __index__(self):
        return self.number

    def __len__(self):
        return self.number

    def __iter__(self):
        return iter(range(self.number))

    def __contains__(self, item):
        return item == self.number

    def __getitem__(self, item):
        return self.number, item

    def __call__(self, *args):
        return self.number, args


class Second(Bare, Special):
    pass


class Third(Second):
    pass


class Unhashed(Bare):
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return NotImplemented


class Mixed(Unhashed, Second):
    def __neg__(self):
        return "own"


class Filled(Bare, Special, list):
    def __init__(self, number):
        Special.__init__(self, number)
        list.__init__(self, [number])


def asked_by_c(cls):
    """C functions that call special methods of instances."""
    def told(ask):
        try:
            return ask()
        except TypeError as error:
            return str(error)

    made = [cls(number) for number in (3, 1, 2)]
    asks = (
        lambda: made == [cls(number) for number in (3, 1, 2)],
        lambda: [one.number for one in sorted(made)],
        lambda: list(map(hash, made)),
        lambda: len({*made, cls(2)}),
        lambda: list(map(operator.add, made, made)),
        lambda: list(map(operator.add, made, [5, 6, 7])),
        lambda: list(map(operator.add, "abc", made)),
        lambda: list(map(operator.neg, made)),
        lambda: list(map(bool, made)),
        lambda: list(map(operator.index, made)),
        lambda: list(map(len, made)),
        lambda: list(map(list, made)),
        lambda: list(map(operator.contains, made, (3, 2, 1))),
        lambda: list(map(operator.getitem, made, "abc")),
        lambda: list(map(operator.call, made, "abc")),
        lambda: list(map(callable, made)),
        lambda: functools.reduce(operator.add, made[:2], 4),
    )
    return [told(ask) for ask in asks]


def changed_class():
    """The second base changes while instances of the derived class exist."""
    class Changing:
        pass

    class Derived(Bare, Changing):
        pass

    made = [Derived(), Derived()]
    told = [made == [Derived(), Derived()]]
    Changing.__eq__ = lambda one, other: True
    told.append(made == [Derived(), Derived()])
    Derived.__eq__ = lambda one, other: False
    told.append(made == [Derived(), Derived()])
    del Derived.__eq__
    told.append(made == [Derived(), Derived()])
    del Changing.__eq__
    told.append(made == [Derived(), Derived()])
    return told


class GivesNothing:
    def __getattr__(self, name):
        return None


def outcome(function, *args):
    """The result or the exception, and the prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = repr(function(*args))
        except Exception as error:
            result = f"{type(error).__name__}: {error!r}"
    return result, printed.getvalue()


def group():
    try:
        raise ExceptionGroup("g", [KeyError(2), OwnError(1), ExceptionGroup("h", [TypeError(3)])])
    except* (KeyError, TypeError) as error:
        print(repr(error))
    except* OwnError as error:
        print(error.exceptions[0].code)


def joined(parts):
    try:
        return ",".join(parts)
    except TypeError as error:
        return str(error)


def joined_own():
    return joined([OwnText("a"), "b"]), joined(OwnText(part) for part in "ab")


def formatted():
    return "%s %d" % (OwnText("a"), True), "{} {!r}".format(OwnText("b"), OwnText("c"))


def partial_of_partial(x):
    def shown(p, q=2):
        print("shown", p, q)
        return q

    return functools.partial(functools.partial, q=1)(shown)(x)


def metaclass_call():
    try:
        return Made(1)
    except TypeError as error:
        return str(error)


def no_mapping():
    try:
        return {**GivesNothing()}
    except TypeError as error:
        return str(error)


def read_only(x):
    try:
        x.__len__ = 1
    except AttributeError as error:
        return str(error)


def suspended(how):
    def numbers():
        try:
            yield 1
            yield 2
        finally:
            print("finally")

    def managed():
        with contextlib.nullcontext():
            yield from numbers()

    if how == 0:
        for x in numbers():
            break
    elif how == 1:
        x = next(numbers())
    elif how == 2:
        x = list(zip(numbers(), [0]))
    else:
        x = next(managed())
    print("after")
    return x


class Disguised:
    __class__ = int


class NoSubclass(type):
    def __subclasscheck__(cls, other):
        return False


class Alone(metaclass=NoSubclass):
    pass


def kinds():
    match Disguised():
        case int():
            found = "int"
        case _:
            found = "none"
    return isinstance(Disguised(), int), isinstance(Disguised(), str), found, issubclass(Alone, Alone), isinstance(Alone(), Alone)


class Counted:
    """Counts how often it is hashed and compared."""

    def __init__(self):
        self.hashed = self.compared = 0

    def __hash__(self):
        self.hashed += 1
        return 1

    def __eq__(self, other):
        self.compared += 1
        return self is other


def own_hashes(kind):
    one, two = Counted(), Counted()
    made = {one, two} if kind == 0 else {one: 1, two: 2} if kind == 1 else frozenset([one, two])
    slotrt.graph_break()
    return len(made), one.hashed, one.compared, two.hashed, two.compared


def key_into(container):
    key = Counted()
    if isinstance(container, set):
        container.add(key)
    else:
        container[key] = 1
    return key.hashed, key.compared, len(container)


def order_of_sets(text, other):
    made = {letter for letter in text}
    made.discard(text[0])
    other.update(made)
    other.discard(text[-1])
    slotrt.graph_break()
    return list(made), list(other), [letter for letter in other]


def summed(start):
    return sum([], start=start)


class Listed(type):
    def __iter__(cls):
        return iter((1, 2))


class Single(metaclass=Listed):
    pass


def starred(values):
    return kinds(*values)


CASES = [
    (summed, bytearray(b"ab")), (summed, "ab"), (starred, Single), (starred, Single()),
    (group,), (joined_own,), (formatted,), (partial_of_partial, 1), (metaclass_call,), (lambda: Made.above(),), (lambda: Made().here(),), (no_mapping,),
    (kinds,), (own_hashes, 0), (own_hashes, 1), (own_hashes, 2),
    (read_only, bytearray(b"ab")), (read_only, 1), (suspended, 0), (suspended, 1), (suspended, 2), (suspended, 3),
]  # fmt: skip


class Proxies(unittest.TestCase):
    def test_as_plain_python(self):
        for function, *args in CASES:
            with self.subTest(function=function.__name__, args=args):
                compiled = slotrt.compile(function)
                expected = outcome(function, *args)
                self.assertEqual(outcome(compiled, *args), expected)
                self.assertEqual(outcome(compiled, *args), expected)

    def test_keys_with_their_own_hash_go_in_once(self):
        for make in (set, dict):
            self.assertEqual(slotrt.compile(key_into)(make()), key_into(make()))

    def test_classes_that_change_between_traces(self):
        class Sized:
            def __getattr__(self, name):
                raise AttributeError(name)

        class Derived(Sized):
            pass

        def told(value, number):
            try:
                return len([value, number][0]), list(map(bool, [value]))
            except TypeError as error:
                return str(error), list(map(bool, [value]))

        compiled = slotrt.compile(told)
        changes = (
            lambda: None,
            lambda: setattr(Sized, "__len__", lambda self: 3),
            lambda: setattr(Derived, "__len__", lambda self: 0),
            lambda: delattr(Sized, "__len__"),
            lambda: delattr(Derived, "__len__"),
            lambda: setattr(Derived, "__name__", "Renamed"),
            lambda: setattr(Derived, "__bool__", lambda self: False),
        )
        for number, change in enumerate(changes):
            change()
            with self.subTest(number=number):
                self.assertEqual(compiled(Derived(), str(number)), told(Derived(), str(number)))

    def test_order_of_sets(self):
        letters = [chr(code) for code in range(32, 127)]
        for size in range(2, 60, 3):
            text = "".join(letters[(size * 7 + step * 13) % 95] for step in range(size))
            with self.subTest(size=size):
                expected = order_of_sets(text, set(letters[:size]))
                self.assertEqual(slotrt.compile(order_of_sets)(text, set(letters[:size])), expected)

    def test_c_finds_special_methods_along_the_order_of_bases(self):
        for cls in (Special, Second, Third, Unhashed, Mixed, Filled):
            with self.subTest(cls=cls):
                compiled = slotrt.compile(asked_by_c, fullgraph=cls in (Special, Second, Third))
                self.assertEqual(outcome(compiled, cls), outcome(asked_by_c, cls))
        self.assertEqual(outcome(slotrt.compile(changed_class)), outcome(changed_class))

    def test_c_repeats_and_joins_sequences(self):
        def folded(fold, one, other):
            try:
                return fold(Given(one, other))
            except TypeError as error:
                return str(error)

        operators = (operator.mul, operator.add, operator.imul, operator.iadd, operator.concat, operator.iconcat)
        folds = [math.prod, sum, *(functools.partial(functools.reduce, operation) for operation in operators)]
        pairs = [(bytearray(b"ab"), 2), (True, bytearray(b"x")), (bytearray(b"a"), b"b"), (bytearray(b"a"), "b"), (1, [slice(1)])]
        pairs += [([1], [2]), (OwnList([1]), 3), (OwnList([1]), OwnList([2])), ((1,), bytearray(b"a")), (range(3), 2), (2, memoryview(b"a"))]
        for one, other in pairs:
            for fold in folds:
                with self.subTest(one=one, other=other, fold=fold):
                    told = []
                    for function in (folded, slotrt.compile(folded)):
                        first = one if isinstance(one, range) else copy.copy(one)
                        told.append((outcome(function, fold, first, other), first))
                    self.assertEqual(told[0], told[1])

    def test_scalars_of_numpy_are_no_sequences(self):
        try:
            import numpy as np
        except ImportError:
            self.skipTest("numpy is not installed")
        for call in (list, sum, dict, lambda x: tuple(enumerate(x)), lambda x: list(zip(x, x)), lambda x: list(map(str, x))):
            for value in (np.float64(2.5), np.bool(True), np.int64(3)):
                self.assertEqual(outcome(slotrt.compile(lambda x: call(x)), value), outcome(call, value))


if __name__ == "__main__":
    unittest.main()
