"""Two paths that lead to one object in some calls: no guard where nothing depends on it, and the right results where something does."""

import collections
import itertools
import random
import re
import unittest

import slotrt
from guard_cases import Case

# Which of three objects each of three arguments is.
PATTERNS = ((0, 1, 2), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, 0))


class Plain:
    def __init__(self):
        self.x, self.items, self.names = 1, [1], {"k": 1}


class Slots:
    __slots__ = ("x", "items", "names")
    __init__ = Plain.__init__


class Equal(Plain):
    """Instances that differ are never equal, and collide in tables."""

    def __eq__(self, other):
        return False

    def __hash__(self):
        return 7


class Property(Plain):
    @property
    def y(self):
        return self.x

    @y.setter
    def y(self, value):
        self.x = value


class Items(list):
    pass


class Names(dict):
    pass


MAKE = {
    "Items": lambda: Items([3, 1, 2]),
    "Names": lambda: Names(k=1),
    "deque": lambda: collections.deque([3, 1, 2]),
    "Plain": Plain,
    "Slots": Slots,
    "Equal": Equal,
    "Property": Property,
    "list": lambda: [3, 1, 2],
    "dict": lambda: {"k": 1},
    "set": lambda: {1, 2},
    "OrderedDict": lambda: collections.OrderedDict(k=1, j=2),
    "tuple": lambda: ([1], [2]),
}

ANY = """out.append(A is B)
out.append([A] == [B])
out.append(A in [B, C])
out.append([A, B, C].index(B))
out.append((A, 1) == (B, 1))
out.append({1: A} == {1: B})
out.append([A, B].count(C))
out.append(A == B)
out.append(A != B)
A, B = B, A
A = B
slotrt.graph_break()
out.append((lambda held: held is A)(B))"""

ATTRIBUTES = """A.x = B.x + 1
out.append(A.x)
A.items.append(B.x)
out.append(list(A.items))
A.items = B.items
A.names['n'] = B.x
out.append(dict(A.names))
out.append(A.items is B.items)
setattr(A, 'x', 5)
out.append(getattr(A, 'x', None))
A.items += B.items
A.items[0] = B.items[-1]"""

NAMESPACES = """A.z = B.x
out.append(hasattr(A, 'z'))
vars(A)['x'] = 9
out.append(vars(A)['x'])
out.append(sorted(vars(A)))
out.append({A: 1}.get(B))
out.append(len({A, B, C}))
A.other = B
A.__dict__.update(x=8)"""

LISTS = """A.append(B[0])
out.append(list(A))
A[0] = len(B)
A.extend(B)
A += [7]
A[:] = B
A.reverse()
del A[1:]
out.append(A[-1])
for v in list(A): B.append(v)
A.insert(0, B[-1])"""

DICTS = """A['k'] = len(B)
out.append(dict(A))
A['n%d' % len(A)] = 1
out.append(A.get('k'))
A.update(B)
out.append('n1' in A)
A.pop('n1', None)
A.setdefault('q', B['k'])
A |= B
for k in list(A): out.append(B.get(k))"""

SETS = """A.add(len(B))
out.append(sorted(A))
A |= B
A.discard(1)
A -= B
A ^= B
out.append(A <= B)"""

TUPLES = """A[0].append(len(B))
out.append(A[0] is B[0])
out.append([list(item) for item in A])
A[0][0] = len(B[0])"""

DEQUES = """A.append(B[0])
out.append(list(A))
A[0] = len(B)
out.append(A[-1])
A.extend(B)
A.reverse()
A.rotate(1)"""

STATEMENTS = {
    "Items": (LISTS, LISTS),
    "Names": (DICTS, DICTS),
    "deque": (DEQUES, DEQUES),
    "Plain": (ATTRIBUTES, NAMESPACES),
    "Slots": (ATTRIBUTES,),
    "Equal": (ATTRIBUTES, NAMESPACES),
    "Property": (ATTRIBUTES, "A.y = B.y + 1\nout.append(A.y)"),
    "list": (LISTS, LISTS),
    "dict": (DICTS, DICTS),
    "set": (SETS, SETS),
    "OrderedDict": (DICTS, "A.move_to_end('k')\nout.append(list(A))"),
    "tuple": (TUPLES, TUPLES),
}

