"""Guards on classes, their attributes and their instances, with each way to change them: noticed, whether CPython tells of the change or the guard is checked."""

import abc
import sys
import types
import unittest

import slotrt
from guard_cases import Case, made


class Classes(Case):
    def family(self):
        class Meta(type):
            pass

        class Base:
            x = 1

            def call(self):
                return "Base.call"

        class Middle(Base):
            pass

        class Other:
            x = 5

            def call(self):
                return "Other.call"

        class Last(Middle):
            pass

        return types.SimpleNamespace(**locals())

    def changes(self):
        def bases(n):
            n.Last.__bases__ = (n.Other,)

        def base_of_base(n):
            n.Middle.__bases__ = (n.Other,)

        def several(n):
            n.Last.__bases__ = (n.Other, n.Middle)

        def delete(n):
            n.Last.x, n.Last.call = 7, lambda self: "own"
            del n.Base.x

        def reach_in(n):
            import ctypes

            ctypes.pythonapi.PyObject_SetAttr(ctypes.py_object(n.Base), ctypes.py_object("x"), ctypes.py_object(3))

        return [
            bases,
            base_of_base,
            several,
            delete,
            reach_in,
            lambda n: setattr(n.Last, "x", 2),
            lambda n: setattr(n.Middle, "x", 2),
            lambda n: setattr(n.Base, "x", 2),
            lambda n: type.__setattr__(n.Base, "x", 2),
            lambda n: delattr(n.Base, "x"),
            lambda n: type.__delattr__(n.Base, "x"),
            lambda n: setattr(n.Base, "x", property(lambda self: "computed")),
            lambda n: setattr(n.Last, "__getattribute__", lambda self, name: "got"),
        ]

    def test_attributes_of_a_class_of_an_argument(self):
        for number in range(len(self.changes())):
            with self.subTest(number):
                names, change = self.family(), self.changes()[number]
                self.noticed(lambda thing: thing.x, lambda: change(names), names.Last())

    def test_attributes_of_a_class_in_globals(self):
        for number in range(len(self.changes())):
            names, change = self.family(), self.changes()[number]
            if number == len(self.changes()) - 1:
                continue  # of instances only
            with self.subTest(number):
                namespace = {"Last": names.Last}
                function = made("def f():\n    x = Last.x\n    return x if isinstance(x, int) else 'other'", namespace)
                self.noticed(function, lambda: change(names))

    def test_methods(self):
        ways = [
            lambda n: setattr(n.Base, "call", lambda self: "new"),
            lambda n: setattr(n.Last, "call", lambda self: "new"),
            lambda n: setattr(n.Base, "call", staticmethod(lambda: "static")),
            lambda n: setattr(n.Last, "__bases__", (n.Other,)),
            lambda n: setattr(n.Base.call, "__code__", (lambda self: "code").__code__),
            lambda n: delattr(n.Base, "call"),
        ]
        for number, way in enumerate(ways):
            with self.subTest(number):
                names = self.family()
                self.noticed(lambda thing: thing.call(), lambda: way(names), names.Last())

    def test_special_methods(self):
        class Thing:
            def __add__(self, other):
                return "added"

            def __len__(self):
                return 3

        ways = [
            lambda: setattr(Thing, "__add__", lambda self, other: "new"),
            lambda: setattr(Thing, "__len__", lambda self: 4),
            lambda: delattr(Thing, "__len__"),
            lambda: delattr(Thing, "__add__"),
        ]
        for way in ways:
            self.noticed(lambda thing: (thing + 1, len(thing)), way, Thing())

    def test_the_class_of_an_object(self):
        names = self.family()
        thing = names.Last()
        self.noticed(lambda thing: thing.x, lambda: setattr(thing, "__class__", names.Other), thing)
        namespace = {"thing": names.Last()}
        function = made("def f(): return thing.x, thing.call()", namespace)
        self.noticed(function, lambda: setattr(namespace["thing"], "__class__", names.Other))

    def test_metaclasses(self):
        class Meta(type):
            y = "meta"

            def __len__(cls):
                return 3

        class Other(type):
            y = "other"

            def __len__(cls):
                return 4

        class Thing(metaclass=Meta):
            x = 1

        namespace = {"Thing": Thing}
        function = made("def f(): return Thing.x, Thing.y, len(Thing)", namespace)
        self.noticed(function, lambda: setattr(Thing, "x", 2))
        self.noticed(function, lambda: setattr(Meta, "y", "changed"))
        self.noticed(function, lambda: setattr(Meta, "__len__", lambda cls: 5))
        self.noticed(function, lambda: setattr(Thing, "__class__", Other))

    def test_a_metaclass_with_an_order_of_its_own(self):
        class Meta(type):
            def mro(cls):
                return type.mro(cls)

        class First(metaclass=Meta):
            x = 1

        class Second(metaclass=Meta):
            x = 2

        class Thing(First):
            pass

        def change():
            Thing.__bases__ = (Second,)

        if sys.version_info >= (3, 14):
            # Such a class has no version: nothing can be relied on.
            compiled = slotrt.compile(lambda thing: thing.x)
            self.assertEqual([compiled(Thing()), change(), compiled(Thing())], [1, None, 2])
            return
        self.noticed(lambda thing: thing.x, change, Thing())
        self.noticed(lambda thing: thing.x, lambda: setattr(Second, "x", 3), Thing())

    def test_an_order_that_becomes_another_one(self):
        class Meta(type):
            pass

        class First(metaclass=Meta):
            x = 1

        class Second(metaclass=Meta):
            x = 2

        class Thing(First):
            pass

        def change():
            Meta.mro = lambda cls: type.mro(cls)
            Thing.__bases__ = (Second,)

        self.noticed(lambda thing: thing.x, change, Thing())

    def test_classes_changed_too_often_for_a_version(self):
        class Thing:
            x = 0

        for number in range(1100):
            Thing.x = number
            Thing().x
        compiled = slotrt.compile(lambda thing: thing.x)
        for number in range(5):
            Thing.x = number
            self.assertEqual(compiled(Thing()), number)

    def test_registration(self):
        class Abstract(abc.ABC):
            pass

        class Thing:
            pass

        def function(thing):
            return isinstance(thing, Abstract)

        self.noticed(function, lambda: Abstract.register(Thing), Thing())

    def test_names_of_classes(self):
        class Thing:
            pass

        def rename():
            Thing.__name__ = "Renamed"

        self.noticed(lambda thing: type(thing).__name__, rename, Thing())

    def test_slots_and_instances(self):
        class Slotted:
            __slots__ = ("x",)

        thing = Slotted()
        thing.x = 1
        self.noticed(lambda thing: thing.x, lambda: setattr(thing, "x", 2), thing)
        self.noticed(lambda thing: thing.x, lambda: delattr(thing, "x"), thing)

    def test_instances_in_globals(self):
        class Thing:
            kind = "class"

        def namespace_of_its_own(thing):
            thing.__dict__ = {"x": 2}

        ways = [
            lambda thing: setattr(thing, "x", 2),
            lambda thing: delattr(thing, "x"),
            lambda thing: thing.__dict__.update(x=2),
            lambda thing: thing.__dict__.clear(),
            lambda thing: object.__setattr__(thing, "x", 2),
            namespace_of_its_own,
            lambda thing: setattr(type(thing), "x", property(lambda self: "computed")),
            lambda thing: setattr(thing, "kind", "own"),
        ]
        for number, way in enumerate(ways):
            for look_first in (False, True):
                with self.subTest(number, look_first=look_first):

                    class Kind(Thing):
                        pass

                    namespace = {"thing": Kind()}
                    namespace["thing"].x = 1
                    if look_first:
                        self.assertEqual(namespace["thing"].__dict__, {"x": 1})
                    function = made("def f(): return [thing.x, thing.kind]", namespace)
                    self.noticed(function, lambda: way(namespace["thing"]))


