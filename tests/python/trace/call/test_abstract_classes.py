"""Abstract base classes: `isinstance` and `issubclass` with registered classes and hooks of the program."""

import abc
import collections.abc
import unittest

import slotrt
from compared import Compared


class Empty:
    """Has no method of its own."""


class Abstract(Compared):
    def test_builtin_and_user_classes(self):
        class Sized:
            def __len__(self):
                return 0

        def ask(value):
            return isinstance(value, collections.abc.Sized), issubclass(type(value), collections.abc.Mapping)

        compiled = self.same(ask, Sized())
        for value in ([], {}, Empty(), 1):
            self.assertEqual(compiled(value), ask(value))

    def test_registration_is_noticed(self):
        class Base(abc.ABC):
            pass

        def ask(value):
            return isinstance(value, Base), issubclass(type(value), Base)

        compiled = self.same(ask, Empty())
        self.assertEqual(compiled(Empty()), (False, False))
        Base.register(Empty)
        self.assertEqual(compiled(Empty()), (True, True))

    def test_a_hook_of_the_program(self):
        class Base(abc.ABC):
            @classmethod
            def __subclasshook__(cls, other):
                return "answer" in other.__dict__ or NotImplemented

        class Other:
            pass

        def ask(value):
            return isinstance(value, Base)

        compiled = self.same(ask, Other())

        class Third:
            answer = 1

        self.assertTrue(compiled(Third()))
        self.assertFalse(compiled(Other()))

    def test_a_class_of_the_trace(self):
        def ask():
            class Made:
                def __iter__(self):
                    return iter(())

            return isinstance(Made(), collections.abc.Iterable), isinstance(Made(), collections.abc.Sized)

        self.same(ask)


    def test_an_abstract_class_of_the_trace(self):
        def ask(value):
            class Base(metaclass=abc.ABCMeta):
                @classmethod
                def __subclasshook__(cls, other):
                    if cls is Base:
                        return "answer" in other.__dict__
                    return NotImplemented

            class Derived(Base):
                pass

            class Answers:
                answer = 1

            asked = (value, Answers(), Derived(), 3)
            of_base = [(isinstance(one, Base), issubclass(type(one), Base)) for one in asked]
            return of_base, [isinstance(one, Derived) for one in asked]

        class HasAnswer:
            answer = 2

        compiled = slotrt.compile(ask)
        for value in (Empty(), HasAnswer(), 3, Empty()):
            self.assertEqual(compiled(value), ask(value))

    def test_a_base_of_the_trace_that_came_to_be_abstract(self):
        def ask():
            class Sized(collections.abc.Sized):
                def __len__(self):
                    return 1

            class Other(Sized):
                pass

            return isinstance(Other(), collections.abc.Sized), issubclass(Other, Sized), issubclass(int, Sized), len(Other())

        self.same(ask)


if __name__ == "__main__":
    unittest.main()
