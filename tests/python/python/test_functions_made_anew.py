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


class TestCompiledAnew(unittest.TestCase):
    """`slotrt.compile` on a function that is made at each call."""

    def setUp(self):
        slotrt.reset()

    def compiled(self):
        return slotrt.stats()["frames_compiled"]

    def test_nothing_is_compiled_after_the_second(self):
        def run(number, break_graph):
            @slotrt.compile
            def add(x, more=number * 10):
                if break_graph:
                    slotrt.graph_break()
                return x + number, more

            return add(1), add(1, 2), add.__wrapped__.__defaults__

        for break_graph in (False, True):
            seen = []
            for _ in range(5):
                self.assertEqual(run(3, break_graph), ((4, 30), (4, 2), (30,)))
                seen.append(self.compiled())
            self.assertEqual(seen[1:], [seen[1]] * 4)
        self.assertEqual([run(number, True)[0] for number in (4, 5, 4)], [(5, 40), (6, 50), (5, 40)])

    def test_cells_are_the_functions_own(self):
        def run(number):
            def add(x):
                nonlocal number
                number += x
                return number

            return slotrt.compile(add)(1), slotrt.compile(add)(1), number

        for number in (1, 1, 1, 7, 1.5):
            self.assertEqual(run(number), (number + 1, number + 2, number + 2))

    def test_several_live_at_once(self):
        def make(number):
            return slotrt.compile(lambda x: (x, number))

        made = [make(number) for number in range(5)]
        self.assertEqual([function(1) for function in made], [(1, number) for number in range(5)])
        del made[1:]
        self.assertEqual(made[0](2), (2, 0))

    def test_generators_and_recursion(self):
        def run(number):
            @slotrt.compile
            def count():
                for step in range(number):
                    yield step

            @slotrt.compile
            def factorial(x):
                slotrt.graph_break()
                return x * factorial(x - 1) if x > 1 else number

            return list(count()), factorial(3)

        for number in (2, 2, 3, 2):
            self.assertEqual(run(number), (list(range(number)), 6 * number))

    def test_a_graph_that_raises_goes_on_with_the_cells_of_its_function(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")

        def run(text, divisor):
            @slotrt.compile
            def divide(x):
                try:
                    return numpy.linalg.inv(x * divisor).tolist()
                except numpy.linalg.LinAlgError:
                    return text

            return divide(numpy.eye(2))

        for text, divisor in (("a", 1.0), ("b", 1.0), ("c", 0.0), ("d", 0.0), ("e", 1.0)):
            self.assertEqual(run(text, divisor), text if divisor == 0 else [[1, 0], [0, 1]])

    def test_options_and_code_are_told_apart(self):
        def run(fullgraph, which):
            def one(x):
                slotrt.graph_break()
                return x

            def other(x):
                return x + 1

            try:
                return slotrt.compile((one, other)[which], fullgraph=fullgraph)(1)
            except slotrt.GraphBreak:
                return "break"

        for _ in range(3):
            self.assertEqual([run(False, 0), run(True, 0), run(False, 1), run(True, 1)], [1, "break", 2, 2])

    def test_one_function_compiled_again_begins_anew(self):
        def plain(x):
            return x + 1

        for calls in (1, 2, 3):
            self.assertEqual(slotrt.compile(plain)(1), 2)
            self.assertEqual(self.compiled(), calls)

    def test_many_functions_that_need_code_of_their_own(self):
        def make(value):
            return slotrt.compile(lambda x: (x, type(value).__name__, value))

        values = [type(f"Kind{number}", (), {"__eq__": lambda one, other: one is other})() for number in range(20)]
        made = [make(value) for value in values]
        for _ in range(3):
            for function, value in zip(made, values):
                self.assertEqual(function(1), (1, type(value).__name__, value))
        before = slotrt.stats()
        for function, value in zip(made, values):
            self.assertEqual(function(1), (1, type(value).__name__, value))
        self.assertEqual(slotrt.stats()["frames_compiled"], before["frames_compiled"])
        self.assertEqual(slotrt.stats()["cache_hits"], before["cache_hits"] + len(values))
        self.assertEqual(slotrt.stats()["frames_skipped"], 0)

    def test_what_is_let_go(self):
        import gc
        import weakref

        class Thing:
            pass

        def run(thing):
            return slotrt.compile(lambda: thing is not None)()

        references = []
        for _ in range(4):
            thing = Thing()
            references.append(weakref.ref(thing))
            self.assertTrue(run(thing))
            del thing
        slotrt.compile(lambda: 1)()
        gc.collect()
        self.assertEqual([reference() for reference in references], [None] * 4)

    def test_functions_that_refer_to_themselves(self):
        import gc
        import weakref

        def run():
            class Owner:
                def __init__(self):
                    self.function = slotrt.compile(lambda x: (self.number, x))
                    self.number = 3

            owner = Owner()
            self.assertEqual(owner.function(1), (3, 1))
            return weakref.ref(owner)

        references = [run() for _ in range(4)]
        slotrt.reset()
        gc.collect()
        self.assertEqual([reference() for reference in references], [None] * 4)


if __name__ == "__main__":
    unittest.main()
