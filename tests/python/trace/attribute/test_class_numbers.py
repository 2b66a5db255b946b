"""Numbers that a class has and that change between calls: whoever reads them gets those of now; whoever does not is not traced again."""

import collections
import copy
import dataclasses
import inspect
import operator
import threading
import types
import unittest

import slotrt


def classes():
    """A class that counts, one derived from it, one with a metaclass, and one that derives from C's."""

    class Counter:
        n, seen = 1, 0.5

        def answer(self):
            return 3

        def own(self):
            return self.n

        @classmethod
        def of_class(cls):
            return cls.n

        @property
        def as_property(self):
            return self.n + 1

    class Derived(Counter):
        def base(self):
            return super().n

    class Meta(type):
        def total(cls):
            return cls.n

    class WithMeta(Counter, metaclass=Meta):
        pass

    class Text(str):
        n = 1

        def answer(self):
            return len(self)

    class Fallback(Counter):
        def __getattr__(self, name):
            return name

    @dataclasses.dataclass
    class Data:
        n: int = 1

    return types.SimpleNamespace(
        Counter=Counter, Derived=Derived, WithMeta=WithMeta, Text=Text, Fallback=Fallback, Data=Data
    )


READS = [
    lambda c: c.Counter.n,
    lambda c: c.Counter().n,
    lambda c: c.Derived.n,
    lambda c: c.Derived().base(),
    lambda c: c.Derived().own(),
    lambda c: c.Counter.of_class(),
    lambda c: c.Counter().as_property,
    lambda c: c.WithMeta.total(),
    lambda c: getattr(c.Counter, "n"),
    lambda c: getattr(c.Counter(), "".join(["n"])),
    lambda c: hasattr(c.Counter(), "n"),
    lambda c: operator.attrgetter("n")(c.Counter()),
    lambda c: operator.attrgetter("n")(c.Counter),
    lambda c: operator.attrgetter("n")(c.Text("a")),
    lambda c: list(map(operator.attrgetter("n"), [c.Counter(), c.Derived()])),
    lambda c: sorted([c.Counter(), c.Derived()], key=operator.attrgetter("n"))[0].n,
    lambda c: f"{c.Counter().n} {c.Text('a').n}",
    lambda c: "{0.n} {1.n} {2.n}".format(c.Counter(), c.Counter, c.Text("a")),
    lambda c: vars(c.Counter)["n"],
    lambda c: c.Counter.__dict__["n"],
    lambda c: dict(c.Counter.__dict__)["n"],
    lambda c: c.Counter.__dict__.get("n"),
    lambda c: [value for name, value in vars(c.Counter).items() if name == "n"],
    lambda c: inspect.getattr_static(c.Counter(), "n"),
    lambda c: object.__getattribute__(c.Counter(), "n"),
    lambda c: type.__getattribute__(c.Counter, "n"),
    lambda c: c.Fallback().n,
    lambda c: c.Data().n,
    lambda c: c.Data.n,
    lambda c: copy.copy(c.Counter()).n,
    lambda c: super(c.Derived, c.Derived()).n,
    lambda c: type("Made", (c.Counter,), {}).n,
    lambda c: type("Made", (c.Counter,), {})().own(),
    lambda c: [getattr(c.Counter, name) for name in ("n", "seen")],
    lambda c: {**{name: getattr(c.Text("ab"), name) for name in ("n",)}},
    lambda c: collections.ChainMap({}, vars(c.Counter))["n"],
    lambda c: c.Text("ab").upper() + str(c.Text.n),
]

OTHERS = [
    lambda c: c.Counter().answer(),
    lambda c: c.Counter.answer(None),
    lambda c: [made.answer() for made in [c.Counter(), c.Derived()]],
    lambda c: isinstance(c.Derived(), c.Counter),
    lambda c: c.Counter().as_text if hasattr(c.Counter(), "as_text") else "none",
]


