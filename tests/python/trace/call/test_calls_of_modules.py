"""Modules that are called: the error names what was meant."""

import pprint
import time
import types
import unittest

import slotrt

MODULE = types.ModuleType("module")


def called():
    return MODULE(1)


def spread():
    return time(*[1], **{})


def by_c():
    return list(map(pprint, [1]))


def error_of(function):
    try:
        return function()
    except TypeError as error:
        return str(error)


class CallsOfModules(unittest.TestCase):
    def test_the_error(self):
        for function in (spread, by_c):
            compiled = slotrt.compile(function, fullgraph=True)
            self.assertEqual([error_of(compiled), error_of(compiled)], [error_of(function)] * 2)

    def test_what_the_module_has_now(self):
        compiled = slotrt.compile(called)
        changes = [
            lambda: None,
            lambda: setattr(MODULE, "module", len),
            lambda: setattr(MODULE, "module", 3),
            lambda: setattr(MODULE, "__name__", "other"),
            lambda: setattr(MODULE, "other", print),
            lambda: delattr(MODULE, "other"),
            lambda: setattr(MODULE, "__getattr__", lambda name: len),
            lambda: setattr(MODULE, "__name__", 5),
            lambda: delattr(MODULE, "__name__"),
        ]
        for index, change in enumerate(changes):
            change()
            with self.subTest(change=index):
                self.assertEqual(error_of(compiled), error_of(called))


if __name__ == "__main__":
    unittest.main()
