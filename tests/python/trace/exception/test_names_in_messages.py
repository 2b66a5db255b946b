"""Names of classes and functions in messages and in `repr`: they can change between calls, and the text follows."""
import unittest

import slotrt


class Thing:
    def method(self):
        pass


class Meta(type):
    pass


class Other(metaclass=Meta):
    __slots__ = ("only",)


def helper(a):
    return a


OPERATIONS = {
    "operator": lambda x: x + 1,
    "comparison": lambda x: x < 3,
    "comparison of two": lambda x: sorted([x, x]),
    "missing attribute": lambda x: x.missing,
    "attribute of the class": lambda x: type(x).missing,
    "stored attribute": lambda x: setattr(type(x)(), "only_one", 1) or x.only_one,
    "call": lambda x: x(),
    "unpacked": lambda x: [*x],
    "two names": lambda x: (lambda a, b: a)(*x),
    "length": lambda x: len(x),
    "index": lambda x: [1][x],
    "item": lambda x: x[0],
    "iteration": lambda x: list(map(str, x)),
    "constructor": lambda x: type(x)(3),
    "with": lambda x: exec("with x: pass", {"x": x}),
    "key": lambda x: {}[[x].index(1)],
    "text": lambda x: object.__repr__(x),
    "its own text": lambda x: repr(x),
    "formatted": lambda x: f"{x}!",
    "format": lambda x: format(x, ">9"),
    "class": lambda x: repr(type(x)),
    "join": lambda x: "".join([x]),
    "int": lambda x: int(x),
    "name": lambda x: type(x).__name__ + type(x).__qualname__,
    "isinstance": lambda x: isinstance(1, x),
    "raised": lambda x: raising(x),
    "function": lambda x: helper(),
    "function, too many": lambda x: helper(x, x, x),
    "function, by name": lambda x: helper(b=x),
    "method": lambda x: x.method(1, 2, 3),
}


def raising(x):
    raise x


def outcome(function, x):
    try:
        return function(x)
    except Exception as error:
        return type(error), str(error)


def message(operation):
    """A function that catches what the operation raises, as a program does."""

    def run(x):
        try:
            return operation(x)
        except Exception as error:
            return type(error), str(error)

    return run


class Names(unittest.TestCase):
    def changed(self, operation, cls, *targets):
        compiled = slotrt.compile(message(operation))
        thing, before = cls(), [(target, target.__name__, target.__qualname__) for target in targets]
        try:
            for attribute in (None, "__name__", "__qualname__"):
                for target in targets:
                    if attribute:
                        setattr(target, attribute, "New" + target.__name__)
                    expected = outcome(operation, thing)
                    self.assertEqual([compiled(thing), compiled(thing)], [expected, expected])
        finally:
            for target, name, qualname in before:
                target.__name__, target.__qualname__ = name, qualname

    def test_every_operation(self):
        for name, operation in OPERATIONS.items():
            with self.subTest(name):
                self.changed(operation, Thing, Thing, Thing.method, helper)

    def test_slots_and_metaclasses(self):
        for name, operation in OPERATIONS.items():
            with self.subTest(name):
                self.changed(operation, Other, Other, Meta)


if __name__ == "__main__":
    unittest.main()
