"""Objects of C extension classes that a trace makes, instances of subclasses of builtins, and what C reads from classes."""

import _sha3
import array
import ast
import collections
import csv
import functools
import hashlib
import io
import os
import random
import re
import time
import unittest
import zlib

import slotrt

MATCH = re.compile("a+").match
KINDS = frozenset({int, str, type(None), frozenset({1})})


class User:
    pass


USERS = frozenset({User, int})


def numbers(last):
    made = array.array("i", [1, 2, last])
    made.append(3)
    made.extend([5])
    twice = made + made
    twice[0] = 7
    del twice[1]
    return made, twice, twice.tolist(), 3 in made, made.tobytes(), repr(twice), made == twice, list(reversed(made))


def wrong_number(given):
    try:
        array.array("b", [given])
    except (TypeError, OverflowError) as error:
        return type(error), str(error)


def tree(name):
    made = ast.Name(name, ast.Load())
    made.lineno = 3
    return ast.dump(made), made._fields, made.lineno, isinstance(made, ast.expr)


def packed(data):
    compressor = zlib.compressobj()
    made = compressor.compress(data) + compressor.flush()
    return made, zlib.decompress(made), zlib.crc32(data)


def kind(value):
    return type(value) in KINDS, frozenset({1}) in KINDS, len(KINDS)


def user(value):
    return type(value) in USERS


def given(**names):
    return sorted(dict(names, sentinel=SENTINEL))


SENTINEL = object()


def bound(value):
    return value.method.__class__ is type(value.method)


class Bound:
    def method(self):
        pass


Point = collections.namedtuple("Point", "x y")


class Number(int):
    pass


class Text(str):
    def __init__(self, *given):
        self.given = given


def derived(number):
    point, whole, text = Point(number, [number]), Number(number), Text("ab")
    whole.point = point
    return point, whole, text, [point, point], {point[0]: text}


def members(value):
    dictionary, order = type.__dict__["__dict__"].__get__, type.__dict__["__mro__"].__get__

    class Made(Bound):
        attribute = value

    of_complex = complex.__dict__["real"].__get__
    return dictionary(Made)["attribute"], order(Made)[1:], "method" in dictionary(Bound), of_complex(2j + value)


class Shouting(dict):
    """A dict whose iteration is its own."""

    def __init__(self, *given):
        super().__init__(*given)
        self.name = "shouting"

    def __iter__(self):
        raise AssertionError("nobody iterates")

    def keys(self):
        raise AssertionError("nobody asks")


class Row(list):
    pass


def containers(number):
    row, shouting = Row([1, number]), Shouting({"a": number, 2: [number]})
    row.append(row)
    return row, shouting


def tables(text):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerow([text, 'a"b'])
    rows = csv.reader(["a,b", f"{text};d"], delimiter=",")
    return out.getvalue(), list(rows), next(csv.reader(["a;b"], delimiter=";"))


def by_name(text):
    return list(csv.reader([text], "ours"))


def digests(data):
    started = hashlib.sha256(b"a")
    started.update(data)
    made = hashlib.md5(data), hashlib.blake2b(data), _sha3.sha3_256(data), hashlib.new("sha1", data)
    return started.hexdigest(), [digest.hexdigest() for digest in made]


def compiled_tree(number):
    tree, names = ast.parse(f"x = {number} + 1"), {}
    tree.body[0].value.right.value = 5
    exec(compile(tree, "made", "exec"), names)
    return names["x"]


def seeded(seed):
    numbers = random.Random(seed)
    return numbers.random(), numbers.randint(1, 9)


def unseeded(_):
    return random.Random().random()


class Held:
    @functools.lru_cache
    def cached(self, value):
        return [value]

    def plain(self):
        return self


HELD = Held()
Held.already_bound = HELD.plain


def held(value):
    bound = Held().already_bound() is HELD is Held.already_bound()
    return HELD.cached(value) is HELD.cached(value), Held.cached(HELD, value), bound


