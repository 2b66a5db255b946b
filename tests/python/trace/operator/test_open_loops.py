"""Loops over ranges of numbers, and over lists, whose length differs from call to call: a loop that breaks the graph is traced once for all of them."""

import unittest

import slotrt


def over_range(n, seen):
    for step in range(n):
        slotrt.graph_break()
        seen.append(step)
    return len(seen)


def over_parts(start, stop):
    seen = []
    for step in range(start, stop, 3):
        slotrt.graph_break()
        seen.append(step * 2)
    return seen


def backwards(start, stop):
    seen = []
    for step in range(start, stop, -2):
        seen.append(step)
        slotrt.graph_break()
    return seen


def nested(n, m):
    seen = []
    for row in range(n):
        for column in range(row, m):
            slotrt.graph_break()
            seen.append((row, column))
    return seen


def in_second_step(n):
    total = 0
    for step in range(n):
        if step == 1:
            slotrt.graph_break()
        total += step
    return total


def computed(text):
    seen = []
    for step in range(len(text) // 2, len(text) * 2):
        slotrt.graph_break()
        seen.append(step)
    return seen


def over_list(items):
    seen = []
    for item in items:
        slotrt.graph_break()
        seen.append(item)
    return seen


def counted(items):
    seen = []
    for number, item in enumerate(items, 3):
        slotrt.graph_break()
        seen.append(number)
        seen.append(item)
    return seen


def zipped(items, others):
    seen = []
    for item, other in zip(items, others):
        slotrt.graph_break()
        seen.append((item, other))
    return seen


def grown(items):
    """The list gets longer while the loop goes over it, and the break comes later."""
    seen = []
    for item in items:
        if item < 4:
            items.append(item + 3)
        seen.append(item)
        if item > 3:
            slotrt.graph_break()
    return seen


def shortened(items):
    seen = []
    for item in items:
        seen.append(item)
        if len(items) > 2:
            items.pop()
        if len(seen) == 2:
            slotrt.graph_break()
    return seen


def emptied(items):
    seen = []
    for item in items:
        seen.append(item)
        items.clear()
        slotrt.graph_break()
    return seen


def made(n, items):
    """Lists that C fills, and generators."""
    squares = [step * step for step in range(n)]
    pairs = {item: step for step, item in enumerate(items)}
    slotrt.graph_break()
    return squares, pairs, sum(step for step in range(n)), list(item for item in items)


def left(n, items):
    for step in range(n):
        if step == 2:
            break
    else:
        step = -1
    for item in items:
        if item == "c":
            break
    else:
        item = None
    slotrt.graph_break()
    return step, item


def of_floats(n):
    try:
        for step in range(n):
            slotrt.graph_break()
    except TypeError as error:
        return str(error)


def big(n):
    seen = []
    for step in range(n, n + 2**61, 2**61):
        slotrt.graph_break()
        seen.append(step)
    return seen


LISTS = [[*"abc"], [*"abcde"], [], [*"a"], [*"abcdefgh"], [*"ab"]]
NUMBERS = [3, 5, 0, 1, 8, 2, -4]

# A function, its arguments call by call, and how many traces they take at most: two where the loop begins, and those of its continuations.
ROWS = [
    (over_range, [(n, [n]) for n in NUMBERS], 6),
    (over_parts, [(n, m) for n in (2, 7, -3) for m in (9, 20, 0)], None),
    (backwards, [(n, m) for n in (9, 4) for m in (0, -3, 9)], None),
    (nested, [(n, m) for n in (2, 3, 4) for m in (2, 5, 3)], None),
    (in_second_step, [(n,) for n in NUMBERS], None),
    (computed, [("x" * n,) for n in (3, 5, 8, 4)], None),
    (over_list, [(items,) for items in LISTS], 6),
    (counted, [(items,) for items in LISTS], 6),
    (zipped, [(one, other) for one in LISTS for other in ([1, 2, 3, 4], [5])], None),
    (grown, [([*range(n)],) for n in (2, 3, 5, 4, 1)], None),
    (shortened, [([*range(n)],) for n in (6, 3, 5, 4, 1)], None),
    (emptied, [([*range(n)],) for n in (6, 3, 5, 0, 1)], None),
    (made, [(n, [*"abcdefgh"[:n]]) for n in (3, 5, 2, 6)], None),
    (left, [(n, [*"abcdefgh"[:n]]) for n in (3, 5, 2, 6, 1)], None),
    (of_floats, [(2.5,), (3.5,), (3,), (4,)], None),
    (big, [(n,) for n in (2**61, 2**61 + 5, 2**62, 2**63)], None),
]


class OpenLoops(unittest.TestCase):
    def test_rows(self):
        for function, calls, most in ROWS:
            with self.subTest(function=function.__name__):
                slotrt.reset()
                compiled = slotrt.compile(function, recompile_limit=64)
                for call in calls:
                    plain, other = [], []
                    for run, log in ((function, plain), (compiled, other)):
                        args = [list(arg) if isinstance(arg, list) else arg for arg in call]
                        log.append((run(*args), args))
                    self.assertEqual(other, plain, call)
                if most is not None:
                    self.assertLessEqual(slotrt.stats()["frames_compiled"], most)


if __name__ == "__main__":
    unittest.main()
