"""Special methods of classes that the trace makes: C finds them and calls them."""

import abc
import sys
import unittest

from compared import Compared


class Empty:
    """Has no method of its own."""


class SpecialMethods(Compared):
    """C finds the methods of classes that the trace makes, and calls them unbound or bound."""

    def test_missing(self):
        def ask(value):
            class Made(dict):
                def __missing__(self, key):
                    return [key]

            return Made({1: 2})[1], Made()[value]

        compiled = self.same(ask, 3)
        self.assertEqual(compiled("x"), ask("x"))

    def test_hashes_of_text(self):
        def ask(value):
            class Folded(str):
                def __hash__(self):
                    return hash(self.lower())

                def __eq__(self, other):
                    return self.lower() == other.lower()

            return {Folded("A"): value}[Folded("a")], Folded("x") in {Folded("X")}, len({Folded("q"), Folded("Q")})

        compiled = self.same(ask, 3)
        self.assertEqual(compiled("x"), ask("x"))

    def test_an_order_of_bases_of_its_own(self):
        def ask():
            class Meta(type):
                def mro(cls):
                    return type.mro(cls)[:1] + [Empty, object]

            class Made(metaclass=Meta):
                pass

            return [base.__name__ for base in Made.__mro__]

        self.same(ask)

    def test_setters_that_are_functions_of_c(self):
        def ask(value):
            class Made(dict):
                __getattr__ = dict.__getitem__
                __setattr__ = dict.__setitem__
                __delattr__ = dict.__delitem__

            made = Made()
            made.x = value
            made.y = 1
            del made.y
            return made.x, dict(made)

        compiled = self.same(ask, 3)
        self.assertEqual(compiled("x"), ask("x"))

    @unittest.skipIf(sys.version_info >= (3, 15), "its errors have other words")
    def test_no_iterator(self):
        def ask():
            class Made:
                def __iter__(self):
                    return self

            said = []
            for call in (iter, next, list)[: 2 if sys.version_info >= (3, 14) else 3]:
                try:
                    call(Made())
                except TypeError as error:
                    said.append(str(error))
            return said

        self.same(ask)

    def test_documents_that_are_descriptors(self):
        def ask():
            class Words:
                def __get__(self, instance, owner):
                    return owner.__name__ + ("" if instance is None else "!")

            class Made:
                __doc__ = Words()

            return Made.__doc__, Made().__doc__

        self.same(ask)

    def test_abstract_classes_of_the_trace(self):
        def ask():
            class Base(abc.ABC):
                @abc.abstractmethod
                def f(self):
                    """Is to be defined."""

            class Under(Base):
                def f(self):
                    return 1

            try:
                Base()
            except TypeError as error:
                return Under().f(), sorted(Base.__abstractmethods__), "Base" in str(error), isinstance(Under(), Base)

        self.same(ask)

    def test_patterns_that_are_refused(self):
        class Thing:
            __match_args__ = ("x", "x")
            x = 1

        def ask(value):
            said = []
            for pattern in (
                "match value:\n case Thing(1, 1): pass",
                "match value:\n case Thing(1, 1, 1): pass",
                "match value:\n case Thing(1, x=1): pass",
            ):
                try:
                    exec(pattern, {"value": value, "Thing": Thing})
                except TypeError as error:
                    said.append(str(error))
            return said

        self.same(ask, Thing())

    def test_refused_calls_have_c_s_message(self):
        def ask():
            class Made(dict):
                __missing__ = 3

            try:
                Made()[1]
            except TypeError as error:
                return str(error)

        self.same(ask)


if __name__ == "__main__":
    unittest.main()
