"""Objects of C classes whose `__dict__` C makes only when something is stored there: looking for an attribute makes none."""

import pickle
import unittest

import slotrt


class Own(ValueError):
    pass


class Hidden(KeyError):
    def __getattr__(self, name):
        return name.upper()


MAKERS = [lambda: ValueError(1), lambda: OSError(2, "no"), lambda: Own("x"), lambda: Hidden("k"), lambda: StopIteration(3)]


def looks(error):
    return getattr(error, "absent", None), hasattr(error, "other"), str(error)


def fails_to_delete(error):
    try:
        del error.absent
    except AttributeError as raised:
        return str(raised)


def stores(error):
    error.note = error.args
    return hasattr(error, "absent"), error.note


def makes():
    error = ValueError("made")
    return hasattr(error, "absent"), error


class DictsNotMade(unittest.TestCase):
    def test_pickles_are_as_long(self):
        for function in looks, fails_to_delete, stores:
            for make in MAKERS:
                with self.subTest(function.__name__, error=make()):
                    compiled = slotrt.compile(function)
                    plain = make()
                    wanted = function(plain)
                    for _ in range(3):
                        error = make()
                        self.assertEqual(compiled(error), wanted)
                        self.assertEqual(pickle.dumps(error), pickle.dumps(plain))
                        # Again, from the cache, on the same object.
                        function(plain)
                        compiled(error)
                        self.assertEqual(pickle.dumps(error), pickle.dumps(plain))

    def test_of_the_trace(self):
        self.assertEqual(pickle.dumps(slotrt.compile(makes)()), pickle.dumps(makes()))

    def test_a_later_attribute_is_seen(self):
        compiled = slotrt.compile(looks)
        for make in MAKERS:
            error = make()
            self.assertEqual(compiled(error), looks(error))
            error.absent = 5
            self.assertEqual(compiled(error), looks(error))
            del error.absent
            self.assertEqual(compiled(error), looks(error))


if __name__ == "__main__":
    unittest.main()
