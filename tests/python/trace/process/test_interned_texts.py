"""`sys.intern` in a trace: which object it gives, and what the table of interned texts has afterwards."""

import collections
import sys
import unittest

import slotrt


def joined(*parts):
    return "".join(parts)


def is_itself(part):
    text = joined("never seen ", part)
    interned = sys.intern(text)
    return interned is text, interned == text


def twice(part):
    one, other = joined("never seen twice ", part), joined("never seen twice ", part)
    first, second = sys.intern(one), sys.intern(other)
    return first is one, second is first, second is other


def across_a_break(results, part):
    text = joined("never seen before a break ", part)
    interned = sys.intern(text)
    results.append(interned is text)
    slotrt.graph_break()
    results.append(interned is text)
    return sys.intern(joined("never seen before a break ", part)) is interned


def fields(part):
    made = collections.namedtuple("Made", "never_seen_x never_seen_" + part)
    return made(1, 2)._fields, repr(made(1, 2))


class Interned(unittest.TestCase):
    def test_like_plain(self):
        for function in (is_itself, twice, fields):
            with self.subTest(function.__name__):
                expected = function("plain")
                compiled = slotrt.compile(function)
                for _ in range(3):
                    self.assertEqual(repr(compiled("traced")), repr(expected).replace("plain", "traced"))

    @unittest.skipIf(sys.version_info[:2] == (3, 12), "3.12 keeps interned texts for ever, the one of the first trace too")
    def test_across_a_break(self):
        for function in (across_a_break, slotrt.compile(across_a_break)):
            results = []
            self.assertTrue(function(results, function.__class__.__name__))
            self.assertEqual(results, [True, True])

    def test_texts_from_outside(self):
        compiled = slotrt.compile(lambda text: sys.intern(text))
        given = joined("from ", "outside, ", "never seen")
        self.assertIs(compiled(given), given)
        self.assertIs(sys.intern(joined("from outside, ", "never seen")), given)
        kept = sys.intern(joined("interned ", "before"))
        self.assertIs(compiled(joined("interned", " before")), kept)

    def test_what_is_no_text(self):
        class Derived(str):
            pass

        for wrong in (1, b"x", Derived("x")):
            with self.assertRaises(TypeError) as plain:
                sys.intern(wrong)
            with self.assertRaises(TypeError) as traced:
                slotrt.compile(lambda wrong=wrong: sys.intern(wrong))()
            self.assertEqual(str(traced.exception), str(plain.exception))


if __name__ == "__main__":
    unittest.main()
