"""Objects whose class reads attributes itself, and gives them another `__dict__` first, as `_threading_local.local` does."""

import _threading_local
import unittest

import slotrt


class Switched:
    __slots__ = "_names", "__dict__"

    def __new__(cls):
        made = object.__new__(cls)
        object.__setattr__(made, "_names", {})
        return made

    def __getattribute__(self, name):
        object.__setattr__(self, "__dict__", object.__getattribute__(self, "_names"))
        return object.__getattribute__(self, name)

    def __setattr__(self, name, value):
        object.__setattr__(self, "__dict__", object.__getattribute__(self, "_names"))
        object.__setattr__(self, name, value)


class Read:
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


def uses(object):
    object.b = 4
    return object.a, sorted(object.__dict__.items())


def namespace(object):
    return object.__dict__


def local():
    made = _threading_local.local()
    made.a = 3
    made.b = [1]
    return dict(made.__dict__), made.a


class SwitchedNamespaces(unittest.TestCase):
    def test_from_outside(self):
        for function in (uses, namespace):
            for cls in (Switched, Read):
                with self.subTest(function=function.__name__, of=cls.__name__):
                    compiled = slotrt.compile(function)
                    for number in (1, 1, 2):
                        seen = []
                        for run in (function, compiled):
                            made = cls()
                            made.a = number
                            seen.append(run(made))
                        self.assertEqual(seen[1], seen[0])

    def test_thread_locals_in_python(self):
        compiled = slotrt.compile(local)
        self.assertEqual([compiled(), compiled()], [local()] * 2)


if __name__ == "__main__":
    unittest.main()
