"""Dates from outside, and members of enumerations that are dates."""

import datetime
import enum
import unittest

import slotrt
from compared import Compared


class Day(datetime.date, enum.Enum):
    """Members that are dates."""

    FIRST = 2020, 1, 1
    SECOND = 2021, 2, 2


class Dates(Compared):
    def test_dates_from_outside(self):
        def ask(one, other):
            return one == other, one < other, str(one), one.year, (other - one).days, hash(one) == hash(other), {one: 1}.get(other)

        first, second = datetime.date(2020, 1, 1), datetime.date(2021, 5, 6)
        compiled = self.same(ask, first, second)
        self.assertEqual(compiled(second, first), ask(second, first))
        self.assertEqual(compiled(first, first), ask(first, first))
        self.assertEqual(compiled(datetime.date(2020, 1, 1), first), ask(first, first))

    def test_members_that_are_dates(self):
        def ask(member):
            return str(member), repr(member), format(member), hash(member), member == Day.FIRST, Day(member), member.day

        compiled = self.same(ask, Day.FIRST)
        self.assertEqual(compiled(Day.SECOND), ask(Day.SECOND))


def repeated_hour():
    moment, hour = datetime.datetime(2012, 11, 4, 1, 30, fold=1), datetime.time(1, 30, fold=1)
    slotrt.graph_break()
    return moment, hour, datetime.datetime(2012, 11, 4, 1, 30)


class Folds(unittest.TestCase):
    def test_they_leave_the_trace(self):
        compiled = slotrt.compile(repeated_hour)
        for _ in range(2):
            self.assertEqual([made.fold for made in compiled()], [1, 1, 0])


if __name__ == "__main__":
    unittest.main()
