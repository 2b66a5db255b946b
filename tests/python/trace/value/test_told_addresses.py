"""What hangs on addresses: texts that tell one, as `object.__repr__` does, and the order of sets of objects hashed by them. Both are right for
objects that the trace makes and that live on."""

import operator
import re
import unittest

import slotrt


class Plain:
    """An instance that says its address."""


class Held:
    """Says what it holds."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Held({self.value!r})"


def told(text):
    return [int(address, 16) for address in re.findall("0x([0-9a-f]+)", text)]


class ToldAddresses(unittest.TestCase):
    """Each text beside the object, which is kept."""

    def told(self, function):
        compiled = slotrt.compile(function)
        kept = [compiled() for _ in range(3)]
        for text, made in kept:
            self.assertEqual(told(text), [id(made)], text)

    def test_texts_of_instances(self):
        def as_repr():
            made = Plain()
            return repr(made), made

        def as_str():
            made = Plain()
            return str(made), made

        def formatted():
            made = Plain()
            return f"{made} is it", made

        def by_percent():
            made = Plain()
            return "%r" % (made,), made

        def by_object():
            made = Plain()
            return object.__repr__(made), made

        for function in (as_repr, as_str, formatted, by_percent, by_object):
            with self.subTest(function.__name__):
                self.told(function)

    def test_texts_of_what_holds_them(self):
        def in_list():
            made = Plain()
            return repr([made, 1]), made

        def in_python():
            made = Plain()
            return repr(Held(made)), made

        def method():
            made = Held(1)
            return repr(made.__init__.__func__), Held.__init__

        for function in (in_list, in_python, method):
            with self.subTest(function.__name__):
                self.told(function)

    def test_texts_of_functions(self):
        def made():
            def inner():
                return 1

            return repr(inner), inner

        self.told(made)

    def test_hashes(self):
        def of_object():
            made = Plain()
            return object.__hash__(made), made

        def of_method():
            made = Plain()
            return made.__hash__(), made

        def by_caller():
            made = Plain()
            return operator.methodcaller("__hash__")(made), made

        def of_tuple():
            made = Plain()
            return hash((made, 1)), (made, 1)

        for function in (of_object, of_method, by_caller, of_tuple):
            with self.subTest(function.__name__):
                compiled = slotrt.compile(function)
                kept = [compiled() for _ in range(3)]
                for told_hash, made in kept:
                    self.assertEqual(told_hash, hash(made))

    def test_bytes(self):
        def made():
            made = Plain()
            return b"%r" % made, made

        compiled = slotrt.compile(made)
        text, made = compiled()
        self.assertEqual(told(text.decode()), [id(made)])

    def test_what_does_not_live_on_needs_no_address(self):
        compiled = slotrt.compile(lambda: repr(Plain()).startswith("<"), fullgraph=True)
        self.assertTrue(compiled())

    def test_changes_before_the_text_are_made_once(self):
        def change(log):
            log.append("before")
            made = Plain()
            log.append(repr(made))
            log.append(made)

        log = []
        compiled = slotrt.compile(change)
        for _ in range(2):
            compiled(log)
        self.assertEqual([log[0], log[3]], ["before"] * 2)
        for text, made in (log[1:3], log[4:6]):
            self.assertEqual(told(text), [id(made)])


class Orders(unittest.TestCase):
    """The order that the trace has seen, beside the one that the set has afterwards."""

    def ordered(self, function):
        compiled = slotrt.compile(function)
        for _ in range(6):
            seen, made = compiled()
            self.assertTrue(all(one is other for one, other in zip(seen, made, strict=True)))

    def test_sets_that_live_on(self):
        def loop():
            made = {Plain() for _ in range(5)}
            seen = []
            for item in made:
                seen.append(item)
            return seen, made

        def listed():
            made = set()
            for _ in range(5):
                made.add(Plain())
            return list(made), made

        def frozen():
            made = frozenset([Plain(), Plain(), Plain(), Plain()])
            return [*made], made

        def in_an_instance():
            held = Held({Plain() for _ in range(5)})
            return list(held.value), held.value

        for function in (loop, listed, frozen, in_an_instance):
            with self.subTest(function.__name__):
                self.ordered(function)

    def test_sets_whose_order_nobody_sees_are_made_by_the_trace(self):
        def visited(items):
            seen = set()
            made = [Plain() for _ in items]
            for item in made + made:
                if item not in seen:
                    seen.add(item)
            return len(seen), seen

        compiled = slotrt.compile(visited, fullgraph=True)
        # One of several may have its place from how the set was filled.
        self.assertEqual(compiled((1,))[0], 1)


if __name__ == "__main__":
    unittest.main()
