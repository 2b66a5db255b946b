"""Numbers, texts and what containers hold: no guard on a value that the trace did not use, and one where it did."""

import unittest

import slotrt
from guard_cases import Case


class Plain:
    pass


def same(value):
    return value


def keywords(first, *, second=None):
    return second or first


PAIRS = ((1000, 2000), (1, 2), ("ab", "cd"), (1.5, 2.5), (b"ab", b"cd"))
HELD = None


class Values(Case):
    def traces(self, function, *calls):
        """How often the function is traced; each call gives what it gives uncompiled."""
        slotrt.reset()
        compiled = slotrt.compile(function)
        for args in (*calls, *calls):
            results = []
            for call in (compiled, function):
                try:
                    results.append((call(*args), None))
                except Exception as error:
                    results.append((type(error), str(error)))
            self.assertEqual(repr(results[0]), repr(results[1]))
        return slotrt.stats()["frames_compiled"]

    def unused(self, function, *pairs):
        for one, other in pairs or PAIRS:
            self.assertEqual(self.traces(function, (one,), (other,)), 1, (one, other))

    def used(self, function, *pairs):
        for one, other in pairs or PAIRS:
            self.assertGreater(self.traces(function, (one,), (other,)), 1, (one, other))

    def test_passed_on(self):
        def store(value):
            global HELD
            HELD = value
            return HELD

        def inner(value):
            def read():
                return value

            return read()

        def made(value):
            yield value

        for function in (same, lambda n: same(n), lambda n: keywords(0, second=same(n)), store, inner, lambda n: next(made(n))):
            self.unused(function)

    def test_returned_in_a_container(self):
        for function in (
            lambda n: (n, 1),
            lambda n: [n, (n, 2)],
            lambda n: {"n": n, "m": [n]},
            lambda n: (n, {"x": 1, "y": n}, []),
        ):
            self.unused(function)
            self.unused(function, (Plain, 1), (1, "x"), ([1], [2, 3]), (None, True))
        self.used(lambda n: {n: 1})
        self.used(lambda n: [n, n + n])
        self.assertEqual(slotrt.compile(lambda n: {"a": n, "a": 2})(1), {"a": 2})  # noqa: F601

    def test_a_container_that_is_looked_into_first(self):
        self.used(lambda n: [n].index(n) + len(str([n])))
        self.used(lambda n: [n] + [n])

    def test_truth(self):
        self.unused(lambda n: 1 if n else 2)
        self.unused(lambda n: not n)
        self.unused(lambda n: n or 5)
        self.used(lambda n: "yes" if n else "no", (1, 0), ("a", ""), (0.5, 0.0), (b"a", b""), ([1], []), ({1: 1}, {}), ((1,), ()))
        self.unused(lambda n: "yes" if n else "no", ([1], [2]), ({1: 1}, {2: 2}), ((1,), (2,)), ({1}, {2}))

    def test_length(self):
        lengths = (([1, 2], [3, 4]), ((1, 2), (3, 4)), ({1: 1}, {2: 2}), ({1}, {2}), ("ab", "cd"), (b"ab", b"cd"))
        self.unused(lambda n: len(n), *lengths)
        self.unused(lambda n: len(n) + 1, *lengths)
        self.used(lambda n: len(n) + 1, ([1], [1, 2]), ((1,), (1, 2)), ({}, {1: 1}), ("a", "ab"))

        def grow(items):
            before = len(items)
            items.append(1)
            return before, len(items)

        self.assertEqual(slotrt.compile(grow)([]), (0, 1))

    def test_items_that_are_unpacked(self):
        def first(pair):
            one, other = pair
            return one

        def three(items):
            one, two, three = items
            return three

        self.unused(first, ((1, 2), (3, 4)), ([1, 2], [3, 4]), ((1, [2]), (1, [3, 4])))
        self.used(first, ((1, 2), (1, 2, 3)), ([1, 2], [1]))
        for items in ([1, 2], (1, 2, 3, 4), [1, 2, 3], "abc", {1: 2, 3: 4, 5: 6}):
            self.assertEqual(self.traces(three, (items,)) > 0, True)

    def test_entries_of_a_dict(self):
        one, other = {"a": 1, "b": 2, 3: [1]}, {"b": 5, "a": 1, 3: [2], "c": 4}
        for function in (
            lambda d: "a" in d,
            lambda d: "x" in d,
            lambda d: d.get("a") + 1,
            lambda d: (d.get("x"), d.get("x", 7), 8 in d),
            lambda d: [d.get(key) for key in ("a", "x", "x")],
        ):
            self.unused(function, (one, other))
            self.used(function, ({"a": 1}, {"x": 2, 8: 3}))
        self.used(lambda d: d.get("a", 1), ({"a": 1}, {}))

        def change(d):
            before = "k" in d, d.get("k")
            d["k"] = 3
            return before, "k" in d, d.get("k")

        for given in ({}, {"k": 1}):
            self.assertEqual(slotrt.compile(change)(dict(given)), change(dict(given)))

    def test_classes_and_none(self):
        self.unused(lambda n: n is None)
        self.unused(lambda n: isinstance(n, (int, str, float, bytes)))
        self.unused(lambda n: type(n) is int)
        self.unused(lambda n: n is HELD)

    def test_identity_of_numbers(self):
        big = 10**6

        def is_big(n):
            return n is big

        self.assertEqual(self.traces(is_big, (big,), (int(str(big)),), (3,)), 2)

    def test_used(self):
        self.used(lambda n: n == 1, (1, 2))
        self.used(lambda n: n * 2)
        self.used(lambda n: f"{n}")
        self.used(lambda n: {1: 2, "ab": 3}.get(n), (1, 2), ("ab", "cd"))


if __name__ == "__main__":
    unittest.main()
