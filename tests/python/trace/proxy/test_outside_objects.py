"""C on objects that exist before the call: exact containers, and instances of classes that derive from them."""

import collections
import enum
import functools
import gc
import sys
import types
import unittest
import weakref

import outside_objects as outside
import slotrt

# 3.15 has another error for what does not iterate, which its own C has to make.
BREAKS = 3 if sys.version_info < (3, 15) else 5
BASES = (collections.OrderedDict, dict, list, tuple, set, frozenset, collections.deque)
VIEWS = tuple({type(view) for kind in (dict, collections.OrderedDict) for view in (kind().keys(), kind().values(), kind().items())})


def described(value, within=()):
    """What an object is and holds, whatever its methods say."""
    name, within = type(value).__name__, (*within, id(value))
    if within.count(id(value)) > 1:
        return "itself"
    base = next((base for base in BASES if isinstance(value, base)), None)
    more = {key: described(held, within) for key, held in sorted(getattr(value, "__dict__", {}).items())}
    more |= {member: getattr(value, member) for member in ("maxlen", "default_factory") if hasattr(value, member)}
    if base is not None:
        items = [described(item, within) for item in base.__iter__(value)]
        values = [described(dict.__getitem__(value, key), within) for key in base.__iter__(value)] if isinstance(value, dict) else []
        return name, items, values, more
    if hasattr(value, "__next__") or isinstance(value, VIEWS):
        return name, [described(item, within) for item in value]
    if isinstance(value, (int, float, str, bytes, type(None), enum.Enum, type)):
        return name, repr(value)
    return name, more


def history(function, make, change, place):
    """What three calls give, and leave behind; the object is changed in between."""
    value, seen = make(), []
    for _ in range(3):
        place(value)
        try:
            seen.append(("gives", described(function(value))))
        except slotrt.InternalError:
            raise
        except Exception as error:
            seen.append(("raises", type(error).__name__, str(error)))
        seen.append(described(value))
        try:
            change(value)
        except (KeyError, StopIteration):
            seen.append("unchanged")
    return seen


class OutsideObjects(unittest.TestCase):
    def compare(self, wrapped, place=outside.leave):
        """Compares compiled with plain; gives the breaks."""
        breaks = 0
        for number, (make, change, program) in enumerate(outside.CASES):
            with self.subTest(number=number, of=type(make()).__name__, line=program.__code__.co_firstlineno):
                slotrt.reset()
                function = wrapped(program)
                compiled = history(slotrt.compile(function), make, change, place)
                self.assertEqual(compiled, history(function, make, change, place))
                breaks += slotrt.stats()["graph_breaks"]
        return breaks

    def test_as_arguments(self):
        self.assertLessEqual(self.compare(lambda program: program), BREAKS)

    def test_behind_attributes_items_and_entries(self):
        class Holder:
            pass

        holder = Holder()
        holder.items = [{}]

        def place(value):
            holder.items[0]["value"] = value

        def behind(program):
            return lambda value: program(holder.items[0]["value"])

        self.assertLessEqual(self.compare(behind, place), BREAKS)

    def test_broken_in_between_and_used_twice(self):
        def twice(program):
            return lambda value: (program(value), slotrt.graph_break(), program(value))

        self.compare(twice)

    def test_changed_before_it_is_used(self):
        def changed(program):
            def function(value):
                if hasattr(value, "__dict__"):
                    value.extra = 5
                return value, program(value), getattr(value, "extra", 1)

            return function

        self.compare(changed)


