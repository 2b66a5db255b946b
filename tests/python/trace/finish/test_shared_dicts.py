"""An instance's attributes are entries of a dict that the trace may reach over another path, or that another instance has, too."""

import unittest

import slotrt


class Thing:
    x = 0


class AttributeDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Borg:
    shared = {}

    def __init__(self):
        self.__dict__ = self.shared


def set_attribute(thing, entries):
    thing.x = 5
    return entries.get("x"), thing.x, len(entries)


def set_entry(thing, entries):
    entries["x"] = 6
    return thing.x, entries["x"]


def delete_attribute(thing, entries):
    del thing.y
    return "y" in entries, hasattr(thing, "y")


def made(pairs):
    """Fresh things and dicts: the second is the first's own where a pair says so."""
    first, second = Thing(), Thing()
    first.y = second.y = 1
    return [(first, {"own": first.__dict__, "other": second.__dict__, "plain": {"y": 2}}[pair]) for pair in pairs]


class TestSharedDicts(unittest.TestCase):
    def assert_same(self, function, *calls):
        """The same for the same calls, each with objects of its own."""
        compiled = slotrt.compile(function)
        for call in calls:
            self.assertEqual(compiled(*call()), function(*call()), call)

    def test_an_instance_and_its_dict(self):
        for pairs in (("own", "plain", "other", "own"), ("plain", "own", "own", "other"), ("other", "own", "plain")):
            for function in (set_attribute, set_entry, delete_attribute):
                self.assert_same(function, *[lambda pair=pair: made([pair])[0] for pair in pairs])

    def test_a_dict_that_is_its_own_namespace(self):
        def attribute(thing):
            thing.x = 5
            return thing["x"], thing.get("x"), len(thing), list(thing)

        def entry(thing):
            thing["x"] = 6
            return thing.x, len(thing), vars(thing)["x"]

        for function in (attribute, entry):
            self.assert_same(function, *[lambda: (AttributeDict(x=1, y=2),)] * 3)

    def test_one_made_in_the_trace(self):
        def run(n):
            thing = AttributeDict(a=n)
            thing.b = 2
            thing["c"] = 3
            return thing["b"], thing.c, len(thing), dict(thing)

        self.assert_same(run, lambda: (1,), lambda: (2,))

    def test_instances_with_one_dict(self):
        def run(one, other):
            one.x = 1
            other.x = 2
            return one.x, other.x

        def apart():
            return Thing(), Thing()

        def together():
            one, other = Thing(), Thing()
            other.__dict__ = one.__dict__
            return one, other

        for calls in ((apart, together, apart), (together, apart, together), (lambda: (Borg(), Borg()),) * 2):
            self.assert_same(run, *calls)

    def test_a_dict_that_an_attribute_holds(self):
        def run(thing):
            thing.x = 7
            return thing.entries["x"]

        def own():
            thing = Thing()
            thing.x, thing.entries = 1, thing.__dict__
            return (thing,)

        def other():
            thing = Thing()
            thing.entries = {"x": 1}
            return (thing,)

        for calls in ((own, other, own), (other, own, other)):
            self.assert_same(run, *calls)


if __name__ == "__main__":
    unittest.main()
