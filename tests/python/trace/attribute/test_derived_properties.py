"""Classes derived from `property`: read as properties where they read as `property` does, and natively where they do not."""

import unittest

import slotrt


class Named(property):
    """A property with a name of its own."""

    label = "named"

    def __call__(self, value):
        return self.fget(value) * 100


class Doubled(property):
    def __get__(self, instance, owner=None):
        return self if instance is None else super().__get__(instance, owner) * 2


class Hidden(property):
    @property
    def fget(self):
        return lambda instance: -1


class Watched(property):
    def __getattribute__(self, name):
        return super().__getattribute__(name)


class Thing:
    def __init__(self, value):
        self.value = value

    @Named
    def named(self):
        return self.value + 1

    @Doubled
    def doubled(self):
        return self.value + 2

    @Hidden
    def hidden(self):
        return self.value + 3

    @Watched
    def watched(self):
        return self.value + 4

    without = Named()

    @Named
    def refuses(self):
        raise AttributeError(f"no {self.value}")


def read(thing):
    return thing.named, thing.named * 2


def read_of_the_class(thing):
    return type(thing).named.label, type(thing).named(thing), thing.named


def read_otherwise(thing):
    return thing.doubled, thing.hidden, thing.watched


def absent(thing):
    try:
        return thing.without
    except AttributeError as error:
        return str(error)


def refused(thing):
    try:
        return thing.refuses
    except AttributeError as error:
        return str(error), getattr(thing, "refuses", "default")


class DerivedProperties(unittest.TestCase):
    def check(self, function, breaks):
        slotrt.reset()
        compiled = slotrt.compile(function)
        for value in 1, 2, 3:
            self.assertEqual(compiled(Thing(value)), function(Thing(value)))
        if breaks is not None:
            self.assertEqual(slotrt.stats()["graph_breaks"], breaks)

    def test_read_as_properties(self):
        self.check(read, 0)
        self.check(read_of_the_class, None)
        self.check(absent, None)
        self.check(refused, None)

    def test_read_otherwise(self):
        self.check(read_otherwise, None)

    def test_a_class_that_begins_to_read_otherwise(self):
        class Changed(property):
            pass

        class Holder:
            @Changed
            def value(self):
                return 1

        f = slotrt.compile(lambda holder: holder.value)
        self.assertEqual(f(Holder()), 1)
        Changed.__get__ = lambda self, instance, owner=None: 2
        self.assertEqual(f(Holder()), 2)
        del Changed.__get__
        self.assertEqual(f(Holder()), 1)


if __name__ == "__main__":
    unittest.main()
