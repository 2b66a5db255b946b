"""Tuples from outside that change from call to call: the second trace takes them apart, and the numbers in them are symbolic."""

import unittest

import slotrt


def unpacked(pair):
    first, second = pair
    return first + second


def added_up(pair):
    total = 0
    for each in pair:
        total += each
    return total


def longer(pair):
    return pair[1:] + (1,), pair * 2, [*pair, *pair]


def listed(pair):
    return list(pair), [each + 1 for each in pair], list(enumerate(pair)), list(zip(pair, pair))


def compared(pair):
    return pair == (1, 2), pair < (100, 2), max(pair), sorted(pair)


def the_same(pair):
    return tuple(pair) is pair, pair[:] is pair, pair * 1 is pair, pair + () is pair, pair[0] is pair[0]


def called_with(pair):
    return (lambda first, *rest: (first, rest))(*pair)


def nested(pairs):
    (a, b), c = pairs
    return a * c, b + c


def beyond(pair):
    try:
        return pair[5]
    except IndexError as error:
        return str(error)


class Holder:
    def __init__(self, size):
        self.size = size

    def area(self):
        width, height = self.size
        return width * height


PAIRS = [(5, 2), (8, 9), (11, 16), (14, 23), (-4, 2**70)]
FLOATS = [(0.5, 2.25), (3.5, -1.0), (6.5, 0.0), (1e300, float("inf"))]


class Tuples(unittest.TestCase):
    def traces(self, function, values):
        slotrt.reset()
        compiled = slotrt.compile(function)
        for value in values:
            self.assertEqual(repr(compiled(value)), repr(function(value)))
        return slotrt.stats()["frames_compiled"]

    def test_numbers(self):
        for function in unpacked, added_up, longer, listed, called_with:
            for values in PAIRS, FLOATS:
                self.assertLessEqual(self.traces(function, values), 2, function)

    def test_relations(self):
        self.assertLessEqual(self.traces(compared, PAIRS[:4]), 3)

    def test_identity(self):
        self.assertLessEqual(self.traces(the_same, PAIRS), 2)

    def test_identity_of_inner_tuples(self):
        """What holds an inner tuple after a break holds that very object."""

        def first_of_rest(pair):
            rest = pair[:1] + ()
            slotrt.graph_break()
            return rest[0]

        for function in first_of_rest, lambda pair: [*pair][0], lambda pair: (pair + ())[0]:
            compiled = slotrt.compile(function)
            for number in None, None, 3, 3, 5, 7, 7:
                inner = tuple([number])
                self.assertIs(compiled((inner, (100, 5))), inner)

    def test_tuples_in_tuples(self):
        self.assertLessEqual(self.traces(nested, [((3, 4), 5), ((6, 7), 5), ((8, 7), 9), ((2, 10), 4)]), 3)

    def test_attributes(self):
        self.assertLessEqual(self.traces(Holder.area, [Holder(pair) for pair in PAIRS]), 2)

    def test_one_that_stays(self):
        """What does not differ stays known."""
        self.assertEqual(self.traces(lambda pair: [[0] * each for each in pair[1:]], [(1, 3), (7, 3), (9, 3), (12, 3)]), 2)

    def test_other_lengths_and_kinds(self):
        values = [(1, 2), (3, 4), (3, 4, 5), (), ("a", "b"), (1.5, "b"), (True, 2), (None,), ((1, 2), (3, 4)), [1, 2], (2, 2)]

        def what(value):
            try:
                return [each + each for each in value], sum(value)
            except TypeError as error:
                return str(error)

        self.assertLess(self.traces(what, values), len(values) + 1)

    def test_beyond_the_end(self):
        for kind in tuple, list:
            self.assertLessEqual(self.traces(beyond, [kind(pair) for pair in PAIRS]), 2)
            self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_from_the_first_trace_on(self):
        compiled = slotrt.compile(added_up, dynamic=True)
        slotrt.reset()
        for pair in PAIRS[:4]:
            self.assertEqual(compiled(pair), sum(pair))
        self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_never(self):
        slotrt.reset()
        compiled = slotrt.compile(added_up, dynamic=False)
        for pair in PAIRS[:3]:
            self.assertEqual(compiled(pair), sum(pair))
        self.assertEqual(slotrt.stats()["frames_compiled"], 3)


class Mirrored(unittest.TestCase):
    """C asks a symbolic number for the mirrored comparison where the other operand, which no number is, came first."""

    def test_messages(self):
        others = "a", b"a", (), None, [1], 1j
        for other in others:
            for what in max, min, sorted, sum, lambda values: other in values, lambda values: values.count(other):

                def text(numbers):
                    try:
                        return repr(what([*numbers, other]))
                    except TypeError as error:
                        return str(error)

                compiled = slotrt.compile(text)
                for numbers in PAIRS[:3]:
                    self.assertEqual(compiled(numbers), text(numbers))


if __name__ == "__main__":
    unittest.main()
