"""`id()` of objects that a trace makes."""

import copy
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

    def test_the_number_is_that_of_the_object_that_leaves(self):
        number, made = slotrt.compile(given_away)()
        self.assertEqual(number, id(made))


if __name__ == "__main__":
    unittest.main()
