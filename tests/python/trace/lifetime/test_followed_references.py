"""Weak references that the program made before: what they refer to, as long as plain Python would still have it."""

import unittest
import weakref

import slotrt


class Thing:
    def __init__(self, number):
        self.number = number


class Holder:
    def __init__(self, number):
        self.thing = Thing(number)
        self.ref = weakref.ref(self.thing)

    def drop(self):
        self.thing = None


class Named(weakref.ref):
    pass


class Calling(weakref.ref):
    def __call__(self):
        return super().__call__(), "called"


def number(thing):
    return None if thing is None else thing.number


class FollowedReferences(unittest.TestCase):
    def test_what_they_refer_to(self):
        def follow(reference):
            return number(reference())

        slotrt.reset()
        compiled, kept = slotrt.compile(follow, fullgraph=True), [Thing(index) for index in range(5)]
        for thing in kept:
            self.assertEqual(compiled(weakref.ref(thing)), thing.number)
        self.assertLessEqual(slotrt.stats()["frames_compiled"], 5)
        self.assertIsNone(compiled(weakref.ref(Thing(1))))
        self.assertEqual(compiled(Named(kept[1])), 1)

    def test_one_trace_for_other_objects(self):
        slotrt.reset()
        compiled, kept = slotrt.compile(lambda reference: reference()), [Thing(index) for index in range(5)]
        for thing in kept:
            self.assertIs(compiled(weakref.ref(thing)), thing)
        self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_a_call_of_its_own(self):
        thing = Thing(1)
        compiled = slotrt.compile(lambda reference: reference())
        self.assertEqual(compiled(Calling(thing)), (thing, "called"))

    def test_the_same_object_over_another_path(self):
        def same(reference, thing):
            return reference() is thing, reference() == thing

        compiled, one, other = slotrt.compile(same, fullgraph=True), Thing(1), Thing(2)
        for reference, thing in ((one, one), (one, other), (other, other)):
            self.assertEqual(compiled(weakref.ref(reference), thing), same(weakref.ref(reference), thing))

    def test_what_was_let_go(self):
        def attribute(holder):
            before = number(holder.ref())
            holder.thing = None
            return before, number(holder.ref())

        def method(holder):
            holder.drop()
            return number(holder.ref())

        def other_attribute(holder):
            holder.count = 1
            holder.count = 2
            return number(holder.ref())

        def item(things):
            reference = weakref.ref(things[0])
            things.clear()
            return number(reference())

        def popped(things, reference):
            thing = things.pop()
            before = number(reference())
            del thing
            return before, number(reference())

        def kept(things, reference):
            return number(reference()), len(things)

        for program in (attribute, method, other_attribute):
            compiled = slotrt.compile(program)
            for index in range(3):
                with self.subTest(program=program.__name__):
                    self.assertEqual(compiled(Holder(index)), program(Holder(index)))
        compiled = slotrt.compile(item)
        for _ in range(2):
            self.assertEqual(compiled([Thing(1)]), None)

        def given(function):
            things = [Thing(4)]
            return function(things, weakref.ref(things[0]))

        for program in (popped, kept):
            compiled = slotrt.compile(program)
            for _ in range(2):
                self.assertEqual(given(compiled), given(program))

    def test_an_unchanged_holder_breaks_nothing(self):
        def of_holder(holder):
            holder.count = 3
            return holder.ref().number

        compiled = slotrt.compile(of_holder, fullgraph=True)
        for index in range(3):
            self.assertEqual(compiled(Holder(index)), index)

    def test_the_one_reference_that_an_object_has(self):
        def again(thing, reference):
            made = weakref.ref(thing)
            return made is reference, made() is thing

        compiled, thing = slotrt.compile(again), Thing(1)
        reference = weakref.ref(thing)
        for _ in range(2):
            self.assertEqual(compiled(thing, reference), (True, True))
        self.assertIs(slotrt.compile(lambda thing: weakref.ref(thing))(thing), reference)


if __name__ == "__main__":
    unittest.main()
