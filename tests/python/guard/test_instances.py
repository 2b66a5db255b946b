"""Trees of instances that come as arguments: watched while the argument is the same object. Each way to change one is noticed."""

import builtins
import collections
import gc
import random
import sys
import threading
import unittest
import weakref

import slotrt
from guard_cases import Case, TELLS, made

LEN = builtins.len


class Part:
    scale = 1

    def __init__(self, value):
        self.value = value
        self.hooks = collections.OrderedDict()
        self.numbers = [1, 2]

    def weigh(self):
        return self.value * self.scale + len(self.hooks) + self.numbers[0]


class Slotted:
    __slots__ = ("inner", "__dict__", "__weakref__")


class Tree:
    def __init__(self):
        self.parts = {"a": Part(1), "b": Part(2)}
        self.names = collections.OrderedDict(first="a")
        self.training = True
        self.slotted = Slotted()
        self.slotted.inner = 5
        self.slotted.other = 6

    def run(self):
        total = 0
        for part in self.parts.values():
            total += part.weigh()
        return total, self.training, self.parts[self.names["first"]].value, self.slotted.inner, self.slotted.other


class Heavier(Part):
    def weigh(self):
        return 100


def tried(change):
    """The same, unless earlier changes are in its way."""

    def changed(tree):
        try:
            change(tree)
        except (AttributeError, LookupError, TypeError):
            pass

    return changed


def in_thread(change):
    def changed(tree):
        thread = threading.Thread(target=change, args=(tree,))
        thread.start()
        thread.join()

    return changed


def new_namespace(thing, **changes):
    thing.__dict__ = {**thing.__dict__, **changes}


def other_namespace_then_change(thing):
    # The dict that was watched stays as it is.
    thing.kept = None
    old = thing.__dict__
    thing.__dict__ = dict(old)
    thing.value = 77
    return old


CHANGES = {
    "attribute": lambda tree: setattr(tree.parts["a"], "value", 50),
    "attribute of object": lambda tree: object.__setattr__(tree.parts["a"], "value", 50),
    "attribute deleted": lambda tree: delattr(tree.parts["a"], "value"),
    "attribute in the namespace": lambda tree: tree.parts["a"].__dict__.update(value=50),
    "namespace cleared": lambda tree: tree.parts["a"].__dict__.clear(),
    "another namespace": lambda tree: new_namespace(tree.parts["a"], value=9),
    "a namespace of a derived class": lambda tree: setattr(
        tree.parts["a"], "__dict__", collections.OrderedDict(tree.parts["a"].__dict__, value=9)
    ),
    "another namespace, changed": lambda tree: other_namespace_then_change(tree.parts["a"]),
    "class": lambda tree: setattr(tree.parts["a"], "__class__", Heavier),
    "shadowed method": lambda tree: setattr(tree.parts["a"], "weigh", lambda: 11),
    "shadowed attribute of the class": lambda tree: setattr(tree.parts["b"], "scale", 7),
    "entry": lambda tree: tree.parts.update(a=Part(30)),
    "entry added": lambda tree: tree.parts.setdefault("c", Part(30)),
    "entry removed": lambda tree: tree.parts.pop("b"),
    "entries cleared": lambda tree: tree.parts.clear(),
    "entries merged": lambda tree: tree.parts.__ior__({"a": Part(30)}),
    "dict replaced": lambda tree: setattr(tree, "parts", {"a": Part(40)}),
    "hook added": lambda tree: tree.parts["a"].hooks.update(x=1),
    "entry of an ordered dict": lambda tree: tree.names.update(first="b"),
    "entry of an ordered dict, by dict": lambda tree: dict.__setitem__(tree.names, "first", "b"),
    "flag": lambda tree: setattr(tree, "training", False),
    "flag of another type": lambda tree: setattr(tree, "training", 0.0),
    "slot": lambda tree: setattr(tree.slotted, "inner", 8),
    "beside slots": lambda tree: setattr(tree.slotted, "other", 8),
    "item of a list": lambda tree: tree.parts["a"].numbers.__setitem__(0, 90),
    "list cleared": lambda tree: tree.parts["a"].numbers.clear(),
}

