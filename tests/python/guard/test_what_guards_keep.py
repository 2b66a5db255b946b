"""Compiled code does not keep alive what the program drops: objects and functions that guards compare with by identity, wherever they were."""

import gc
import unittest
import weakref

import slotrt

HELD = KEPT = None


class Plain:
    def __init__(self, value=0):
        self.value = value


class Holder:
    pass


def asked_who_it_is():
    return HELD is None, hash(HELD), id(HELD) > 0


def found_in_a_set():
    return HELD in KEPT, len(KEPT)


def found_in_a_weak_mapping():
    return KEPT.get(HELD)


def called():
    return HELD(2)


def with_its_default():
    return KEPT() is None, KEPT.__defaults__ is None


def of_an_attribute():
    return KEPT.held is HELD, {KEPT.held: 1}[HELD]


class WhatGuardsKeep(unittest.TestCase):
    def lives_on(self, function, made, kept=lambda made: None):
        """Whether what `made` gives lives on when the globals have let go of it."""
        global HELD, KEPT
        HELD = made()
        KEPT = kept(HELD)
        reference = weakref.ref(HELD)
        for _ in range(3):
            function()
        HELD = KEPT = None
        gc.collect()
        return reference() is not None

    def check(self, function, *made):
        self.assertFalse(self.lives_on(function, *made))
        compiled = slotrt.compile(function)
        self.assertFalse(self.lives_on(compiled, *made), slotrt.explain(function))

    def test_instances_in_globals(self):
        self.check(asked_who_it_is, Plain)
        self.check(asked_who_it_is, lambda: frozenset((1,)))

    def test_members_of_sets(self):
        self.check(found_in_a_set, Plain, lambda made: {made, 2})

    def test_keys_of_weak_mappings(self):
        self.check(found_in_a_weak_mapping, Plain, lambda made: weakref.WeakKeyDictionary({made: 3}))

    def test_functions(self):
        self.check(called, lambda: lambda x: [x])

    def test_defaults_of_functions(self):
        def kept(made):
            def function(x=made, *, y=made):
                return x

            return function

        self.check(with_its_default, Plain, kept)

    def test_attributes(self):
        def kept(made):
            holder = Holder()
            holder.held = made
            return holder

        self.check(of_an_attribute, Plain, kept)

    def test_another_object_is_not_taken_for_one_that_has_ended(self):
        global HELD
        compiled = slotrt.compile(asked_who_it_is)
        for _ in range(20):
            HELD = Plain()
            self.assertEqual(compiled(), asked_who_it_is())
            HELD = None

    def test_a_function_with_other_defaults(self):
        global KEPT

        def function(x=1, *, y=2):
            return x, y

        KEPT = function
        compiled = slotrt.compile(lambda: KEPT())
        self.assertEqual(compiled(), (1, 2))
        function.__defaults__ = ([3],)
        self.assertEqual(compiled(), ([3], 2))
        function.__kwdefaults__["y"] = Plain
        self.assertEqual(compiled(), ([3], Plain))
        function.__defaults__ = None
        self.assertRaises(TypeError, compiled)
        function.__kwdefaults__ = {"y": 5}
        function.__defaults__ = (7,)
        self.assertEqual(compiled(), (7, 5))


if __name__ == "__main__":
    unittest.main()
