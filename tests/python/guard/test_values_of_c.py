"""Dates, times and decimal numbers that C hashes by value: another object with the same value needs no other trace, and stays itself."""

import datetime
import decimal
import unittest

import slotrt

UTC = datetime.timezone.utc
AN_HOUR = datetime.timezone(datetime.timedelta(hours=1))


def looked_up(value):
    table = {value: 1}
    return list(table)[0] is value, table[value], value in {value}, str(value), max(value, value) is value


def two(one, other):
    table = {one: 1}
    return one is other, table.get(other), one == other, list(table)[0] is one


def folded(value):
    return {value: value.fold}[value], repr(value)


def days(count):
    return [datetime.date(2020, 1, 1) for _ in range(count)]


class ValuesOfC(unittest.TestCase):
    def traces(self, function, *calls):
        slotrt.reset()
        compiled = slotrt.compile(function)
        for args in (*calls, *calls):
            self.assertEqual(compiled(*args), function(*args))
        return slotrt.stats()["frames_compiled"]

    def test_one_trace_for_equal_values(self):
        for make in (
            lambda: datetime.date(2020, 1, 1),
            lambda: datetime.datetime(2020, 1, 1, 2, tzinfo=UTC),
            lambda: datetime.datetime(2020, 1, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
            lambda: datetime.time(1, 2, fold=1),
            lambda: datetime.timedelta(3),
            lambda: decimal.Decimal("1.50"),
        ):
            with self.subTest(value=make()):
                self.assertEqual(self.traces(looked_up, *((make(),) for _ in range(10))), 1)

    def test_a_trace_for_each_value(self):
        self.assertEqual(self.traces(looked_up, *((datetime.date(2020, 1, 1 + day),) for day in range(4))), 4)

    def test_equal_values_of_other_parts(self):
        numbers = [(decimal.Decimal(text),) for text in ("1", "1.0", "1.00", "1E+0", "0", "-0", "1.0")]
        self.traces(looked_up, *numbers)
        self.assertEqual(self.traces(folded, *((datetime.datetime(2020, 1, 1, fold=fold),) for fold in (0, 1, 0, 1))), 2)
        self.traces(looked_up, *((datetime.datetime(2020, 1, 1, 2, tzinfo=zone),) for zone in (None, UTC, AN_HOUR, UTC)))

    def test_identity(self):
        first, second, third = *days(2), datetime.date(2021, 1, 1)
        self.traces(two, (first, first), (first, second), (second, second), (second, first), (first, third), (third, first))


if __name__ == "__main__":
    unittest.main()
