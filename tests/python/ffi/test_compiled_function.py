"""`CompiledFunction`: the callable that stands for a function looks, binds, and ends as the function does."""

import dis
import gc
import unittest
import weakref

from slotrt import bytecode


class CompiledFunction(unittest.TestCase):
    def setUp(self):
        def function(a, /, b=2, *, c=3):
            "doc"
            return a, b, c

        self.function = function
        second = [instr.offset for instr in dis.get_instructions(function)][1]
        self.compiled = bytecode.break_at(function, second)

    def test_looks_like_the_function(self):
        import inspect

        compiled, function = self.compiled, self.function
        self.assertIs(compiled.__wrapped__, function)
        for name in ("__name__", "__qualname__", "__doc__", "__module__", "__defaults__", "__code__", "__dict__"):
            self.assertIs(getattr(compiled, name), getattr(function, name), name)
        self.assertEqual(inspect.signature(compiled), inspect.signature(function))
        compiled.mark = 5
        self.assertEqual(function.mark, 5)
        del compiled.mark
        self.assertFalse(hasattr(function, "mark"))
        self.assertIn("compiled", repr(compiled))

    def test_binding_and_its_messages(self):
        calls = [
            ((), {}), ((1,), {}), ((1, 2), {}), ((1, 2, 3), {}), ((1,), {"d": 1}), ((), {"a": 1}),
            ((1,), {"b": 5, "c": 6}), ((1, 2), {"b": 1}),
        ]
        for args, kwargs in calls:
            outcome = []
            for callable in (self.function, self.compiled):
                try:
                    outcome.append(callable(*args, **kwargs))
                except TypeError as error:
                    outcome.append(str(error))
            self.assertEqual(*outcome)

    def test_defaults_and_code_may_change(self):
        self.function.__defaults__ = (9,)
        self.function.__kwdefaults__ = {"c": 8}
        self.assertEqual(self.compiled(1), (1, 9, 8))
        self.function.__code__ = (lambda a, b=1: "other").__code__
        self.assertEqual(self.compiled(1), "other")

    def test_methods(self):
        class A:
            def m(self, x=1):
                return self, x

            m = bytecode.break_at(m, 4)

        a = A()
        self.assertEqual(a.m(3), (a, 3))
        self.assertEqual(A.m(a), (a, 1))
        self.assertIs(a.m.__self__, a)
        self.assertIs(A.m.__wrapped__, A.__dict__["m"].__wrapped__)

    def test_collected_with_its_function(self):
        def make():
            def function():
                return 1

            compiled = bytecode.break_at(function, [*dis.get_instructions(function)][1].offset)
            function.me = compiled
            compiled()
            return weakref.ref(function), weakref.ref(compiled)

        references = make()
        gc.collect()
        self.assertEqual([reference() for reference in references], [None, None])

    def test_no_instances_from_python(self):
        with self.assertRaises(TypeError):
            type(self.compiled)()


if __name__ == "__main__":
    unittest.main()
