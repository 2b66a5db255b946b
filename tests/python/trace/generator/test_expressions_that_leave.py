"""Generator expressions over sequences of the trace's own, where both leave it."""

import unittest

import slotrt


def over_a_list(n):
    items = [n, n + 1]
    made = (item * 2 for item in items)
    print(items)
    return items, list(made)


def over_an_empty_list(n):
    items = [n][:0]
    made = (item for item in items)
    print(items)
    items.append(n)
    return list(made), items


def over_a_tuple(n):
    items = (n, n + 1)
    made = (item * 2 for item in items)
    print(items)
    return items, list(made)


def over_a_range(n):
    items = range(n)
    made = (item * 2 for item in items)
    print(items)
    return items, list(made)


def over_a_dict(n):
    items = {n: 1}
    made = (item * 2 for item in items)
    print(items)
    return items, list(made)


def summed(n):
    items = [n, n]
    before = sum(item for item in items)
    print(items, before)
    return before - sum(len(str(item)) for item in items), items


def given_away(n):
    items = [n]
    return items, (item for item in items)


class ExpressionsThatLeave(unittest.TestCase):
    def test_as_plain(self):
        for function in (over_a_list, over_an_empty_list, over_a_tuple, over_a_range, over_a_dict, summed):
            compiled = slotrt.compile(function)
            for argument in (2, 3, 2):
                with self.subTest(function.__name__, argument=argument):
                    self.assertEqual(compiled(argument), function(argument))

    def test_a_list_that_changes_before_the_generator_starts(self):
        compiled = slotrt.compile(given_away)
        for argument in (2, 3, 2):
            items, made = compiled(argument)
            items.append(5)
            self.assertEqual(list(made), [argument, 5])


if __name__ == "__main__":
    unittest.main()
