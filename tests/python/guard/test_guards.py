"""A change between calls of what a trace relied on is noticed: one test for each source and each way to change it."""

import types
import unittest

import slotrt

LEVEL = 1
helper_module = types.ModuleType("helper_module")
helper_module.value = 10


def helper(a, step=1, *, scale=1):
    return (a + step) * scale


class Base:
    kind = "base"

    def name(self):
        return "Base.name"


class Derived(Base):
    pass


class Guards(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def check(self, function, make, *changes):
        """Before and after each change, the compiled function gives what the function gives."""
        compiled = slotrt.compile(function)
        args = make()
        self.assertEqual(compiled(*args), function(*args))
        self.assertEqual(compiled(*args), function(*args))
        for change in changes:
            change(*args)
            self.assertEqual(compiled(*args), function(*args), change)
            self.assertEqual(compiled(*args), function(*args), change)

    def test_argument_types_and_values(self):
        compiled = slotrt.compile(lambda a: (type(a), a, bool(a), [0, 1, 2, 3][int(a)]))
        plain = compiled.__wrapped__
        for value in (1, True, 1.0, 0, 2, False, 0.0, -0.0, 3.0):
            self.assertEqual(repr(compiled(value)), repr(plain(value)))

    def test_float_zero_signs(self):
        compiled = slotrt.compile(lambda a: (1.0 if a else 0.0) + a * 1.0)
        for value in (0.0, -0.0, 0.0):
            self.assertEqual(repr(compiled(value)), repr(compiled.__wrapped__(value)))

    def test_global_rebound_deleted_and_restored(self):
        global LEVEL
        compiled = slotrt.compile(lambda: LEVEL + 1)
        self.assertEqual(compiled(), 2)
        LEVEL = 5
        self.assertEqual(compiled(), 6)
        LEVEL = "x"
        with self.assertRaises(TypeError):
            compiled()
        del LEVEL
        with self.assertRaises(NameError):
            compiled()
        LEVEL = 1
        self.assertEqual(compiled(), 2)

    def test_builtin_shadowed_by_a_global(self):
        compiled = slotrt.compile(lambda items: len(items))
        self.assertEqual(compiled([1, 2]), 2)
        globals()["len"] = lambda items: "shadowed"
        try:
            self.assertEqual(compiled([1, 2]), "shadowed")
        finally:
            del globals()["len"]
        self.assertEqual(compiled([1, 2]), 2)

    def test_builtin_replaced(self):
        import builtins

        compiled = slotrt.compile(lambda items: abs(items))
        self.assertEqual(compiled(-2), 2)
        real = builtins.abs
        builtins.abs = lambda value: "replaced"
        try:
            self.assertEqual(compiled(-2), "replaced")
        finally:
            builtins.abs = real
        self.assertEqual(compiled(-2), 2)

    def test_module_attribute(self):
        def change(*_):
            helper_module.value += 1

        self.check(lambda: helper_module.value * 2, lambda: (), change, change)

    def test_helper_code_defaults_and_keyword_defaults(self):
        code, defaults, kwdefaults = helper.__code__, helper.__defaults__, helper.__kwdefaults__

        def other(a, step=1, *, scale=1):
            return "other", a, step, scale

        def change_code(*_):
            helper.__code__ = other.__code__

        def change_defaults(*_):
            helper.__defaults__ = (7,)

        def change_keyword_defaults(*_):
            helper.__kwdefaults__ = {"scale": 9}

        def change_in_place(*_):
            helper.__kwdefaults__["scale"] = 11

        try:
            changes = (change_defaults, change_keyword_defaults, change_in_place, change_code)
            self.check(lambda a: helper(a), lambda: (1,), *changes)
        finally:
            helper.__code__, helper.__defaults__, helper.__kwdefaults__ = code, defaults, kwdefaults

    def test_closure_rebound(self):
        value = 1

        def function():
            return value + 1

        def change(*_):
            nonlocal value
            value = value * 10

        self.check(function, lambda: (), change, change)

    def test_own_code_and_defaults(self):
        def function(a=1):
            return a

        def other(a=1):
            return "other", a

        compiled = slotrt.compile(function)
        self.assertEqual((compiled(), compiled()), (1, 1))
        compiled.__defaults__ = (2,)
        self.assertEqual((compiled(), compiled()), (2, 2))
        compiled.__code__ = other.__code__
        self.assertEqual((compiled(), compiled()), (("other", 2), ("other", 2)))

    def test_instance_attributes(self):
        class Thing:
            pass

        def make():
            thing = Thing()
            thing.x = 1
            return (thing,)

        def rebind(thing):
            thing.x = 2

        def retype(thing):
            thing.x = "text"

        def read(thing):
            return thing.x * 2

        self.check(read, make, rebind, retype)

    def test_attribute_deleted_falls_back_to_the_class(self):
        def make():
            thing = Derived()
            thing.kind = "own"
            return (thing,)

        def delete(thing):
            del thing.kind

        def again(thing):
            thing.kind = "own again"

        self.check(lambda thing: thing.kind, make, delete, again)

    def test_class_attributes_methods_bases_and_class_of_an_instance(self):
        class A:
            kind = "a"

            def call(self):
                return "A.call"

        class B(A):
            pass

        class C:
            kind = "c"

            def call(self):
                return "C.call"

        def set_base(thing):
            A.kind = "changed"

        def set_method(thing):
            A.call = lambda self: "new"

        def shadow(thing):
            B.call = lambda self: "B.call"

        def bases(thing):
            B.__bases__ = (C,)
            del B.call

        def change_class(thing):
            thing.__class__ = C

        self.check(
            lambda thing: (thing.kind, thing.call()), lambda: (B(),), set_base, set_method, shadow, bases, change_class
        )

    def test_operator_added_and_removed(self):
        class V:
            def __or__(self, other):
                return "V"

        class W:
            pass

        def add(v, w):
            W.__ror__ = lambda self, other: "W"
            del V.__or__

        def remove(v, w):
            V.__or__ = lambda self, other: NotImplemented

        self.check(lambda v, w: v | w, lambda: (V(), W()), add, remove)

    def test_containers_change_in_place(self):
        def append(items):
            items.append(3)

        def replace(items):
            items[0] = "first"

        self.check(lambda items: [item * 2 for item in items], lambda: ([1, 2],), append, replace)

        def grow(table):
            table["b"] = 5

        def shrink(table):
            del table["a"]

        def refill(table):
            table["b"] = "text"

        self.check(
            lambda table: [(key, value * 2) for key, value in table.items()], lambda: ({"a": 1},), grow, shrink, refill
        )

    def test_aliases(self):
        def function(a, b):
            a.append(1)
            return len(b), a is b

        compiled = slotrt.compile(function)
        for _ in range(2):
            self.assertEqual(compiled([], []), (0, False))
            same = []
            self.assertEqual(compiled(same, same), (1, True))

    def test_guards_run_no_user_code(self):
        calls = []

        class Noisy:
            def __eq__(self, other):
                calls.append("eq")
                return True

            def __hash__(self):
                calls.append("hash")
                return 1

            def __bool__(self):
                calls.append("bool")
                return True

            def __getattribute__(self, name):
                calls.append(name)
                return object.__getattribute__(self, name)

        compiled = slotrt.compile(lambda noisy: noisy is None)
        noisy = Noisy()
        self.assertEqual([compiled(noisy) for _ in range(3)], [False] * 3)
        self.assertEqual(calls, [])


if __name__ == "__main__":
    unittest.main()
