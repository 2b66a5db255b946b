"""The Python API as users see it: `compile`, `explain`, `stats`, `reset`, `graph_break`."""

import contextlib
import io
import threading
import types
import unittest

import slotrt


class Left:
    def __or__(self, other):
        return ("Left.__or__", type(other).__name__)


class Right:
    def __ror__(self, other):
        return ("Right.__ror__", type(other).__name__)


class Eager(Left):
    def __ror__(self, other):
        return ("Eager.__ror__", type(other).__name__)


def join(a, b):
    return a | b


def printed(function, *args):
    """Result and prints of a call."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        result = function(*args)
    return result, text.getvalue()


def raised(function, *args):
    """Type, message and traceback of the exception that a call raises."""
    try:
        function(*args)
    except Exception as error:
        trace = error.__traceback__.tb_next
        places = []
        while trace is not None:
            places.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
            trace = trace.tb_next
        return type(error), str(error), places
    raise AssertionError("nothing raised")


def counted(function, *args):
    """The result of a call, and the change of the counters."""
    before = slotrt.stats()
    result = function(*args)
    after = slotrt.stats()
    return result, {name: after[name] - before[name] for name in after}


class Compile(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def test_operators_of_user_classes(self):
        cases = [(Left(), Right()), (Left(), Eager()), (1, Right()), (Left(), 3), ({1: 2}, {3: 4}), (5, 6), ({1}, {2})]
        for a, b in cases:
            with self.subTest(a=a, b=b):
                self.assertEqual(slotrt.compile(join)(a, b), join(a, b))

    def test_the_exception_is_the_same(self):
        compiled = slotrt.compile(join)
        for a, b in [(1, "x"), (object(), None), ([], 1.5)]:
            errors = []
            for function in (join, compiled):
                errors.append(raised(function, a, b))
            self.assertEqual(errors[0], errors[1])
            self.assertEqual(errors[0][2], [("join", join.__code__.co_firstlineno + 1)])

    def test_second_call_hits_the_cache_and_other_types_trace_again(self):
        compiled = slotrt.compile(join)
        _, first = counted(compiled, 1, 2)
        self.assertEqual((first["frames_compiled"], first["cache_hits"], first["recompiles"]), (1, 0, 0))
        _, second = counted(compiled, 4, 3)
        self.assertEqual((second["frames_compiled"], second["recompiles"]), (second["recompiles"],) * 2)
        _, third = counted(compiled, 4, 3)
        self.assertEqual((third["frames_compiled"], third["cache_hits"]), (0, 1))
        result, other = counted(compiled, {1: 2}, {3: 4})
        self.assertEqual(result, {1: 2, 3: 4})
        self.assertEqual((other["frames_compiled"], other["recompiles"]), (1, 1))
        _, again = counted(compiled, Left(), 1)
        self.assertEqual(again["recompiles"], 1)
        _, hit = counted(compiled, Left(), 2)
        self.assertEqual((hit["frames_compiled"], hit["cache_hits"]), (0, 1))

    def test_decorator_forms(self):
        @slotrt.compile
        def plain(a):
            "Doc."
            return a + 1

        @slotrt.compile(fullgraph=True, backend="eager")
        def with_options(a, *rest, b=2, **more):
            return a, rest, b, more

        self.assertEqual((plain(1), plain.__name__, plain.__doc__), (2, "plain", "Doc."))
        self.assertEqual(with_options(1, 2, 3, b=4, c=5), (1, (2, 3), 4, {"c": 5}))
        self.assertEqual(with_options(1), (1, (), 2, {}))

    def test_wrong_calls_raise_what_the_function_raises(self):
        compiled = slotrt.compile(join)
        for call in (lambda f: f(1), lambda f: f(1, 2, 3), lambda f: f(1, c=2), lambda f: f(1, a=2)):
            texts = []
            for function in (join, compiled):
                with self.assertRaises(TypeError) as caught:
                    call(function)
                texts.append(str(caught.exception))
            self.assertEqual(texts[0], texts[1])

    def test_bad_arguments_of_compile(self):
        for wrong in (3, "f", property(len)):
            with self.assertRaisesRegex(TypeError, f"compile takes a callable, not {type(wrong).__name__}"):
                slotrt.compile(wrong)
        with self.assertRaisesRegex(TypeError, "takes a torch.nn.Module, not function"):
            slotrt.compile(join, inplace=True)
        with self.assertRaisesRegex(ValueError, "unknown backend 'nothing'"):
            slotrt.compile(join, backend="nothing")
        with self.assertRaisesRegex(ValueError, "dynamic must be None, True or False, not 'no'"):
            slotrt.compile(join, dynamic="no")

    def test_bound_methods_and_objects_that_are_called(self):
        class Adder:
            def __init__(self, by):
                self.by = by

            def __call__(self, x, *, twice=False):
                return x + self.by * (1 + twice)

            def add(self, x):
                return self(x)

            @classmethod
            def named(cls, x):
                return cls.__name__, x

        adder = Adder(2)
        for whole in (adder, adder.add, adder.named, Adder.named):
            compiled = slotrt.compile(whole, fullgraph=True)
            for _ in range(2):
                self.assertEqual(compiled(5), whole(5))
            self.assertEqual(slotrt.explain(whole)(5).result, whole(5))
        compiled = slotrt.compile(adder)
        self.assertEqual(compiled(5, twice=True), 9)
        self.assertIs(compiled.__wrapped__, adder)
        adder.by = 3
        self.assertEqual(compiled(5), 8)

    def test_methods_bind(self):
        class Box:
            def __init__(self, value):
                self.value = value

            @slotrt.compile
            def add(self, other):
                return self.value + other

            @classmethod
            @slotrt.compile
            def make(cls, value):
                return cls(value)

            @staticmethod
            @slotrt.compile
            def twice(value):
                return value * 2

        self.assertEqual((Box(3).add(4), Box(3).add(4.5), Box.make(2).value, Box.twice(4)), (7, 7.5, 2, 8))

    def test_reset_forgets(self):
        compiled = slotrt.compile(join)
        compiled(1, 2)
        slotrt.reset()
        self.assertEqual(set(slotrt.stats().values()), {0})
        _, again = counted(compiled, 1, 2)
        self.assertEqual((again["frames_compiled"], again["cache_hits"]), (1, 0))

    def test_too_many_kinds_run_uncompiled_and_right(self):
        compiled = slotrt.compile(lambda a: type(a))
        kinds = [type(f"K{number}", (), {}) for number in range(20)]
        for kind in kinds:
            self.assertIs(compiled(kind()), kind)
        self.assertLess(slotrt.stats()["frames_compiled"], 20)
        self.assertGreater(slotrt.stats()["frames_skipped"], 0)


class Breaks(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def test_forced_break(self):
        def function(a):
            b = [a, a + 1]
            slotrt.graph_break()
            b.append(a)
            return b

        self.assertEqual(function(1), [1, 2, 1])
        compiled = slotrt.compile(function)
        self.assertEqual(compiled(1), [1, 2, 1])
        self.assertEqual(slotrt.stats()["graph_breaks"], 1)
        self.assertEqual(slotrt.stats()["frames_compiled"], 2)
        _, second = counted(compiled, 1)
        self.assertEqual((second["frames_compiled"], second["cache_hits"]), (0, 2))

    def test_fullgraph_raises_a_break_in_four_parts(self):
        @slotrt.compile(fullgraph=True)
        def function(a):
            slotrt.graph_break()
            return a

        with self.assertRaises(slotrt.GraphBreak) as caught:
            function(1)
        error = caught.exception
        self.assertNotIsInstance(error, RuntimeError)
        for part in (error.type, error.context, error.explanation):
            self.assertIsInstance(part, str)
            self.assertTrue(part)
        self.assertIsInstance(error.hints, list)
        self.assertEqual(error.line, function.__code__.co_firstlineno + 2)

    def test_print_in_the_middle(self):
        def function(a, b):
            c = a | b
            print("middle", c)
            return c | b

        self.assertEqual(printed(slotrt.compile(function), {1: 1}, {2: 2}), printed(function, {1: 1}, {2: 2}))
        report = slotrt.explain(function)
        (explained, text) = printed(report, {1: 1}, {2: 2})
        self.assertEqual(text, "middle {1: 1, 2: 2}\n")
        self.assertEqual(explained.breaks, 1)

    def test_break_in_a_loop_keeps_the_iterator(self):
        def function(items):
            total = []
            for item in items:
                print(item)
                total.append(item * 2)
            return total

        compiled = slotrt.compile(function)
        for items in ([1, 2, 3], (4, 5), range(3), iter([7, 8])):
            again = items if not hasattr(items, "__next__") else iter([7, 8])
            self.assertEqual(printed(compiled, items), printed(function, again))

    def test_break_with_locals_cells_and_aliases(self):
        def function(a):
            shared = [a]
            pair = (shared, shared)
            count = 0

            def bump():
                nonlocal count
                count += a
                return count

            bump()
            slotrt.graph_break()
            bump()
            pair[0].append(5)
            return pair[1], count, pair[0] is pair[1]

        self.assertEqual(slotrt.compile(function)(3), function(3))

    def test_break_in_try_and_with(self):
        class Manager:
            def __init__(self, log):
                self.log = log

            def __enter__(self):
                self.log.append("in")
                return self

            def __exit__(self, *error):
                self.log.append(error[0])
                return True

        def function(log):
            with Manager(log):
                try:
                    slotrt.graph_break()
                    log.append(1 // 0)
                except ZeroDivisionError as error:
                    slotrt.graph_break()
                    log.append(str(error))
                finally:
                    log.append("finally")
                raise KeyError("x")
            return log

        self.assertEqual(slotrt.compile(function)([]), function([]))

    def test_exception_under_a_break_has_the_same_traceback_lines(self):
        def function(a):
            slotrt.graph_break()
            b = a + 1
            return b / 0

        self.assertEqual(raised(function, 1), raised(slotrt.compile(function), 1))


class Explain(unittest.TestCase):
    def test_numbers_report_and_json(self):
        report = slotrt.explain(join)(Left(), Right())
        self.assertEqual(report.result, join(Left(), Right()))
        for number in (report.graphs, report.breaks, report.ops, report.guards):
            self.assertIsInstance(number, int)
        self.assertEqual((report.graphs, report.breaks, report.reasons), (0, 0, []))
        self.assertGreater(report.guards, 0)
        self.assertIn("Left.__or__", str(report))
        self.assertIn("binary_op1", report.to_json())
        frame = report.data()["frames"][0]
        self.assertGreater(frame["steps"], 0)
        self.assertTrue(frame["bytecode"]["before"] and frame["bytecode"]["after"])
        self.assertTrue(all(guard["reason"] for guard in frame["guards"]))

    def test_explain_leaves_the_counters_alone(self):
        slotrt.reset()
        slotrt.explain(join)(1, 2)
        self.assertEqual(set(slotrt.stats().values()), {0})

    def test_a_break_is_a_reason(self):
        def function(a):
            slotrt.graph_break()
            return a

        report = slotrt.explain(function)(1)
        self.assertEqual((report.breaks, len(report.reasons)), (1, 1))
        self.assertEqual(report.reasons[0]["line"], function.__code__.co_firstlineno + 1)

    def test_what_cannot_be_traced_is_named_and_right(self):
        namespace = {}
        module = types.FunctionType(compile("x = 3", "<module>", "exec"), namespace)
        report = slotrt.explain(module)()
        self.assertEqual(namespace["x"], 3)
        self.assertEqual(len(report.reasons), 1)
        self.assertTrue(report.reasons[0]["context"])


class Threads(unittest.TestCase):
    def test_two_threads_compile_and_run_at_once(self):
        compiled = slotrt.compile(join)
        values = [(1, 2), ({1: 2}, {3: 4}), (Left(), Right()), (True, False), ({1}, {2}), (Left(), Eager())]
        wrong = []

        def work(offset):
            for step in range(300):
                a, b = values[(step + offset) % len(values)]
                if compiled(a, b) != join(a, b):
                    wrong.append((a, b))
                if step % 50 == 0:
                    slotrt.reset()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
