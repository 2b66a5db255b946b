"""Methods of regular expressions, under each name that a release has for them."""

import re
import unittest

import slotrt

NUMBERED = re.compile(r"(\w+)-(\d+)")


def by_functions(text):
    found = re.match(r"(\w+)-(\d+)", text)
    return found and (found.group(1), found.span(2)), re.fullmatch("a+", text) is None, re.search("b", text) is None


def by_methods(text):
    pattern = re.compile("a*")
    scanner = pattern.scanner(text)
    return pattern.match(text).end(), scanner.match().group(), scanner.search().span()


def of_a_global(text):
    found = NUMBERED.match(text, 1)
    return found and found.groups()


def under_the_other_name(text):
    match = getattr(NUMBERED, "prefixmatch", NUMBERED.match)
    return match(text) is None, getattr(re, "prefixmatch", re.match)("a", text) is None


class Patterns(unittest.TestCase):
    def test_without_a_break(self):
        for function in (by_functions, by_methods, of_a_global, under_the_other_name):
            compiled = slotrt.compile(function)
            for text in ("ab-12", "zz", "ab-12", "aaa"):
                with self.subTest(function.__name__, text=text):
                    self.assertEqual(slotrt.explain(function)(text).breaks, 0)
                    self.assertEqual(compiled(text), function(text))


if __name__ == "__main__":
    unittest.main()
