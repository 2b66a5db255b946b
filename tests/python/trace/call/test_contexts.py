"""Contexts as objects: copies, `run`, mappings; and tokens that come from outside or leave."""

import contextlib
import contextvars
import unittest

import slotrt

depth = contextvars.ContextVar("depth", default=0)
name = contextvars.ContextVar("name")
other = contextvars.ContextVar("other", default="none")
MISSING = contextvars.Token.MISSING


def breaks():
    return slotrt.stats()["graph_breaks"]


def outcome(program, *args):
    try:
        return program(*args)
    except Exception as error:
        return type(error), [str(arg).split(" at ")[0] for arg in error.args]


def read(variables=(depth, name, other)):
    """What the context has for each variable."""
    context = contextvars.copy_context()
    return [context.get(variable, MISSING) for variable in variables]


def copied(n):
    token = depth.set(n)
    context = contextvars.copy_context()
    depth.reset(token)
    return context[depth], depth in context, name in context, context.get(name), context.get(name, n), depth.get()


def run_in_a_copy(n):
    def inner(step, times=1):
        depth.set(depth.get() + step * times)
        name.set("inside")
        return depth.get(), name.get()

    depth.set(n)
    context = contextvars.copy_context()
    first = context.run(inner, 1)
    second = context.run(inner, 2, times=3)
    return first, second, depth.get(), name.get("nothing"), context[depth], context[name]


def run_raises(n):
    def inner():
        depth.set(n)
        raise KeyError(n)

    context = contextvars.copy_context()
    try:
        context.run(inner)
    except KeyError as error:
        return str(error), depth.get(), context[depth]


def nested_runs(n):
    def inner():
        depth.set(depth.get() + 1)
        return depth.get()

    def outer():
        depth.set(n)
        copy = contextvars.copy_context()
        return copy.run(inner), depth.get(), copy[depth]

    return contextvars.copy_context().run(outer), depth.get()


def empty(n):
    context = contextvars.Context()

    def inner():
        before = depth.get(), name.get("nothing")
        depth.set(n)
        return before

    return context.run(inner), context.run(depth.get), len(context), depth in context, name in context


def as_a_mapping(n):
    context = contextvars.Context()
    context.run(depth.set, n)
    context.run(name.set, [n])
    pairs = {variable.name: value for variable, value in context.items()}
    same = context.copy()
    same.run(other.set, n)
    return (
        len(context),
        pairs,
        sorted(variable.name for variable in context),
        sorted(variable.name for variable in context.keys()),
        len(list(context.values())),
        context == context.copy(),
        context == same,
        context != same,
        context == 3,
        bool(context),
        bool(contextvars.Context()),
    )


def whole_current(n):
    depth.set(n)
    name.set("name")
    context = contextvars.copy_context()
    return {variable.name: value for variable, value in context.items() if variable in (depth, name)}


def missing_key(n):
    context = contextvars.Context()
    try:
        return context[depth]
    except KeyError as error:
        return error.args[0] is depth


def lookup_error(n):
    try:
        return name.get()
    except LookupError as error:
        return error.args[0] is name, type(error) is LookupError


def reset_in_the_wrong_order(n):
    first = depth.set(n)
    second = depth.set(n + 1)
    depth.reset(first)
    middle = depth.get()
    depth.reset(second)
    return middle, depth.get()


def through_a_generator(n):
    def numbers():
        token = depth.set(n)
        try:
            yield depth.get()
            yield depth.get() + 1
        finally:
            depth.reset(token)

    seen = [(number, depth.get()) for number in numbers()]
    return seen, depth.get()


class Managed:
    def __enter__(self):
        self.token = depth.set(depth.get() + 1)
        return self.token

    def __exit__(self, *details):
        depth.reset(self.token)
        return False


def through_a_manager(n):
    with Managed() as token:
        with Managed():
            inside = depth.get()
    return inside, depth.get(), token.old_value, token.var is depth


