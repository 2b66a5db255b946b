"""Functions made anew at each call find what was compiled for their code; their cells, defaults and globals are their own."""

import functools
import types
import unittest

import slotrt


def collecting(method):
    """The wrapper makes closures at each call and calls the method through them."""

    @functools.wraps(method)
    def wrapper(*args, **kwargs):
        taken = []

        def take(output):
            taken.append(output)
            return output

        def call(*a, **k):
            return take(method(*a, **k))

        return call(*args, **kwargs), len(taken)

    return wrapper


@collecting
def inner(x):
    x = x * 3
    slotrt.graph_break()
    return x + 1


@collecting
def outer(x):
    return inner(x)[0] * 2


def below(function):
    """Calls a function natively, so that its frame is compiled when it is reached."""

    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        finally:
            slotrt.graph_break()

    return call


def rebuilt(function, **changes):
    parts = {"globals": function.__globals__, "argdefs": function.__defaults__, "closure": function.__closure__}
    return types.FunctionType(function.__code__, **{**parts, **changes})


class TestFunctionsMadeAnew(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def assert_settles(self, function, *calls, after=2):
        """The results are right, and nothing is compiled after that many calls."""
        compiled = slotrt.compile(function)
        for number, args in enumerate(calls):
            before = slotrt.stats()["frames_compiled"]
            self.assertEqual(compiled(*args), function(*args))
            if number >= after:
                self.assertEqual(slotrt.stats()["frames_compiled"], before, f"call {number}")
        self.assertEqual(slotrt.stats()["frames_skipped"], 0)

    def test_wrappers_within_wrappers(self):
        self.assert_settles(lambda x: outer(x)[0] + inner(x)[0], (1,), (2,), (1,), (2,), after=3)

    def test_cells_are_the_functions_own(self):
        def run(number):
            seen = []

            def add(x):
                nonlocal number
                number += x
                slotrt.graph_break()
                seen.append(number)
                return number, len(seen)

            return below(add)(1), below(add)(1), number

        self.assert_settles(run, *[(n,) for n in (5, 5, 5, 5)])

    def test_a_cell_with_another_value(self):
        def run(value):
            def look():
                slotrt.graph_break()
                return value, value * 2

            return below(look)()

        compiled = slotrt.compile(run)
        for value in (1, 1, "a", 2.5, 1, [3]):
            self.assertEqual(compiled(value), run(value))

    def test_a_cell_with_another_function(self):
        def run(function):
            def call(x):
                slotrt.graph_break()
                return function(x)

            return below(call)(4)

        functions = [lambda x: x + 1, lambda x: x * 2, abs, str]
        compiled = slotrt.compile(run)
        for function in functions * 2:
            self.assertEqual(compiled(function), run(function))

    def test_defaults_are_the_functions_own(self):
        def run(default):
            def call(x, more=default, *, named=default * 2):
                slotrt.graph_break()
                return x, more, named

            return below(call)(1), below(call)(1, 2), below(call)(1, named=3)

        compiled = slotrt.compile(run)
        for default in (1, 2, 2.0, "a", 1):
            self.assertEqual(compiled(default), run(default))

    def test_another_number_of_defaults(self):
        def plain(x=1, y=2):
            slotrt.graph_break()
            return x, y

        def run(defaults):
            function = rebuilt(plain, argdefs=defaults)
            try:
                return below(function)(7)
            except TypeError as error:
                return str(error)

        compiled = slotrt.compile(run)
        for defaults in ((1, 2), (3,), (), (1, 2), (4, 5)):
            self.assertEqual(compiled(defaults), run(defaults))

    def test_other_globals(self):
        def plain():
            slotrt.graph_break()
            return NAME  # noqa: F821

        def run(function):
            return below(function)()

        compiled = slotrt.compile(run)
        for name in ("a", "b", "a"):
            function = rebuilt(plain, globals={"NAME": name, "slotrt": slotrt, "__builtins__": __builtins__})
            self.assertEqual([compiled(function), compiled(function)], [name, name])

    def test_a_function_that_is_called_where_it_was_given(self):
        def run(function, x):
            return function(x) + 1

        def made(number):
            return lambda x: x + number

        compiled = slotrt.compile(run, fullgraph=True)
        for number in (1, 1, 1):
            self.assertEqual(compiled(made(number), 1), number + 2)
        self.assertEqual(slotrt.stats()["frames_compiled"], 1)
        self.assertEqual(compiled(made(7), 1), 9)

    def test_its_identity_still_counts_where_it_is_looked_at(self):
        def run(function, other):
            return function(1), function is other, function.__name__, {function: 1}.get(other)

        compiled = slotrt.compile(run)
        made = [lambda x: x, lambda x: x]
        copies = [rebuilt(made[0]) for _ in range(2)]
        copies[1].__name__ = "renamed"
        for function in (*made, *copies):
            for other in (made[0], function):
                self.assertEqual(compiled(function, other), run(function, other))

    def test_generators(self):
        def run(number):
            def count():
                slotrt.graph_break()
                for step in range(number):
                    yield step + number

            return list(below(count)())

        compiled = slotrt.compile(run)
        for number in (2, 2, 3, 2):
            self.assertEqual(compiled(number), run(number))

    def test_what_a_cell_held_is_let_go(self):
        import gc
        import weakref

        class Thing:
            pass

        def run(thing):
            def look():
                slotrt.graph_break()
                return thing is not None

            return below(look)()

        compiled, thing = slotrt.compile(run), Thing()
        self.assertTrue(compiled(thing))
        self.assertTrue(compiled(thing))
        reference = weakref.ref(thing)
        del thing
        gc.collect()
        self.assertIsNone(reference())


if __name__ == "__main__":
    unittest.main()