# How the function gets the three objects.
FORMS = (
    ("def f(a, b, c):", lambda a, b, c: (a, b, c)),
    ("def f(*args):\n    a, b, c = args", lambda a, b, c: (a, b, c)),
    ("def f(all):\n    a = all[0]; b = all[1]; c = all[2]", lambda a, b, c: ([a, b, c],)),
    ("def f(all):\n    a = all['a']; b = all['b']; c = all['c']", lambda a, b, c: (dict(a=a, b=b, c=c),)),
    ("def f(h, c):\n    a = h.a; b = h.b", lambda a, b, c: (Holder(a, b), c)),
)


class Holder:
    def __init__(self, a, b):
        self.a, self.b = a, b


def picture(value, seen):
    """What a value holds, and which parts of it are one object."""
    if isinstance(value, (int, str, type(None))):
        return value
    if id(value) in seen:
        return ("seen", seen[id(value)])
    seen[id(value)] = len(seen)
    if isinstance(value, (list, tuple, collections.deque)):
        return (type(value).__name__, [picture(item, seen) for item in value])
    if isinstance(value, dict):
        return (type(value).__name__, [(key, picture(item, seen)) for key, item in value.items()])
    if isinstance(value, set):
        return ("set", sorted(value))
    held = [value.x, value.items, value.names] if isinstance(value, Slots) else vars(value)
    return (type(value).__name__, picture(held, seen))


KEPT = Plain()
NUMBER = 1


class Random(Case):
    """Random functions, called with random patterns of the same objects."""

    PROGRAMS = 60

    def called(self, function, given):
        try:
            result = function(*given)
        except Exception as error:
            result = [type(error).__name__, re.sub("0x[0-9a-f]+", "", str(error))]
        seen = {}
        return picture(result, seen), picture(list(given), seen)

    def programs(self, kind):
        for seed in range(self.PROGRAMS):
            choice = random.Random(f"{kind} {seed}")
            pool = [line for text in (ANY, *STATEMENTS[kind]) for line in text.splitlines()]
            lines = [choice.choice(pool) for _ in range(choice.randint(2, 7))]
            body = "".join("    " + "".join(choice.choice("abc") if c in "ABC" else c for c in line) + "\n" for line in lines)
            head, give = choice.choice(FORMS)
            text = f"{head}\n    out = []\n{body}    return out, a, b, c\n"
            with self.subTest(seed=seed, program=text):
                self.program(kind, text, give, choice)

    def program(self, kind, text, give, choice):
        slotrt.reset()
        namespace = {"slotrt": slotrt}
        exec(text, namespace)
        function = namespace["f"]
        compiled = slotrt.compile(function)
        for _ in range(6):
            pattern, shared = choice.choice(PATTERNS), choice.choice((False, False, True))
            results = []
            for call in (function, compiled):
                objects = [MAKE[kind]() for _ in range(3)]
                if shared and isinstance(objects[0], (Plain, Slots)):
                    objects[1].items, objects[1].names = objects[0].items, objects[0].names
                results.append(self.called(call, give(*(objects[index] for index in pattern))))
            self.assertEqual(*results, pattern)


for kind in MAKE:
    setattr(Random, f"test_{kind}", lambda self, kind=kind: self.programs(kind))


