"""Many sets of guards: among those that ask for other values of one thing the right one is found, and how many a frame may have is chosen."""

import random
import unittest

import slotrt
from guard_cases import Case, fresh, made

COUNT = 40


class ManySets(Case):
    """Each set is found again, whatever order calls come in, and nothing is compiled twice."""

    def found(self, function, calls, traces=None, **options):
        """Calls give what the function gives; after the first rounds nothing is compiled any more."""
        slotrt.reset()
        compiled = slotrt.compile(function, recompile_limit=4 * COUNT, **options)
        order = list(calls)
        for number in range(4):
            if number == 3:
                before = slotrt.stats()
            for call in order:
                self.assertEqual(repr(compiled(*call)), repr(function(*call)), call)
            random.Random(number).shuffle(order)
        after = slotrt.stats()
        self.assertEqual(after["frames_compiled"], before["frames_compiled"])
        self.assertEqual(after["cache_hits"] - before["cache_hits"], len(order))
        if traces is not None:
            self.assertEqual(after["frames_compiled"], traces)
        return compiled

    def test_numbers(self):
        """Each size of a container is a trace of its own."""
        self.found(lambda number: [number] * (number + 1), [(number,) for number in range(COUNT)], COUNT)

    def test_numbers_that_are_guarded(self):
        self.found(lambda number: [number] * number, [(number,) for number in range(COUNT)], COUNT, dynamic=False)

    def test_numbers_that_compare_alike(self):
        """`0.0`, `-0.0`, `0`, `False` and integers beyond 64 bits are different constants."""
        numbers = [0, False, 0.0, -0.0, 1, True, 1.0, 2**70, 2**70 + 1, float(2**70), -1, -2, float("inf"), 0.5]
        calls = [(number,) for number in numbers]
        self.found(lambda number: [repr(number), {number: 1}, number + 1], calls, dynamic=False)

    def test_a_nan(self):
        """A nan is found by identity alone in a container."""
        nan, other = float("nan"), float("nan")
        self.found(lambda number, given: [number in given, {number: 1}], [(nan, [nan]), (other, [nan]), (1.0, [nan])], dynamic=False)

    def test_texts(self):
        texts = [text for number in range(COUNT // 2) for text in (f"t{number}", f"t{number}".encode())]
        self.found(lambda text: {text: len(text)}, [(text,) for text in texts])

    def test_types(self):
        kinds = [type(f"K{number}", (), {"value": number, "get": lambda self: self.value}) for number in range(COUNT)]
        self.found(lambda thing: thing.get(), [(kind(),) for kind in kinds])

    def test_objects(self):
        """Functions that are compared by identity."""
        functions = [made(f"def f(a): return a + {number}", {}) for number in range(COUNT)]
        self.found(lambda function, a: function(a), [(function, 1.5) for function in functions])

    def test_lengths(self):
        self.found(lambda items: sum(items), [(list(range(number)),) for number in range(COUNT)])

    def test_several_arguments(self):
        """Sets differ in the first argument, the second, or both; of one argument types and values differ."""
        firsts = [1, 2, 1.5, "a", "b", None, (1, 2), b"x"]
        seconds = ["c", "d", 3, 4, True]
        calls = [(first, second) for first in firsts for second in seconds]
        self.found(lambda first, second: [{first: second}, {second: first}], calls, dynamic=False)

    def test_an_attribute_of_one_object(self):
        """What is watched comes before what differs."""

        class Model:
            def __init__(self):
                self.scale, self.parts = 2, {"a": 1.5}

            def run(self, name):
                return {name: self.scale * self.parts["a"]}

        model = Model()
        self.found(model.run, [(f"n{number}",) for number in range(COUNT)], COUNT)

    def test_a_change_of_what_is_watched(self):
        """Some sets hold before a change and some after it."""
        module = fresh(scale=1)
        function = made("def f(name): return {name: [scale] * scale}", module.__dict__)
        compiled = slotrt.compile(function, recompile_limit=COUNT, dynamic=False)
        for scale in (1, 2, 3, 1, 2, 3):
            module.scale = scale
            for _ in range(2):
                for number in range(COUNT // 4):
                    self.assertEqual(compiled(f"n{number}"), {f"n{number}": [scale] * scale})
        self.assertLessEqual(slotrt.stats()["frames_compiled"], COUNT)

    def test_objects_that_end(self):
        """Sets for objects that are gone are in nobody's way, also where another object lies where one was."""
        compiled = slotrt.compile(lambda function, a: function(a), recompile_limit=COUNT)
        for number in range(COUNT // 2):
            function = made(f"def f(a): return a + {number}", {})
            self.assertEqual([compiled(function, 1), compiled(function, 1)], [1 + number] * 2)
            del function

    def test_a_function_that_gets_other_code(self):
        def function(number):
            return [number] * (number + 1)

        other = made("def f(number): return -number", {})
        compiled = slotrt.compile(function, recompile_limit=COUNT)
        for number in range(COUNT // 4):
            self.assertEqual(compiled(number), [number] * (number + 1))
        function.__code__ = other.__code__
        for number in range(COUNT // 4):
            self.assertEqual(compiled(number), -number)


class Limits(Case):
    """How many sets of guards a frame may have."""

    def test_the_limit_is_chosen(self):
        for limit in (1, 3, 12):
            slotrt.reset()
            compiled = slotrt.compile(lambda number: [number] * number, recompile_limit=limit, dynamic=False)
            with self.assertLogs("slotrt", "WARNING") as log:
                for number in range(20):
                    self.assertEqual(compiled(number), [number] * number)
            self.assertEqual(slotrt.stats()["frames_compiled"], limit)
            self.assertIn(f"traced {limit} times with different guards, the limit of one frame", log.output[0])
            self.assertIn("recompile_limit=", log.output[0])

    def test_functions_below_have_the_limit_too(self):
        def inner(number):
            slotrt.graph_break()
            return [number] * number

        compiled = slotrt.compile(inner, recompile_limit=12, dynamic=False)
        for _ in range(2):
            for number in range(12):
                self.assertEqual(compiled(number), [number] * number)
        self.assertEqual(slotrt.stats()["frames_skipped"], 0)

    def test_compiled_again_with_another_limit(self):
        def function(number):
            return [number] * number

        compiled = slotrt.compile(function, recompile_limit=12)
        self.assertIs(slotrt.compile(compiled), compiled)
        self.assertIs(slotrt.compile(compiled, recompile_limit=12), compiled)
        self.assertIsNot(slotrt.compile(compiled, recompile_limit=13), compiled)

    def test_what_is_no_limit(self):
        for limit, kind, told in (
            (0, ValueError, "from 1 to"),
            (-3, ValueError, "from 1 to"),
            (1 << 70, ValueError, "from 1 to"),
            (2.5, TypeError, "an int or None, not float"),
            ("8", TypeError, "an int or None, not str"),
            (True, TypeError, "an int or None, not bool"),
        ):
            with self.assertRaisesRegex(kind, told):
                slotrt.compile(len, recompile_limit=limit)


if __name__ == "__main__":
    unittest.main()
