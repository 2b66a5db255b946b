"""Iterators of C that the program holds: compiled code advances the real one, wherever it stands, and is made once."""

import array
import collections
import itertools
import operator
import sys
import unittest

import slotrt


class Box:
    pass


MAKERS = {
    "list": lambda: iter([1, 2, 3, 4, 5, 6, 7]),
    "tuple": lambda: iter((1, "a", 2.5, None, b"x", 6, 7)),
    "objects": lambda: iter([[1], {2: 3}, Box, (4,), len, {5}, "x"]),
    "range": lambda: iter(range(7)),
    "large range": lambda: iter(range(10**30, 10**30 + 7)),
    "reversed list": lambda: reversed([1, 2, 3, 4, 5, 6, 7]),
    "reversed tuple": lambda: reversed((1, 2, 3, 4, 5, 6, 7)),
    "text": lambda: iter("abcdéfg"),
    "bytes": lambda: iter(b"abcdefg"),
    "bytearray": lambda: iter(bytearray(b"abcdefg")),
    "array": lambda: iter(array.array("i", range(7))),
    "keys": lambda: iter(dict.fromkeys("abcdefg", 1)),
    "values": lambda: iter({key: key * 2 for key in "abcdefg"}.values()),
    "items": lambda: iter({key: key * 2 for key in "abcdefg"}.items()),
    "reversed keys": lambda: reversed(dict.fromkeys("abcdefg", 1)),
    "ordered keys": lambda: iter(collections.OrderedDict.fromkeys("abcdefg", 1)),
    "set": lambda: iter(set(range(7))),
    "enumerate": lambda: enumerate("abcdefg", 10),
    "zip": lambda: zip("abcdefg", range(7)),
    "zip of one": lambda: (lambda one: zip(one, one))(iter(range(14))),
    "nested": lambda: zip(itertools.count(), enumerate("abcdefg")),
    "repeat": lambda: itertools.repeat("x", 7),
    "deque": lambda: iter(collections.deque([1, [2], 3, 4, 5, 6, 7])),
    "reversed deque": lambda: reversed(collections.deque([1, [2], 3, 4, 5, 6, 7])),
    "islice": lambda: itertools.islice(itertools.count(3), 2, 20, 3),
    "islice without end": lambda: itertools.islice(iter(range(20)), 1, None, 3),
    "chain": lambda: itertools.chain([1, 2], "ab", iter((3, 4)), {5: 6, 7: 8}),
    "chain of one": lambda: itertools.chain.from_iterable([[1], [], [2, 3], iter("abcd")]),
    "pairwise": lambda: itertools.pairwise(range(8)),
    "zip_longest": lambda: itertools.zip_longest("abcdefg", [1, 2], iter([3, 4, 5]), fillvalue=0),
    "islice of chain": lambda: itertools.islice(itertools.chain("abc", itertools.repeat(1)), 7),
    "chain and its part": lambda: (lambda one: itertools.chain(zip(one, one), one))(iter(range(12))),
}
if sys.version_info >= (3, 12):
    MAKERS["batched"] = lambda: itertools.batched(range(20), 3)
ENDLESS = {
    "count": lambda: itertools.count(5),
    "count down": lambda: itertools.count(0.5, -0.25),
    "repeat": lambda: itertools.repeat(Box),
    "chain": lambda: itertools.chain("ab", itertools.count()),
}
if sys.version_info < (3, 14):
    # Later nothing tells what a cycle holds: it has no `__reduce__`.
    ENDLESS |= {"cycle": lambda: itertools.cycle("abc"), "cycle of many": lambda: itertools.cycle(range(30))}


def two(iterator):
    return next(iterator), iterator.__next__()


def until(iterator):
    taken = []
    for item in iterator:
        taken.append(item)
        if len(taken) == 2:
            break
    return taken


STEPS = (
    lambda iterator: next(iterator),
    lambda iterator: next(iterator, "end"),
    two,
    until,
    lambda iterator: list(itertools.islice(iterator, 2)),
    lambda iterator: dict(zip("ab", iterator)),
    lambda iterator: (iter(iterator) is iterator, next(iterator)),
    lambda iterator: [item for item, _ in zip(iterator, "ab")],
)
WHOLE = (
    lambda iterator: list(iterator),
    lambda iterator: [item for item in iterator],
    lambda iterator: (lambda *items: items)(*iterator),
    lambda iterator: (next(iterator), [*iterator], next(iterator, "end")),
    lambda iterator: sorted(iterator, key=str),
    lambda iterator: "".join(map(str, iterator)),
    lambda iterator: ("d" in iterator, list(iterator)),
    lambda iterator: dict(enumerate(iterator)),
)


def left(iterator):
    return list(itertools.islice(iterator, 9))


