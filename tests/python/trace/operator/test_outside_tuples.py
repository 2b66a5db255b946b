"""Items of tuples that the program holds: guards ask for the items that were read, not for the whole value."""

import unittest

import slotrt


class Holder:
    def __init__(self, pair):
        self.pair = pair


def first(pair):
    return pair[0]


def last(pair):
    return pair[-1]


def of_attribute(holder):
    return holder.pair[0]


def of_entry(held):
    return held["pair"][0]


def of_rest(*pair):
    return pair[1]


def within(nested):
    return nested[0][1]


def beyond(pair):
    try:
        return pair[5]
    except IndexError as error:
        return str(error)


def changed(pair):
    return pair[0] + 1


def as_key(pair):
    return pair[0], {pair: 1}


def same(pair):
    return pair[0] is pair[1], pair[0]


def traces(function, *calls):
    """How many traces it takes, after each call has given what it gives uncompiled."""
    compiled = slotrt.compile(function)
    before = slotrt.stats()["frames_compiled"]
    for args in calls:
        expected, given = function(*args), compiled(*args)
        assert repr(expected) == repr(given), (function.__name__, args, expected, given)
        kept = expected[1] if isinstance(expected, tuple) and function is same else expected
        assert not isinstance(kept, str) or function is beyond or (given[1] if function is same else given) is kept
    return slotrt.stats()["frames_compiled"] - before


PAIRS = [("a%d" % at, "b%d" % at) for at in range(12)]


class OutsideTuples(unittest.TestCase):
    def test_what_was_not_read_is_not_asked_for(self):
        for function in (first, last):
            with self.subTest(function.__name__):
                self.assertEqual(traces(function, *[(pair,) for pair in PAIRS]), 1)
        self.assertEqual(traces(of_attribute, *[(Holder(pair),) for pair in PAIRS]), 1)
        self.assertEqual(traces(of_entry, *[({"pair": pair},) for pair in PAIRS]), 1)
        self.assertEqual(traces(of_rest, *PAIRS), 1)
        self.assertEqual(traces(within, *[((pair, at),) for at, pair in enumerate(PAIRS)]), 1)

    def test_lengths_and_types_are(self):
        self.assertEqual(traces(first, (("a", 1),), (("b", 2),), (("c", 2, 3),), ((5, 1),)), 2)
        self.assertEqual(traces(beyond, (("a", 1),), (("b", 2),), ((1, 2, 3, 4, 5, 6),), ((2, 2, 3, 4, 5, 7),)), 3)

    def test_values_that_were_used_are(self):
        self.assertEqual(traces(changed, ((True, "a"),), ((True, "b"),), ((False, "c"),), ((True, "d"),)), 2)
        self.assertEqual(traces(as_key, *[(pair,) for pair in PAIRS[:3]], (PAIRS[0],)), 3)

    def test_identity_of_items(self):
        one = object.__repr__(self)
        other = "".join(list(one))
        self.assertEqual(traces(same, ((one, one),), ((one, other),), ((other, other),), ((other, one),)), 2)


if __name__ == "__main__":
    unittest.main()
