"""Calls that run natively one after the other: what raises among them is handled as in plain Python."""

import time
import types
import unittest

import slotrt

HELD = types.SimpleNamespace(x=1)


def bound_in_a_try():
    time.sleep(0)
    try:
        value = HELD.x
    except AttributeError as error:
        print(error)
    time.sleep(0)
    vars(HELD).pop("x", None)
    return value


def bound_in_a_loop(count):
    for _ in range(count):
        try:
            time.sleep(0)
            value = HELD.x
            time.sleep(0)
            print(value)
            vars(HELD).pop("x", None)
        except AttributeError:
            HELD.x = 3
    return value


class Answers:
    """Not an unbound function with its object, as CPython first loads a method of it, but that once it has specialised the load."""

    def __getattr__(self, name):
        raise AttributeError(name)

    def told(self, value, *, twice=False):
        return [value, value] if twice else [value]


def loads_a_method():
    time.sleep(0)
    return ANSWERS.told(time.sleep(0), twice=True)


ANSWERS = Answers()


class NativeStretches(unittest.TestCase):
    def check(self, function, *args):
        def outcome(function):
            HELD.x = 1
            found = []
            for _ in range(5):
                try:
                    found.append(function(*args))
                except Exception as error:
                    found.append((type(error), str(error), vars(HELD).copy()))
            return found

        self.assertEqual(outcome(slotrt.compile(function)), outcome(function))

    def test_a_variable_that_stays_unbound(self):
        self.check(bound_in_a_try)

    def test_a_method_that_is_loaded_before_the_call(self):
        """Its object, or NULL, lies on the stack as CPython leaves it, which is another way once the load is specialised."""

        def often(function):
            return [function() for _ in range(40)]

        self.assertEqual(often(slotrt.compile(loads_a_method)), often(loads_a_method))

    def test_a_handler_that_comes_back(self):
        self.check(bound_in_a_loop, 3)


if __name__ == "__main__":
    unittest.main()