class OutsideIterators(unittest.TestCase):
    def test_steps_wherever_the_iterator_stands(self):
        for (name, make), program in itertools.product({**MAKERS, **ENDLESS}.items(), STEPS):
            with self.subTest(of=name, line=program.__code__.co_firstlineno):
                compiled, one, other = slotrt.compile(program, fullgraph=True), make(), make()
                for _ in range(3):
                    self.assertEqual(compiled(one), program(other))
                self.assertEqual(left(one), left(other))

    def test_one_trace_holds_for_each_step(self):
        for name, make in {**ENDLESS, "reversed": lambda: reversed([[4], [3], [2], [1]])}.items():
            with self.subTest(of=name):
                box, plain = Box(), make()
                box.source, box.item = make(), None
                slotrt.reset()

                @slotrt.compile
                def step(box):
                    box.item = next(box.source)
                    return box

                for _ in range(4):
                    self.assertEqual(step(box).item, next(plain))
                self.assertEqual(slotrt.stats()["frames_compiled"], 1)
                self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_all_of_it(self):
        for (name, make), program in itertools.product(MAKERS.items(), WHOLE):
            with self.subTest(of=name, line=program.__code__.co_firstlineno):
                compiled = slotrt.compile(program, fullgraph=True)
                for _ in range(2):
                    one, other = make(), make()
                    self.assertEqual(compiled(one), program(other))
                    self.assertEqual(left(one), left(other))

    def test_an_end_met_again(self):
        def step(iterator, items):
            first = next(iterator, "end")
            items.append(8)
            return first, next(iterator, "end")

        for count in range(4):
            compiled, outcomes = slotrt.compile(step), []
            for function in (compiled, compiled, step, step):
                items = list(range(count))
                iterator = iter(items)
                outcomes.append((function(iterator, items), function(iterator, items), left(iterator), items))
            self.assertEqual(outcomes[:2], outcomes[2:])

    def test_what_the_trace_changes(self):
        def made():
            items, entries, box = [1, 2, 3, 4], {"a": 1, "b": 2, "c": 3}, Box()
            box.__dict__.update(entries)
            one = iter(items)
            return items, entries, box, one, iter(entries), iter(entries.values()), iter(box.__dict__), zip(one, one)

        changes = (
            lambda i, e, b, one, keys, values, own, pairs: (next(one), i.pop(), next(one), i.append(9), list(one)),
            lambda i, e, b, one, keys, values, own, pairs: (i.clear(), next(one, "end")),
            lambda i, e, b, one, keys, values, own, pairs: (e.__setitem__("a", 7), next(values), next(keys)),
            lambda i, e, b, one, keys, values, own, pairs: (next(keys), e.__setitem__("z", 7)),
            lambda i, e, b, one, keys, values, own, pairs: (e.__setitem__("z", 7), next(keys)),
            lambda i, e, b, one, keys, values, own, pairs: (next(own), setattr(b, "a", 5), next(own), b.a),
            lambda i, e, b, one, keys, values, own, pairs: (setattr(b, "new", 5), next(own)),
            lambda i, e, b, one, keys, values, own, pairs: (next(pairs), next(one)),
            lambda i, e, b, one, keys, values, own, pairs: (next(one), next(pairs)),
            lambda i, e, b, one, keys, values, own, pairs: (next(one), next(keys), next(one)),
        )
        for change in changes:
            with self.subTest(line=change.__code__.co_firstlineno):
                compiled, seen = slotrt.compile(change), []
                for function in (compiled, change):
                    for _ in range(2):
                        parts = made()
                        try:
                            seen.append(function(*parts))
                        except RuntimeError as error:
                            seen.append(str(error))
                        seen.append([parts[0], parts[1], vars(parts[2]), left(parts[3])])
                self.assertEqual(seen[:4], seen[4:])

    def test_what_itertools_go_through(self):
        def made():
            items, deque = [1, 2, 3, 4], collections.deque([1, 2, 3])
            nested = [[1], [2]]
            return items, deque, nested, itertools.chain(items, [5]), iter(deque), itertools.chain.from_iterable(nested)

        changes = (
            lambda i, d, n, chain, over, of: (next(chain), i.append(9), list(chain)),
            lambda i, d, n, chain, over, of: (i.append(9), next(chain)),
            lambda i, d, n, chain, over, of: (next(over), d.append(4), next(over)),
            lambda i, d, n, chain, over, of: (next(over), d.append(4)),
            lambda i, d, n, chain, over, of: (n[1].append(7), list(of)),
            lambda i, d, n, chain, over, of: (next(of), n.append([8]), list(of)),
            lambda i, d, n, chain, over, of: (next(of), next(chain), next(over), d[0], n[0], i[0]),
        )
        for change in changes:
            with self.subTest(line=change.__code__.co_firstlineno):
                compiled, seen = slotrt.compile(change), []
                for function in (compiled, change):
                    for _ in range(3):
                        parts = made()
                        try:
                            seen.append(function(*parts))
                        except RuntimeError as error:
                            seen.append(str(error))
                        seen.append([*parts[:3], left(parts[3]), left(parts[5])])
                self.assertEqual(seen[:6], seen[6:])

    def test_a_deque_that_was_changed(self):
        def step(iterator):
            return next(iterator)

        compiled = slotrt.compile(step)
        for function in (step, compiled, compiled, compiled):
            deque = collections.deque([1, 2, 3])
            iterator = iter(deque)
            self.assertEqual(function(iterator), 1)
            deque.append(4)
            with self.assertRaisesRegex(RuntimeError, "deque mutated during iteration"):
                function(iterator)
            with self.assertRaises(RuntimeError):
                function(iterator)

    def test_steps_that_run_code_are_one_break(self):
        def generator():
            got = yield 1
            yield got
            return "returned"

        def failing():
            yield 1
            raise ValueError("mine")

        makers = (
            generator,
            failing,
            lambda: map(lambda item: item * 2, range(4)),
            lambda: filter(lambda item: item % 2, range(9)),
            lambda: itertools.takewhile(lambda item: item < 2, range(9)),
            lambda: itertools.starmap(pow, [(2, 3), (3, 2)]),
            lambda: itertools.accumulate(range(1, 4), operator.mul),
            lambda: itertools.groupby([1, 1, 2]),
            lambda: itertools.product([1, 2], "ab"),
            lambda: itertools.islice(generator(), 5),
            lambda: itertools.chain(generator(), [3]),
            lambda: zip(generator(), [1, 2, 3]),
            lambda: iter([1, 2, 3].pop, 1),
        )

        def step(iterator, numbers):
            numbers.append(len(numbers) + 1)
            item = next(iterator)
            numbers.append(numbers[-1] * 2)
            return type(item), numbers[-1]

        def caught(iterator, numbers):
            try:
                item = next(iterator)
            except StopIteration as stop:
                item = stop.value
            except ValueError as error:
                item = error.args[0]
            return type(item), item if isinstance(item, (int, str)) else None

        for make, program in itertools.product(makers, (step, caught)):
            with self.subTest(of=make().__class__, program=program.__name__):
                slotrt.reset()
                compiled, outcomes, traced = slotrt.compile(program), [], []
                for function in (compiled, program):
                    for _ in range(3):
                        iterator = make()
                        for _ in range(4):
                            numbers = []
                            try:
                                outcomes.append(function(iterator, numbers))
                            except (StopIteration, ValueError) as error:
                                outcomes.append((type(error), error.args))
                            outcomes.append(numbers)
                        if function is compiled:
                            traced.append(slotrt.stats()["frames_compiled"])
                            breaks = slotrt.stats()["graph_breaks"]
                self.assertEqual(outcomes[:24], outcomes[24:])
                self.assertEqual(traced[1], traced[2])
                self.assertLessEqual(breaks, 1)

    def test_two_iterators_of_which_one_may_go_through_the_other(self):
        def both(one, other):
            return next(one), next(other), next(one, "end")

        compiled = slotrt.compile(both)
        for _ in range(2):
            for function in (compiled, both):
                inner, same = iter(range(9)), iter(range(9))
                kinds = [(iter(range(9)), zip(range(5))), (inner, zip(inner)), (zip(same), same), (same, same)]
                self.assertEqual(
                    [function(*pair) for pair in kinds],
                    [(0, (0,), 1), (0, (1,), 2), ((0,), 1, (2,)), (3, 4, 5)],
                )

    def test_a_changed_container_that_the_iterator_may_read(self):
        def change(iterator, items):
            items.append(7)
            return list(iterator)

        compiled = slotrt.compile(change)
        for _ in range(2):
            self.assertEqual(compiled(iter([1, 2]), []), [1, 2])
            items = [1, 2]
            self.assertEqual(compiled(iter(items), items), [1, 2, 7])

    def test_items_that_are_made_anew_are_one_object(self):
        def pair(iterator):
            item = next(iterator)
            return item, item[0], item[1]

        compiled = slotrt.compile(pair, fullgraph=True)
        for iterator in (zip([[1], [2]], [(3,), (4,)]), enumerate([[1], [2]], 10**20)):
            for _ in range(2):
                item, first, second = compiled(iterator)
                self.assertIs(item[0], first)
                self.assertIs(item[1], second)

    def test_iterators_within_iterators(self):
        def first_of_each(iterators):
            return [next(iterator) for iterator in iterators]

        def make():
            return [iter("ab"), iter([1, 2, 3]), itertools.count()]

        compiled, one, other = slotrt.compile(first_of_each, fullgraph=True), make(), make()
        for _ in range(2):
            self.assertEqual(compiled(iter(one)), first_of_each(iter(other)))
        self.assertEqual(list(map(left, one)), list(map(left, other)))

    def test_what_ends_with_the_iterator(self):
        ended = []

        class Ending:
            def __del__(self):
                ended.append("item")

        def through(iterator):
            for _ in iterator:
                pass
            ended.append("loop")

        compiled = slotrt.compile(through)
        for _ in range(2):
            for function in (through, compiled):
                ended.clear()
                function(iter([Ending()]))
                self.assertEqual(sorted(ended), ["item", "loop"])
        ended.clear()
        compiled(iter([1]))
        self.assertEqual(ended, ["loop"])

    def test_the_room_that_an_iterator_says_it_needs(self):
        import operator

        def hint(iterator):
            return operator.length_hint(iterator), iterator.__length_hint__()

        compiled = slotrt.compile(hint)
        self.assertEqual([compiled(iter([1] * count)) for count in (3, 5, 3)], [(3, 3), (5, 5), (3, 3)])


if __name__ == "__main__":
    unittest.main()
