"""Every source of a guard and every way to change it: noticed, whether CPython tells of the change or the guard is checked."""

import abc
import builtins
import gc
import sys
import types
import unittest
import weakref

import slotrt
from slotrt import _slotrt

TELLS = sys.version_info >= (3, 12)


def fresh(**names):
    """A module with these names, which `sys.modules` knows."""
    module = types.ModuleType("watched_module")
    module.__dict__.update(names)
    return module


def made(text, namespace):
    """The function `f` of a program text in a namespace."""
    exec(text, namespace)
    return namespace["f"]


class Case(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def noticed(self, function, change, *args):
        """The compiled function gives what the function gives, before and after a change, also when it is undone or made again."""
        compiled = slotrt.compile(function)

        def both():
            results = []
            for call in (function, compiled):
                try:
                    results.append(("returns", call(*args)))
                except Exception as error:
                    results.append((type(error), str(error)))
            self.assertEqual(results[0], results[1], change)
            return results[0]

        first = [both() for _ in range(4)][0]
        before = slotrt.stats()
        both()
        after = slotrt.stats()
        self.assertGreater(after["cache_hits"], before["cache_hits"], "nothing changed: the code is used again")
        self.assertEqual(after["frames_compiled"], before["frames_compiled"], "nothing changed: nothing is compiled")
        change()
        changed = both()
        self.assertNotEqual(first, changed, "the change makes a difference")
        for _ in range(3):
            both()
        return compiled, both


class Globals(Case):
    def changes(self):
        """Each way to change the entry `x` of a module's namespace, as a function of the module."""

        def assign(m):
            exec("x = 2", m.__dict__)

        def through_global(m):
            exec("def g():\n    global x\n    x = 2\ng()", m.__dict__)

        def delete(m):
            exec("del x", m.__dict__)

        def merge(m):
            d = m.__dict__
            d |= {"x": 2}

        def clear(m):
            kept = dict(m.__dict__)
            m.__dict__.clear()
            m.__dict__.update(kept, x=2)

        def popitem(m):
            m.__dict__["x"] = m.__dict__.pop("x")
            m.__dict__.popitem()

        def delete_and_default(m):
            del m.__dict__["x"]
            m.__dict__.setdefault("x", 2)

        def through_c(name, *arguments):
            """A function of C, given the namespace and objects."""

            def change(m):
                import ctypes

                objects = [ctypes.py_object(argument) for argument in (m.__dict__, *arguments)]
                getattr(ctypes.pythonapi, name)(*objects)

            return change

        class Name(str):
            pass

        class Alike:
            def __hash__(self):
                return hash("x")

            def __eq__(self, other):
                return other == "x"

        return [
            assign,
            through_global,
            delete,
            merge,
            clear,
            popitem,
            delete_and_default,
            lambda m: setattr(m, "x", 2),
            lambda m: delattr(m, "x"),
            lambda m: object.__setattr__(m, "x", 2),
            lambda m: types.ModuleType.__setattr__(m, "x", 2),
            lambda m: m.__dict__.__setitem__("x", 2),
            lambda m: m.__dict__.__delitem__("x"),
            lambda m: m.__dict__.update(x=2),
            lambda m: m.__dict__.update({"x": 2}),
            lambda m: m.__dict__.update([("x", 2)]),
            lambda m: m.__dict__.__init__(x=2),
            lambda m: m.__dict__.__ior__({"x": 2}),
            lambda m: m.__dict__.pop("x"),
            lambda m: m.__dict__.clear(),
            lambda m: dict.__setitem__(m.__dict__, "x", 2),
            lambda m: m.__dict__.__setitem__("".join(["", "x"]), 2),
            lambda m: m.__dict__.__setitem__(Name("x"), 2),
            lambda m: m.__dict__.__setitem__(Alike(), 2),
            lambda m: m.__dict__.pop(Alike()),
            lambda m: exec("for x in [1, 2]: pass", m.__dict__),
            lambda m: exec("import sys as x", m.__dict__),
            lambda m: exec("def x(): pass", m.__dict__),
            lambda m: exec("from math import pi as x", m.__dict__),
            lambda m: exec("x += 1", m.__dict__),
            through_c("PyDict_SetItem", "x", 2),
            through_c("PyDict_DelItem", "x"),
            through_c("PyDict_Update", {"x": 2}),
            lambda m: through_c("PyDict_Clear")(m) or through_c("PyDict_Update", {"x": 2})(m),
        ]

    def test_own_globals(self):
        for number in range(len(self.changes())):
            with self.subTest(number):
                module = fresh(x=1)
                function = made("def f(): return x", module.__dict__)
                change = self.changes()[number]
                self.noticed(function, lambda: change(module))

    def test_a_global_that_is_specialised(self):
        for number in range(len(self.changes())):
            with self.subTest(number):
                module = fresh(x=1)
                function = made("def f(): return [10, 20, 30][x]", module.__dict__)
                change = self.changes()[number]
                self.noticed(function, lambda: change(module))

    def test_entries_of_another_module(self):
        for number in range(len(self.changes())):
            with self.subTest(number):
                module = fresh(x=1)
                change = self.changes()[number]
                self.noticed(lambda: [10, 20, 30][module.x], lambda: change(module))

    def test_a_name_that_was_absent(self):
        ways = [
            lambda m: setattr(m, "len", repr),
            lambda m: m.__dict__.update(len=repr),
            lambda m: m.__dict__.setdefault("len", repr),
            lambda m: exec("def len(x): return 'mine'", m.__dict__),
            lambda m: exec("from builtins import repr as len", m.__dict__),
        ]
        for number, way in enumerate(ways):
            with self.subTest(number):
                module = fresh()
                function = made("def f(x): return len(x)", module.__dict__)
                self.noticed(function, lambda: way(module), [1, 2])

    def test_builtins_of_its_own(self):
        names = {"len": len, "__import__": __import__}
        namespace = {"__builtins__": names}
        function = made("def f(x): return len(x)", namespace)
        self.noticed(function, lambda: names.update(len=repr), [1, 2])
        self.noticed(function, lambda: names.pop("len"), [1, 2])

    def test_builtins(self):
        def replace():
            builtins.abs = lambda value: "replaced"

        def delete():
            del builtins.abs

        real = builtins.abs
        for change in (replace, delete, lambda: vars(builtins).update(abs=repr)):
            try:
                self.noticed(lambda x: abs(x), change, -2)
            finally:
                builtins.abs = real

    def test_a_module_that_becomes_something_else(self):
        class Other(types.ModuleType):
            @property
            def x(self):
                return "computed"

        module = fresh(x=1)
        self.noticed(lambda: module.x, lambda: setattr(module, "__class__", Other))
        self.noticed(lambda: module.x, lambda: setattr(Other, "x", property(lambda self: "anew")))

    def test_a_module_with_getattr(self):
        module = fresh(x=1, __getattr__=lambda name: "asked for")
        self.noticed(lambda: module.x, lambda: delattr(module, "x"))

    def test_a_global_module_is_replaced(self):
        module = fresh(inner=fresh(x=1))
        function = made("def f(): return inner.x", module.__dict__)
        _, both = self.noticed(function, lambda: setattr(module, "inner", fresh(x=2)))
        module.inner.x = 3
        self.assertEqual(both()[1], 3)

    def test_modules_in_sys_modules(self):
        def function():
            import watched_module

            return watched_module.x

        sys.modules["watched_module"] = fresh(x=1)
        try:
            self.noticed(function, lambda: sys.modules.update(watched_module=fresh(x=2)))
            self.noticed(function, lambda: sys.modules.pop("watched_module"))
        finally:
            sys.modules.pop("watched_module", None)

    def test_other_names_do_not_matter(self):
        module = fresh(x=1, other=0)
        function = made("def f(): return x", module.__dict__)
        compiled = slotrt.compile(function)
        for _ in range(3):
            compiled()
        before = slotrt.stats()
        for number in range(100):
            module.other = number
            compiled()
        after = slotrt.stats()
        self.assertEqual(after["cache_hits"], before["cache_hits"] + 100)
        self.assertEqual(after["recompiles"], before["recompiles"])

    def test_a_global_that_changes_at_each_call(self):
        module = fresh(x=0.0)
        function = made("def f():\n    global x\n    x = x + 1.0\n    return x", module.__dict__)
        compiled = slotrt.compile(function)
        self.assertEqual([compiled() for _ in range(50)], [float(number) for number in range(1, 51)])

    def test_a_key_that_changes_its_mind(self):
        class Key:
            same = True

            def __hash__(self):
                return hash("x")

            def __eq__(self, other):
                return Key.same and other == "x"

        for text in ("def f(): return x", "def f(): return inner.x"):
            Key.same = True
            namespace = {Key(): 1, "inner": fresh()}
            namespace["inner"].__dict__[Key()] = 1
            self.noticed(made(text, namespace), lambda: setattr(Key, "same", False))

    def test_back_and_forth(self):
        module = fresh(x=1)
        function = made("def f(): return [10, 20, 30][x]", module.__dict__)
        compiled = slotrt.compile(function)
        for number in range(60):
            module.x = number % 3
            self.assertEqual(compiled(), [10, 20, 30][number % 3])
        self.assertEqual(slotrt.stats()["recompiles"], 2)

    def test_an_equal_object_in_its_place(self):
        module = fresh(x=(1, (2, 3)))
        function = made("def f(): return x[1][0] + x[0]", module.__dict__)
        _, both = self.noticed(function, lambda: setattr(module, "x", (1, (5, 3))))
        module.x = tuple([1, tuple([5, 3])])
        self.assertEqual(both()[1], 6)
        module.x = (1, (7, 3))
        self.assertEqual(both()[1], 8)


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


class Functions(Case):
    def changes(self):
        def other(a, b=1, *, c=1):
            return "other", a, b, c

        def through_c(f):
            import ctypes

            ctypes.pythonapi.PyFunction_SetDefaults(ctypes.py_object(f), ctypes.py_object((8,)))

        def keywords_through_c(f):
            import ctypes

            ctypes.pythonapi.PyFunction_SetKwDefaults(ctypes.py_object(f), ctypes.py_object({"c": 8}))

        return [
            lambda f: setattr(f, "__code__", other.__code__),
            lambda f: setattr(f, "__defaults__", (2,)),
            lambda f: delattr(f, "__defaults__"),
            lambda f: setattr(f, "__kwdefaults__", {"c": 2}),
            lambda f: delattr(f, "__kwdefaults__"),
            lambda f: f.__kwdefaults__.update(c=2),
            lambda f: f.__kwdefaults__.__setitem__("c", 2),
            lambda f: f.__kwdefaults__.pop("c"),
            lambda f: f.__kwdefaults__.clear(),
            through_c,
            keywords_through_c,
        ]

    def test_helpers(self):
        for number in range(len(self.changes())):
            for kind in ("global", "argument", "closure", "method"):
                with self.subTest(number, kind=kind):

                    def helper(a, b=1, *, c=1):
                        return a, b, c

                    change, args = self.changes()[number], ()
                    if kind == "global":
                        function = made("def f(): return helper(1)", {"helper": helper})
                    elif kind == "argument":
                        function, args = (lambda helper: helper(1)), (helper,)
                    elif kind == "closure":

                        def function():
                            return helper(1)
                    else:
                        thing = type("Thing", (), {"call": helper})
                        function, args = (lambda thing: thing.call()[1:]), (thing(),)
                        change = lambda f, change=change: (change(f), f)  # noqa: E731
                    self.noticed(function, lambda: change(helper), *args)

    def test_cells(self):
        def rebind():
            nonlocal value
            value = 2

        def delete():
            nonlocal value
            del value

        def reach_in():
            function.__closure__[0].cell_contents = 2

        def function():
            return value

        for change in (rebind, delete, reach_in):
            value = 1
            self.noticed(function, change)
            value = 1
            self.noticed(lambda: [10, 20, 30][value], change)

    def test_cells_of_helpers(self):
        def outer():
            value = 1

            def helper():
                return value

            def change():
                nonlocal value
                value = 2

            return helper, change

        helper, change = outer()
        self.noticed(made("def f(): return helper()", {"helper": helper}), change)

    def test_a_helper_is_replaced(self):
        namespace = {"helper": lambda: 1}
        function = made("def f(): return helper()", namespace)
        _, both = self.noticed(function, lambda: namespace.update(helper=lambda: 2))
        namespace["helper"].__code__ = (lambda: 3).__code__
        self.assertEqual(both()[1], 3)

    def test_globals_of_a_helper(self):
        module = fresh(x=1)
        exec("def helper(): return x", module.__dict__)
        self.noticed(made("def f(): return helper()", {"helper": module.helper}), lambda: setattr(module, "x", 2))


class Containers(Case):
    def test_containers_in_globals(self):
        ways = {
            "list": ([1, 2], [lambda c: c.append(3), lambda c: c.__setitem__(0, 5), lambda c: c.clear(), lambda c: c.reverse()]),
            "dict": (
                {"a": 1, "b": 2},
                [
                    lambda c: c.update(a=5),
                    lambda c: c.update(c=5),
                    lambda c: c.pop("a"),
                    lambda c: c.clear(),
                    lambda c: c.__setitem__("a", c.pop("a")),
                    lambda c: c.__ior__({"a": 7}),
                    lambda c: c.popitem(),
                ],
            ),
            "set": ({1, 2}, [lambda c: c.add(3), lambda c: c.discard(1), lambda c: c.clear()]),
            "bytearray": (bytearray(b"ab"), [lambda c: c.append(1), lambda c: c.__setitem__(0, 1)]),
        }
        for kind, (example, changes) in ways.items():
            for number, change in enumerate(changes):
                for held in ("global", "argument", "tuple"):
                    with self.subTest(kind, number=number, held=held):
                        container, args = type(example)(example), ()
                        method = ".items()" if kind == "dict" else ""
                        if held == "global":
                            function = made(f"def f(): return [*items{method}]", {"items": container})
                        elif held == "tuple":
                            function = made(f"def f(): return [*items[0]{method}]", {"items": (container,)})
                        else:
                            function, args = made(f"def f(items): return [*items{method}]", {}), (container,)
                        self.noticed(function, lambda: change(container), *args)

    def test_entries_of_a_dict_in_globals(self):
        changes = [
            lambda c: c.update({1: 5}),
            lambda c: c.pop(1),
            lambda c: c.__setitem__(True, 5),
            lambda c: c.__setitem__(1.0, 5),
            lambda c: c.clear(),
        ]
        for number, change in enumerate(changes):
            with self.subTest(number):
                table = {1: 1, "a": 2}
                function = made("def f(): return table[1], table['a']", {"table": table})
                self.noticed(function, lambda: change(table))


class Reports(Case):
    """What is said of guards: watched or checked, which one failed, and when a frame is not traced again."""

    def frames(self, function, *calls):
        session = _slotrt.Session(record=True)
        compiled = session.compile(function, None, False)
        for args in calls:
            compiled(*args)
        return session.frames()

    def test_watched_and_checked(self):
        module = fresh(x=1)

        class Thing:
            y = 1

        module.Thing, module.items = Thing, [1]
        module.helper = made("def f(a): return a", {})
        text = "def f(a): return helper(a) + x + Thing.y + len(items)"
        (frame,) = self.frames(made(text, module.__dict__), (1,))
        said = {(guard["source"], guard["check"].split()[0]): (guard["how"], guard["because"]) for guard in frame["guards"]}
        self.assertEqual(said["a", "type"], ("checked", "an argument"))
        self.assertEqual(said["global items", "has"], ("checked", "the contents of a container") if TELLS else said["global items", "has"])
        watched = ["global helper", "global x", "global Thing"]
        for (source, check), (how, because) in said.items():
            if source in watched:
                self.assertEqual(how, "watched" if TELLS else "checked", (source, check))
            self.assertTrue(because, (source, check))
        if TELLS:
            self.assertIn(("watched", "the class"), said.values())
            self.assertEqual(said["global x", "=="], ("watched", "an entry of the globals"))
            self.assertIn(("watched", "the function"), said.values())

    def test_which_guard_failed(self):
        module = fresh(x=1)
        function = made("def f(a): return [a, a, a][x]", module.__dict__)
        session = _slotrt.Session(record=True)
        compiled = session.compile(function, None, False)
        compiled(1)
        module.x = 2
        compiled(1)
        del module.x
        with self.assertRaises(NameError):
            compiled(1)
        reasons = [frame["recompiled_because"] for frame in session.frames()]
        self.assertIsNone(reasons[0])
        self.assertRegex(reasons[1][0], r"^global x == 1 \(.*\): now 2$")
        self.assertRegex(reasons[2][0], r"^global x .*: now there is none$")

    def test_a_type_that_changed(self):
        module = fresh(x=1)
        function = made("def f(a): return a + x", module.__dict__)
        session = _slotrt.Session(record=True)
        compiled = session.compile(function, None, False)
        compiled(1)
        module.x = 2.5
        compiled(1)
        self.assertRegex(session.frames()[-1]["recompiled_because"][0], r"^global x type is int .*: now <class 'float'>$")

    def test_failures_in_words(self):
        class One:
            pass

        class Two:
            pass

        calls = [([1],), ([1, 2],), ({"a": 1},), ({"b": 1},), (One,), (Two,), (None,)]
        frames = self.frames(lambda a: (a, len(a)) if isinstance(a, list) else repr(a), *calls)
        reasons = ["; ".join(frame["recompiled_because"] or ()) for frame in frames]
        self.assertIn("a has length 1", reasons[1])
        self.assertIn(": now 2", reasons[1])
        self.assertIn("now <class 'dict'>", reasons[2])
        self.assertIn("now ['b']", reasons[3])
        self.assertTrue(any("now another one: <class" in reason for reason in reasons), reasons)

    def test_the_limit_of_guards(self):
        frames = self.frames(lambda a: [a] * (a + 1), *((number,) for number in range(12)))
        self.assertEqual([frame["end"] for frame in frames], ["return"] * 8 + ["skip"])
        self.assertEqual(frames[-1]["skipped"], "traced 8 times with different guards, the limit of one frame")
        self.assertEqual(len(frames[-1]["recompiled_because"]), 8)
        self.assertRegex(frames[-1]["recompiled_because"][0], r"^a == 7 .*: now 8$")

    def test_the_limit_of_traces(self):
        class Thing:
            x = 0

        session = _slotrt.Session(record=True)
        compiled = session.compile(lambda thing: thing.x, None, False)
        for number in range(100):
            Thing.x = number
            self.assertEqual(compiled(Thing()), number)
        frames = session.frames()
        self.assertEqual(len(frames), 65)
        self.assertEqual(frames[-1]["skipped"], "traced 64 times, the limit of one frame")
        self.assertIn("Thing and its bases are unchanged", frames[-1]["recompiled_because"][0])

    def test_entries_of_many_kinds(self):
        """Whatever the order of calls, the right entry is found among those that begin alike and those that sleep."""
        import itertools

        module = fresh(x=0, y=0)
        function = made("def f(a, b): return [a, b, x, y, [10, 20, 30][x], a + b]", module.__dict__)
        compiled = slotrt.compile(function)
        arguments = [(1, 2), (1.5, 2), (1, 2.5), ("a", "b")]
        for x, y, (a, b) in list(itertools.product((0, 1), (0, "y"), arguments)) * 3 + [(0, 0, (1, 2))] * 3:
            module.x, module.y = x, y
            self.assertEqual(compiled(a, b), function(a, b))
            self.assertEqual(compiled(a, b), function(a, b))


class Bookkeeping(Case):
    def watched(self):
        gc.collect()
        return [count or 0 for count in _slotrt._watched()]

    def test_nothing_is_watched_for_ever(self):
        before = self.watched()

        def work():
            module = fresh(x=1)

            class Thing:
                y = 2

            def helper(a, *, k=1):
                return a + k

            module.Thing, module.helper = Thing, helper
            function = made("def f(): return helper(x + Thing.y)", module.__dict__)
            compiled = slotrt.compile(function)
            for _ in range(4):
                self.assertEqual(compiled(), 4)
            inside = [count or 0 for count in _slotrt._watched()]
            if TELLS:
                for count, earlier in zip(inside, before):
                    self.assertGreater(count, earlier)
            return weakref.ref(Thing), weakref.ref(function), weakref.ref(compiled), weakref.ref(helper), weakref.ref(module)

        for _ in range(20):
            references = work()
            gc.collect()
            self.assertEqual([reference() for reference in references], [None] * 5)
        self.assertEqual(self.watched(), before)

    def test_reset_and_changes_take_watches_down(self):
        before = self.watched()
        module = fresh(x=1)
        function = made("def f(): return x", module.__dict__)
        compiled = slotrt.compile(function)
        for number in range(50):
            module.x = float(number)
            self.assertEqual(compiled(), float(number))
        compiled()
        slotrt.reset()
        compiled()
        del compiled
        self.assertEqual(self.watched(), before)

    def test_what_is_watched_may_die(self):
        module = fresh(thing=None)

        class Thing:
            x = 1

        module.thing = Thing()
        seen = weakref.ref(module.thing)
        compiled = slotrt.compile(made("def f(): return thing.x", module.__dict__))
        for _ in range(3):
            compiled()
        module.thing = None
        self.assertIsNone(seen())
        with self.assertRaises(AttributeError):
            compiled()

    def test_namespaces_that_die_and_others_in_their_place(self):
        inner = fresh(x=0)
        namespace = {"inner": inner}
        compiled = slotrt.compile(made("def f(): return inner.x", namespace))
        for number in range(200):
            namespace["inner"] = inner = fresh(x=number)
            self.assertEqual(compiled(), number)
            self.assertEqual(compiled(), number)
            inner.x = -number
            self.assertEqual(compiled(), -number)

    def test_two_functions_watch_one_name(self):
        module = fresh(x=1)
        one, two = (slotrt.compile(made(f"def f(): return x + {number}", module.__dict__)) for number in (1, 2))
        for value in (1, 5, 1, 7):
            module.x = value
            for _ in range(3):
                self.assertEqual((one(), two()), (value + 1, value + 2))
        del one
        module.x = 9
        self.assertEqual(two(), 11)

    def test_a_guard_that_changes_what_is_watched(self):
        """A set's guard calls into the program: what it changes is seen in the same call."""
        module = fresh(x=1)

        class Element:
            def __hash__(self):
                return 1

            def __eq__(self, other):
                return self is other

        function = made("def f(items): return x, len(items)", module.__dict__)
        compiled = slotrt.compile(function)
        items = {Element()}
        for _ in range(3):
            self.assertEqual(compiled(items), (1, 1))
        module.x = 2
        self.assertEqual(compiled(items), (2, 1))

    def test_all_watchers_taken(self):
        """Where no watcher is free, all is checked; in a process of its own, for watchers are never given back."""
        import subprocess

        program = """
import ctypes, types
api = ctypes.pythonapi
take = ctypes.cast(api.Py_IsInitialized, ctypes.c_void_p)  # does nothing, and does not fail
for add in (api.PyDict_AddWatcher, api.PyType_AddWatcher, api.PyFunction_AddWatcher):
    try:
        while True:
            add(take)
    except RuntimeError:
        pass
import slotrt
from slotrt import _slotrt
module = types.ModuleType("m")
module.x = 1
class Thing:
    y = 1
def helper(a): return a
module.Thing, module.helper = Thing, helper
exec("def f(): return helper(x) + Thing.y", module.__dict__)
compiled = slotrt.compile(module.f)
assert [compiled() for _ in range(3)] == [2, 2, 2]
module.x = 5
assert compiled() == 6
Thing.y = 2
assert compiled() == 7
helper.__code__ = (lambda a: a + 10).__code__
assert compiled() == 17
assert slotrt._slotrt._watched() == [None] * 3, slotrt._slotrt._watched()
frame = slotrt.explain(module.f)().frames[0]
assert {guard["how"] for guard in frame["guards"]} == {"checked"}, frame["guards"]
"""
        if TELLS:
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_other_interpreters_are_refused(self):
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        other = interpreters.create()
        text = "try:\n import slotrt\nexcept ImportError as error:\n assert 'interpreter' in str(error), error\nelse:\n raise AssertionError('imported')"
        run = getattr(interpreters, "exec", None) or interpreters.run_string
        try:
            self.assertIsNone(run(other, text))
        finally:
            interpreters.destroy(other)

    def test_threads(self):
        import threading

        module = fresh(x=0, stop=False)
        compiled = slotrt.compile(made("def f(): return x", module.__dict__))
        failures = []

        def read():
            last = 0
            while not module.stop:
                now = compiled()
                if now < last:
                    failures.append((last, now))
                last = now

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(2000):
            module.x = float(number)
            if compiled() != number:
                failures.append(number)
        module.stop = True
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
