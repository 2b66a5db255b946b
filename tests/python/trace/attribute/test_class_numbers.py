"""Numbers that a class has and the program sets: counts of instances, settings, marks of what has been said once."""
import operator
import unittest

import slotrt


class Counted:
    count = 0
    said = False
    rate = 0.5

    def __init__(self):
        Counted.count += 1
        self.number = Counted.count

    def double(self):
        return self.count * 2


class Derived(Counted):
    def of_base(self):
        return super().count


class Meta(type):
    made = 0

    def __getattr__(cls, name):
        if name == "through_the_metaclass":
            return cls.count
        raise AttributeError(name)


class WithMeta(metaclass=Meta):
    count = 0


class OfDict(dict):
    count = 0


class WithList:
    count = 0
    kept = []


class Registered:
    """Counts its instances beside containers and an instance of a class of the program's."""

    count = 0
    names = []
    by_name = {}
    other = Counted()

    def __init__(self):
        Registered.count += 1
        Registered.names.append(f"{self.__class__.__name__}{self.count}")

    @classmethod
    def registered(cls):
        return cls.count, cls.__qualname__, cls.__mro__[1] is object, len(cls.names)


CLASSES = {Counted: ("count", "said", "rate"), Meta: ("made",), WithMeta: ("count",), OfDict: ("count",), WithList: ("count",), Registered: ("count",)}
BEFORE = {(owner, name): vars(owner)[name] for owner, names in CLASSES.items() for name in names}


def counts_instances(x):
    return Counted().number + x


def says_once(x):
    if not Counted.said:
        Counted.said = True
        return "said"
    return Counted.said


def computes_with_floats(x):
    Counted.rate *= 1.5
    return Counted.rate, Counted().rate


def sees_it_in_many_ways(x):
    Counted.count += 1
    first = Derived()
    first.count += 5
    return first.count, Derived.count, first.of_base(), getattr(Counted, "count"), first.double(), f"{Counted.count}"


def is_read_by_c(x):
    Counted.count += 1
    OfDict.count += 2
    read = operator.attrgetter("count")
    return read(Counted), read(Counted()), read(OfDict()), "{0.count}".format(OfDict()), list(map(read, [Counted]))


def is_seen_as_a_whole(x):
    Counted.count += 1
    return vars(Counted)["count"], Counted.__dict__["count"]


def through_the_metaclass(x):
    WithMeta.count += 1
    Meta.made += 1
    return WithMeta.through_the_metaclass, WithMeta.made, type(WithMeta).made


def takes_other_kinds(x):
    Counted.count = x * 0.5
    one = Counted.count
    Counted.count = x % 2 == 0
    return one, Counted.count, Counted.count is True


def takes_no_number(x):
    Counted.count = None
    one = Counted.count
    Counted.count = x
    return one, Counted.count


def is_deleted_and_made(x):
    Counted.count = x
    del Counted.count
    try:
        return Counted.count
    except AttributeError as error:
        return str(error)
    finally:
        Counted.count = x


def derived_in_the_trace(x):
    Counted.count += 1

    class Made(Counted):
        at_first = Counted.count

    Made.count += 1
    return Made.count, Counted.count, Made.at_first, Made().number


def between_breaks(x):
    Counted.count += 1
    slotrt.graph_break()
    Counted.count += 1
    return Counted.count


def in_generators_and_handlers(x):
    def steps():
        yield Counted.count
        Counted.count += 1
        yield Counted.count

    try:
        raise KeyError(list(steps()))
    except KeyError as error:
        Counted.count += 1
        return error.args, Counted.count


def beside_a_list(x):
    WithList.count += 1
    return WithList.count


def beside_what_is_read(x):
    return Registered().registered(), Registered.names[-1], Registered().count, Registered.other.double() >= 0


def one_object_under_two_names(x):
    Counted.count = Counted.rate = x + 0.5
    return Counted.count is Counted.rate


PROGRAMS = [
    counts_instances,
    says_once,
    computes_with_floats,
    sees_it_in_many_ways,
    is_read_by_c,
    is_seen_as_a_whole,
    through_the_metaclass,
    takes_other_kinds,
    takes_no_number,
    is_deleted_and_made,
    derived_in_the_trace,
    between_breaks,
    in_generators_and_handlers,
    beside_a_list,
    beside_what_is_read,
    one_object_under_two_names,
]


def put_back():
    for (owner, name), value in BEFORE.items():
        setattr(owner, name, value)
    Registered.names.clear()
    if "count" in vars(Derived):
        del Derived.count


def numbers():
    return [(owner.__name__, name, vars(owner).get(name)) for owner, name in BEFORE]


def calls(function):
    put_back()
    seen = []
    for index in range(6):
        seen.append((function(index), numbers()))
        if index == 3:
            Counted.count = 40
    return repr(seen)


class ClassNumbers(unittest.TestCase):
    def tearDown(self):
        put_back()

    def test_all_is_as_in_plain_python(self):
        for program in PROGRAMS:
            with self.subTest(program.__name__):
                expected = calls(program)
                self.assertEqual(calls(slotrt.compile(program)), expected)

    def test_containers_beside_a_count_break_no_graph(self):
        for program in (beside_a_list, beside_what_is_read):
            with self.subTest(program.__name__):
                calls(slotrt.compile(program))
                slotrt.reset()
                calls(slotrt.compile(program))
                self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_what_a_class_has_under_a_name_that_is_read_is_told(self):
        def read(x):
            return Registered.names + [x], Registered.other

        compiled, names, other = slotrt.compile(read), Registered.names, Registered.other
        for changed in ({}, {"names": ["other"]}, {"names": names}, {"other": Counted()}, {"other": other}, {"by_name": {1: 2}}, {"by_name": 3}):
            for name, value in changed.items():
                setattr(Registered, name, value)
            with self.subTest(changed=list(changed)):
                self.assertEqual(compiled(1), read(1))
                self.assertIs(compiled(1)[1], Registered.other)

    def test_counts_break_no_graph_and_two_traces_serve_all(self):
        for program in (counts_instances, computes_with_floats, takes_other_kinds):
            with self.subTest(program.__name__):
                calls(slotrt.compile(program))
                slotrt.reset()
                calls(slotrt.compile(program))
                stats = slotrt.stats()
                self.assertEqual(stats["graph_breaks"], 0)
                self.assertLessEqual(stats["frames_compiled"], 3)


if __name__ == "__main__":
    unittest.main()
