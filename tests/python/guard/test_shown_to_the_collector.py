"""A compiled function shows the garbage collector no more references than it holds: one too many, and what others hold would end."""

import collections
import dataclasses
import enum
import gc
import sys
import unittest

import slotrt


class State(enum.Enum):
    CREATED = 1
    ENTERED = 2
    EXPIRED = 3
    EXITED = 4


class Marks:
    first = object()
    second = [1]
    third = {"one": 1}

    def __init__(self):
        self.state = State.CREATED

    def step(self):
        if self.state is State.CREATED:
            self.state = State.ENTERED
        elif self.state is State.ENTERED:
            self.state = State.EXPIRED
        else:
            self.state = State.EXITED
        return self.state


@dataclasses.dataclass
class Point:
    x: int = 1
    y: object = State.ENTERED

    def moved(self, by=2, *, also=State.EXITED):
        return Point(self.x + by, also)


def states(marks):
    return [marks.step() for _ in range(5)], [State.CREATED, State.ENTERED, State.EXPIRED, State.EXITED]


def named(state):
    return state is State.CREATED, state is State.ENTERED, state is State.EXPIRED, State(1).name, Marks.first, Marks.second, Marks.third


def points(point):
    return point.moved().moved(3), point.moved(also=State.CREATED), isinstance(point, Point)


def guarded(point):
    point.moved
    return [Marks().step(), Marks().step, Point.moved, point.__class__]


class Shown(unittest.TestCase):
    def test_no_more_than_it_holds(self):
        for function, given in (
            (states, [Marks(), Marks()]),
            (named, list(State)),
            (points, [Point(), Point(3)]),
            (guarded, [Point(), Point(4)]),
        ):
            compiled = slotrt.compile(function)
            for value in given:
                compiled(value)
            with self.subTest(function=function.__name__):
                shown = gc.get_referents(compiled)
                times = collections.Counter(map(id, shown))
                self.assertTrue(times)
                while shown:
                    held = shown.pop()
                    others = sum(1 for other in shown if other is held)
                    # This name, the argument, and what is left of the list.
                    count = sys.getrefcount(held) - 2 - others
                    self.assertLessEqual(times[id(held)], count, held)


if __name__ == "__main__":
    unittest.main()
