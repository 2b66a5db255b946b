"""Attributes that an instance from outside has itself, under a name that its class has, too: a trace made for an instance that has one is
not taken for one that has none, and no guard runs the class's `__get__`."""

import functools
import unittest

import slotrt


class Named:
    """A class that has `kept` where its instances have none."""

    kept = "of the class"

    def method(self):
        return "of the class"

    @functools.cached_property
    def cached(self):
        LOG.append("computed")
        return "computed"


class Raising:
    """Binds itself to no instance."""

    def __get__(self, instance, owner):
        LOG.append("asked")
        raise AttributeError("refused")


class Refused:
    """A class whose attribute says no."""

    kept = Raising()


LOG = []


def seen(function, classes):
    """What the calls give: instances of which every second has the attribute itself."""
    LOG.clear()
    results = []
    for index, made in enumerate(classes):
        instance = made()
        if index in (0, 1, 4):
            vars(instance)["kept"] = "of the instance"
        try:
            results.append((function(instance), dict(vars(instance))))
        except (AttributeError, KeyError) as error:
            lines = error.__traceback__.tb_next
            results.append((type(error), str(error), lines and lines.tb_lineno, dict(vars(instance))))
    return results, list(LOG)


class OwnAttributes(unittest.TestCase):
    """Each use, on instances with the attribute and without."""

    def same(self, function, made=Named):
        self.assertEqual(seen(slotrt.compile(function), [made] * 6), seen(function, [made] * 6))

    def test_whether_it_is_there(self):
        self.same(lambda instance: "kept" in instance.__dict__)
        self.same(lambda instance: "kept" in vars(instance))

    def test_read_in_the_namespace(self):
        self.same(lambda instance: instance.__dict__.get("kept", "none"))
        self.same(lambda instance: instance.__dict__["kept"])
        self.same(lambda instance: instance.__dict__.setdefault("kept", "set"))

    def test_taken_out(self):
        self.same(lambda instance: instance.__dict__.pop("kept", "none"))
        self.same(lambda instance: instance.__dict__.pop("kept"))

    def test_deleted(self):
        def delete(instance):
            before = instance.kept
            del instance.kept
            return before, instance.kept

        def set_and_delete(instance):
            instance.kept = "set"
            del instance.kept
            return instance.kept

        self.same(lambda instance: delattr(instance, "kept"))
        self.same(delete)
        self.same(set_and_delete)

    def test_a_value_that_binds_itself_is_not_asked_by_guards(self):
        self.same(lambda instance: instance.kept, Refused)
        self.same(lambda instance: getattr(instance, "kept", "none"), Refused)

    def test_cached_property(self):
        instances = [Named() for _ in range(4)]
        compiled = slotrt.compile(lambda instance: instance.cached)
        LOG.clear()
        self.assertEqual([compiled(instances[at]) for at in (0, 0, 1, 1, 2, 0, 3)], ["computed"] * 7)
        self.assertEqual(LOG, ["computed"] * 4)

    def test_method_of_the_instance(self):
        own, plain = Named(), Named()
        own.method = lambda: "of the instance"
        compiled = slotrt.compile(lambda instance: instance.method())
        got = [compiled(instance) for instance in (own, plain, own, plain)]
        self.assertEqual(got, ["of the instance", "of the class"] * 2)


if __name__ == "__main__":
    unittest.main()
