"""Side effects on objects from outside happen at each call, in order, also when the call raises."""

import unittest

import slotrt


class Base:
    kind = "base"

    def name(self):
        return "Base.name"


class Derived(Base):
    pass


class SideEffects(unittest.TestCase):
    """Each call has the same side effects, in order, also when it raises."""

    def twice(self, function, make, look):
        results = []
        for call in (function, slotrt.compile(function)):
            seen = []
            for _ in range(3):
                args = make()
                try:
                    result = call(*args)
                except Exception as error:
                    result = (type(error), str(error))
                seen.append((repr(result), repr(look(*args))))
            results.append(seen)
        self.assertEqual(results[0], results[1])

    def test_attributes_items_and_lists(self):
        class Thing:
            def __repr__(self):
                return repr(self.__dict__)

        def function(thing, table, items):
            thing.a = 1
            thing.b = [thing.a]
            table["x"] = thing.b
            items.append(table["x"])
            items[0] = "changed"
            items.extend([4, 5])
            del thing.a
            return items[-1]

        self.twice(function, lambda: (Thing(), {}, [0]), lambda *args: args)

    def test_effects_survive_an_exception(self):
        def function(items):
            items.append(1)
            items.append(items[0] / 0)

        self.twice(function, lambda: ([2],), lambda items: items)

    def test_identity_of_materialised_objects(self):
        def function(items):
            inner = [1]
            items.append(inner)
            items.append(inner)
            return inner

        compiled = slotrt.compile(function)
        for _ in range(2):
            items = []
            inner = compiled(items)
            self.assertTrue(items[0] is inner and items[1] is inner)

    def test_fresh_objects_each_call(self):
        compiled = slotrt.compile(lambda: ([], {}, set(), Derived()))
        first, second = compiled(), compiled()
        for one, two in zip(first, second):
            self.assertIsNot(one, two)

    def test_cycle(self):
        def function():
            items = []
            items.append(items)
            table = {"items": items}
            items.append(table)
            return items

        compiled = slotrt.compile(function)
        for _ in range(2):
            items = compiled()
            self.assertIs(items[0], items)
            self.assertIs(items[1]["items"], items)

    def test_global_written(self):
        def function(a):
            global WRITTEN
            WRITTEN = a + 1
            return WRITTEN

        compiled = slotrt.compile(function)
        for value in (1, 2, 2.5):
            self.assertEqual((compiled(value), WRITTEN), (value + 1, value + 1))

    def test_nonlocal_written(self):
        count = 0

        def function(a):
            nonlocal count
            count += a
            return count

        compiled = slotrt.compile(function)
        self.assertEqual([compiled(2), compiled(3), count], [2, 5, 5])

    def test_iterator_argument_advances(self):
        compiled = slotrt.compile(lambda it: next(it))
        it = iter([1, 2, 3])
        self.assertEqual([compiled(it), compiled(it), list(it)], [1, 2, [3]])

    def test_iterators_over_lists_that_the_trace_changes(self):
        def grown(items, begin):
            items.extend([1, 2, 3])
            iterator = begin(items)
            next(iterator)
            stop()
            return list(iterator)

        def looped(items, begin):
            items.append(1)
            items += [2, 3]
            seen = []
            for number, item in enumerate(begin(items)):
                stop()
                seen.append((number, item))
            return seen

        def shrunk(items, begin):
            items += [1, 2, 3]
            iterator = begin(items)
            next(iterator), next(iterator)
            del items[:]
            stop()
            items.extend(range(9))
            return list(iterator)

        def own(items, begin):
            made = [*items, 1, 2, 3]
            iterator = begin(made)
            next(iterator), next(iterator)
            made.clear()
            stop()
            made.extend(range(9))
            return list(iterator)

        @slotrt.disable
        def stop():
            pass

        for function in (grown, looped, shrunk, own):
            for begin in (iter, reversed):
                for kind in (list, type("Items", (list,), {}), bytearray):
                    for items in ([], [7], [7, 8, 9]):
                        with self.subTest(function.__name__, begin=begin.__name__, kind=kind, items=items):
                            self.twice(function, lambda: (kind(items), begin), lambda items, begin: items)

    def test_materialised_closures(self):
        def function(a):
            count = a

            def get():
                return count

            def bump():
                nonlocal count
                count += 1

            return get, bump

        get, bump = slotrt.compile(function)(5)
        bump()
        bump()
        self.assertEqual((get(), get.__name__, get.__qualname__.rpartition(".")[2], get.__module__), (7, "get", "get", __name__))


if __name__ == "__main__":
    unittest.main()
