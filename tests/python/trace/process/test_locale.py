"""Results that depend on the locale are computed at each call."""

import datetime
import locale
import pathlib
import shutil
import sys
import unittest
from decimal import Decimal

import slotrt

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "effects"))
import state  # noqa: E402


def grouped():
    return f"{1234567:n}"


def grouped_float():
    return f"{1234.5:>12n}"


def grouped_decimal():
    return format(Decimal("1234567.5"), "n")


def called():
    return (1234567).__format__("n"), format(1234567, "n")


def text():
    return "{:n} {n}".format(1234567, n=3)


def mapped():
    return "{a:n}".format_map({"a": 1234567})


def filled_in():
    return "{:{}}".format(1234567, "n")


def named():
    return f"{datetime.date(2020, 2, 29):%A %d %B}", "{:%A}".format(datetime.date(2020, 2, 29))


def not_grouped():
    return f"{1234567:,d} {1.5:g}", "{n:5} {{:n}} {n:.0%}".format(n=1), format("n", ">3"), f"{datetime.date(2020, 2, 29)}"


class Locale(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room, why = state.make_locale()
        if why:
            raise unittest.SkipTest(why)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.room)

    def test_formats_of_numbers(self):
        self.addCleanup(locale.setlocale, locale.LC_NUMERIC, "C")
        for function in (grouped, grouped_float, grouped_decimal, called, text, mapped, filled_in, named, not_grouped):
            compiled = slotrt.compile(function)
            for name in ("C", "xx_XX", "C"):
                locale.setlocale(locale.LC_NUMERIC, name)
                with self.subTest(function=function.__name__, locale=name):
                    self.assertEqual(compiled(), function())

    def test_what_reads_no_locale_is_traced(self):
        self.assertEqual(slotrt.compile(not_grouped, fullgraph=True)(), not_grouped())


if __name__ == "__main__":
    unittest.main()