class Guards(unittest.TestCase):
    """What was read of an object is asked for again, and nothing else."""

    def traces(self, function, *values):
        slotrt.reset()
        compiled = slotrt.compile(function, fullgraph=True)
        for value in values:
            self.assertEqual(described(compiled(value)), described(function(value)))
        return slotrt.stats()["frames_compiled"]

    def test_one_entry(self):
        for kind in (dict, outside.Output, outside.Doubling, collections.defaultdict):
            one, other, third = ({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}, {"a": 2})
            made = [kind(int, **held) if kind is collections.defaultdict else kind(**held) for held in (one, other, third)]
            with self.subTest(kind=kind):
                self.assertEqual(self.traces(lambda d: d["a"], *made[:2]), 1)
                self.assertEqual(self.traces(lambda d: (d["a"], d.get("q")), *made), 1)
                self.assertEqual(self.traces(lambda d: "c" in d, made[0], made[2], made[1]), 2)
                self.assertEqual(self.traces(lambda d: len(d), made[0], made[1], made[2]), 3)

    def test_one_item(self):
        for kind in (list, outside.Stack, collections.deque, outside.Queue):
            with self.subTest(kind=kind):
                self.assertEqual(self.traces(lambda s: s[1] + 1, kind([1, 2]), kind([3, 2]), kind([1, 3])), 2)
                self.assertEqual(self.traces(lambda s: len(s), kind([1, 2]), kind("ab"), kind()), 2)

    def test_one_member_of_a_set(self):
        for kind in (set, outside.Bag, outside.Frozen):
            with self.subTest(kind=kind):
                self.assertEqual(self.traces(lambda s: "a" in s, kind("ab"), kind("ac"), kind("bc")), 2)

    def test_keys_that_are_hashed_by_their_addresses(self):
        one, two, three = (outside.Thing(number) for number in range(3))

        def looked_up(held, key):
            return held[key].value if key in held else held.get(key, "none")

        compiled = slotrt.compile(looked_up, fullgraph=True)
        for kind in (dict, collections.OrderedDict, outside.Doubling):
            for held in ({one: two}, {one: three}, {two: one}, {}, {one: two, three: three}):
                for key in (one, two, three):
                    self.assertEqual(compiled(kind(held), key), looked_up(kind(held), key))
        found = slotrt.compile(lambda held, key: key in held, fullgraph=True)
        for kind in (set, outside.Bag, frozenset):
            for held in ({one}, {two, one}, set()):
                self.assertEqual([found(kind(held), key) for key in (one, two)], [key in held for key in (one, two)])
        reference = weakref.ref(one)
        del one, held, key
        gc.collect()
        self.assertIsNone(reference())

    def test_weak_references_to_classes_as_keys(self):
        @functools.singledispatch
        def size(value):
            return "unknown"

        size.register(list, len)
        size.register(int, lambda value: value + 1)
        values = ([1, 2], 3, "text", outside.Stack("ab"))
        wanted = [size(value) for value in values]
        compiled = slotrt.compile(lambda value: size(value), fullgraph=True)
        self.assertEqual([compiled(value) for value in values * 2], wanted * 2)
        size.register(outside.Stack, lambda value: "stack")
        size.register(str, str.upper)
        self.assertEqual(slotrt.compile(size)(values[2]), "TEXT")
        again = slotrt.compile(lambda value: size(value))
        self.assertEqual([again(value) for value in values], [2, 4, "TEXT", "stack"])
        size.register(int, lambda value: -value)
        self.assertEqual([again(value) for value in values], [2, -3, "TEXT", "stack"])

    def test_members_of_c(self):
        def function(d):
            return d["new"], len(d)

        slotrt.reset()
        compiled = slotrt.compile(function, fullgraph=True)
        for factory in (int, list, lambda: "made", str):
            self.assertEqual(compiled(collections.defaultdict(factory)), function(collections.defaultdict(factory)))
        limits = slotrt.compile(lambda d: (d.append(1), list(d)), fullgraph=True)
        for limit in (None, 2, 1):
            self.assertEqual(limits(collections.deque([5, 6], limit))[1], list(collections.deque([5, 6, 1], limit)))

    def test_slots_that_become_empty(self):
        def noted(stack):
            return list(stack), getattr(stack, "note", "none")

        compiled = slotrt.compile(noted)
        for note in (None, 1, None, 2):
            stack = outside.Slotted([1])
            if note:
                stack.note = note
            self.assertEqual(compiled(stack), noted(stack))

    def test_the_order_of_keys(self):
        one, other = outside.Output(a=1, b=2), outside.Output(a=1, b=2)
        other.move_to_end("a")
        compiled = slotrt.compile(lambda d: list(d), fullgraph=True)
        self.assertEqual([compiled(one), compiled(other), compiled(one)], [["a", "b"], ["b", "a"], ["a", "b"]])

    def test_two_objects_that_become_one(self):
        def function(one, other):
            one.append(1)
            return len(other), id(one) == id(other)

        compiled = slotrt.compile(function)
        for kind in (list, outside.Stack, collections.deque):
            for same in (False, True, False, True):
                pairs = []
                for _ in range(2):
                    one = kind([5])
                    pairs.append((one, one if same else kind([6])))
                with self.subTest(kind=kind, same=same):
                    self.assertEqual(compiled(*pairs[0]), function(*pairs[1]))

    def test_iterated_while_it_changes(self):
        def grows(stack):
            for item in stack:
                if len(stack) < 6:
                    stack.append(item)
            return list(stack)

        def fails(d):
            try:
                for key in d:
                    d[key + "x"] = 1
            except RuntimeError as error:
                return str(error), dict(d)

        self.assertEqual(slotrt.compile(grows)(outside.Stack([1, 2])), grows(outside.Stack([1, 2])))
        for kind in (outside.Output, outside.Doubling):
            self.assertEqual(slotrt.compile(fails)(kind(a=1)), fails(kind(a=1)))

    def test_repeated_keywords(self):
        def function(d):
            return dict(**d, **d)

        for kind in (outside.Output, outside.Registry, collections.UserDict):
            messages = []
            for call in (slotrt.compile(function), function):
                with self.assertRaises(TypeError) as caught:
                    call(kind(a=1))
                messages.append(str(caught.exception))
            self.assertEqual(*messages)

    def test_messages_name_classes_with_their_modules(self):
        def function(key):
            messages = []
            for use in ({}.get, {}.__getitem__, set().add, lambda key: {key: 1}):
                try:
                    use(key)
                except TypeError as error:
                    messages.append(str(error))
            return messages

        made = types.new_class("Made", (), {"metaclass": type("Meta", (type,), {})}, lambda own: own.update(__hash__=None))
        asked = type("Asked", (type,), {"__getattr__": lambda cls, name: None})("Kind", (), {"__hash__": None})
        for kind in (collections.UserDict, collections.ChainMap, collections.Counter, made, asked):
            self.assertEqual(slotrt.compile(function)(kind()), function(kind()))
        compiled, key = slotrt.compile(function), made()
        for made.__module__ in (__name__, "elsewhere", "builtins"):
            self.assertEqual(compiled(key), function(key))


if __name__ == "__main__":
    unittest.main()