def decorated(n):
    @contextlib.contextmanager
    def setting(value):
        token = other.set(value)
        try:
            yield
        finally:
            other.reset(token)

    @setting("inside")
    def inner():
        return other.get()

    return inner(), other.get()


def finally_resets(n):
    token = depth.set(n)
    try:
        raise ValueError(depth.get())
    finally:
        depth.reset(token)


def leaves_changed(n):
    depth.set(n)
    name.set("left")
    raise ValueError(depth.get())


def prints_between(n):
    token = depth.set(n)
    slotrt.graph_break()
    seen = depth.get(), token.old_value
    depth.reset(token)
    return seen, depth.get()


def two_tokens_over_a_break(n):
    tokens = [depth.set(n), depth.set(n + 1), name.set("x")]
    slotrt.graph_break()
    seen = [depth.get(), name.get()]
    name.reset(tokens[2])
    while len(tokens) > 1:
        tokens.pop()
        depth.reset(tokens[-1]) if len(tokens) < 3 else None
    return seen, depth.get(), name.get("nothing")


def copy_over_a_break(n):
    depth.set(n)
    context = contextvars.copy_context()
    context.run(name.set, "inside")
    depth.set(n + 1)
    slotrt.graph_break()
    return context[depth], context[name], depth.get(), name.get("nothing"), context.run(depth.get)


def token_of_a_copy(n):
    context = contextvars.copy_context()
    token = context.run(depth.set, n)
    try:
        depth.reset(token)
    except ValueError as error:
        text = str(error).split(" at ")[0], "different Context" in str(error)
    context.run(depth.reset, token)
    return text, context.run(depth.get)


def entered_twice(n):
    context = contextvars.copy_context()
    try:
        context.run(context.run, depth.get)
    except RuntimeError as error:
        return str(error).split("<")[0]


def wrong_arguments(n):
    told = []
    for wrong in (
        lambda: depth.get(1, 2),
        lambda: depth.set(),
        lambda: depth.reset(3),
        lambda: depth.reset(),
        lambda: contextvars.Context(1),
        lambda: contextvars.Context().run(),
        lambda: contextvars.Context()[3],
        lambda: 3 in contextvars.Context(),
        lambda: contextvars.Context().get(3),
        lambda: contextvars.copy_context(1),
        lambda: contextvars.Token(),
    ):
        try:
            wrong()
        except (TypeError, RuntimeError) as error:
            told.append((type(error).__name__, str(error)))
    return told


class Programs(unittest.TestCase):
    WHOLE = (
        copied, run_in_a_copy, run_raises, nested_runs, empty, as_a_mapping, whole_current, missing_key, lookup_error,
        reset_in_the_wrong_order, through_a_generator, through_a_manager, decorated,
    )  # fmt: skip
    OTHERS = (
        finally_resets, leaves_changed, prints_between, two_tokens_over_a_break, copy_over_a_break, token_of_a_copy,
        entered_twice, wrong_arguments,
    )  # fmt: skip

    def test_same_as_plain(self):
        for program in self.WHOLE + self.OTHERS:
            for start in [], [(depth, 40)], [(name, "outer"), (other, 3)]:
                with self.subTest(program.__name__, start=start):
                    slotrt.reset()
                    compiled = slotrt.compile(program)

                    def run(function, n, start=start):
                        for variable, value in start:
                            variable.set(value)
                        return outcome(function, n), read()

                    for n in 3, 4, 3:
                        wanted = contextvars.copy_context().run(run, program, n)
                        self.assertEqual(contextvars.copy_context().run(run, compiled, n), wanted)
                        self.assertEqual(contextvars.copy_context().run(run, compiled, n), wanted)
                    if program in self.WHOLE:
                        self.assertEqual(breaks(), 0)