def counted_up(names, function, call):
    """What the function gives while its classes count."""
    log = []
    for number in range(5):
        for name in ("Counter", "Text", "Data"):
            getattr(names, name).n += number
        log.append(call(function, names))
        if number == 3:
            names.Derived.n = True
    return log


class ClassNumbers(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def test_who_reads_them_sees_them(self):
        for number, function in enumerate(READS + OTHERS):
            with self.subTest(number=number):
                plain = counted_up(classes(), function, lambda function, names: function(names))
                compiled = slotrt.compile(function)
                self.assertEqual(counted_up(classes(), function, lambda function, names: compiled(names)), plain)

    def test_names_that_a_trace_of_before_did_not_read(self):
        names = classes()
        names.Counter.answer.__globals__  # noqa: B018

        def function(made, reads):
            return made.answer() if not reads else (made.answer(), made.n)

        compiled = slotrt.compile(function)
        for number in range(6):
            names.Counter.n = number
            made = names.Counter()
            self.assertEqual(compiled(made, number % 2), function(made, number % 2))

    def test_who_does_not_is_not_traced_again(self):
        class Counter:
            made = 0

            def answer(self):
                return 3

        @slotrt.compile
        def function(counter):
            return [counter].pop().answer()

        for number in range(6):
            Counter.made += 1
            self.assertEqual(function(Counter()), 3)
        self.assertEqual(slotrt.stats()["recompiles"], 0)
        Counter.answer = lambda self: 4
        self.assertEqual(function(Counter()), 4)
        Counter.made = "text"
        self.assertEqual(function(Counter()), 4)
        Counter.__len__ = lambda self: 0
        self.assertEqual(function(Counter()), 4)

    def test_what_takes_the_place_of_a_number(self):
        class Base:
            def answer(self):
                return 1

        class Counter(Base):
            other = 5

        @slotrt.compile
        def function(counter):
            return counter.answer()

        self.assertEqual(function(Counter()), 1)
        Counter.other = property(lambda self: 7)
        self.assertEqual(function(Counter()), 1)
        Counter.other = 6
        Counter.answer = lambda self: self.other
        self.assertEqual(function(Counter()), 6)
        Counter.other = 8
        self.assertEqual(function(Counter()), 8)


class BoundMethods(unittest.TestCase):
    def test_context_of_c_around_a_break(self):
        locks = [threading.RLock(), threading.RLock(), threading.Lock()]

        @slotrt.compile
        def function(lock, number):
            with lock:
                slotrt.graph_break()
                if number == 5:
                    raise KeyError(number)
                number += 1
            return number

        slotrt.reset()
        for number in range(12):
            lock = locks[number % 3]
            if number == 5:
                with self.assertRaises(KeyError):
                    function(lock, number)
            else:
                self.assertEqual(function(lock, number), number + 1)
            self.assertTrue(lock.acquire(blocking=False))
            lock.release()

    def test_is_not_traced_at_each_call(self):
        lock = threading.RLock()

        @slotrt.compile
        def function(number):
            with lock:
                slotrt.graph_break()
                number += 1
            return number

        slotrt.reset()
        for number in range(6):
            self.assertEqual(function(1), 2)
        self.assertEqual(slotrt.stats()["recompiles"], 0)

    def test_method_of_c_that_is_given(self):
        @slotrt.compile
        def function(method, value):
            return method(value)

        one, other = [], [1]
        for method in (one.append, other.append, one.remove, other.index, {1: 2}.get, {1: 3}.get, "a1".count, "11".count):
            self.assertEqual(str(function(method, 1 if not isinstance(method.__self__, str) else "1")), str({
                "append": None, "remove": None, "index": 0, "get": method.__self__[1] if isinstance(method.__self__, dict) else None,
                "count": method.__self__.count("1") if isinstance(method.__self__, str) else None,
            }[method.__name__]))
        self.assertEqual((one, other), ([], [1, 1]))


if __name__ == "__main__":
    unittest.main()