class PutBack(unittest.TestCase):
    """A class that was changed and put back is the same again."""

    def case(self):
        class Base:
            def call(self):
                return 1

        class Derived(Base):
            scale = 2

            def scaled(self):
                return self.call() * self.scale

        return Base, Derived

    def recompiles(self, change, expected):
        base, derived = self.case()
        compiled = slotrt.compile(lambda instance: instance.scaled())
        self.assertEqual(compiled(derived()), 2)
        before = slotrt.stats()["recompiles"]
        change(base, derived)
        self.assertEqual(compiled(derived()), derived().scaled())
        self.assertEqual(slotrt.stats()["recompiles"] - before, expected)
        self.assertEqual(compiled(derived()), derived().scaled())

    def test_put_back(self):
        def patched(base, derived):
            kept = base.call
            base.call = lambda self: 7
            base.call = kept

        def patched_often(base, derived):
            for _ in range(1500):
                patched(base, derived)

        for change in (patched, patched_often):
            self.recompiles(change, 0)

    def test_not_put_back(self):
        def another(base, derived):
            base.call = lambda self: 7

        def another_scale(base, derived):
            derived.scale = 3
            derived.scale = 5

        def more(base, derived):
            derived.call = lambda self: 9

        def another_order(base, derived):
            kept = derived.scale
            del derived.scale
            derived.other = 1
            derived.scale = kept

        for change in (another, another_scale, more, another_order):
            self.recompiles(change, 1)

    def test_used_while_patched(self):
        base, derived = self.case()
        compiled = slotrt.compile(lambda instance: instance.scaled())
        kept = base.call
        for _ in range(3):
            self.assertEqual(compiled(derived()), 2)
            base.call = lambda self: 7
            self.assertEqual(compiled(derived()), 14)
            base.call = kept

    def test_classes_end(self):
        import gc
        import weakref

        base, derived = self.case()
        derived.scaled = slotrt.compile(derived.scaled)
        self.assertEqual(derived().scaled(), 2)
        ends = weakref.ref(derived)
        del base, derived
        slotrt.reset()
        gc.collect()
        self.assertIsNone(ends())


if __name__ == "__main__":
    unittest.main()
