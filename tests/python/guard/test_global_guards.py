"""Guards on globals, builtins and entries of modules, with each way to change them: noticed, whether CPython tells of the change or the guard is checked."""

import builtins
import sys
import types
import unittest

import slotrt
from guard_cases import Case, fresh, made


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
        if sys.version_info >= (3, 14):
            # The interpreter's own specialised instruction overlooks the change.
            compiled = slotrt.compile(lambda: module.x)
            self.assertEqual(compiled(), 1)
            module.__class__ = Other
            self.assertEqual(compiled(), "computed")
            return
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
            function = made(text, namespace)
            compiled = slotrt.compile(function)
            self.assertEqual([compiled(), compiled()], [1, 1])
            Key.same = False
            for call in (function, compiled):
                self.assertRaises((NameError, AttributeError), call)

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


if __name__ == "__main__":
    unittest.main()