class ExtensionObjects(unittest.TestCase):
    def both(self, function, *args, **names):
        compiled = slotrt.compile(function, fullgraph=True)
        plain = function(*args, **names)
        self.assertEqual(compiled(*args, **names), plain)
        self.assertEqual(compiled(*args, **names), plain)
        return plain

    def test_arrays_are_made_changed_and_given_back(self):
        self.both(numbers, 3)
        one, two = (slotrt.compile(numbers, fullgraph=True)(4)[0] for _ in range(2))
        self.assertIsNot(one, two)
        self.assertIs(type(one), array.array)
        self.assertEqual(one.typecode, "i")

    def test_instances_of_classes_derived_from_tuple_int_and_str_are_given_back(self):
        compiled = slotrt.compile(derived, fullgraph=True)
        for _ in range(2):
            point, whole, text, both, keyed = compiled(3)
            self.assertEqual((point, whole, text, keyed), ((3, [3]), 3, "ab", {3: "ab"}))
            self.assertEqual([type(value) for value in (point, whole, text)], [Point, Number, Text])
            self.assertIs(whole.point, point)
            self.assertIs(both[0], both[1])
            self.assertEqual(text.given, ("ab",))
            self.assertEqual(vars(whole), {"point": point})

    def test_instances_of_classes_derived_from_list_and_dict_are_given_back(self):
        compiled = slotrt.compile(containers, fullgraph=True)
        for _ in range(2):
            row, shouting = compiled(3)
            self.assertIs(row[2], row)
            self.assertEqual((row[:2], dict.__len__(shouting), shouting["a"], shouting[2]), ([1, 3], 2, 3, [3]))
            self.assertEqual((type(row), type(shouting), shouting.name), (Row, Shouting, "shouting"))

    def test_tables(self):
        self.both(tables, "x")

    def test_dialects_by_name(self):
        csv.register_dialect("ours", delimiter=";")
        try:
            compiled = slotrt.compile(by_name, fullgraph=True)
            self.assertEqual(compiled("a;b"), [["a", "b"]])
            csv.register_dialect("ours", delimiter=":")
            self.assertEqual(compiled("a;b"), [["a;b"]])
        finally:
            csv.unregister_dialect("ours")
        with self.assertRaises(csv.Error):
            slotrt.compile(by_name)("a;b")

    def test_digests(self):
        self.both(digests, b"slots")

    def test_a_syntax_tree_of_the_trace_is_compiled(self):
        self.both(compiled_tree, 3)

    def test_random_numbers_need_a_seed(self):
        self.both(seeded, 3)
        self.assertEqual(len({slotrt.compile(unseeded)(None) for _ in range(3)}), 3)
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(unseeded, fullgraph=True)(None)

    def test_bound_methods_and_cached_functions_that_a_class_holds(self):
        self.both(held, 3)

    def test_descriptors_of_c_run(self):
        self.both(members, 3)

    def test_an_array_says_why_it_refuses(self):
        for value in (1, 300, "x", 1.5):
            self.both(wrong_number, value)

    def test_syntax_trees(self):
        self.both(tree, "x")

    def test_compression(self):
        self.both(packed, b"slots" * 40)

    def test_frozen_sets_of_classes_are_known_as_they_are(self):
        for value in (1, "a", None, 1.5, User()):
            self.both(kind, value)
        # Proxy classes stand for classes of Python code.
        self.assertTrue(slotrt.compile(user)(User()))
        self.assertFalse(slotrt.compile(user)("a"))

    def test_methods_of_c_that_get_their_class(self):
        compiled = slotrt.compile(lambda text: MATCH(text) is not None, fullgraph=True)
        self.assertTrue(compiled("aab"))
        self.assertFalse(compiled("b"))

    def test_what_dict_only_keeps_may_be_anything(self):
        self.both(given, a=1)

    def test_the_class_of_a_bound_method(self):
        self.both(bound, Bound())

    def test_a_time_is_a_tuple(self):
        def parts(year):
            made = time.struct_time((year, 1, 2, 3, 4, 5, 6, 7, 0))
            return made.tm_year, made[1], len(made)

        self.both(parts, 2020)

    def test_texts_of_paths(self):
        self.both(lambda path: os.path.normpath(path), "/a/../b//c")


if __name__ == "__main__":
    unittest.main()
