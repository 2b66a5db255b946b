"""Lists from outside that a trace appends to: no guard asks what they hold, unless the trace looks at them."""

import itertools
import unittest
import weakref

import slotrt


class Box:
    pass


class Growing(list):
    def append(self, item):
        super().append((item, "grown"))


def one(items, x):
    items.append(x * 2)
    return x


def several(items, x):
    items.append(x)
    items.append([x, x + 1])
    items.append(items)
    return items


def read_after(items, x):
    items.append(x)
    items.append(x + 1)
    return items[-1], len(items), items[0], x in items, bool(items), [item for item in items], items == [1, 2], sum(items)


READS = (
    lambda items: len(items),
    lambda items: items[-1],
    lambda items: items[0],
    lambda items: items[:2],
    lambda items: bool(items),
    lambda items: not items,
    lambda items: 7 in items,
    lambda items: [item for item in items],
    lambda items: list(items),
    lambda items: tuple(reversed(items)),
    lambda items: sorted(items),
    lambda items: items.index(7),
    lambda items: items.count(7),
    lambda items: items + [1],
    lambda items: items * 2,
    lambda items: items.copy(),
    lambda items: items == [1, 7],
    lambda items: repr(items),
    lambda items: f"{items}",
    lambda items: (*items, 0),
    lambda items: max(items),
    lambda items: dict.fromkeys(items),
    lambda items: (lambda *args: args)(*items),
    lambda items: next(iter(items)),
    lambda items: list(zip(items, items)),
    lambda items: items.pop(),
    lambda items: items.pop(0),
    lambda items: items.extend([8, 9]),
    lambda items: items.insert(0, 5),
    lambda items: items.remove(7),
    lambda items: items.sort(reverse=True),
    lambda items: items.reverse(),
    lambda items: items.clear(),
    lambda items: items.append(6),
    lambda items: items.__setitem__(0, 3),
    lambda items: items.__delitem__(-1),
    lambda items: items.__iadd__([4]),
    lambda items: isinstance(items, list),
    lambda items: [items, {1: items}],
    lambda items: any(item == 7 for item in items),
)


class Appends(unittest.TestCase):
    def test_one_trace_for_all_lengths(self):
        slotrt.reset()
        compiled, items = slotrt.compile(one, fullgraph=True), []
        for x in range(12):
            self.assertEqual(compiled(items, 5), 5)
        self.assertEqual(items, [10] * 12)
        self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_a_loop_that_breaks_is_compiled_once(self):
        native = slotrt.disable(lambda x: x + 1)

        def collect(source):
            found = []
            for x in source:
                found.append(native(x) * 2)
            return found

        def comprehension(source):
            return [native(x) * 2 for x in source]

        for program in (collect, comprehension):
            with self.subTest(program=program.__name__):
                slotrt.reset()
                compiled, traced = slotrt.compile(program), []
                for count in (20, 20, 30):
                    wanted = program(x for x in range(count))
                    self.assertEqual(compiled(x for x in range(count)), wanted)
                    traced.append(slotrt.stats()["frames_compiled"])
                self.assertEqual(traced[1], traced[2])
                self.assertEqual(slotrt.stats()["frames_skipped"], 0)
                # The values that are carried are small numbers, of which the first few are known by their values.
                self.assertLessEqual(slotrt.stats()["recompiles"], 4)

    def test_what_the_trace_looks_at_afterwards(self):
        for read, (before, after) in itertools.product(READS, ((1, 0), (0, 1), (2, 2))):
            def program(items, read=read, before=before, after=after):
                for _ in range(before):
                    items.append(7)
                first = read(items)
                for _ in range(after):
                    items.append(3)
                return first, read(items)

            with self.subTest(line=read.__code__.co_firstlineno, before=before, after=after):
                compiled = slotrt.compile(program)
                for start in ([1], [], [7, 7, 2], [1]):
                    outcomes = []
                    for function in (program, compiled):
                        items = list(start)
                        try:
                            result = function(items)
                        except (IndexError, ValueError, StopIteration) as error:
                            result = type(error), str(error)
                        outcomes.append((repr(result), repr(items)))
                    self.assertEqual(*outcomes)

    def test_reads_do_not_break(self):
        compiled = slotrt.compile(read_after, fullgraph=True)
        for start in ([1], [1, 2, 3], [1]):
            mine, plain = list(start), list(start)
            self.assertEqual(compiled(mine, 7), read_after(plain, 7))
            self.assertEqual(mine, plain)

    def test_the_list_itself(self):
        compiled = slotrt.compile(several, fullgraph=True)
        for _ in range(3):
            items = [1]
            self.assertIs(compiled(items, 4), items)
            self.assertEqual(items[:3], [1, 4, [4, 5]])
            self.assertIs(items[3], items)

    def test_one_list_over_two_paths(self):
        def both(one, other, box):
            one.append(1)
            other.append(2)
            box.items.append(3)
            return len(other), list(one), box.items[-1]

        def blind(one, other):
            one.append(1)
            other.append(2)

        for program, count in ((both, 3), (blind, 2)):
            compiled = slotrt.compile(program)
            for shared in (False, True, False, True):
                outcomes = []
                for function in (program, compiled):
                    first, box = [], Box()
                    box.items = first if shared else []
                    second = first if shared else []
                    result = function(*(first, second, box)[:count])
                    outcomes.append((result, first, second, box.items))
                self.assertEqual(*outcomes)

    def test_iterators_that_read_the_list(self):
        def program(iterator, items):
            first = next(iterator)
            items.append(9)
            return first, list(iterator)

        compiled = slotrt.compile(program)
        for _ in range(3):
            for same in (True, False):
                outcomes = []
                for function in (program, compiled):
                    items = [1, 2]
                    outcomes.append((function(iter(items if same else [5]), items), items))
                self.assertEqual(*outcomes)

    def test_classes_that_derive_from_list(self):
        compiled = slotrt.compile(one)
        for _ in range(2):
            mine, plain = Growing(), Growing()
            compiled(mine, 2), one(plain, 2)
            self.assertEqual(mine, plain)

    def test_what_is_appended_lives_on(self):
        def program(items, references):
            box = Box()
            box.own = [box]
            items.append(box)
            references.append(weakref.ref(box))
            del box
            return references[-1]() is items[-1]

        compiled = slotrt.compile(program)
        for _ in range(3):
            items, references = [], []
            self.assertTrue(compiled(items, references))
            self.assertIs(references[0](), items[0])

    def test_a_break_after_the_append(self):
        seen = []

        def program(items, x):
            items.append(x)
            slotrt.disable(lambda: seen.append(list(items)))()
            items.append(x + 1)
            raise KeyError(x)

        compiled = slotrt.compile(program)
        for function in (program, compiled, compiled):
            seen.clear()
            items = [0]
            with self.assertRaisesRegex(KeyError, "5"):
                function(items, 5)
            self.assertEqual((items, seen), ([0, 5, 6], [[0, 5]]))


if __name__ == "__main__":
    unittest.main()
