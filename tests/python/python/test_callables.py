"""Callables of every kind, given to `compile`, `disable`, `is_compiled` and `explain`. Modules are in `domain/torch/test_modules.py`."""

import copy
import functools
import gc
import inspect
import operator
import pickle
import threading
import traceback
import types
import unittest
import weakref

import slotrt
from slotrt import _slotrt


class Scale:
    """A callable object."""

    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x * self.by

    def itself(self):
        return self

    def checked(self, x):
        if x < 0:
            raise ValueError(f"negative: {x}")
        return self(x)


class Slotted(Scale):
    __slots__ = ("extra",)


class Table(dict):
    def __call__(self, key):
        return self[key]


class Made:
    def __init__(self, value):
        if value is None:
            raise ValueError("no value")
        self.value = value


class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args), cls.__name__


class ByMeta(metaclass=Meta):
    pass


class Counted:
    """Keeps account of its subclasses and of its instances that end."""

    subclasses = []
    ended = []

    def __init_subclass__(cls, *, why, **kwargs):
        Counted.subclasses.append((cls, why))

    def __call__(self, x):
        return x + 1

    def __del__(self):
        Counted.ended.append(type(self))


def add(a, b=1, *, c=0):
    return a + b + c


def fails(x):
    raise KeyError(x)


def backend(graph, inputs):
    return graph


@slotrt.compile
@functools.lru_cache
def cached(x):
    return x * 2


