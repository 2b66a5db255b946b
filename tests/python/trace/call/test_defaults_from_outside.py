"""Defaults of functions that the trace makes: containers that the caller gave stay the caller's own."""

import unittest

import slotrt


def positional(a, b):
    return (lambda x, y=a: (x, y))(b)


def keyword_only(a, b):
    return (lambda x, *, y=a: [x, y])(b)


def kept(a, b):
    def function(x, y=a):
        return x, y

    return function(b)


def changed(a, b):
    def function(x, y=a):
        y.clear()
        return x, y

    return function(b)


class DefaultsFromOutside(unittest.TestCase):
    def test_identity_and_changes(self):
        for function in (positional, keyword_only, kept, changed):
            compiled = slotrt.compile(function, fullgraph=True)
            for make in (lambda: [1, 2], lambda: {"k": 3}, lambda: {1, 2}, lambda: {1: [2]}, lambda: [3]):
                given, plain = make(), make()
                result, expected = compiled(given, "b"), function(plain, "b")
                self.assertIs(result[-1], given, (function, given))
                self.assertEqual((given, result), (plain, expected))


if __name__ == "__main__":
    unittest.main()
