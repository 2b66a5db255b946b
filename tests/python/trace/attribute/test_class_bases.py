"""`__bases__` of a class that the trace made is set: lookups, instances, proxies and classes below follow."""

import unittest

from compared import Compared


class Outside:
    word = "outside"

    def __len__(self):
        return 7


def message(function, *args):
    try:
        return function(*args)
    except (TypeError, RuntimeError) as error:
        return type(error).__name__, str(error)


def inherited():
    class First:
        word = "first"

        def __len__(self):
            return 1

    class Second:
        word = "second"

        def __len__(self):
            return 2

        def __getitem__(self, index):
            return index * 3

    class Derived(First):
        pass

    class Below(Derived):
        pass

    one, below = Derived(), Below()
    before = one.word, len(one), below.word, len(below), sorted([below, one], key=len) == [below, one]
    Derived.__bases__ = (Second,)
    after = one.word, len(one), below.word, len(below), one[4], below[5], list(map(len, [one, below]))
    Derived.__bases__ = (Outside, Second)
    last = one.word, len(below), Derived.__mro__ == (Derived, Outside, Second, object), isinstance(below, Second)
    return before, after, last, issubclass(Below, First), First.__subclasses__(), Second.__subclasses__() == [Derived]


def refused():
    class First:
        pass

    class Derived(First):
        pass

    class Below(Derived):
        pass

    said = [
        message(setattr, Derived, "__bases__", bases)
        for bases in ((), (Derived,), (First, First), (Below,), (First, list), (type(None),))
    ]
    return said, Derived.__bases__ == (First,), Below.__mro__ == (Below, Derived, First, object)


def by_metaclass():
    class Meta(type):
        order = 0

        def mro(cls):
            Meta.order += 1
            if Meta.order == 4:
                raise TypeError("not now")
            return super().mro()

    class First(metaclass=Meta):
        word = "first"

    class Second(metaclass=Meta):
        word = "second"

    class Derived(First):
        pass

    said = message(setattr, Derived, "__bases__", (Second,))
    kept = Derived.word, Derived.__bases__ == (First,)
    Derived.__bases__ = (Second,)
    return said, kept, Derived.word, Meta.order


class ClassBases(Compared):
    def test_what_is_inherited(self):
        self.same(inherited)

    def test_what_is_refused(self):
        self.same(refused)

    def test_metaclasses_order_the_bases(self):
        self.same(by_metaclass)

    def test_bases_from_outside_are_guarded(self):
        def derived():
            class First:
                pass

            class Derived(First):
                pass

            Derived.__bases__ = (Outside,)
            return Derived().word

        compiled = self.same(derived)
        Outside.word, before = "changed", Outside.word
        self.addCleanup(setattr, Outside, "word", before)
        self.assertEqual(compiled(), derived())


if __name__ == "__main__":
    unittest.main()
