"""Objects that other threads change while a function is traced, compiled and called: it gives what plain code may give, and never crashes."""

import collections
import sys
import threading
import time
import unittest

import slotrt

SECONDS = 0.25
number = 1


class Thing:
    def __init__(self):
        self.a, self.b = 1, [1]

    def method(self):
        return self.a


class Other(Thing):
    kind = 2


class Ordered(collections.OrderedDict):
    pass


class Items(list):
    pass


class Slots:
    __slots__ = ("a",)

    def __init__(self):
        self.a = 1


def default(x=1):
    return x


def change_dict(d, i):
    d[i % 7] = i
    d.pop((i + 3) % 7, None)
    d["x"] = i
    if i % 5 == 0:
        d.clear()


def change_list(items, i):
    items.append(i % 3 + 1)
    if i % 5 == 0 or len(items) > 20:
        items.clear()


def change_set(items, i):
    items.add(i % 9)
    items.discard((i + 4) % 9)


def change_attributes(thing, i):
    thing.a = [1, "x", 2.5][i % 3]
    if i % 7 == 0:
        thing.__dict__ = {"a": 1, "b": [1]}


def change_class(thing, i):
    thing.__class__ = Other if i % 2 else Thing
    Thing.kind = i % 2 + 1
    if i % 5 == 0:
        del Thing.kind


def change_slot(slots, i):
    slots.a = i % 2 + 1


def change_global(_, i):
    globals()["number"] = i % 2 + 1


def change_defaults(function, i):
    function.__defaults__ = (i % 2 + 1,)


def dict_copy(d):
    total = len(list(d))
    d["mine"] = total
    return type(d.get("x")) in (int, type(None)), total >= 0


def dict_items(d):
    return all(isinstance(value, int) for _, value in d.items()), True


def ordered_items(d):
    return list(d.items())[:0] == [], len(d.copy()) >= 0


def list_changed(items):
    items.append(1)
    return len(items) >= 0, sorted(items)[:1] in ([], [1], [2], [3])


def list_items(items):
    return items[0] in (1, 2, 3), items[-1] in (1, 2, 3)


def list_iteration(items):
    return all(item in (1, 2, 3) for _, item in zip(range(50), items)), True


def derived_list(items):
    return len(items.copy()) >= 0, sum(items) >= 0


def set_changed(items):
    items.add(99)
    return 99 in items, sorted(items)[-1] == 99


def attributes(thing):
    return isinstance(thing.a, (int, str, float)), len(thing.b) == 1, thing.method() is not None


def class_attribute(thing):
    return thing.kind in (1, 2), type(thing).__name__ in ("Thing", "Other")


def slot(slots):
    return slots.a in (1, 2), True


def read_global(_):
    return number in (1, 2), number + number in (2, 3, 4)


def call_default(function):
    return function() in (1, 2), True


CASES = [
    (dict_copy, change_dict, dict),
    (dict_items, change_dict, dict),
    (dict_items, change_dict, collections.OrderedDict),
    (ordered_items, change_dict, collections.OrderedDict),
    (ordered_items, change_dict, Ordered),
    (list_changed, change_list, list),
    (derived_list, change_list, Items),
    (derived_list, change_list, collections.deque),
    (list_items, change_list, list),
    (list_iteration, change_list, list),
    (set_changed, change_set, set),
    (attributes, change_attributes, Thing),
    (class_attribute, change_class, Thing),
    (attributes, change_class, Thing),
    (slot, change_slot, Slots),
    (read_global, change_global, Thing),
    (call_default, change_defaults, lambda: default),
]
# What plain code raises here, too: an empty list, a dict that changes under iteration, a class without the attribute.
MAY_RAISE = (IndexError, RuntimeError, AttributeError)


class OtherThreads(unittest.TestCase):
    def setUp(self):
        self.interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)

    def tearDown(self):
        sys.setswitchinterval(self.interval)

    def called(self, program, given, end, results):
        calls = 0
        while time.monotonic() < end:
            if calls % 20 == 0:
                compiled = slotrt.compile(program)
            calls += 1
            try:
                results.add(compiled(given))
            except MAY_RAISE:
                pass
            except Exception as error:
                results.add(repr(error))

    def test_changes(self):
        for program, change, make in CASES:
            with self.subTest(program.__name__, change=change.__name__):
                slotrt.reset()
                given, stop, results = make(), threading.Event(), set()

                def changes(given=given, stop=stop, change=change):
                    i = 0
                    while not stop.is_set():
                        try:
                            change(given, i)
                        except AttributeError:
                            pass
                        i += 1

                end = time.monotonic() + SECONDS
                threads = [threading.Thread(target=changes)]
                threads.append(threading.Thread(target=self.called, args=(program, given, end, results)))
                for thread in threads:
                    thread.start()
                try:
                    self.called(program, given, end, results)
                finally:
                    stop.set()
                    for thread in threads:
                        thread.join()
                self.assertEqual({result for result in results if not isinstance(result, tuple) or not all(result)}, set())


if __name__ == "__main__":
    unittest.main()
