"""Traces on disk that check symbolic numbers; and which numbers are symbolic in the second process."""

import tempfile
import unittest

from two_processes import check, run


class Saved(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check(self, program, **others):
        return check(self, self.folder, program, **others)

    def test_numbers(self):
        first, _ = self.check("""
import math
STEP = 1
class State:
    step = 0
state = State()
def branches(k, n):
    if 2 * k < n + 4:
        return k * n
    return k - n if k % 3 else -k
def floats(x, digits):
    return round(x * 0.5, 2), math.sqrt(x) + x ** 2, min(x, 3.5), int(x), -x // 2
def integers(k, n):
    return math.gcd(k, n), k & n | 1, k << 2, max(k, n), abs(k - n), divmod(k, 7), k in (3, 5), 2 ** k
def counts():
    state.step += 1
    return state.step * 2
def slices(items, k):
    return items[:k], k == len(items)
CALLS = [(f"b{k}", branches, (k, 10)) for k in (2, 3, 5, 6, 20, 21)]
CALLS += [(f"f{x}", floats, (x, 2)) for x in (2.5, 3.25, 7.75)]
CALLS += [(f"i{k}", integers, (k, 12)) for k in (2, 3, 8, 9)]
CALLS += [("c", counts, ())] * 5 + [(f"s{k}", slices, ([1, 2, 3, 4], k)) for k in (2, 3, 4)]
""")
        self.assertLess(first["traced"], 21)

    def test_what_has_changed_is_symbolic_at_once(self):
        """Another number than an earlier process had is symbolic in the first trace."""
        program = """
def f(k): return k * 3 + 1
CALLS = [("one", f, (K,)) for K in NUMBERS]
"""
        first = run(self.folder, "save", program.replace("NUMBERS", "(5,)"))
        self.assertEqual(first["traced"], 1)
        second = run(self.folder, "load", program.replace("NUMBERS", "(6, 7, 8, 5)"))
        self.assertEqual((second["traced"], second["loaded"]), (1, 0))
        self.assertEqual([said for _, said in second["said"]], ["19", "22", "25", "16"])

    def test_loaded_traces_tell_what_has_changed(self):
        """A function that is traced anew, for another class, keeps its numbers symbolic."""
        program = """
def f(x, k): return x * k
CALLS = [(str(args), f, args) for args in ARGS]
"""
        run(self.folder, "save", program.replace("ARGS", "((2, 5), (2, 6), (2, 7))"))
        second = run(self.folder, "load", program.replace("ARGS", "((2, 9), ('a', 3), ('a', 4), ('a', 5))"))
        self.assertEqual([said for _, said in second["said"]], ["18", "'aaa'", "'aaaa'", "'aaaaa'"])
        self.assertEqual(second["loaded"], 1)
        again = run(self.folder, "trace", program.replace("ARGS", "((2, 5), (2, 6), (2, 9), ('a', 3), ('a', 4), ('a', 5))"))
        self.assertLessEqual(second["traced"], again["traced"] - 2)

    def test_breaks(self):
        self.check("""
import slotrt
def f(n):
    total = 0
    for i in range(3):
        total += n * i
        slotrt.graph_break()
        if total > 20:
            total -= n
    return total
CALLS = [(f"f{n}", f, (n,)) for n in (2, 5, 9, 14, 30)]
""")

    def test_dynamic(self):
        for dynamic in (True, False):
            with self.subTest(dynamic=dynamic):
                self.check(f"OPTIONS = {{'dynamic': {dynamic}}}\n" + """
def f(n): return n * 2 if n > 5 else n
CALLS = [(f"f{n}", f, (n,)) for n in (2, 5, 9, 14)]
""")


if __name__ == "__main__":
    unittest.main()