class Relied(Case):
    """Each function gives what the plain one gives, whichever pattern comes first, and is traced as often as it must be."""

    def traces(self, function, make, patterns=PATTERNS):
        most = 0
        for order in (patterns, patterns[::-1]):
            slotrt.reset()
            compiled = slotrt.compile(function)
            for pattern in (*order, *order):
                for call in (function, compiled):
                    objects = [make() for _ in range(3)]
                    given = [objects[index] for index in pattern][: function.__code__.co_argcount]
                    seen = {}
                    result = picture(call(*given), seen), picture(given, seen)
                    if call is function:
                        wanted = result
                self.assertEqual(result, wanted, pattern)
            most = max(most, slotrt.stats()["frames_compiled"])
        return most

    def test_objects_that_are_read_or_passed_on_need_no_guard(self):
        self.assertEqual(self.traces(lambda a, b, c: ([a, b], c), Plain), 1)
        self.assertEqual(self.traces(lambda a, b, c: (a.x + b.x, len(c.items)), Plain), 1)
        self.assertEqual(self.traces(lambda a, b, c: (a + b, c[0]), MAKE["list"]), 1)
        self.assertEqual(self.traces(lambda a, b, c: (a["k"], b, c), MAKE["dict"]), 1)
        self.assertEqual(self.traces(lambda a, b, c: (a | b, 1 in c), MAKE["set"]), 1)

    def test_only_the_objects_in_question_are_guarded(self):
        def change(a, b, c):
            a.x = 5
            a.items = b.x
            return c

        # `a` and `b` are one object, or two; `c` is passed on.
        self.assertEqual(self.traces(change, Plain), 2)

        def compare(a, b, c):
            return a is b, c.x

        self.assertEqual(self.traces(compare, Plain), 2)

    def test_a_change_that_is_taken_back(self):
        def change(a, b):
            a.append(1)
            length = len(b)
            a.pop()
            return [length]

        self.assertEqual(self.traces(change, MAKE["list"]), 2)

        def fill(a, b):
            a ^= b
            a |= b
            return [sorted(a)]

        self.traces(fill, MAKE["set"])

    def test_comparison_by_c_begins_with_identity(self):
        for function in (
            lambda a, b: [[a] == [b]],
            lambda a, b: [a in [b], [a].count(b)],
            lambda a, b: [len({a, b}), {a: 1}.get(b)],
            lambda a, b: [(a, 1) == (b, 1), {1: a} == {1: b}],
            lambda a, b: [[a] != [b]],
        ):
            for make in (Plain, Equal):
                self.traces(function, make)

    def test_objects_reached_through_a_class_a_global_or_a_default(self):
        class Shared:
            kept = Plain()

        def of_class(a):
            a.x = 5
            return Shared.kept.x

        def of_global(a):
            a.x = 6
            return KEPT.x

        def of_default(a, b=KEPT):
            a.x = 7
            return b.x

        for function, kept in ((of_class, Shared.kept), (of_global, KEPT), (of_default, KEPT)):
            for first, second in itertools.permutations((kept, Plain())):
                slotrt.reset()
                compiled = slotrt.compile(function)
                for given in (first, second, first, second):
                    given.x = kept.x = 1
                    wanted = function(given)
                    given.x = kept.x = 1
                    self.assertEqual(compiled(given), wanted)

    def test_globals_that_come_as_a_dict(self):
        def store(names):
            global NUMBER
            NUMBER = 2
            return names["NUMBER"]

        for order in ((globals(), {"NUMBER": 1}), ({"NUMBER": 1}, globals())):
            slotrt.reset()
            compiled = slotrt.compile(store)
            for names in order * 2:
                names["NUMBER"] = 1
                wanted = store(names)
                names["NUMBER"] = 1
                self.assertEqual(compiled(names), wanted)

    def test_the_namespace_of_an_argument(self):
        def change(a, b):
            vars(a)["x"] = 9
            return [b.x, vars(b)["x"]]

        self.assertEqual(self.traces(change, Plain), 2)

    def test_a_pair_is_guarded_once(self):
        def count(a, items):
            return sum(a is item for item in items for _ in range(5))

        item = Plain()
        report = slotrt.explain(count)(item, [item, Plain()])
        self.assertEqual(report.result, 5)
        said = [guard for frame in report.frames for guard in frame["guards"] if "compared identities" in guard["reason"]]
        self.assertEqual(len(said), 2, said)

    def test_a_list_that_is_made_to_hold_itself(self):
        def within(a, b):
            made = (lambda x, y=a: (x, y))(b)
            a[-1] = made
            return a[-1][1] is a, len(a)

        compiled = slotrt.compile(within)
        for _ in range(3):
            items = [3, 1, 2]
            self.assertEqual(compiled(items, 0), (True, 3))
            self.assertIs(items[-1][1], items)


if __name__ == "__main__":
    unittest.main()
