"""Results that depend on arguments, the time zone and the locale alone: computed while tracing, and computed again at each call."""

import _locale
import datetime
import locale
import os
import time
import unittest
from unittest import mock

import slotrt

DAY = datetime.date(2024, 2, 29)
MOMENT = datetime.datetime(2024, 7, 1, 12, 30, 5, 250)
AWARE = MOMENT.replace(tzinfo=datetime.timezone.utc)


def local(seconds):
    return time.localtime(seconds), time.gmtime(seconds), time.ctime(seconds)


def back(seconds):
    return time.mktime(time.localtime(seconds))


def as_text(seconds):
    parts = time.localtime(seconds)
    return time.strftime("%Y-%m-%d %H:%M:%S %Z", parts), time.asctime(parts), parts.tm_zone


def of_a_tuple(seconds):
    parts = (2024, 1, 1, seconds % 60, 0, 0, 0, 1, -1)
    return time.strftime("%H %A", parts), time.asctime(parts), time.mktime(parts)


def of_a_bad_tuple(seconds):
    return time.strftime("%H", (2024, 13, 1, 0, 0, 0, 0, 1, seconds))


def too_large(seconds):
    return time.localtime(seconds * 1e30)


def parsed(seconds):
    return time.strptime(f"{seconds % 28 + 1} Mar 2020", "%d %b %Y")


def badly_parsed(seconds):
    return time.strptime(f"{seconds}", "%H:%M")


def of_the_locale(seconds):
    settings = _locale.localeconv()
    settings["mine"] = seconds
    return settings, _locale.setlocale(locale.LC_CTYPE), _locale.setlocale(locale.LC_TIME, None), locale.getlocale()


def of_the_system(seconds):
    return os.uname(), os.getcwdb(), seconds


def of_dates(seconds):
    day = DAY + datetime.timedelta(seconds % 60)
    return DAY.strftime("%A %d %B %Y"), day.strftime("%j"), MOMENT.strftime("%c"), datetime.time(3, 4).strftime("%H.%M")


def of_moments(seconds):
    return MOMENT.timestamp(), AWARE.timestamp(), MOMENT.astimezone(), AWARE.astimezone()


def from_seconds(seconds):
    zone = datetime.timezone(datetime.timedelta(hours=2))
    return (
        datetime.datetime.fromtimestamp(seconds),
        datetime.datetime.fromtimestamp(seconds, zone),
        datetime.datetime.fromtimestamp(seconds, tz=zone),
        datetime.date.fromtimestamp(seconds),
    )


def made_anew(seconds):
    one, other = time.localtime(seconds), time.localtime(seconds)
    return one is other, one == other, one


FUNCTIONS = (local, back, as_text, of_a_tuple, of_a_bad_tuple, too_large, parsed, badly_parsed, of_the_locale)
FUNCTIONS += (of_the_system, of_dates, of_moments, from_seconds, made_anew)


def outcome(function, *args):
    try:
        return repr(function(*args))
    except Exception as error:
        return type(error), str(error)


class TimeZones(unittest.TestCase):
    def setUp(self):
        slotrt.reset()
        zone = os.environ.get("TZ")
        self.addCleanup(self.set_zone, zone)

    def set_zone(self, zone):
        os.environ.pop("TZ", None)
        if zone is not None:
            os.environ["TZ"] = zone
        time.tzset()

    def test_as_without(self):
        """Also when the time zone is another one."""
        for function in FUNCTIONS:
            with self.subTest(function.__name__):
                compiled = slotrt.compile(function)
                for zone in ("UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST,M3.5.0,M10.5.0/3", "XYZ-1", "EST5EDT", "UTC"):
                    self.set_zone(zone)
                    for seconds in (0, 1700000000):
                        self.assertEqual(outcome(compiled, seconds), outcome(function, seconds))

    def test_without_breaks(self):
        for function in set(FUNCTIONS) - {of_a_bad_tuple, too_large, badly_parsed}:
            with self.subTest(function.__name__):
                function(0)
                report = slotrt.explain(function)(0)
                self.assertEqual(report.breaks, 0, report.reasons)

    def test_equal_moments(self):
        """The text names the time zone of the call, also where two zones agree on the time."""
        compiled = slotrt.compile(of_moments)
        for zone in ("AAA-1", "BBB-1", "CCC0", "AAA-1"):
            self.set_zone(zone)
            self.assertEqual(outcome(compiled, 0), outcome(of_moments, 0))
            self.assertEqual(compiled(0)[3].tzname(), zone[:3])

    def test_the_locale(self):
        compiled, before = slotrt.compile(of_the_locale), locale.setlocale(locale.LC_ALL)
        try:
            for name in ("C", "C.UTF-8", "C"):
                try:
                    locale.setlocale(locale.LC_ALL, name)
                except locale.Error:
                    continue
                self.assertEqual(outcome(compiled, 1), outcome(of_the_locale, 1))
                self.assertEqual(outcome(compiled, 1), outcome(of_the_locale, 1))
        finally:
            locale.setlocale(locale.LC_ALL, before)

    def test_setting_the_locale(self):
        before = locale.setlocale(locale.LC_TIME)
        compiled = slotrt.compile(lambda name: (_locale.setlocale(locale.LC_TIME, name), _locale.setlocale(locale.LC_TIME)))
        try:
            for name in ("C", "POSIX", "C"):
                said = compiled(name)
                self.assertEqual(said, ("C", "C") if name == "C" else (said[0], locale.setlocale(locale.LC_TIME)))
        finally:
            locale.setlocale(locale.LC_TIME, before)

    def test_the_clock(self):
        """Without an argument they give another time at each call."""

        def now():
            return time.localtime(None)[:0], time.time(), time.strftime("%Y"), time.gmtime()[:0]

        compiled = slotrt.compile(now)
        one, other = compiled(), compiled()
        self.assertLess(one[1], other[1])
        for clock in (lambda: time.localtime(None)[:0], lambda: time.time(), lambda: time.strftime("%Y"), lambda: time.gmtime()[:0]):
            self.assertEqual(slotrt.explain(clock)().breaks, 1)

    def test_another_strftime(self):
        """C calls the function that the module has at that time."""
        compiled = slotrt.compile(lambda: DAY.strftime("%Y"))
        self.assertEqual(compiled(), "2024")
        with mock.patch("time.strftime", lambda format, parts: f"{format}!"):
            self.assertEqual(compiled(), DAY.strftime("%Y"))
        self.assertEqual(compiled(), "2024")

    def test_derived_dates(self):
        class Day(datetime.date):
            def timetuple(self):
                return (1999, *super().timetuple()[1:])

        day = Day(2024, 2, 29)
        compiled = slotrt.compile(lambda day: day.strftime("%Y"))
        for given in (DAY, day, DAY, day):
            self.assertEqual(compiled(given), given.strftime("%Y"))

    def test_given_dates(self):
        compiled = slotrt.compile(lambda moment: (moment.strftime("%d"), moment.timestamp()))
        for days in (0, 1, 2, 1):
            moment = MOMENT + datetime.timedelta(days)
            self.assertEqual(compiled(moment), (moment.strftime("%d"), moment.timestamp()))


if __name__ == "__main__":
    unittest.main()
