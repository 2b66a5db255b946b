"""Weak proxies from outside: the trace does with what they refer to what C would do with it."""

import unittest
import weakref

import slotrt


class Thing:
    def __init__(self, number):
        self.number = number
        self.items = [1, 2, number]

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, item):
        return item in self.items

    def __getitem__(self, index):
        return self.items[index]

    def __setitem__(self, index, value):
        self.items[index] = value

    def __add__(self, other):
        return self.number, "add", getattr(other, "number", other)

    def __radd__(self, other):
        return self.number, "radd", other

    def __iadd__(self, other):
        self.number += other
        return self

    def __neg__(self):
        return -self.number

    def __eq__(self, other):
        return self.number == getattr(other, "number", other)

    def __lt__(self, other):
        return self.number < getattr(other, "number", other)

    def __gt__(self, other):
        return self.number > getattr(other, "number", other)

    def __bool__(self):
        return self.number != 0

    def __call__(self, *args, **kwargs):
        return self.number, args, kwargs

    def __str__(self):
        return f"thing {self.number}"

    def method(self, more):
        return self.number + more


PROGRAMS = (
    lambda p, o: (p.number, p.items, p.method(3), type(p).__name__, p.__class__.__name__, isinstance(p, Thing)),
    lambda p, o: (len(p), list(p), 2 in p, 9 in p, p[0], p[-1]),
    lambda p, o: (p + 1, 1 + p, p + o, p + p, -p),
    lambda p, o: (p == o, p == 3, p != 4, p < o, p > 7, p == p),
    lambda p, o: ("yes" if p else "no", not p, bool(p)),
    lambda p, o: (p(1, 2, a=3), str(p), sorted(p, reverse=True)),
    lambda p, o: hasattr(p, "absent"),
)


def sets(p, o):
    p.number = 8
    p.more = [1]
    p[0] = 5
    del p.items[1]
    return p.number, o.number, o.more, o.items


def deletes(p, o):
    del p.number
    return hasattr(o, "number")


def grows(p, o):
    p += 2
    return p.number, type(p).__name__


def raises(p, o):
    return p.absent


class WeakProxies(unittest.TestCase):
    def test_what_is_read(self):
        for program in PROGRAMS:
            with self.subTest(line=program.__code__.co_firstlineno):
                slotrt.reset()
                compiled = slotrt.compile(program)
                for number in 3, 3, 0, 9:
                    thing = Thing(number)
                    proxy = weakref.proxy(thing)
                    self.assertEqual(compiled(proxy, thing), program(proxy, thing))
                self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_what_is_changed(self):
        for program in sets, deletes, grows:
            slotrt.reset()
            compiled = slotrt.compile(program)
            for number in 3, 4:
                seen = []
                for run in program, compiled:
                    thing = Thing(number)
                    seen.append((run(weakref.proxy(thing), thing), vars(thing)))
                self.assertEqual(seen[1], seen[0])
            self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_what_c_does_not_go_through_stays_a_proxy(self):
        class Other:
            pass

        def kept(p, other):
            return [type(min(p, 20)).__name__, type(max(20, p, key=id)) in (int, type(p)), min(p) + max(p)]

        def refused(p, other):
            told = []
            for call in (lambda: min(other, {}), lambda: max({}, other), lambda: sum([], other), lambda: min(20, other)):
                try:
                    told.append(type(call()).__name__)
                except TypeError as error:
                    told.append(str(error))
            return told

        thing, ended = Thing(3), Other()
        arguments = weakref.proxy(thing), weakref.proxy(ended)
        for program in kept, refused:
            compiled = slotrt.compile(program)
            for _ in range(2):
                self.assertEqual(compiled(*arguments), program(*arguments))

    def test_a_call_of_what_cannot_be_called(self):
        class Other:
            pass

        def program(proxy):
            try:
                return proxy(1)
            except TypeError as error:
                return str(error)

        kept = Other()
        proxy = weakref.proxy(kept)
        compiled = slotrt.compile(program)
        for _ in range(2):
            self.assertEqual(compiled(proxy), program(proxy))
        Other.__call__ = lambda self, number: number
        self.assertEqual(compiled(proxy), program(proxy))

    def test_what_is_gone(self):
        def program(p, o):
            return p.number

        for function in (program, slotrt.compile(program)) * 2:
            proxy = weakref.proxy(Thing(1))
            with self.assertRaisesRegex(ReferenceError, "weakly-referenced object no longer exists"):
                function(proxy, None)
            thing = Thing(2)
            self.assertEqual(function(weakref.proxy(thing), None), 2)
            with self.assertRaisesRegex(AttributeError, "'Thing' object has no attribute 'absent'"):
                (raises if function is program else slotrt.compile(raises))(weakref.proxy(thing), None)

    def test_a_dead_one_beside_a_wrong_argument(self):
        def program(first, second, third):
            outcomes = []
            for make in (lambda: map(int, first, second), lambda: zip(first, second), lambda: enumerate(second, third)):
                try:
                    outcomes.append(list(make()))
                except (TypeError, ValueError, ReferenceError) as error:
                    outcomes.append(repr(error))
            return outcomes

        compiled = slotrt.compile(program)
        thing = Thing(1)
        proxy = weakref.proxy(thing)
        for _ in range(2):
            for arguments in (0, proxy, "x"), ([1], proxy, 0), (proxy, 0, 0):
                self.assertEqual(compiled(*arguments), program(*arguments))
            thing = None

    def test_an_end_within_the_trace(self):
        def program(box):
            proxy = box[1]
            box[0] = None
            try:
                return proxy.number
            except ReferenceError:
                return "gone"

        compiled = slotrt.compile(program)
        for _ in range(2):
            seen = []
            for run in program, compiled:
                thing = Thing(1)
                box = [thing, weakref.proxy(thing)]
                del thing
                seen.append(run(box))
            self.assertEqual(seen[1], seen[0])


if __name__ == "__main__":
    unittest.main()
