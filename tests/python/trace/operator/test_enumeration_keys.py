"""Members of enumerations as keys of dicts and items of sets from outside, those that are texts and numbers, too."""

import enum
import unittest

import slotrt


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Text(str, enum.Enum):
    RED = "red"
    BLUE = "blue"


class Newer(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


class Number(enum.IntEnum):
    RED = 1
    BLUE = 2


class Flag(enum.Flag):
    RED = 1
    BLUE = 2


class Rights(enum.IntFlag):
    RED = 1
    BLUE = 2


HASHED = []


class Counted(enum.Enum):
    RED = 1
    BLUE = 2

    def __hash__(self):
        HASHED.append(self._name_)
        return hash(self._name_)


class CountedText(str, enum.Enum):
    RED = "red"
    BLUE = "blue"

    __hash__ = Counted.__hash__


CLASSES = [Colour, Text, Newer, Number, Flag, Rights]
TABLE, ITEMS = {}, set()


def uses(key):
    def given(read, *args):
        try:
            return read(*args)
        except KeyError as error:
            return type(error), error.args

    return (
        given(TABLE.__getitem__, key),
        TABLE.get(key, "default"),
        key in TABLE,
        key in ITEMS,
        given(lambda: TABLE[key]),
        [(held is key, value) for held, value in TABLE.items()],
        list(map(type, ITEMS)),
        len(TABLE),
        {**TABLE, "more": 1},
    )


def changes(key):
    TABLE[key] = "new"
    ITEMS.add(key)
    return len(TABLE), len(ITEMS), [(type(held), value) for held, value in TABLE.items()]


def deletes(key):
    had = TABLE.pop(key, None)
    ITEMS.discard(key)
    return had, len(TABLE), len(ITEMS)


class EnumerationKeys(unittest.TestCase):
    def fill(self, keys):
        TABLE.clear()
        ITEMS.clear()
        for index, key in enumerate(keys):
            TABLE[key] = index
            ITEMS.add(key)

    def state(self):
        return [(type(key), key, value) for key, value in TABLE.items()], sorted(map(repr, ITEMS))

    def check(self, function, keys, key):
        """The same as plain, three times; how many graphs broke."""
        slotrt.reset()
        compiled = slotrt.compile(function)
        for _ in range(3):
            self.fill(keys)
            HASHED.clear()
            wanted, hashed = function(key), list(HASHED)
            state = self.state()
            self.fill(keys)
            HASHED.clear()
            given = compiled(key)
            self.assertEqual((given, HASHED), (wanted, hashed))
            self.assertEqual(self.state(), state)
        return slotrt.stats()["graph_breaks"]

    def test_each_kind_is_one_graph(self):
        for kind in CLASSES:
            for function in uses, deletes:
                with self.subTest(kind=kind, function=function.__name__):
                    self.assertEqual(self.check(function, list(kind), kind.BLUE), 0)
                    self.assertEqual(self.check(function, [kind.RED], kind.BLUE), 0)
            with self.subTest(kind=kind, function="changes"):
                self.check(changes, list(kind), kind.BLUE)
                self.check(changes, [kind.RED], kind.BLUE)

    def test_keys_that_are_equal_to_members(self):
        for kind in CLASSES:
            for keys in ["red", "blue"], [1, 2], [1.0, kind.RED], [True, "blue", kind.BLUE], [("red", kind.RED), kind.RED]:
                for key in [*kind, *keys]:
                    for function in uses, changes, deletes:
                        with self.subTest(kind=kind, keys=keys, key=key, function=function.__name__):
                            self.check(function, keys, key)

    def test_a_member_gives_way_to_what_is_equal(self):
        for kind, plain in (Text, ["red", "blue"]), (Newer, ["red", "blue"]), (Number, [1, 2]), (Rights, [1, 2]):
            compiled = slotrt.compile(uses)
            for keys in list(kind), plain, [kind.RED, plain[1]], list(kind):
                for key in [*kind, *plain]:
                    self.fill(keys)
                    wanted = uses(key)
                    given = compiled(key)
                    self.assertEqual(given, wanted)
                    self.assertEqual(list(map(type, given[-1])), list(map(type, wanted[-1])))

    def test_a_hash_of_the_programs_own_runs_as_often(self):
        for kind in Counted, CountedText:
            for function in uses, changes, deletes:
                with self.subTest(kind=kind, function=function.__name__):
                    self.check(function, list(kind), kind.BLUE)
                    self.check(function, [kind.RED], kind.BLUE)


if __name__ == "__main__":
    unittest.main()