def outcome(function, *args, **kwargs):
    """The result of a call, or the exception with the names and lines of its traceback."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        places = traceback.extract_tb(error.__traceback__)[1:]
        return type(error), str(error), [(place.name, place.lineno) for place in places]


def breaks(function, *args):
    return [reason["context"] for reason in slotrt.explain(function)(*args).reasons]


CASES = [
    (add, (1,)),
    (functools.partial(add, 1, c=5), (2,)),
    (functools.partial(functools.partial(add, 1), c=5), ()),
    (functools.partial(operator.add, 1), (2,)),
    (functools.partial(fails), (2,)),
    (len, ([1, 2],)),
    (len, (3,)),
    (operator.add, (1, 2)),
    (operator.itemgetter(1), ([1, 2],)),
    (operator.itemgetter(1), ([],)),
    (str.upper, ("ab",)),
    (str.upper, (1,)),
    ("-".join, (["a", "b"],)),
    (int, ("12",)),
    (int, ("x",)),
    (list, ((1, 2),)),
    (object().__str__, (1,)),
    (Scale(3), (2,)),
    (Scale(3), ()),
    (Scale(3).checked, (2,)),
    (Scale(3).checked, (-2,)),
    (types.MethodType(operator.add, 1), (2,)),
    (types.MethodType(Scale(2), 3), ()),
    (Table(a=1), ("a",)),
    (Table(a=1), ("b",)),
    (staticmethod(add), (4,)),
    (functools.lru_cache(add), (4,)),
    (functools.lru_cache(fails), (4,)),
    (functools.singledispatch(add), (4,)),
]


class Callables(unittest.TestCase):
    def test_each_kind_does_what_it_does(self):
        for fn, args in CASES:
            with self.subTest(fn=fn):
                for replaced in (slotrt.compile(fn), slotrt.compile(fn=fn), slotrt.compile()(fn), slotrt.disable(fn)):
                    for _ in range(2):
                        self.assertEqual(outcome(replaced, *args), outcome(fn, *args))
                if isinstance(outcome(fn, *args), tuple):
                    continue
                self.assertEqual(slotrt.explain(fn)(*args).result, fn(*args))

    def test_what_is_given_back(self):
        for fn, _ in CASES:
            with self.subTest(fn=fn):
                compiled, disabled = slotrt.compile(fn), slotrt.disable(fn)
                self.assertFalse(slotrt.is_compiled(fn))
                self.assertTrue(slotrt.is_compiled(compiled))
                self.assertFalse(slotrt.is_compiled(disabled))
                self.assertIs(slotrt.compile(compiled), compiled)
                self.assertIs(slotrt.disable(disabled), disabled)
                self.assertIs(slotrt.compile(disabled), disabled)
                self.assertFalse(slotrt.is_compiled(slotrt.disable(compiled)))
                if not isinstance(fn, type):
                    self.assertIsInstance(disabled, type(fn))

    def test_compiled_anew_if_an_option_differs(self):
        for fn in (add, Scale(2), len, functools.partial(add, 1), Scale(2).checked, Made):
            plain = slotrt.compile(fn)
            whole = slotrt.compile(fn, fullgraph=True, backend=backend)
            for same in ({}, {"fullgraph": False}, {"backend": "eager"}, {"fullgraph": False, "backend": "eager"}):
                self.assertIs(slotrt.compile(plain, **same), plain)
            for same in ({}, {"fullgraph": True}, {"backend": backend}, {"fullgraph": True, "backend": backend}):
                self.assertIs(slotrt.compile(whole, **same), whole)
            for other in ({"fullgraph": True}, {"backend": backend}, {"backend": lambda graph, inputs: graph}):
                again = slotrt.compile(plain, **other)
                self.assertIsNot(again, plain)
                self.assertTrue(slotrt.is_compiled(again))
                self.assertIs(slotrt.compile(again, **other), again)
            self.assertIsNot(slotrt.compile(whole, backend="eager"), whole)
            self.assertIsNot(slotrt.compile(whole, fullgraph=False), whole)

    def test_bound_methods_as_backends_are_compared(self):
        class Backend:
            def run(self, graph, inputs):
                return graph

        one, two = Backend(), Backend()
        compiled = slotrt.compile(add, backend=one.run)
        self.assertIs(slotrt.compile(compiled, backend=one.run), compiled)
        self.assertIsNot(slotrt.compile(compiled, backend=two.run), compiled)

    def test_an_object_stays_an_instance_of_its_class(self):
        scale = Scale(2)
        for replaced in (slotrt.compile(scale), slotrt.disable(scale)):
            self.assertIsInstance(replaced, Scale)
            self.assertIs(replaced.__class__, Scale)
            self.assertIs(replaced.itself(), replaced)
            self.assertEqual(replaced.checked(2), 2 * scale.by)
            replaced.by = scale.by + 1
            self.assertEqual((scale.by, replaced(1)), (replaced.by, scale.by))
            self.assertEqual(vars(replaced), vars(scale))
            del replaced.by
            self.assertFalse(hasattr(scale, "by"))
            scale.by = 5
            self.assertEqual(replaced(1), 5)
            self.assertEqual((replaced.__doc__, dir(replaced)), (scale.__doc__, dir(scale)))
            self.assertIs(type(type(replaced)(3)), Scale)
            with self.assertRaisesRegex(AttributeError, "^'Scale' object has no attribute 'nothing'$"):
                replaced.nothing

    def test_slots_of_an_object(self):
        slotted = Slotted(2)
        replaced = slotrt.compile(slotted)
        replaced.extra = 1
        self.assertEqual((slotted.extra, replaced.extra, replaced(4)), (1, 1, 8))

    def test_nobody_hears_of_wrappers(self):
        class Listening(Counted, why="a test"):
            pass

        del Counted.ended[:], Counted.subclasses[1:]
        counted = Listening()
        self.assertEqual(slotrt.compile(counted)(1), 2)
        self.assertEqual(slotrt.disable(counted)(1), 2)
        self.assertEqual((Counted.ended, Counted.subclasses), ([], [(Listening, "a test")]))
        del counted
        self.assertEqual(Counted.ended, [Listening])

    def test_classes(self):
        for replaced in (slotrt.compile(Made), slotrt.disable(Made)):
            made = replaced(3)
            self.assertIs(type(made), Made)
            self.assertEqual(made.value, 3)
            self.assertEqual(outcome(replaced, None), outcome(Made, None))
            self.assertIsInstance(made, replaced)
            self.assertNotIsInstance(3, replaced)
            self.assertTrue(issubclass(Made, replaced))

            class Derived(replaced):
                pass

            self.assertEqual(Derived.__mro__, (Derived, Made, object))
            self.assertEqual((replaced.__name__, inspect.signature(replaced)), ("Made", inspect.signature(Made)))
        instance, name = slotrt.compile(ByMeta)()
        self.assertEqual((type(instance), name), (ByMeta, "ByMeta"))

    def test_methods(self):
        class Box:
            def __init__(self, value):
                self.value = value

            @slotrt.compile(fullgraph=True)
            def plain(self, other):
                return self.value + other

            @slotrt.compile
            @staticmethod
            def static(x):
                return x

            @slotrt.compile
            @classmethod
            def of_class(cls, x):
                return cls.__name__, x

            @classmethod
            @slotrt.compile
            def outside(cls):
                return cls.__name__

            @slotrt.compile
            @functools.lru_cache
            def cached(self, x):
                return self.value * x

            @slotrt.compile
            def numbers(self, n):
                yield self.value
                yield from range(n)

            @slotrt.disable
            def alone(self, x):
                return self.value, x, slotrt.is_compiling()

            upper = slotrt.compile(str.upper)
            number = slotrt.compile(operator.add)

        class Inner(Box):
            pass

        box = Inner(3)
        for _ in range(2):
            self.assertEqual((box.plain(1), Box.plain(box, 1)), (4, 4))
            self.assertEqual((box.static(1), Box.static(1)), (1, 1))
            self.assertEqual((box.of_class(1), Box.of_class(1)), (("Inner", 1), ("Box", 1)))
            self.assertEqual((box.outside(), Box.outside()), ("Inner", "Box"))
            self.assertEqual((box.cached(2), Box.cached(box, 2)), (6, 6))
            self.assertEqual(list(box.numbers(2)), [3, 0, 1])
            self.assertEqual((box.alone(2), Box.alone(box, 2)), ((3, 2, False), (3, 2, False)))
            self.assertEqual((Box.upper("a"), box.number(1, 2)), ("A", 3))
        self.assertEqual(box.cached.cache_info(), Box.cached.cache_info())
        self.assertIs(box.alone.__self__, box)
        for name in ("plain", "static", "of_class", "outside", "cached", "numbers"):
            self.assertTrue(slotrt.is_compiled(getattr(box, name)), name)
            self.assertTrue(slotrt.is_compiled(getattr(Box, name)), name)

    def test_compiled_ones_are_inlined(self):
        fns = [slotrt.compile(fn) for fn in (add, Scale(3), functools.partial(add, 2), Scale(4).checked, operator.neg, Made)]
        scale = slotrt.compile(Scale(5))

        def whole(x):
            results = [fn(x) for fn in fns[:-1]]
            return *results, fns[-1](x).value, scale.by, scale.checked(x)

        report = slotrt.explain(whole)(3)
        self.assertEqual((report.result, report.breaks, len(report.frames)), (whole(3), 0, 1))

    def test_arguments_that_change(self):
        compiled = slotrt.compile(lambda table, key: table(key))
        for table in (Table(a=1), slotrt.compile(Table(a=2)), slotrt.disable(Table(a=3)), dict(a=4).get, Scale(5)):
            self.assertEqual(outcome(compiled, table, "a"), outcome(table, "a"))

    def test_what_is_set_behind_the_setter(self):
        class Keeper:
            kept = 0

            def __call__(self, x):
                return x * self.kept

            def by_object(self, value):
                object.__setattr__(self, "kept", value)

            def by_super(self, value):
                super().__setattr__("kept", value)

            def by_dict(self, value):
                self.__dict__["kept"] = value

            def by_own_dict(self, value):
                object.__getattribute__(self, "__dict__")["kept"] = value

            def plainly(self, value):
                self.kept = value

        def whole(name, wrapper, keeper):
            before = keeper.kept, wrapper.kept
            getattr(wrapper, name)(5)
            after = keeper.kept, wrapper.kept, wrapper(2), object.__getattribute__(wrapper, "kept")
            getattr(keeper, name)(6)
            return before, after, keeper.kept, wrapper.kept, wrapper(2), object.__getattribute__(wrapper, "kept")

        for name in ("by_object", "by_super", "by_dict", "by_own_dict", "plainly"):
            results = []
            for run in (whole, slotrt.compile(whole)):
                keeper = Keeper()
                wrapper = slotrt.compile(keeper)
                results.append((run(name, wrapper, keeper), vars(keeper), vars(wrapper)))
            self.assertEqual(*results, name)

    def test_partial_objects_stay_so(self):
        plain = functools.partial(add, 1, c=5)
        plain.note = "kept"
        compiled = slotrt.compile(plain)
        self.assertIs(type(compiled), functools.partial)
        self.assertEqual((compiled.args, compiled.keywords, compiled.note), (plain.args, plain.keywords, plain.note))
        self.assertIs(compiled.func.__wrapped__, add)

    def test_functions_look_the_same(self):
        for fn in (add, len, functools.lru_cache(add)):
            for replaced in (slotrt.compile(fn), slotrt.disable(fn)):
                self.assertEqual(replaced.__name__, fn.__name__)
                self.assertEqual(replaced.__doc__, fn.__doc__)
                self.assertEqual(replaced.__module__, fn.__module__)
                self.assertEqual(inspect.signature(replaced), inspect.signature(fn))
                self.assertIs(replaced.__wrapped__, fn)
        self.assertTrue(inspect.isfunction(slotrt.disable(add)))

    def test_copies_and_pickles(self):
        for fn in (Scale(3), Table(a=1), operator.itemgetter(1)):
            for replace, compiled in ((slotrt.compile, True), (slotrt.disable, False)):
                with self.subTest(fn=fn, replace=replace):
                    replaced = replace(fn)
                    for copied in (copy.copy(replaced), copy.deepcopy(replaced), pickle.loads(pickle.dumps(replaced))):
                        self.assertIs(slotrt.is_compiled(copied), compiled)
                        self.assertIsInstance(copied, type(fn))
                        self.assertIsNot(copied.__wrapped__, fn)
        holder = [scale := Scale(3), slotrt.compile(scale)]
        copied = copy.deepcopy(holder)
        self.assertIs(copied[1].__wrapped__, copied[0])
        self.assertIs(pickle.loads(pickle.dumps(cached)), cached)
        self.assertIs(copy.deepcopy(cached), cached)
        whole = slotrt.compile(Scale(3), fullgraph=True)
        self.assertIs(slotrt.compile(copy.copy(whole), fullgraph=True).__class__, Scale)
        again = copy.copy(whole)
        self.assertIs(slotrt.compile(again, fullgraph=True), again)

    def test_wrong_calls(self):
        for replace in (slotrt.compile, slotrt.disable):
            for wrong in (3, "f", property(len)):
                with self.assertRaisesRegex(TypeError, f"takes a callable, not {type(wrong).__name__}"):
                    replace(wrong)
        with self.assertRaisesRegex(ValueError, "unknown backend"):
            slotrt.compile(backend="nothing")
        with self.assertRaises(TypeError):
            type(slotrt.disable(add).__call__)()


class Disabled(unittest.TestCase):
    def test_a_call_breaks_the_graph_and_says_why(self):
        alone = slotrt.disable(add)

        def whole(x):
            return alone(x) + 1

        self.assertEqual(breaks(whole, 2), ["slotrt.disable(add)"])
        self.assertEqual(slotrt.compile(whole)(2), whole(2))
        with self.assertRaisesRegex(slotrt.GraphBreak, r"slotrt\.disable\(add\)"):
            slotrt.compile(whole, fullgraph=True)(2)

    def test_all_that_it_calls_runs_natively(self):
        seen = []

        def inner(x):
            seen.append((x, slotrt.is_compiling()))
            slotrt.graph_break()
            return slotrt.is_compiling()

        compiled = slotrt.compile(inner)

        @slotrt.disable
        def alone():
            return [inner(1), compiled(2), list(map(inner, [3])), slotrt.compile(inner)(4)]

        def whole():
            # The first call has `inner` compiled wherever compiled code reaches it.
            return sorted([5, 6], key=inner), alone(), inner(7)

        session = _slotrt.Session(record=True)
        traced = session.compile(whole, None, False)
        for _ in range(2):
            del seen[:]
            self.assertEqual(traced(), ([5, 6], [False, False, [False], False], True))
            self.assertEqual([entry for entry in seen if entry[0] in (1, 2, 3, 4)], [(n, False) for n in (1, 2, 3, 4)])
            self.assertIn((7, True), seen)
        self.assertTrue(compiled(8))

    def test_a_compiled_generator_that_it_goes_on_with(self):
        @slotrt.compile
        def numbers():
            for _ in range(3):
                yield slotrt.is_compiling()

        take = slotrt.disable(next)

        def whole():
            generator = numbers()
            return next(generator), take(generator), next(generator), list(generator)

        for _ in range(2):
            gc.collect()
            first, second, third, rest = whole()
            self.assertEqual((second, rest), (False, []))

    def test_they_end_with_their_functions(self):
        def ends(make):
            class Local:
                def __call__(self, x):
                    return x

            made = make(Local)
            references = [weakref.ref(Local), weakref.ref(made)]
            del Local, made
            gc.collect()
            return [reference() for reference in references]

        def in_a_circle(cls):
            wrapper = slotrt.disable(lambda: wrapper)
            return wrapper

        def called(wrapper):
            wrapper(1)
            return wrapper

        makers = (
            slotrt.compile,
            slotrt.disable,
            in_a_circle,
            lambda cls: called(slotrt.compile(cls())),
            lambda cls: called(slotrt.disable(cls())),
            lambda cls: called(slotrt.compile(slotrt.disable(cls().__call__))),
        )
        for make in makers:
            self.assertEqual(ends(make), [None, None])

    def test_c_that_calls_it(self):
        alone = slotrt.disable(lambda x: slotrt.is_compiling())
        seen = []
        note = slotrt.disable(seen.append)

        def whole(xs):
            list(map(note, xs))
            return sorted(xs, key=alone), list(map(alone, xs)), functools.reduce(lambda a, b: alone(b), xs)

        self.assertEqual(slotrt.compile(whole)([1, 2]), ([1, 2], [False, False], False))
        self.assertEqual(seen, [1, 2])

    def test_exceptions_leave_it(self):
        alone = slotrt.disable(fails)

        def whole():
            try:
                return alone(1)
            except KeyError as error:
                return str(error), slotrt.is_compiling()

        compiled = slotrt.compile(whole)
        for _ in range(2):
            self.assertEqual(compiled(), ("1", True))
        self.assertEqual(outcome(alone, 2), outcome(fails, 2))

    def test_coroutine_functions(self):
        async def plain():
            return slotrt.is_compiling()

        alone = slotrt.disable(plain)
        self.assertTrue(inspect.iscoroutinefunction(alone))
        with self.assertRaises(StopIteration) as caught:
            alone().send(None)
        self.assertFalse(caught.exception.value)


class IsCompiling(unittest.TestCase):
    def setUp(self):
        # While the collector waits, a frame runs natively.
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)

    def test_true_in_a_trace_alone(self):
        def asks():
            before = slotrt.is_compiling()
            slotrt.graph_break()
            return before, slotrt.is_compiling(), list(iter(slotrt.is_compiling, before)), (lambda: slotrt.is_compiling())()

        self.assertFalse(slotrt.is_compiling())
        self.assertEqual(asks(), (False, False, [], False))
        compiled = slotrt.compile(asks)
        for _ in range(2):
            self.assertEqual(compiled(), (True, True, [], True))
        self.assertTrue(slotrt.compile(slotrt.is_compiling)())

    def test_false_in_what_runs_natively(self):
        def native():
            return slotrt.is_compiling()

        def asks(target):
            # A thread runs natively.
            thread = threading.Thread(target=lambda: target.append(native()))
            thread.start()
            thread.join()
            return slotrt.is_compiling()

        told = []
        self.assertTrue(slotrt.compile(asks)(told))
        self.assertEqual(told, [False])

    def test_generators(self):
        def asks():
            yield slotrt.is_compiling()
            yield slotrt.is_compiling()

        compiled = slotrt.compile(asks)
        self.assertEqual(list(compiled()), [True, True])
        self.assertEqual(list(asks()), [False, False])

    def test_arguments_are_refused_as_ever(self):
        def wrong():
            return slotrt.is_compiling(1)

        self.assertEqual(outcome(slotrt.compile(wrong)), outcome(wrong))


if __name__ == "__main__":
    unittest.main()
