"""`id()` of objects that a trace makes."""

import copy
import functools
import io
import itertools
import pickle
import reprlib
import unittest

import slotrt



class C:
    def __init__(self): self.a=[1,2]; self.b={'x':self.a}
class R:
    def __init__(self): self.l=[self]
    @reprlib.recursive_repr()
    def __repr__(self): return f"R({self.l})"
def deep_copied():
    c=C(); d=copy.deepcopy(c); return d.a, d.b, d.a is d.b['x'], d.a is c.a
def compared():
    a=[]; b=[]; return id(a)==id(b), id(a)==id(a), id(a)!=id(b)
def maybe_the_same_address():
    return id([])==id([])
def kept():
    a=[1]; o=id(a); a*=3; return id(a)==o, o in {id(a)}, {id(a):1}[o], id(a) in (o, 5)
def recursive():
    return repr(R())
def given_away():
    a=[]; return id(a), a
def computed():
    a=[]; return id(a) % 2
def hashed():
    a=[]; return hash(id(a)) == hash(id(a))
def written():
    a=[]; return str(id(a)).isdigit()
def copied_cycle():
    a=[]; a.append(a); return len(copy.deepcopy(a)), isinstance(id(a), int), id(a) == 5, id(a) == id(int)
def with_a_memo():
    memo={}; a=[[1],[2]]; b=copy.deepcopy(a, memo); return b, len(memo)
def ordered():
    a=[]; b=a; return sorted([id(a), id(b)])[0] == id(a)
def in_a_set():
    s=set()
    for x in [[],{},()]: s.add(id(x))
    return len(s)
G=[]
def from_outside():
    return id(G)==id(G), id(G)==id([]), id(G) in {id(G)}


class Plain:
    pass


MIXED = [Plain(), [1], {}, Plain, len, 1.5, "s", (1,)]


def called_by_c(x):
    return list(map(id, x)), sorted(x, key=id), max(x, key=id), dict(zip(map(id, x), x)), set(map(id, x)), min(map(id, x))


def called_by_itertools(x):
    groups = [key for key, _ in itertools.groupby(x, id)]
    return groups, list(itertools.starmap(id, [(y,) for y in x])), functools.partial(id, x)(), [*filter(id, x)]


def kept_by_id(x):
    seen, memo = [], {}
    for item in x:
        seen.append(memo.get(id(item)))
        memo[id(item)] = len(memo)
    return seen, len(set(map(id, x))), len({id(item) for item in x})


def kept_beside_others(x):
    memo = {id(MIXED): "mixed", id(MIXED[0]): "plain", id(MIXED[1]): "list", id(Plain): "class"}
    return [memo.get(id(item)) for item in x]


def kept_before_others(x):
    memo = {id(item): index for index, item in enumerate(x)}
    return [memo.get(id(other)) for other in (MIXED, MIXED[0], MIXED[1], Plain)]


def pickled(x):
    out = io.BytesIO()
    pickle._Pickler(out, 0).dump(x)
    return out.getvalue()


def copied(x):
    made = copy.deepcopy(x)
    return [[index for index, other in enumerate(made) if other is item] for item in made], made == x


def hashed_by_c(x):
    return [*map(object.__hash__, x)], [*map(object.__repr__, x)], [*map(hash, [x[0], x[3], x[5]])]


def of_made_objects(x):
    made = [Plain(), [2], object()]
    ids = list(map(id, made))
    return ids == [id(y) for y in made], [hash(made[0])] == list(map(hash, made[:1])), len(set(ids))


def of_made_objects_that_leave():
    made = [Plain(), [2], object()]
    return made, list(map(id, made)), list(map(hash, [made[0], made[2]]))


WHOLE = [deep_copied, compared, kept, recursive, copied_cycle, with_a_memo, in_a_set]
BROKEN = [maybe_the_same_address, computed, hashed, written, ordered, from_outside]


class Ids(unittest.TestCase):
    def test_within_the_trace(self):
        for function in WHOLE:
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function, fullgraph=True)
                self.assertEqual(compiled(), function())
                self.assertEqual(compiled(), function())

    def test_numbers_that_matter(self):
        for function in BROKEN:
            with self.subTest(function=function.__name__):
                self.assertRaises(slotrt.GraphBreak, slotrt.compile(function, fullgraph=True))
                self.assertEqual(type(slotrt.compile(function)()), type(function()))

    def test_the_materialised_object_has_the_number(self):
        number, made = slotrt.compile(given_away)()
        self.assertEqual(number, id(made))

    def test_numbers_that_c_reads(self):
        for function in (called_by_c, called_by_itertools, hashed_by_c, of_made_objects):
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function)
                for _ in range(2):
                    self.assertEqual(compiled(MIXED), function(MIXED))

    def test_two_paths_to_one_object(self):
        one, two, inner = [1], [1], {}
        lists = ([one, two], [one, one], [two, one, two], [[one], one], [inner, inner, {}], [MIXED, MIXED[1], MIXED[1], []], [one, two])
        plain = [MIXED[0], MIXED[0], Plain()]
        for function in (kept_by_id, kept_beside_others, kept_before_others, pickled, copied):
            compiled = slotrt.compile(function)
            for argument in (*lists, plain) if function not in (pickled, copied) else lists:
                with self.subTest(function=function.__name__, argument=argument):
                    for _ in range(2):
                        self.assertEqual(compiled(argument), function(argument))

    def test_materialised_objects_have_the_numbers_that_c_read(self):
        compiled = slotrt.compile(of_made_objects_that_leave)
        for _ in range(2):
            made, ids, hashes = compiled()
            self.assertEqual(ids, [id(x) for x in made])
            self.assertEqual(hashes, [hash(made[0]), hash(made[2])])


class MadeByC(unittest.TestCase):
    def test_c_reuses_the_address_of_an_object_that_ended(self):
        def reused():
            return len(set(map(id, itertools.combinations("abcde", 3))))

        self.assertEqual(slotrt.compile(reused)(), reused())
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(reused, fullgraph=True)()


if __name__ == "__main__":
    unittest.main()