if hasattr(sys, "gettotalrefcount") and sys.version_info >= (3, 14):
    # A debug build of CPython aborts in its own LOAD_ATTR_WITH_HINT, also without slotrt.
    del CHANGES["a namespace of a derived class"]


def with_own_classes():
    """A tree of classes that nobody else has."""

    class OwnPart(Part):
        pass

    class OwnTree(Tree):
        pass

    tree = OwnTree()
    tree.parts = {"a": OwnPart(1), "b": OwnPart(2)}
    return tree


CLASS_CHANGES = {
    "method patched": lambda tree: setattr(type(tree.parts["a"]), "weigh", lambda self: 1000),
    "attribute of the class": lambda tree: setattr(type(tree.parts["a"]), "scale", 3),
    "property before the attribute": lambda tree: setattr(type(tree.parts["a"]), "value", property(lambda self: 17)),
    "bases": lambda tree: setattr(type(tree.parts["a"]), "__bases__", (Heavier,)),
    "__getattribute__": lambda tree: setattr(
        type(tree.parts["a"]), "__getattribute__", lambda self, name: 12 if name == "value" else object.__getattribute__(self, name)
    ),
}


class Instances(Case):
    def test_each_change_is_noticed(self):
        for name, change in CHANGES.items():
            for by in (change, in_thread(change)):
                with self.subTest(name, thread=by is not change):
                    slotrt.reset()
                    tree = Tree()
                    self.noticed(lambda tree: tree.run(), lambda: by(tree), tree)

    def test_each_change_in_a_global_is_noticed(self):
        for name, change in CHANGES.items():
            with self.subTest(name):
                slotrt.reset()
                tree = Tree()
                function = made("def f(): return tree.run()", {"tree": tree})
                self.noticed(function, lambda: change(tree))

    def test_each_change_in_a_closure_is_noticed(self):
        for name, change in CHANGES.items():
            with self.subTest(name):
                slotrt.reset()
                tree = Tree()
                self.noticed(lambda: tree.run(), lambda: change(tree))

    def test_each_change_of_classes_is_noticed(self):
        for name, change in CLASS_CHANGES.items():
            with self.subTest(name):
                slotrt.reset()
                tree = with_own_classes()
                self.noticed(lambda tree: tree.run(), lambda: change(tree), tree)

    def test_a_descriptor_that_becomes_one_of_data(self):
        class Descriptor:
            def __get__(self, thing, kind):
                return 31

        class Thing:
            x = Descriptor()

        thing = Thing()
        thing.__dict__["x"] = 1
        self.noticed(lambda thing: thing.x, lambda: setattr(Descriptor, "__set__", lambda *arguments: None), thing)

    def test_a_slot_of_the_name_of_an_entry(self):
        value = [1]
        thing = Slotted()
        thing.inner = value
        thing.__dict__["inner"] = value
        self.noticed(lambda thing: thing.inner[0], lambda: setattr(thing, "inner", [2]), thing)

    def test_a_cell_gets_another_tree(self):
        tree = Tree()

        def function():
            return tree.run()

        def change():
            nonlocal tree
            tree = Tree()
            tree.training = False

        self.noticed(function, change)

    def test_a_builtin_is_patched(self):
        tree = Tree()
        try:
            self.noticed(lambda tree: tree.run(), lambda: setattr(builtins, "len", lambda _: 40), tree)
        finally:
            builtins.len = LEN

    def test_objects_that_take_turns(self):
        compiled = slotrt.compile(lambda tree: tree.run())
        trees = [Tree() for _ in range(5)]
        for number, tree in enumerate(trees):
            tree.training = number % 2 == 0
        for _ in range(20):
            for tree in trees:
                self.assertEqual(compiled(tree), tree.run())
        trees[3].parts["b"].value = 8
        for tree in trees:
            self.assertEqual(compiled(tree), tree.run())

    def test_an_object_where_another_one_was(self):
        compiled = slotrt.compile(lambda tree: tree.run())
        for number in range(300):
            tree = Tree()
            tree.parts["a"].value = number % 3
            self.assertEqual(compiled(tree), tree.run())
            if number % 7 == 0:
                self.assertEqual(compiled(tree), tree.run())
            del tree

    def test_a_changed_flag_of_one_of_two(self):
        one, other = Tree(), Tree()
        compiled = slotrt.compile(lambda tree: tree.training)
        for _ in range(3):
            self.assertIs(compiled(one), True)
        other.training = False
        self.assertIs(compiled(other), False)
        self.assertIs(compiled(one), True)

    def test_nothing_is_kept_alive(self):
        compiled = slotrt.compile(lambda tree: tree.run())
        tree = Tree()
        for _ in range(4):
            compiled(tree)
        references = [weakref.ref(tree), weakref.ref(tree.parts["a"]), weakref.ref(tree.slotted)]
        del tree
        gc.collect()
        self.assertEqual([reference() for reference in references], [None] * 3)
        self.assertEqual(compiled(Tree()), Tree().run())

    def test_parts_that_end_between_calls(self):
        compiled = slotrt.compile(lambda tree: tree.run())
        tree = Tree()
        for number in range(200):
            self.assertEqual(compiled(tree), tree.run())
            tree.parts["a"] = Part(number % 2)
            gc.collect() if number % 50 == 0 else None

    def test_the_program_sees_no_difference(self):
        tree = Tree()
        namespace, keys = tree.__dict__, list(tree.__dict__)
        compiled = slotrt.compile(lambda tree: tree.run())
        for _ in range(4):
            compiled(tree)
        self.assertIs(tree.__dict__, namespace)
        self.assertEqual(list(vars(tree)), keys)
        tree.added = 1
        del tree.training
        self.assertEqual(list(namespace), [*(key for key in keys if key != "training"), "added"])
        self.assertEqual(namespace["added"], 1)
        self.assertRaises(AttributeError, lambda: tree.training)

    def test_random_changes(self):
        for seed in range(30):
            rng = random.Random(seed)
            slotrt.reset()
            trees = [Tree() for _ in range(rng.choice([1, 1, 2, 3]))]
            compiled = slotrt.compile(lambda tree: tree.run())
            for _ in range(60):
                tree = rng.choice(trees)
                if rng.random() < 0.3:
                    change = tried(CHANGES[rng.choice(list(CHANGES))])
                    (in_thread(change) if rng.random() < 0.2 else change)(tree)
                if rng.random() < 0.05:
                    trees[trees.index(tree)] = tree = Tree()
                results = []
                for call in (Tree.run, compiled):
                    try:
                        results.append(call(tree))
                    except Exception as error:
                        results.append((type(error), str(error)))
                self.assertEqual(results[0], results[1], seed)

    def test_no_weak_references(self):
        """The program sees none but its own."""

        def seen(part):
            slotrt.graph_break()
            return part.value, part.__weakref__, weakref.getweakrefcount(part)

        for function in (seen, Part.weigh):
            part, compiled = Part(3), slotrt.compile(function)
            for _ in range(4):
                self.assertEqual(compiled(part), function(part))
            self.assertEqual((part.__weakref__, weakref.getweakrefcount(part)), (None, 0))

    def test_objects_at_one_address(self):
        """Where an object has ended another one comes to lie: of its class or not, with its `__dict__` or not."""

        class Cousin(Part):
            def weigh(self):
                return -self.value

        compiled, rng, addresses = slotrt.compile(lambda part: part.weigh()), random.Random(5), set()
        kept = {}
        for step in range(400):
            part = rng.choice([Part, Part, Cousin])(step % 3)
            addresses.add(id(part))
            if rng.random() < 0.3:
                part.__dict__ = rng.choice([part.__dict__, kept]) or part.__dict__
            if rng.random() < 0.2:
                kept = part.__dict__
            if rng.random() < 0.2:
                kept["value"] = step
            for _ in range(rng.choice([1, 2, 3])):
                self.assertEqual(compiled(part), part.weigh(), step)
            del part
        self.assertLess(len(addresses), 200)

    @unittest.skipUnless(TELLS, "CPython tells of changes from 3.12 on")
    def test_little_is_checked(self):
        tree = Tree()
        report = slotrt.explain(lambda tree: (tree.training, tree.parts["a"].value))(tree)
        guards = [guard for frame in report.frames for guard in frame["guards"]]
        self.assertEqual([guard for guard in guards if guard["how"] == "checked"], [])



if __name__ == "__main__":
    unittest.main()
