"""Message, `name` and `obj` of an `AttributeError`: as the release at hand sets them."""
import importlib.machinery
import json
import sys
import types
import unittest

import slotrt


class Plain:
    pass


class Meta(type):
    pass


class OfMeta(metaclass=Meta):
    pass


class Slotted:
    __slots__ = ("a",)


class Child(Plain):
    def reads(self):
        return super().missing

    def calls(self):
        return super().missing()

    @classmethod
    def reads_class(cls):
        return super().missing

    @property
    def fixed(self):
        return 1

    @property
    def raising(self):
        raise AttributeError("own")


class Asked:
    def __getattr__(self, name):
        raise AttributeError("mine")


class Descriptor:
    def __get__(self, obj, cls=None):
        raise AttributeError("of the descriptor")


class Described:
    d = Descriptor()


class Derived(AttributeError):
    pass


class Watched(AttributeError):
    def __setattr__(self, name, value):
        raise ValueError(name)


class Raises:
    def __init__(self, error):
        self.error = error

    def __getattr__(self, name):
        raise self.error


module = types.ModuleType("module")
asked = types.ModuleType("asked")
asked.__getattr__ = Asked().__getattr__
unnamed = types.ModuleType("unnamed")
del unnamed.__name__
numbered = types.ModuleType("numbered")
numbered.__name__ = 3
nameless = types.ModuleType.__new__(types.ModuleType)
derived = type("Module", (types.ModuleType,), {})("derived")


def beginning(initializing, submodules):
    """A module that is being imported, or whose submodules are."""
    begun = types.ModuleType("begun")
    begun.__spec__ = importlib.machinery.ModuleSpec("begun", None)
    begun.__spec__._initializing = initializing
    begun.__spec__._uninitialized_submodules = submodules
    return begun


begun, submodule = beginning(True, []), beginning(False, ["missing"])
plain, slotted, child, kept = Plain(), Slotted(), Child(), Plain()
kept.__dict__["other"] = 1


def deletes(value):
    del value.missing


def sets(value):
    value.missing = 1


def twice(error):
    raises = Raises(error)
    try:
        raises.first
    except AttributeError:
        pass
    raises.second


def suppressed(error):
    raises = Raises(error)
    hasattr(raises, "first"), getattr(raises, "second", None)
    raise error


READS = {
    "instance": lambda: Plain().missing,
    "instance from outside": lambda: plain.missing,
    "method": lambda: plain.missing(),
    "class": lambda: Plain.missing,
    "method of a class": lambda: Plain.missing(),
    "class of a metaclass": lambda: OfMeta.missing,
    "module": lambda: module.missing,
    "function of a module": lambda: module.missing(),
    "module with a hook": lambda: asked.missing,
    "module made without a name": lambda: nameless.missing,
    "module that lost its name": lambda: unnamed.missing,
    "module whose name is no text": lambda: numbered.missing,
    "module of a derived class": lambda: derived.missing,
    "module from a file": lambda: json.missing,
    "module that is being imported": lambda: begun.missing,
    "submodule that is being imported": lambda: submodule.missing,
    "sys": lambda: sys.missing,
    "unset slot": lambda: Slotted().a,
    "unset slot from outside": lambda: slotted.a,
    "no dict": lambda: slotted.b,
    "super": lambda: child.reads(),
    "super, called": lambda: child.calls(),
    "super of a class": lambda: Child.reads_class(),
    "property": lambda: child.raising,
    "hook": lambda: Asked().missing,
    "descriptor": lambda: Described().d,
    "descriptor on a class": lambda: Described.d,
    "getattr": lambda: getattr(Plain, "missing"),
    "object.__getattribute__": lambda: object.__getattribute__(plain, "missing"),
    "type.__getattribute__": lambda: type.__getattribute__(Plain, "missing"),
    "int": lambda: (3).missing,
    "None": lambda: None.missing,
    "function": lambda: deletes.missing,
    "bound method": lambda: child.reads.missing,
    "derived": lambda: Raises(Derived()).missing,
    "with a name": lambda: Raises(AttributeError(name="other")).missing,
    "watched": lambda: Raises(Watched()).missing,
    "raised twice": lambda: twice(AttributeError()),
    "suppressed": lambda: suppressed(AttributeError()),
    "name that is not to be imported": lambda: imports(),
}
CHANGES = {
    "instance": lambda: deletes(Plain()),
    "instance from outside": lambda: deletes(plain),
    "instance with a dict": lambda: deletes(kept),
    "class": lambda: deletes(Plain),
    "module": lambda: deletes(module),
    "slots": lambda: deletes(Slotted()),
    "slots from outside": lambda: deletes(slotted),
    "slots are set": lambda: sets(slotted),
    "int": lambda: sets(3),
    "bound method": lambda: sets(child.reads),
    "object.__delattr__": lambda: object.__delattr__(plain, "missing"),
}


def imports():
    from types import missing

    return missing


def seen(run):
    """Class, message, `name` and `obj` of the exception."""
    try:
        run()
    except Exception as error:
        return type(error), str(error), getattr(error, "name", "none"), getattr(error, "obj", "none")
    return None


class AttributeErrorTest(unittest.TestCase):
    def check(self, run):
        expected, found = seen(run), slotrt.compile(seen)(run)
        self.assertIsNotNone(expected)
        self.assertEqual(found[:3], expected[:3])
        self.assertIs(type(found[3]), type(expected[3]))
        if isinstance(expected[3], (type, types.ModuleType)) or expected[3] in (plain, slotted, child, kept):
            self.assertIs(found[3], expected[3])

    def test_reading(self):
        for name, run in READS.items():
            with self.subTest(name):
                self.check(run)

    def test_changing(self):
        for name, run in CHANGES.items():
            with self.subTest(name):
                self.check(run)

    def test_without_a_break(self):
        for name in ("class", "module", "module that lost its name", "module from a file", "super", "hook", "descriptor", "property"):
            with self.subTest(name):
                slotrt.compile(seen, fullgraph=True)(READS[name])

    def test_a_module_that_gets_a_name_or_a_spec(self):
        late = types.ModuleType("late")
        compiled = slotrt.compile(seen)

        def read():
            return late.missing

        for change in ({}, {"__name__": "later"}, {"__name__": None}, {"__name__": "late", "__spec__": begun.__spec__}):
            with self.subTest(change=change):
                vars(late).update(change)
                self.assertEqual(compiled(read), seen(read))

    def test_a_module_made_in_the_trace(self):
        def read():
            return types.ModuleType.__new__(types.ModuleType).missing

        self.assertEqual(slotrt.compile(seen, fullgraph=True)(read)[:3], seen(read)[:3])

    def test_an_error_from_outside(self):
        error = AttributeError("from outside")
        found = slotrt.compile(seen)(lambda: Raises(error).missing)
        self.assertEqual(found[:3], (AttributeError, "from outside", "missing"))
        self.assertEqual(error.name, "missing")
        self.assertIsInstance(error.obj, Raises)


if __name__ == "__main__":
    unittest.main()
