"""C that tells builtins and their subclasses by flags gets instances from outside as what they are, or runs natively."""

import collections
import json
import unittest

import slotrt


class Dict(dict):
    pass


class List(list):
    pass


class Tuple(tuple):
    pass


class Counted(list):
    """Counts who goes through it."""

    times = 0

    def __iter__(self):
        self.times += 1
        return super().__iter__()


class Claiming(tuple):
    """Says that it has more items, and others, than it has."""

    def __len__(self):
        return 7

    def __getitem__(self, index):
        return "other"


Named = collections.namedtuple("Named", "a b")

MAKERS = [
    lambda: Dict(a=1),
    lambda: List([1]),
    lambda: Tuple((1, 2)),
    lambda: Named(1, 2),
    lambda: collections.OrderedDict(a=1),
    lambda: collections.defaultdict(int, a=1),
    lambda: {"a": Dict(b=1)},
    lambda: [List([Tuple((1,))])],
]

SHAPES = [
    lambda value: value,
    lambda value: [value],
    lambda value: {"k": value},
    lambda value: (value, value),
    lambda value: [{"k": (value,)}],
]


SEQUENCES = [lambda: Named(1, 2), lambda: Counted([3, 4]), lambda: Claiming((5, 6)), lambda: Tuple((7,)), lambda: List([])]

def extended_by_itself(p, q):
    held = List(p)
    held.extend(held)
    if isinstance(p, list):
        p.extend(p)
    return list(held), list(p), list(zip(p, p)), list(map(max, p, p))


# What C goes through, and nothing else.
GONE_THROUGH = [
    lambda p, q: list(zip(*[p, q])),
    lambda p, q: list(zip(p, q, p)),
    lambda p, q: [0].extend(p),
    lambda p, q: (list(p), tuple(p), sorted(p), sum(p), any(p), all(p)),
    lambda p, q: list(enumerate(p)),
    lambda p, q: list(map(lambda a, b: (a, b), p, q)),
    lambda p, q: list(filter(None, p)),
    lambda p, q: (min(p, default=0), max(p, default=0)),
]


def classes(alias):
    return [type(part) for part in alias.__args__]


class Disguises(unittest.TestCase):
    def same(self, function, make):
        wanted = function(make())
        compiled = slotrt.compile(function)
        for _ in range(3):
            self.assertEqual(compiled(make()), wanted)

    def test_json_writes_what_lies_in_containers_of_the_trace(self):
        for shape in SHAPES:
            for make in MAKERS:
                with self.subTest(value=shape(make())):
                    self.same(lambda value: json.dumps(shape(value), default=repr), make)
                    self.same(lambda value: json.dumps(shape(value), default=repr, indent=1), make)

    def test_sequences_that_c_goes_through(self):
        for index, function in enumerate(GONE_THROUGH):
            for make in SEQUENCES:
                with self.subTest(row=index, value=make()):
                    slotrt.reset()
                    compiled, seen = slotrt.compile(function), []
                    for use in (function, compiled, function, compiled):
                        given = make(), Named(8, 9)
                        seen.append((use(*given), getattr(given[0], "times", 0)))
                    self.assertEqual(seen[:2], seen[2:])
                    self.assertEqual(seen[0], seen[1])
                    self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_sequences_that_are_extended_by_themselves(self):
        for make in SEQUENCES:
            with self.subTest(value=make()):
                compiled = slotrt.compile(extended_by_itself)
                for _ in range(2):
                    self.assertEqual(compiled(make(), ()), extended_by_itself(make(), ()))

    def test_json_is_part_of_a_trace_where_nothing_is_disguised(self):
        def function(value):
            return json.dumps({"k": [value, (1, 2.5)], "l": {"m": None}}, default=repr)

        slotrt.reset()
        self.same(function, lambda: [1, "a"])
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_json_gets_its_object_by_keyword(self):
        quoted = json.encoder.encode_basestring_ascii

        def function(value):
            encoder = json.encoder.c_make_encoder({}, repr, quoted, None, ":", ",", False, False, True)
            return encoder(obj=[value, {"k": value}], _current_indent_level=0)

        for make in [*MAKERS, lambda: [1, "a"]]:
            with self.subTest(value=make()):
                self.same(function, make)

    def test_arguments_of_a_generic_class(self):
        for make in (lambda: Tuple((int, str)), lambda: Named(int, str), lambda: Tuple(()), lambda: (int, str), lambda: int):
            for function in (
                lambda value: (list[value], classes(list[value])),
                lambda value: (dict[value], classes(dict[value])),
                lambda value: (tuple[value], classes(tuple[value])),
                lambda value: (collections.deque[value], classes(collections.deque[value])),
            ):
                with self.subTest(value=make()):
                    self.same(function, make)


if __name__ == "__main__":
    unittest.main()
