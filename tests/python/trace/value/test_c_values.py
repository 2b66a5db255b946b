"""Immutable values of C classes (dates, times, time zones, decimal numbers, generic aliases), namespaces and ordered dicts."""

import collections
import datetime
import decimal
import types
import unittest
import weakref

import slotrt

DAY = datetime.date(2020, 1, 31)
MOMENT = datetime.datetime(2020, 1, 31, 12, 30)
ZONE = datetime.timezone(datetime.timedelta(hours=2), "there")
ZONED = datetime.datetime(2020, 1, 31, tzinfo=ZONE)
SPAN = datetime.timedelta(days=1, seconds=5)
NUMBER = decimal.Decimal("1.50")
ALIAS = dict[str, list[int]]
SPACE = types.SimpleNamespace(a=1)


class Zone(datetime.tzinfo):
    """A time zone of Python code that changes."""

    hours = 1

    def utcoffset(self, when):
        return datetime.timedelta(hours=self.hours)

    def dst(self, when):
        return None

    def tzname(self, when):
        return f"z{self.hours}"


OWN = datetime.datetime(2020, 1, 31, tzinfo=Zone())


def days():
    return DAY.isoformat(), DAY + SPAN, DAY - datetime.date(2019, 1, 1), DAY.replace(day=1), DAY < datetime.date.max


def moments():
    there = MOMENT.replace(tzinfo=ZONE)
    return there, there.utcoffset(), there.tzname(), ZONED.isoformat(), ZONED + SPAN, ZONED == there, there.timetz()


def made():
    zone = datetime.timezone(SPAN * 0.5)
    when = datetime.datetime(2021, 1, 1, tzinfo=ZONE)
    return zone, when, when.time(), [when, when], datetime.timezone(datetime.timedelta(0)), NUMBER


def aliases():
    return ALIAS.__args__, ALIAS.__origin__, ALIAS == dict[str, list[int]], hash(ALIAS) == hash(dict[str, list[int]])


def given(value, zone):
    return value.isoformat(), value + SPAN, value.replace(year=2000), repr(zone), zone.utcoffset(None)


def own():
    return OWN.isoformat(), OWN.tzname()


def spaces():
    space = types.SimpleNamespace(b=[1], c=DAY)
    space.d = space
    space.e = SPACE
    del space.b
    return space


def shown():
    return SPACE.a, [SPACE.a] * 2


class Derived(types.SimpleNamespace):
    """Adds nothing to its base."""


def derived():
    space = Derived(a=2)
    space.b = 3
    return space


ORDERED = collections.OrderedDict(a=1, b=[2], c=3)


def read(ordered):
    return len(ordered), not ordered, ordered["a"], "b" in ordered, list(ordered.items()), ordered.get("z"), list(reversed(ordered))


def write(ordered):
    ordered["n"] = 5
    ordered.move_to_end("a")
    del ordered["b"]
    ordered.popitem(last=False)
    ordered.update(q=1)
    return list(ordered)


def move(ordered):
    ordered.move_to_end("a")
    ordered["m"] = 1
    ordered.move_to_end("m", last=False)
    return list(ordered), list(dict.keys(ordered))


class Settings(types.ModuleType):
    """A module with properties."""

    @property
    def level(self):
        return self.value + 1

    def __getattr__(self, name):
        return self.inner.__getattribute__(name)


SETTINGS = Settings("settings")
SETTINGS.value, SETTINGS.inner = 1, Settings("inner")
SETTINGS.inner.deep = 5


def settings():
    return SETTINGS.level, SETTINGS.deep, SETTINGS.__name__


def no_setting():
    try:
        Plain.value
    except AttributeError as error:
        return str(error)


class Bare(types.ModuleType):
    """Adds nothing to the class of modules."""


Plain = Bare("plain")


class Key:
    pass


class Reference(weakref.ref):
    """Is called as its base is."""


def weakly():
    key = Key()
    reference = Reference(key)
    return reference() is key, type(reference()), [reference() is None]


class CValues(unittest.TestCase):
    def same(self, function, *args):
        compiled = slotrt.compile(function, fullgraph=True)
        for _ in range(2):
            got, wanted = compiled(*args), function(*args)
            self.assertEqual(got, wanted)
            self.assertEqual(repr(got), repr(wanted))
        return compiled

    def test_values_from_outside_are_worked_on(self):
        for function in (days, moments, aliases):
            with self.subTest(function.__name__):
                self.same(function)

    def test_values_made_in_a_trace_are_materialised_each_time(self):
        compiled = self.same(made)
        first, second = compiled(), compiled()
        self.assertIsNot(first[1], second[1])
        self.assertIs(first[3][0], first[3][1])
        self.assertIs(first[4], datetime.timezone.utc)

    def test_other_values_are_distinguished(self):
        compiled = slotrt.compile(given, fullgraph=True)
        other = datetime.timezone(datetime.timedelta(hours=2), "here")
        for value in (DAY, DAY + SPAN, MOMENT, ZONED, ZONED.replace(tzinfo=other)):
            for zone in (ZONE, other, datetime.timezone.utc):
                self.assertEqual(compiled(value, zone), given(value, zone))

    def test_what_holds_objects_of_python_code_is_no_constant(self):
        compiled = slotrt.compile(own)
        try:
            for Zone.hours in (1, 2, 3):
                self.assertEqual(compiled(), own())
        finally:
            Zone.hours = 1

    def test_namespaces_are_materialised(self):
        space = slotrt.compile(spaces, fullgraph=True)()
        self.assertIs(space.c, DAY)
        self.assertIs(space.e, SPACE)
        self.assertIs(space.d, space)
        self.assertEqual(list(vars(space)), ["c", "d", "e"])
        self.same(derived)
        self.assertIs(type(slotrt.compile(derived, fullgraph=True)()), Derived)

    def test_a_namespace_that_changes_is_read_again(self):
        compiled = slotrt.compile(shown, fullgraph=True)
        try:
            for SPACE.a in (1, 2, "x"):
                self.assertEqual(compiled(), shown())
        finally:
            SPACE.a = 1

    def test_ordered_dicts_from_outside(self):
        changes = [
            lambda ordered: None,
            lambda ordered: ordered.move_to_end("a"),
            lambda ordered: ordered.update(z=1, b="x"),
            lambda ordered: ordered.move_to_end("b", last=False),
            lambda ordered: ordered.clear() or ordered.update(a=0, b=1),
        ]
        for function in (read, write, move):
            compiled = slotrt.compile(function, fullgraph=True)
            for change in changes:
                mine, theirs = ORDERED.copy(), ORDERED.copy()
                change(mine)
                change(theirs)
                self.assertEqual(compiled(mine), function(theirs))
                self.assertEqual(list(mine.items()), list(theirs.items()))
                self.assertEqual(list(dict.items(mine)), list(dict.items(theirs)), "the order of the table is not that of the links")

    def test_modules_of_derived_classes(self):
        compiled = slotrt.compile(settings, fullgraph=True)
        try:
            for SETTINGS.value in (1, 2, 3):
                self.assertEqual(compiled(), settings())
        finally:
            SETTINGS.value = 1
        self.same(no_setting)

    def test_weak_references_of_derived_classes_are_called(self):
        self.same(weakly)


if __name__ == "__main__":
    unittest.main()
