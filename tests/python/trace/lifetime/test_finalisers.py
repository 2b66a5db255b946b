"""Finalisers run where, when and in the order in which they run in plain Python: an object ends at the instruction that drops the last reference to it."""
import contextlib
import gc
import io
import itertools
import unittest
import weakref

import slotrt

STATE = {"ended": 0}
KEPT = []


class Ending:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        STATE["ended"] += 1
        print("end", self.name, STATE["ended"])


class Plain:
    pass


def step(value):
    yield value
    try:
        yield value
    finally:
        print("generator left")


def several_in_a_list(values):
    for value in values:
        pair = [Ending(1), Ending(value)]
    return len(pair)


def taken_from_a_list(values):
    for value in values:
        pair = [Ending(1), Ending(value)]
        pair.pop(0)
    return len(pair)


def list_overwritten():
    one, two = Ending("one"), Ending("two")
    pair = [one, two]
    del one, two
    pair = len(pair)
    before = STATE["ended"]
    return pair, before


def arguments_let_go():
    one, two = Ending("one"), Ending("two")
    two = None
    between = STATE["ended"]
    one = None
    return two, between, one, STATE["ended"]


def exchanged():
    one, two = Ending("one"), Ending("two")
    one, two = two, [one]
    return STATE["ended"]


def seen_by_a_branch():
    one, two = Ending("one"), Ending("two")
    held = {"key": one}
    del one
    held["key"] = 3
    return "ended" if STATE["ended"] else "not yet", two.name


def in_a_handler():
    one, two = Ending("one"), Ending("two")
    name = two
    try:
        raise KeyError(one)
    except KeyError as error:
        one, two = None, error.args
        del two
        name = Ending("new")
    return STATE["ended"]


def popped_from_outside():
    one, two = Ending("one"), Ending("two")
    KEPT[:] = [one, two]
    del one, two
    KEPT.pop()
    first = STATE["ended"]
    KEPT.clear()
    return first, STATE["ended"]


def weak_callback(values):
    plain = Plain()
    seen = weakref.ref(plain, lambda _: print("gone"))
    print("before")
    del plain
    print("after", seen())


def generator_let_go(values):
    values = step(values)
    next(values), next(values)
    print("before")
    values = None
    return values


def attributes_in_their_order():
    one, two = Ending("one"), Ending("two")
    plain = Plain()
    plain.second, plain.first = two, one
    one = two = None
    plain = None
    return STATE["ended"]


class Owner:
    kept = None


def class_attribute_replaced():
    print(Owner.kept is None)
    Owner.kept = Ending("replaced")
    Owner.kept = None
    Owner.kept = Ending("looked at")
    print(type(Owner.kept.name), [Owner.kept] == [])
    Owner.kept = None
    return STATE["ended"]


def number_of_an_exception():
    ended = Ending("frame's")
    try:
        raise KeyError(ended)
    except KeyError as error:
        number = used(error)
    ended = None
    return number, STATE["ended"]


def used(error):
    seen = set()
    seen.add(id(error))
    print(len(seen))
    return len(seen)


def number_of_what_is_given():
    error = KeyError(Ending("argument"))
    print("made")
    number = len({id(error): 1})
    error = None
    return number, STATE["ended"]


TABLE = {}
GLOBAL = None


def entry_replaced():
    TABLE["first"] = Ending("entry")
    return STATE["ended"], len(TABLE)


def list_in_an_entry_replaced():
    TABLE["second"] = [Ending("held")]
    return STATE["ended"], len(TABLE)


def function_in_an_entry_replaced():
    TABLE["third"] = None
    TABLE["third"] = lambda held=Ending("default"): held
    return STATE["ended"]


def global_replaced():
    set_global(Ending("global"))
    return STATE["ended"]


def set_global(value):
    global GLOBAL
    GLOBAL = value


def attribute_replaced():
    plain = Plain()
    plain.first = [Ending("attribute")]
    plain.second = Ending("stays")
    del plain.first
    return STATE["ended"]


def within_a_call():
    one, two = Ending("one"), Ending("two")
    def take(taken):
        taken = None
        return STATE["ended"]

    held = [two]
    del two
    return take(held.pop()), one.name, STATE["ended"]



MAKE_TWO = (
    list_overwritten,
    arguments_let_go,
    exchanged,
    seen_by_a_branch,
    in_a_handler,
    popped_from_outside,
    attributes_in_their_order,
    within_a_call,
    class_attribute_replaced,
    number_of_an_exception,
    number_of_what_is_given,
    attribute_replaced,
)
LEAVE_SOMETHING = (entry_replaced, list_in_an_entry_replaced, function_in_an_entry_replaced, global_replaced)
GIVEN_A_LIST = (several_in_a_list, taken_from_a_list, weak_callback, generator_let_go)


def seen(run):
    """Prints and result of the call."""
    STATE["ended"] = 0
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        returned = repr(run())
    return printed.getvalue(), returned


def forget():
    """Ends the objects that functions left, which would print when the interpreter ends."""
    with contextlib.redirect_stdout(io.StringIO()):
        TABLE.clear()
        set_global(None)


class Finalisers(unittest.TestCase):
    def setUp(self):
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        self.addCleanup(forget)

    def as_in_plain_python(self, function, call):
        with self.subTest(function.__name__):
            expected, compiled = seen(lambda: call(function)), slotrt.compile(function)
            for _ in range(3):
                self.assertEqual(seen(lambda: call(compiled)), expected)

    def test_arguments(self):
        for function in MAKE_TWO:
            self.as_in_plain_python(function, lambda run: run())

    def test_what_places_outside_hold(self):
        def calls(run):
            TABLE.clear()
            set_global(None)
            STATE["ended"] = 0
            return [seen(run) for _ in range(4)]

        for function in LEAVE_SOMETHING:
            with self.subTest(function.__name__):
                self.assertEqual(calls(slotrt.compile(function)), calls(function))

    def test_what_another_call_finds_there(self):
        def replace(value):
            TABLE["key"] = value
            set_global(value)
            return STATE["ended"]

        def calls(run):
            TABLE.clear()
            set_global(None)
            STATE["ended"] = 0
            makers = (int, int, lambda: Ending("one"), lambda: Ending("two"), lambda: [Ending("three")], int)
            return [seen(lambda: run(make())) for make in makers]

        self.assertEqual(calls(slotrt.compile(replace)), calls(replace))

    def test_objects_of_the_frame(self):
        for function in GIVEN_A_LIST:
            self.as_in_plain_python(function, lambda run: run([1, 2]))

    def test_iterators_that_lack_an_iterator(self):
        # C keeps no iterator that has ended: its tuple of them has a gap.
        def take_rest(holder, pairs):
            holder.clear()
            return list(pairs)

        def call(run):
            pairs = itertools.zip_longest([1], [2, 3, 4], fillvalue=0)
            holder = [step(1)]
            next(pairs), next(pairs), next(holder[0]), next(holder[0])
            return run(holder, pairs)

        self.as_in_plain_python(take_rest, call)

    def test_without_finalisers_nothing_breaks(self):
        def let_go(one, two):
            pair = [one, two]
            del one, two
            pair = len(pair)
            return pair

        compiled = slotrt.compile(let_go)
        slotrt.reset()
        self.assertEqual(compiled(1, Plain()), 2)
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)
        self.assertEqual(compiled(1, Ending("two")), 2)

    def test_the_break_says_why(self):
        report = slotrt.explain(attribute_replaced)()
        self.assertIn("object whose end runs code is let go", str(report))


if __name__ == "__main__":
    unittest.main()
