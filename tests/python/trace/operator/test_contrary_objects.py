"""Objects that change, or say something else, while an operation asks them."""

import unittest

import slotrt


class Counting:
    """Has another hash each time."""

    def __init__(self):
        self.asked = 0

    def __hash__(self):
        self.asked += 1
        return self.asked

    def __eq__(self, other):
        return self is other


class Clearing:
    """Empties a list when it is compared with an item."""

    def __init__(self, held):
        self.held = held

    def __eq__(self, other):
        self.held.clear()
        return False

    __hash__ = object.__hash__


class Growing(dict):
    def __iter__(self):
        for key in list(super().__iter__()):
            self[f"{key}x"] = 1
            yield key


class NoText:
    def __format__(self, spec):
        return 3


class Refusing:
    """Names keys that it does not have."""

    def keys(self):
        return ["a", "b"]

    def __getitem__(self, key):
        raise KeyError(key)


class Toggling:
    asked = 0

    @property
    def __class__(self):
        Toggling.asked += 1
        return (int, str, list)[Toggling.asked % 3]


class Forgetful:
    """Has an attribute once."""

    def __init__(self):
        self.x = 1

    def __getattribute__(self, name):
        held = object.__getattribute__(self, "__dict__")
        return held.pop(name, "gone") if name == "x" else object.__getattribute__(self, name)


def hashes_that_change():
    key = Counting()
    return key in {key}, len({key, key}), len({key: 1, key: 2}), key.asked


def comparisons_that_change_the_list():
    found = []
    for operation in (lambda held: held.index(9), lambda held: held.count(9), lambda held: 3 in held, lambda held: held == [1, 2]):
        held = []
        held.extend([Clearing(held), 2, 3])
        try:
            found.append((operation(held), len(held)))
        except ValueError as error:
            found.append((str(error), len(held)))
    return found


def iteration_that_changes_the_dict():
    growing = Growing(a=1, b=2)
    return [key for key in growing], list(growing), dict(growing), len(growing), sorted(growing)


def a_format_that_is_no_text():
    try:
        return f"{NoText()}"
    except TypeError as error:
        return str(error)


def an_iterator_that_loses_next():
    class Losing:
        count = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.count += 1
            if self.count == 2:
                del Losing.__next__
            return self.count

    found = []
    losing = Losing()
    try:
        found.extend(item for item in losing)
    except TypeError as error:
        found.append(str(error))
    for ask in (lambda: next(losing), lambda: next(losing, 0), lambda: iter(losing)):
        try:
            found.append(ask())
        except TypeError as error:
            found.append(str(error))
    return found


def keywords_of_a_mapping_that_refuses():
    def takes(**keywords):
        return keywords

    found = []
    for make in (lambda: dict(Refusing()), lambda: {**Refusing()}, lambda: takes(**Refusing())):
        try:
            found.append(make())
        except (KeyError, TypeError) as error:
            found.append((type(error), str(error)))
    return found


def classes_that_change():
    Toggling.asked = 0
    toggling = Toggling()
    return [isinstance(toggling, kind) for kind in (int, int, (str, list), int)], Toggling.asked


def attributes_that_go():
    forgetful = Forgetful()
    return forgetful.x, forgetful.x, hasattr(forgetful, "y")


def an_order_of_bases_of_its_own():
    class Other:
        def who(self):
            return "other"

    class Meta(type):
        def mro(cls):
            return [cls, Other, object]

    class Made(metaclass=Meta):
        pass

    return Made().who(), [base.__name__ for base in Made.__mro__], isinstance(Made(), Other), issubclass(Made, Other)


class Sized:
    def __len__(self):
        return 2

    def __getitem__(self, index):
        if index > 3:
            raise IndexError
        return index


class Ordering(type):
    def mro(cls):
        own, *rest = super().mro()
        return [own, Sized, *rest]


class Ordered(metaclass=Ordering):
    pass


