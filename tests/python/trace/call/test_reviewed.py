"""Methods of C types that run in a trace: those reached through `super()`, and those with a row in the reviewed table."""

import collections
import datetime
import functools
import types
import unittest

import slotrt


class Ordered(collections.OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value + 1)

    def __delitem__(self, key):
        super().__delitem__(key)


class Default(collections.defaultdict):
    def __init__(self, *args):
        super().__init__(list, *args[1:], a=1)


class Space(types.SimpleNamespace):
    def __init__(self):
        super().__init__(x=1)


class Day(datetime.datetime):
    def __add__(self, other):
        return super().__add__(other)

    def __eq__(self, other):
        return super().__eq__(other)

    __hash__ = datetime.datetime.__hash__


def ordered():
    made = Ordered()
    made["a"], made["b"] = 1, 2
    del made["a"]
    return list(made.items())


def default():
    made = Default()
    made["b"].append(3)
    return dict(made | {"c": 4})


def space():
    return Space().x


def day():
    made = Day(2020, 1, 1) + datetime.timedelta(1) * 2 // 1
    return made == datetime.datetime(2020, 1, 3), f"{datetime.date(2020, 2, 29)}"


def called():
    return functools.partial.__call__(functools.partial(int, base=2), "101")


class Reviewed(unittest.TestCase):
    def test_each_runs_in_a_trace(self):
        for function in (ordered, default, space, day, called):
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function, fullgraph=True)
                self.assertEqual([compiled(), compiled()], [function(), function()])


if __name__ == "__main__":
    unittest.main()
