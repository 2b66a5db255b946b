"""How much memory an object takes, by `__sizeof__` and `sys.getsizeof`: the trace says what plain Python says, or leaves it to C."""

import sys
import unittest

import slotrt
from compared import Compared


class Plain:
    def __init__(self):
        self.first = 1


class Sized:
    """Says itself how large it is."""

    def __init__(self, size):
        self.size = size

    def __sizeof__(self):
        return self.size


def items():
    yield from range(11)


def broken_and_right(test, function, *args):
    """The same as plain, with one break at least."""
    compiled = slotrt.compile(function)
    for _ in range(2):
        test.assertEqual(compiled(*args), function(*args))
    test.assertGreater(slotrt.stats()["graph_breaks"], 0)
    slotrt.reset()


class MemorySizes(Compared):
    def test_values_and_what_the_trace_makes(self):
        def numbers(number):
            return sys.getsizeof(number), sys.getsizeof(1.5), sys.getsizeof("text"), sys.getsizeof((1, 2)), number.__sizeof__()

        def grown():
            found = []
            sizes = [sys.getsizeof(found)]
            for item in range(20):
                found.append(item)
                sizes.append(sys.getsizeof(found))
            return sizes

        def made():
            return [
                sys.getsizeof(made)
                for made in ([1, 2, 3], [*items()], list(items()), {"a": 1}, {1, 2}, bytearray(b"abc"))
            ]

        for function, args in ((numbers, (3,)), (numbers, (2**80,)), (grown, ()), (made, ())):
            with self.subTest(function.__name__):
                self.same(function, *args)

    def test_classes_that_say_it(self):
        def asked(size):
            try:
                return sys.getsizeof(Sized(size))
            except (TypeError, ValueError, OverflowError) as error:
                return type(error), str(error)

        def with_default(size):
            default = object()
            return sys.getsizeof(Sized(size), default) is default, sys.getsizeof(3, default) is default

        for size in (5, 0, -1, "text", 2**80):
            with self.subTest(size=size):
                self.same(asked, size)
        self.same(with_default, "text")

    def test_containers_from_outside_are_asked_themselves(self):
        grown = []
        for item in range(5):
            grown.append(item)
        shrunk = {item: item for item in range(20)}
        for item in range(18):
            del shrunk[item]

        def asked(value):
            return value.__sizeof__(), sys.getsizeof(value)

        def copied(value):
            return value.copy().__sizeof__()

        for value in (grown, list(grown), shrunk, dict(shrunk), set(grown), bytearray(b"abc")):
            broken_and_right(self, asked, value)
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(copied, fullgraph=True)(shrunk)
        grown.extend(range(30))
        broken_and_right(self, asked, grown)

    def test_a_text_that_was_encoded_is_larger(self):
        def asked(text):
            return text.__sizeof__()

        compiled = slotrt.compile(asked)
        text = "".join(["é"] * 5)
        self.assertEqual(compiled(text), asked(text))
        text.encode()
        self.assertEqual(compiled(text), asked(text))
        again = "".join(["é"] * 5)
        self.assertEqual(compiled(again), asked(again))

    def test_dicts_of_instances_and_rests_of_lists(self):
        def of_instance():
            return Plain().__dict__.__sizeof__()

        def of_rest():
            first, *rest = items()
            return rest.__sizeof__()

        compiled = slotrt.compile(of_rest)
        self.assertEqual([compiled(), compiled()], [of_rest()] * 2)
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(of_instance, fullgraph=True)()


if __name__ == "__main__":
    unittest.main()