class Derived(Ordered):
    pass


def special_methods_from_outside_of_the_bases(kind):
    made = kind()
    found = [len(made), [item for item in made], 2 in made, sorted(made), made[1], [*made]]
    try:
        found.append(type(iter(made)).__name__)
    except TypeError as error:
        found.append(str(error))
    return found


def a_reflected_method_of_a_class_that_was_made_just_now():
    class Left:
        def __or__(self, other):
            return "left"

        def __ror__(self, other):
            return "reflected"

    class Right(Left):
        def __ror__(self, other):
            return "right " + super().__ror__(other)

    return Left() | Right(), Right() | Left(), Left() | Left()


CASES = [
    hashes_that_change,
    comparisons_that_change_the_list,
    iteration_that_changes_the_dict,
    a_format_that_is_no_text,
    an_iterator_that_loses_next,
    keywords_of_a_mapping_that_refuses,
    classes_that_change,
    attributes_that_go,
    an_order_of_bases_of_its_own,
    a_reflected_method_of_a_class_that_was_made_just_now,
]


class ContraryObjects(unittest.TestCase):
    def test_same_as_plain(self):
        for case in CASES:
            with self.subTest(case.__name__):
                wanted = repr(case()).replace("'Losing'", "")
                compiled = slotrt.compile(case)
                for _ in range(3):
                    self.assertEqual(repr(compiled()).replace("'Losing'", ""), wanted)

    def test_classes_whose_metaclass_orders_their_bases(self):
        compiled = slotrt.compile(special_methods_from_outside_of_the_bases)
        for kind in (Ordered, Derived, Sized, Ordered, Derived):
            wanted = special_methods_from_outside_of_the_bases(kind)
            self.assertEqual(compiled(kind), wanted)

    def test_documentation_that_runs_code_is_not_asked_for(self):
        asked = []

        class Documentation:
            def __get__(self, instance, owner):
                asked.append(owner.__name__)
                return "documentation"

        class Documented(Sized):
            __doc__ = Documentation()

        class Meta(type):
            @property
            def __doc__(cls):
                asked.append("of the metaclass")

        class OfMeta(Sized, metaclass=Meta):
            pass

        def function(kind):
            made = kind()
            return len(made), sorted(made), max(made), dict.fromkeys(made), kind.__doc__ if kind is Documented else None

        compiled = slotrt.compile(function)
        for kind in (Documented, OfMeta, Documented, OfMeta):
            wanted, of_plain = function(kind), asked[:]
            asked.clear()
            self.assertEqual(compiled(kind), wanted)
            self.assertEqual(asked, of_plain)
            asked.clear()

    def test_what_a_class_says_of_itself_through_descriptors(self):
        asked = []

        class Said:
            def __init__(self, name):
                self.name = name

            def __get__(self, instance, owner):
                asked.append((self.name, instance is None, owner.__name__))
                return self.name

        class Saying:
            __doc__ = Said("documentation")
            __annotations__ = Said("annotations")

        for name in ("__doc__", "__annotations__"):
            with self.subTest(name):
                compiled = slotrt.compile(lambda kind: getattr(kind, name))
                for _ in range(3):
                    self.assertEqual(compiled(Saying), getattr(Saying, name))
                    self.assertEqual(asked[0], asked[1])
                    asked.clear()

    def test_texts_interned_by_a_trace(self):
        import sys

        def function(tail):
            texts = ["".join(["text of ", tail, str(index % 3)]) for index in range(9)]
            return [sys.intern(text) for text in texts] + [sys.intern("".join(["\ud800", tail]))]

        compiled = slotrt.compile(function)
        for tail in "a", "b", "b":
            found = compiled(tail)
            self.assertEqual(len({id(text) for text in found}), 4)
            for text in found:
                self.assertIs(sys.intern("".join(list(text))), text)


if __name__ == "__main__":
    unittest.main()
