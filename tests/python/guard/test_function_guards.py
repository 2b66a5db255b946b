"""Guards on functions, cells and containers, with each way to change them: noticed, whether CPython tells of the change or the guard is checked."""

import unittest

from guard_cases import Case, fresh, made


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


if __name__ == "__main__":
    unittest.main()