class OutsideTokens(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def check(self, work):
        contextvars.copy_context().run(work)

    def test_a_token_leaves_and_works(self):
        def leaves(n):
            return depth.set(n), depth.set(n + 1), name.set("n")

        def work():
            compiled = slotrt.compile(leaves)
            for n in 1, 2:
                first, second, third = compiled(n)
                self.assertEqual((first.old_value, second.old_value, third.old_value), (MISSING, n, MISSING))
                self.assertTrue(first.var is depth and third.var is name)
                self.assertTrue(repr(first).startswith("<Token var=<ContextVar name='depth' default=0 at "))
                depth.reset(second)
                self.assertEqual(depth.get(), n)
                depth.reset(first)
                self.assertEqual(depth.get(), 0)
                with self.assertRaisesRegex(RuntimeError, "<Token used var=.*> has already been used once"):
                    depth.reset(first)
                with self.assertRaisesRegex(ValueError, "was created by a different ContextVar"):
                    depth.reset(third)
                with self.assertRaisesRegex(ValueError, "was created in a different Context"):
                    contextvars.copy_context().run(name.reset, third)
                name.reset(third)
                self.assertEqual(read(), [MISSING] * 3)

        self.check(work)
        self.assertEqual(breaks(), 0)

    def test_a_used_token_leaves(self):
        def leaves(n):
            token = depth.set(n)
            depth.reset(token)
            return token

        def work():
            token = slotrt.compile(leaves)(1)
            self.assertIn("<Token used var=", repr(token))
            self.assertRaises(RuntimeError, depth.reset, token)
            self.assertEqual(read(), [MISSING] * 3)

        self.check(work)
        self.assertEqual(breaks(), 0)

    def test_a_token_of_a_copy_leaves(self):
        def leaves(n):
            context = contextvars.copy_context()
            return context, context.run(depth.set, n), context.run(depth.set, n + 1)

        def work():
            context, first, second = slotrt.compile(leaves)(1)
            self.assertEqual((context[depth], first.old_value, second.old_value), (2, MISSING, 1))
            self.assertRaises(ValueError, depth.reset, second)
            context.run(depth.reset, second)
            self.assertEqual(context[depth], 1)
            context.run(depth.reset, first)
            self.assertNotIn(depth, context)
            self.assertEqual(read(), [MISSING] * 3)

        self.check(work)
        self.assertEqual(breaks(), 0)

    def test_a_token_from_outside(self):
        def resets(token):
            depth.reset(token)
            return depth.get()

        def work():
            compiled = slotrt.compile(resets)
            for before in 7, 8, None:
                if before is not None:
                    depth.set(before)
                token = depth.set(9)
                self.assertEqual(compiled(token), before or 8)
                self.assertIn("<Token used", repr(token))
                self.assertRaises(RuntimeError, compiled, token)

        self.check(work)

        def unset():
            compiled = slotrt.compile(resets)
            for _ in range(3):
                self.assertEqual(compiled(depth.set(9)), 0)
                self.assertEqual(read(), [MISSING] * 3)

        slotrt.reset()
        self.check(unset)
        self.assertEqual(breaks(), 0)

    def test_two_tokens_or_one(self):
        def resets(one, two):
            depth.reset(one)
            try:
                depth.reset(two)
            except RuntimeError:
                return "used", depth.get()
            return "unused", depth.get()

        def work():
            compiled = slotrt.compile(resets)
            depth.set(1)
            for same in False, True, False:
                one = depth.set(2)
                two = one if same else depth.set(3)
                self.assertEqual(compiled(two, one), ("used" if same else "unused", 1))

        self.check(work)

    def test_outside_reset_then_more(self):
        def program(token, n):
            mine = depth.set(n)
            depth.reset(token)
            middle = depth.get(5)
            depth.set(n + 1)
            depth.reset(mine)
            return middle, depth.get(5)

        for before in MISSING, 1:
            with self.subTest(before=before):
                compiled = slotrt.compile(program)

                def work(function, before=before):
                    if before is not MISSING:
                        depth.set(before)
                    return function(depth.set(2), 3), read()

                wanted = contextvars.copy_context().run(work, program)
                for _ in range(2):
                    self.assertEqual(contextvars.copy_context().run(work, compiled), wanted)


class Guards(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def test_only_what_is_read(self):
        def program():
            return depth.get()

        compiled = slotrt.compile(program)

        def work():
            depth.set(1)
            for n in range(20):
                other.set(n)
                self.assertEqual(compiled(), 1)
            traces = slotrt.stats()["frames_compiled"]
            name.set("more")
            self.assertEqual(compiled(), 1)
            self.assertEqual(slotrt.stats()["frames_compiled"], traces)
            depth.set(2)
            self.assertEqual(compiled(), 2)

        contextvars.copy_context().run(work)
        self.assertEqual(compiled(), 0)

    def test_a_new_object_of_the_same_kind_is_no_new_trace(self):
        def program():
            return name.get()["key"]

        compiled = slotrt.compile(program)

        def work():
            for n in range(20):
                name.set({"key": [n]})
                self.assertEqual(compiled(), [n])

        contextvars.copy_context().run(work)
        self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_set_alone_reads_little(self):
        def program(n):
            token = depth.set(n)
            try:
                return depth.get() + n
            finally:
                depth.reset(token)

        compiled = slotrt.compile(program)

        def work():
            for n in range(20):
                depth.set([n])
                self.assertEqual(compiled(5), 10)
                self.assertEqual(depth.get(), [n])

        contextvars.copy_context().run(work)
        self.assertEqual(slotrt.stats()["frames_compiled"], 1)

    def test_variables_as_arguments(self):
        def program(one, two, n):
            token = one.set(n)
            seen = two.get("nothing")
            one.reset(token)
            return seen

        compiled = slotrt.compile(program)
        for one, two in (depth, name), (depth, depth), (name, other), (other, depth), (name, name):
            for n in 1, 2:
                self.assertEqual(compiled(one, two, n), program(one, two, n))
                self.assertEqual(read(), [MISSING] * 3)
        self.assertEqual(breaks(), 0)

    def test_contexts_as_arguments(self):
        def program(one, two, n):
            one.run(depth.set, n)
            return two.run(depth.get), two.get(depth), depth in one, len(two), name in two

        compiled = slotrt.compile(program)

        def contexts():
            one, two = contextvars.Context(), contextvars.Context()
            two.run(depth.set, 7)
            three = two.copy()
            three.run(name.set, "x")
            return [(one, two), (one, one), (two, one), (two, three), (three, three)]

        for plain, traced in zip(contexts(), contexts()):
            for n in 1, 2:
                self.assertEqual(compiled(*traced, n), program(*plain, n))
                self.assertEqual([list(c.values()) for c in traced], [list(c.values()) for c in plain])
        self.assertEqual(breaks(), 0)

    def test_a_context_that_is_entered(self):
        def program(context):
            return context.run(depth.get)

        compiled = slotrt.compile(program)
        context = contextvars.copy_context()
        self.assertEqual(compiled(context), 0)
        with self.assertRaisesRegex(RuntimeError, "cannot enter context: .* is already entered"):
            context.run(compiled, context)

    def test_values_are_let_go(self):
        import gc
        import weakref

        class Thing:
            pass

        def program():
            return name.get().__class__, depth.get()

        compiled = slotrt.compile(program)

        def work():
            thing = Thing()
            name.set(thing)
            self.assertEqual(compiled(), (Thing, 0))
            self.assertEqual(compiled(), (Thing, 0))
            return weakref.ref(thing)

        gone = contextvars.copy_context().run(work)
        gc.collect()
        self.assertIsNone(gone())


def keys_of_a_context(variable):
    context = contextvars.Context()

    def within():
        variable.set(1)
        keys = list(context.keys())
        return keys[0] is variable, keys == [variable], variable in keys, keys.index(variable), [*context] == keys

    return context.run(within)


class Keys(unittest.TestCase):
    def test_variables_are_what_contexts_give(self):
        compiled = slotrt.compile(keys_of_a_context)
        for _ in range(3):
            variable = contextvars.ContextVar("made anew")
            self.assertEqual(compiled(variable), keys_of_a_context(variable))


if __name__ == "__main__":
    unittest.main()
