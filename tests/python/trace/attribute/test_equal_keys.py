"""Keys of namespaces that are no names, but have the hash of one: C asks them whether they are
equal, and what comes of that is what plain Python gives. How often it asks depends on what the interpreter has specialised."""

import unittest

import slotrt

ASKED = []


class Key:
    """Has the hash of a name, and tells that it was asked."""

    def __init__(self, name, equal):
        self.name, self.equal = name, equal

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        ASKED.append(other)
        return self.equal and other == self.name


class Text(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        ASKED.append(str(other))
        return False


class Plain:
    pass


class Named:
    name = "of the class"

    def method(self):
        return "of the class"


def reads(instance):
    return instance.name


def calls(instance):
    return instance.method()


def asks(instance):
    return hasattr(instance, "name"), getattr(instance, "name", 3), vars(instance).get("name")


def stores(instance):
    instance.name = 4
    instance.name += 1
    return instance.name, len(instance.__dict__)


def made_here(equal):
    instance = Named()
    instance.__dict__[Key("name", equal)] = 7
    return instance.name


def of_module():
    return len([1])


def outcome(function, *args):
    ASKED.clear()
    try:
        result = function(*args)
    except AttributeError as error:
        result = str(error)
    return result, set(ASKED)


def with_key(kind, key):
    instance = kind()
    instance.__dict__[key] = 7
    return instance


class EqualKeys(unittest.TestCase):
    def same(self, function, make):
        compiled = slotrt.compile(function)
        for _ in range(3):
            self.assertEqual(outcome(compiled, make()), outcome(function, make()))

    def test_instances(self):
        for kind in (Plain, Named):
            for equal in (False, True):
                for function in (reads, asks, stores):
                    with self.subTest(kind=kind, equal=equal, function=function):
                        self.same(function, lambda kind=kind, equal=equal: with_key(kind, Key("name", equal)))

    def test_methods(self):
        self.same(calls, lambda: with_key(Named, Key("method", False)))

    def test_texts_of_a_derived_class(self):
        self.same(asks, lambda: with_key(Plain, Text("name")))

    def test_instances_of_the_trace(self):
        self.same(made_here, lambda: False)
        self.same(made_here, lambda: True)

    def test_a_key_that_comes_after_a_trace(self):
        for function, name in ((reads, "name"), (calls, "method")):
            compiled, instance = slotrt.compile(function), Named()
            self.assertEqual(compiled(instance), function(instance))
            instance.__dict__[Key(name, False)] = 7
            for _ in range(2):
                self.assertEqual(outcome(compiled, instance), outcome(function, instance))

    def test_globals(self):
        compiled = slotrt.compile(of_module)
        self.assertEqual(compiled(), 1)
        globals()[key := Key("len", False)] = 7
        try:
            for _ in range(2):
                self.assertEqual(outcome(compiled), outcome(of_module))
        finally:
            del globals()[key]


if __name__ == "__main__":
    unittest.main()
