"""Lists and deques from outside that grow from call to call: no guard asks for a length on which nothing depends."""

import collections
import random
import unittest

import slotrt

READS = (
    lambda items: items[-1],
    lambda items: items[-2],
    lambda items: items[0],
    lambda items: bool(items),
    lambda items: "none" if not items else items[-1],
    lambda items: len(items) > 3,
    lambda items: len(items) % 3 == 0,
    lambda items: len(items) * 2 - 1,
    lambda items: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11][len(items)],
    lambda items: "x" * len(items),
    lambda items: list(range(len(items))),
    lambda items: f"{len(items)} items",
    lambda items: items[-1] == items[0],
    lambda items: items[len(items) - 1],
    lambda items: items[len(items)],
    lambda items: sum(items),
    lambda items: list(items),
    lambda items: items.pop(),
    lambda items: items.append(len(items)),
    lambda items: items.extend([4, 5]),
    lambda items: items.extend(items),
    lambda items: items.extend(number for number in range(3)),
    lambda items: items.extend((len(items), 9)),
    lambda items: items.extend("ab"),
    lambda items: items.extend(7),
    lambda items: items.extend([]),
    lambda items: items.clear(),
    lambda items: items.appendleft(1),
    lambda items: items.popleft(),
    lambda items: items.maxlen,
    lambda items: items is not None,
    lambda items: items == type(items)([1, 2]),
    lambda items: max(items, default=None),
)

MAKERS = (
    list,
    collections.deque,
    lambda items: collections.deque(items, 5),
    lambda items: collections.deque(items, 2),
    lambda items: collections.deque(items, 0),
)


def outcome(function, *args):
    try:
        return function(*args)
    except (IndexError, TypeError, ValueError, AttributeError) as error:
        return type(error), str(error)


class Box:
    pass


class Growth(unittest.TestCase):
    def compare(self, program, compiled, make, starts):
        for start in starts:
            mine, plain = make(start), make(start)
            wanted, found = outcome(program, plain), outcome(compiled, mine)
            self.assertEqual((repr(found), mine, type(mine)), (repr(wanted), plain, type(plain)))

    def test_reads_of_what_grows(self):
        starts = [[], [1], [1, 2], [5, 6, 7], [3, 3, 3, 3], [], [8, 9, 1, 2, 4]]
        for make in MAKERS:
            for read in READS:
                with self.subTest(line=read.__code__.co_firstlineno, made=make([]).__class__, limit=getattr(make([]), "maxlen", None)):
                    self.compare(read, slotrt.compile(read), make, starts)

    def test_random_programs(self):
        chance = random.Random(5)
        for number in range(60):
            steps = [chance.choice(READS) for _ in range(chance.randrange(1, 4))]
            appends = [chance.randrange(3) for _ in steps]
            make = chance.choice(MAKERS)

            def program(items, steps=tuple(steps), appends=tuple(appends)):
                seen = []
                for step, count in zip(steps, appends):
                    for value in range(count):
                        items.append(value)
                    seen.append(step(items))
                return seen

            starts = [list(range(chance.randrange(7))) for _ in range(5)]
            with self.subTest(number=number):
                self.compare(program, slotrt.compile(program), make, starts)

    def test_two_traces_for_all_lengths(self):
        def last(items):
            items.append(4)
            return items[-1], items[-2], bool(items)

        def ask(items):
            return "few" if len(items) < 1000 else "many"

        def more(items):
            items.extend([1, 2])
            return len(items), items[-1]

        def empty(items):
            return bool(items)

        for program in (last, ask, more, empty):
            with self.subTest(program=program.__name__):
                slotrt.reset()
                compiled = slotrt.compile(program, fullgraph=True)
                for count in range(1, 40):
                    plain, mine = [3] * count, [3] * count
                    self.assertEqual(compiled(mine), program(plain))
                    self.assertEqual(mine, plain)
                self.assertLessEqual(slotrt.stats()["frames_compiled"], 2)

    def test_a_full_deque(self):
        def remember(memory, item):
            memory.append(item)
            return len(memory) >= 4

        slotrt.reset()
        compiled = slotrt.compile(remember, fullgraph=True)
        plain, mine = collections.deque(maxlen=6), collections.deque(maxlen=6)
        for step in range(20):
            self.assertEqual(compiled(mine, step), remember(plain, step))
            self.assertEqual(mine, plain)
        self.assertLessEqual(slotrt.stats()["frames_compiled"], 4)

    def test_what_a_full_deque_lets_go_of(self):
        ended = []

        class Ending:
            def __init__(self, name):
                self.name = name

            def __del__(self):
                ended.append(self.name)

        def program(memory, ending):
            memory.append(ending)
            ending = None
            seen = list(ended)
            memory.append(3)
            return seen, list(ended), len(memory)

        compiled = slotrt.compile(program)
        outcomes = []
        for function in (program, compiled):
            memory, seen = collections.deque(maxlen=2), []
            for name in range(6):
                seen.append((function(memory, Ending(name)), list(ended)))
            memory = None
            outcomes.append((seen, list(ended)))
            ended.clear()
        self.assertEqual(*outcomes)

    def test_one_object_over_two_paths(self):
        def program(one, box):
            one.append(1)
            first = box.items[-1] if box.items else None
            box.items.append(2)
            return first, len(one), len(box.items), one[-1], bool(box.items)

        for make in (list, collections.deque):
            compiled = slotrt.compile(program)
            for number, shared in enumerate((False, True, False, True, True, False)):
                outcomes = []
                for function in (program, compiled):
                    one, box = make([7] * number), Box()
                    box.items = one if shared else make([8] * (number % 2))
                    outcomes.append((function(one, box), one, box.items))
                self.assertEqual(*outcomes)


class Sums(unittest.TestCase):
    """From 3.12 on `sum` adds floats up more exactly than `+` does."""

    ways = (
        sum,
        lambda items: sum(items, 0.25),
        lambda items: sum(items, start=1),
        lambda items: sum(tuple(items)),
        lambda items: sum(collections.deque(items)),
        lambda items: sum(dict.fromkeys(items)),
        lambda items: sum(dict(enumerate(items)).values()),
        lambda items: sum(map(abs, items)),
        lambda items: sum(reversed(items)),
        lambda items: sum([*items, 3]),
        lambda items: list(map(sum, [items, items[1:]])),
        lambda items: [item / sum(items) for item in items],
        lambda items: max([items, items[1:]], key=sum),
    )

    def test_floats_that_change(self):
        for make in (list, tuple, collections.deque, dict.fromkeys):
            for way in self.ways:
                if make in (collections.deque, dict.fromkeys) and way is not sum:
                    continue
                chance = random.Random(1)
                compiled = slotrt.compile(lambda items, way=way: way(items))
                with self.subTest(way=self.ways.index(way), made=make):
                    for _ in range(8):
                        items = make([chance.uniform(-1, 1) * 10 ** chance.randrange(18) for _ in range(5)])
                        self.assertEqual(compiled(items), way(items))


if __name__ == "__main__":
    unittest.main()
