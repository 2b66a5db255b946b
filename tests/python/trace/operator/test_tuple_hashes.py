"""Hashes of tuples whose items have `__hash__` in Python: from 3.14 on a tuple is asked once, whoever asks, and keeps its hash."""

import sys
import typing
import unittest

import slotrt

ASKED = []


class Asked:
    def __init__(self, number):
        self.number = number

    def __hash__(self):
        ASKED.append(f"hash {self.number}")
        return hash(self.number)

    def __eq__(self, other):
        return isinstance(other, Asked) and self.number == other.number


class Pair(typing.NamedTuple):
    first: object
    second: int


MAKE = {
    "plain": lambda number: (Asked(number), 1),
    "named": lambda number: Pair(Asked(number), 1),
    "nested": lambda number: ((1, (Asked(number), Asked(4))), "k"),
}


def twice(key):
    return hash(key) == hash(key), key


def changed(key):
    first = hash(key)
    if hasattr(key[0], "number"):
        key[0].number += 1
    return first == hash(key), key


def made(key):
    other = key[0], 2
    return hash(other) == hash(other), hash(key) == hash(other), other


def named(key):
    other = Pair(key[0], 2)
    return {other: 1}[other], hash(other), other


def passing(key):
    return hash((key, 3)) == hash((key, 3)), key


def held(key):
    return {key: 1}[key], key in {key}, key


def broken(key):
    """The instruction breaks after the hash was asked for: it is asked for once."""
    return {key: print(end="")}, [hash(key), print(end="")], key


class TupleHashes(unittest.TestCase):
    def check(self, function, make, known):
        slotrt.reset()
        compiled = slotrt.compile(function)
        for number in 1, 1, 2, 1:
            seen = []
            for run in function, compiled:
                key = make(number)
                if known:
                    hash(key)
                ASKED.clear()
                *result, given = run(key)
                during = list(ASKED)
                again = hash(given), hash(key)
                seen.append((result, during, again, list(ASKED)))
            self.assertEqual(seen[1], seen[0])
        return slotrt.stats()["graph_breaks"]

    def test_each_is_asked_as_often(self):
        for function in twice, changed, made, named, passing, held, broken:
            for name, make in MAKE.items():
                for known in False, True:
                    with self.subTest(function=function.__name__, make=name, known=known):
                        self.check(function, make, known)

    def test_nothing_breaks(self):
        for known in False, True:
            with self.subTest(known=known):
                self.assertEqual(self.check(twice, MAKE["plain"], known), 0)

    def test_the_release(self):
        """What the other tests compare with."""
        key = MAKE["plain"](1)
        ASKED.clear()
        self.assertEqual(hash(key), hash(key))
        self.assertEqual(len(ASKED), 1 if sys.version_info >= (3, 14) else 2)


if __name__ == "__main__":
    unittest.main()
