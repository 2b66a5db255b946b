"""Namespaces as dicts: `globals()`, `vars()` of a module and the `__dict__` of an instance. Each call sees them as they are then."""

import types
import unittest

import slotrt
from compared import Compared

NUMBER = 1


class Plain:
    """An instance with a `__dict__`."""

    kept = "of the class"

    @property
    def hidden(self):
        return "property"


class Namespaces(Compared):
    def setUp(self):
        globals()["NUMBER"] = 1
        globals().pop("LATER", None)

    def test_globals_are_read_and_written_by_name(self):
        def read():
            names = globals()
            return names["NUMBER"], names.get("LATER"), "LATER" in names, names.get("LATER", 3), bool(names)

        def write(value):
            names = globals()
            names["LATER"] = value
            seen = LATER  # noqa: F821
            del names["LATER"]
            try:
                names["LATER"]
            except KeyError as error:
                return seen, error.args, names.setdefault("NUMBER", 5), names.pop("NUMBER"), "NUMBER" in names

        compiled = self.same(read)
        globals()["NUMBER"] = 2
        globals()["LATER"] = 4
        self.assertEqual(compiled(), (2, 4, True, 4, True))
        del globals()["LATER"]
        compiled = slotrt.compile(write, fullgraph=True)
        for value in (1, "text"):
            globals()["NUMBER"] = 9
            self.assertEqual(compiled(value), (value, ("LATER",), 9, 9, False))
            self.assertNotIn("NUMBER", globals())

    def test_vars_and_dict_of_a_module(self):
        module = types.ModuleType("made")
        module.x = 1

        def through(module):
            vars(module)["y"] = module.__dict__["x"] + 1
            module.x += 1
            return module.y, vars(module)["x"], module.__dict__.get("z")

        compiled = slotrt.compile(through, fullgraph=True)
        self.assertEqual(compiled(module), (2, 2, None))
        self.assertEqual(compiled(module), (3, 3, None))
        self.assertEqual((module.x, module.y), (3, 3))

    def test_names_of_a_module(self):
        module = types.ModuleType("made")

        def names(module):
            return list(vars(module)), sorted(module.__dict__)[-1]

        compiled = self.same(names, module)
        module.zeta = 1
        self.assertEqual(compiled(module), names(module))

    def test_globals_of_a_function_made_in_the_trace(self):
        def through():
            def inner():
                return 1

            inner.__globals__["NUMBER"] = 8
            return inner.__globals__["NUMBER"], NUMBER

        compiled = slotrt.compile(through, fullgraph=True)
        for _ in range(2):
            globals()["NUMBER"] = 0
            self.assertEqual(compiled(), (8, 8))
            self.assertEqual(NUMBER, 8)

    def test_exec_in_globals(self):
        def run():
            exec("NUMBER = NUMBER + 1", globals())
            return NUMBER, eval("NUMBER * 2", globals())

        compiled = slotrt.compile(run, fullgraph=True)
        globals()["NUMBER"] = 4
        self.assertEqual(compiled(), (5, 10))
        self.assertEqual(compiled(), (6, 12))
        self.assertEqual(NUMBER, 6)


class Dicts(Compared):
    def test_the_dict_of_an_instance(self):
        def through(thing):
            held = thing.__dict__
            held["y"] = held["x"] + 1
            thing.x = 10
            return held["x"], thing.y, "kept" in held, vars(thing).get("z"), held.pop("x"), hasattr(thing, "x")

        compiled = slotrt.compile(through, fullgraph=True)
        for value in (1, 5):
            thing = Plain()
            thing.x = value
            self.assertEqual(compiled(thing), (10, value + 1, False, None, 10, False))
            self.assertEqual(thing.__dict__, {"y": value + 1})

    def test_the_dict_of_an_instance_as_a_whole(self):
        def whole(thing):
            held = dict(thing.__dict__)
            names = [name for name in thing.__dict__]
            thing.__dict__.update(z=3)
            thing.w = 4
            return held, names, thing.z, len(thing.__dict__), thing.__dict__["w"]

        compiled = slotrt.compile(whole, fullgraph=True)
        for value in (1, "a"):
            thing = Plain()
            thing.x = value
            self.assertEqual(compiled(thing), ({"x": value}, ["x"], 3, 3, 4))
            self.assertEqual(list(thing.__dict__.items()), [("x", value), ("z", 3), ("w", 4)])
        thing = Plain()
        thing.other = 2
        self.assertEqual(compiled(thing), ({"other": 2}, ["other"], 3, 3, 4))

    def test_an_entry_that_a_property_hides(self):
        def hidden(thing):
            return thing.__dict__["hidden"], thing.hidden

        thing = Plain()
        thing.__dict__["hidden"] = "entry"
        self.assertEqual(slotrt.compile(hidden)(thing), ("entry", "property"))


if __name__ == "__main__":
    unittest.main()
