"""Loops, generator expressions and delegations: how far a sequence was read, and who can see it."""

import sys
import types
import unittest

import slotrt


def outcome(function, *args):
    """What a call gives, or the class and the text of what it raises."""
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


class Case(unittest.TestCase):
    def same(self, function, make, **options):
        compiled = slotrt.compile(function, **options)
        for _ in range(3):
            self.assertEqual(outcome(compiled, make()), outcome(function, make()))
        return compiled


class Broken(Case):
    """A graph ends within a loop, which goes on where it stood."""

    def test_sequences(self):
        def pairs(items):
            seen = []
            for item in items:
                for again in items:
                    seen.append((item, again))
                    slotrt.graph_break()
                slotrt.graph_break()
                seen.append(item)
            return seen

        for items in ([1, 2, 3], (1, 2.5, "x"), "abc", "aé\u4e00\U0001f600", b"\x00\xff", range(3), {1: 2, 3: 4}, [], ()):
            with self.subTest(items):
                self.same(pairs, lambda: items)

    def test_a_list_that_shrinks_and_grows(self):
        def changed(items):
            seen = []
            for item in items:
                seen.append(item)
                if item == 4:
                    items.clear()
                    slotrt.graph_break()
                    items.extend(range(10, 18))
                if len(seen) > 20:
                    break
            return seen, items

        self.same(changed, lambda: [1, 2, 3, 4])
        self.same(changed, lambda: [4, 4, 1])

    def test_a_list_that_ended_has_ended(self):
        def ended(items):
            seen = []
            for item in items:
                seen.append(item)
                slotrt.graph_break()
            items.append(5)
            slotrt.graph_break()
            for item in items:
                seen.append(item)
                if item == 5:
                    break
            else:
                seen.append("end")
            return seen

        self.same(ended, lambda: [1, 2])

    def test_exceptions_within_a_loop(self):
        def caught(items):
            seen = []
            for item in items:
                try:
                    seen.append(1 // item)
                    slotrt.graph_break()
                except ZeroDivisionError as error:
                    slotrt.graph_break()
                    seen.append(str(error))
                    continue
                finally:
                    seen.append(item)
            return seen

        self.same(caught, lambda: [1, 0, 2, 0])

    def test_with_within_a_loop(self):
        class Manager(list):
            def __enter__(self):
                return self

            def __exit__(self, *error):
                slotrt.graph_break()
                self.append(error[0])
                return True

        def managed(items):
            seen = []
            for item in items:
                with Manager() as manager:
                    slotrt.graph_break()
                    seen.append(1 // item)
                seen.append(manager)
            return seen

        self.same(managed, lambda: (1, 0, 2))


class Iterable:
    """Says when it is asked for an iterator."""

    def __init__(self, log, items):
        self.log, self.items = log, items

    def __iter__(self):
        self.log.append("asked")
        return iter(self.items)


class Expressions(Case):
    """Generator expressions ask for an iterator where the interpreter does, and as often."""

    def test_consumed(self):
        def consumed(items):
            return sum(x * 2 for x in items), [*(x for x in items if x)], tuple(x + 1 for x in items), any(x > 2 for x in items)

        for items in ([1, 2, 0], (3, 4), range(4), {1: 2}, b"ab"):
            self.same(consumed, lambda: items, fullgraph=True)

    def test_asked_once(self):
        def asked(items):
            log = []
            made = (x for x in Iterable(log, items))
            log.append("made")
            return list(made), log

        self.same(asked, lambda: [1, 2])

    def test_handed_out(self):
        def handed_out(items):
            made = (x * 2 for x in items)
            items.append(7)
            return made

        def handed_out_iterator(items):
            iterator = iter(items)
            next(iterator)
            return (x * 2 for x in iterator)

        def handed_out_asked(items):
            log = []
            return (x for x in Iterable(log, items)), log

        def of_a_dict(items):
            return (x for x in {item: item for item in items})

        for function in (handed_out, handed_out_iterator, of_a_dict):
            compiled = slotrt.compile(function)
            for _ in range(2):
                given, expected = [1, 2], [1, 2]
                left, right = compiled(given), function(expected)
                given.append(9)
                expected.append(9)
                self.assertEqual(list(left), list(right))
        compiled = slotrt.compile(handed_out_asked)
        for _ in range(2):
            (left, log), (right, expected) = compiled([1]), handed_out_asked([1])
            self.assertEqual((list(left), log), (list(right), expected))

    def test_of_what_does_not_iterate(self):
        def not_iterable(value):
            return list(x for x in value)

        self.same(not_iterable, lambda: 5)
        self.same(not_iterable, lambda: None)


class Delegating(Case):
    """What a generator delegates to is what the interpreter shows."""

    def test_what_is_delegated_to(self):
        def delegate(items):
            def generate():
                yield from items

            generator = generate()
            next(generator)
            return type(generator.gi_yieldfrom), list(generator)

        for items in ([1, 2], (1, 2), "ab", b"ab", range(2)):
            self.same(delegate, lambda: items)
            self.same(delegate, lambda: iter(items))

    def test_what_is_sent(self):
        def sent(items):
            def generate():
                yield from items

            generator = generate()
            next(generator)
            return generator.send(3)

        for items in ([1, 2], "ab", (1, 2), range(3)):
            self.same(sent, lambda: items)

    def test_what_is_thrown(self):
        def thrown(items):
            def generate():
                try:
                    yield from items
                except KeyError as error:
                    yield str(error)

            generator = generate()
            next(generator)
            return generator.throw(KeyError("thrown")), list(generator)

        for items in ([1, 2], "ab", (1, 2), range(3)):
            self.same(thrown, lambda: items)

    def test_generators_that_are_compiled(self):
        def over_set(items):
            for item in {*items}:
                yield item

        def over_list(items):
            for item in [*items]:
                slotrt.graph_break()
                yield item

        def over_text(items):
            for item in "".join(map(str, items)):
                yield item
                slotrt.graph_break()
                yield item

        def delegated(items):
            yield from items
            for item in iter(items):
                yield from (item, item)

        for function in (over_set, over_list, over_text, delegated):
            compiled = slotrt.compile(function)
            for _ in range(3):
                with self.subTest(function.__name__):
                    self.assertEqual(list(compiled([1, 2, 3])), list(function([1, 2, 3])))
                    left, right = compiled([1, 2, 3]), function([1, 2, 3])
                    for generator in (left, right):
                        next(generator)
                    self.assertEqual(outcome(left.send, None), outcome(right.send, None))
                    self.assertEqual(outcome(left.throw, KeyError("thrown")), outcome(right.throw, KeyError("thrown")))

    def test_coroutines(self):
        async def inner(x):
            return x * 2

        def driven(x):
            async def outer():
                return await inner(x) + await inner(x + 1)

            try:
                outer().send(None)
            except StopIteration as stop:
                return stop.value

        self.same(driven, lambda: 4)

        def wrong(x):
            def generate():
                yield from inner(x)

            coroutine = generate()
            return next(coroutine)

        self.same(wrong, lambda: 4)


@unittest.skipIf(sys.version_info < (3, 15), "imports are made at once")
class Lazy(Case):
    """An import that is still to be made is made where its name is read."""

    def module(self):
        module = types.ModuleType("lazily")
        sys.modules.pop("colorsys", None)
        exec("lazy import colorsys\nlazy from colorsys import hls_to_rgb\ndef read(x):\n    return x, colorsys.__name__, hls_to_rgb.__name__\n", vars(module))
        return module

    def test_read(self):
        module = self.module()
        compiled = slotrt.compile(module.read)
        for _ in range(3):
            self.assertEqual(compiled(1), (1, "colorsys", "hls_to_rgb"))

    def test_read_through_the_module(self):
        def read(module):
            return module.colorsys.__name__, module.hls_to_rgb.__name__

        for _ in range(2):
            compiled = slotrt.compile(read)
            module = self.module()
            self.assertEqual(compiled(module), ("colorsys", "hls_to_rgb"))
            self.assertEqual(compiled(module), ("colorsys", "hls_to_rgb"))

    def test_left_alone(self):
        def names(module):
            return type(vars(module)["colorsys"]).__name__

        compiled = slotrt.compile(names)
        module = self.module()
        self.assertEqual(compiled(module), "lazy_import")
        self.assertNotIn("colorsys", sys.modules)


if __name__ == "__main__":
    unittest.main()
