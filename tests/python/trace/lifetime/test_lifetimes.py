"""Objects end when they end in plain Python: neither guards nor nested functions keep them alive. C calls nothing that acts on outside objects unseen by the trace."""
import contextlib
import functools
import gc
import io
import itertools
import random
import unittest
import weakref
from fractions import Fraction

import slotrt

OUT = []


class Ending:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("end", self.name)


class Plain:
    pass


def hashed(values):
    hash(Ending(1))
    print("after")


def formatted(values):
    return f"{next(iter(values))!s:>7}{Ending(2)!r:.3}"[:8]


def given_to_a_stack(values):
    with contextlib.ExitStack() as stack:
        stack.callback(print, "last", Ending("s").name)
        stack.callback(len, [Ending("t")])
    print("after")


def printed_key(values):
    return sorted(values, key=print)


def printed_by_partial(values):
    return functools.partial(print, 1, sep="-")([values, Plain])


def appended_key(values):
    return list(map(OUT.append, values)), max(values, key=OUT.append), OUT


def inserted(values):
    return functools.reduce(OUT.insert, values), OUT


def filtered(values):
    return [*filter(OUT.extend, [values])], OUT


def method_of_none(values):
    method = None.__format__
    try:
        method(">5")
    except TypeError as error:
        print(error)
    return getattr(None, "__repr__")(), None.__eq__(None), method("")


def grouped_by_type(values):
    plain = Plain()
    groups = [(kind.__name__, len(list(group))) for kind, group in itertools.groupby([plain, plain, 1], type)]
    kinds = list(map(type, [plain, Fraction(1, 2), values]))
    return groups, kinds == [Plain, Fraction, list], sorted([Fraction(1, 3)], key=type), kinds.index(Plain)


def weak_text(values):
    plain = Plain()
    weak = weakref.ref(plain)
    before = "dead" in repr(weak)
    plain = None
    return before, "dead" in repr(weak), "dead" in f"{weak}"


def weak_count(values):
    plain = Plain()
    first, proxy = weakref.ref(plain), weakref.proxy(plain)
    before = weakref.getweakrefcount(plain)
    del proxy
    return before, weakref.getweakrefcount(plain), weakref.getweakrefs(plain) == [first]


FUNCTIONS = (
    grouped_by_type,
    weak_text,
    weak_count,
    hashed,
    formatted,
    given_to_a_stack,
    printed_key,
    printed_by_partial,
    appended_key,
    inserted,
    filtered,
    method_of_none,
)


def seen(run):
    """Prints, result or exception, and what was left in `OUT`."""
    OUT[:] = [0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            found = repr(run([1, 2]))
        except Exception as error:
            found = repr(error)
    return printed.getvalue(), found, list(OUT)


class Lifetimes(unittest.TestCase):
    def test_as_in_plain_python(self):
        for function in FUNCTIONS:
            with self.subTest(function.__name__):
                expected, compiled = seen(function), slotrt.compile(function)
                for _ in range(3):
                    self.assertEqual(seen(compiled), expected)

    def test_arguments_end_with_the_call(self):
        compiled = slotrt.compile(lambda x: {x: 1}[x] + hash(x) * 0)
        x = Plain()
        gone = weakref.ref(x)
        self.assertEqual([compiled(x), compiled(x)], [1, 1])
        del x
        self.assertIsNone(gone())
        self.assertEqual(compiled(Plain()), 1)

    def test_objects_with_a_constructor_of_c_are_materialised(self):
        def drawn(seed):
            generator = random.Random(seed)
            print(seed)
            return generator.random()

        self.assertEqual(slotrt.compile(drawn)(7), random.Random(7).random())

    def test_functions_end_with_the_call(self):
        compiled = slotrt.compile(lambda call: call(3))
        held = Plain()
        gone = weakref.ref(held)

        def make(held):
            return lambda x: (x, held is None)

        call = make(held)
        self.assertEqual([compiled(call), compiled(call)], [(3, False), (3, False)])
        del call, held
        self.assertIsNone(gone())

    def test_defaults_end_with_their_function(self):
        def positional(held):
            return lambda x, seen=held, *, k=3: (x, seen is None, k)

        def keyword(held):
            return lambda x, y=2, *, seen=held: (x, y, seen is None)

        def unused(held):
            return lambda x, seen=held: x

        for make in (positional, keyword, unused):
            with self.subTest(make.__name__):
                arguments = (3, None) if make is unused else (3,)
                compiled = slotrt.compile(lambda call: call(*arguments))
                held = Plain()
                gone = weakref.ref(held)
                call = make(held)
                expected = call(*arguments)
                self.assertEqual([compiled(call), compiled(call)], [expected] * 2)
                del call, held
                self.assertIsNone(gone())

    def test_defaults_of_a_local_function(self):
        def run():
            def local(p, seen=[], *, kept={}):
                seen.append(p)
                kept[1] = p
                return len(seen), len(kept)

            print("before")
            found = local(Ending("p"))
            print("called")
            return found

        expected, compiled = seen(lambda _: run()), slotrt.compile(run)
        self.assertIn("end p", expected[0])
        for _ in range(3):
            self.assertEqual(seen(lambda _: compiled()), expected)

    def test_objects_that_lead_back_to_themselves(self):
        class Grows:
            def __init__(self, number):
                self.number = number
                print(end="")
                self.itself = [self]
                for index in range(self.number):
                    setattr(self, f"attribute_{index}", index)

        def make(number):
            made = Grows(number)
            return made.itself is not None, weakref.ref(made)

        compiled = slotrt.compile(make)
        for _ in range(3):
            found, gone = compiled(60)
            gc.collect()
            self.assertEqual((found, gone()), (True, None))


if __name__ == "__main__":
    unittest.main()
