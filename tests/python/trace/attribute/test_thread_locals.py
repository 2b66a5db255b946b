"""Thread-local data that exists before: each thread has its own, and classes that fill it fill it natively."""

import threading
import unittest

import slotrt


class Filled(threading.local):
    shared = 3

    def __init__(self, first):
        FILLED.append(threading.get_ident())
        self.first = first

    @property
    def twice(self):
        return self.first * 2


class Asking(threading.local):
    def __getattr__(self, name):
        return name * 2


FILLED = []


def plain():
    made = threading.local()
    made.first, made.items = 1, [1]
    return made


PROGRAMS = (
    lambda local: local.first,
    lambda local: (getattr(local, "nope", 3), hasattr(local, "first"), "first" in local.__dict__),
    lambda local: (setattr(local, "first", local.first + 1), local.first, vars(local)["first"]),
    lambda local: (setattr(local, "new", [local.first]), local.new.append(2), local.new),
    lambda local: (local.__class__, type(local), isinstance(local, threading.local)),
    lambda local: (delattr(local, "first"), hasattr(local, "first")),
    lambda local: local.nope,
    lambda local: delattr(local, "nope"),
    lambda local: setattr(local, "__dict__", {}),
    lambda local: sorted(local.__dict__),
)


def outcome(function, local):
    try:
        return function(local), dict(local.__dict__)
    except AttributeError as error:
        return str(error), dict(local.__dict__)


class ThreadLocals(unittest.TestCase):
    def test_attributes(self):
        for program in PROGRAMS:
            for make in (plain, lambda: Filled(5), Asking):
                with self.subTest(line=program.__code__.co_firstlineno, of=type(make()).__name__):
                    compiled, one, other = slotrt.compile(program), make(), make()
                    one.first = other.first = 1
                    for _ in range(3):
                        self.assertEqual(outcome(compiled, one), outcome(program, other))

    def test_no_break(self):
        for program in PROGRAMS[:4]:
            for make in (plain, lambda: Filled(5)):
                slotrt.compile(program, fullgraph=True)(make())
        compiled = slotrt.compile(lambda local: (local.first, local.shared, local.twice), fullgraph=True)
        self.assertEqual([compiled(Filled(number)) for number in (4, 5)], [(4, 3, 8), (5, 3, 10)])

    def test_each_thread_has_its_own(self):
        def step(local):
            local.first = getattr(local, "first", 0) + 1
            return local.first

        for make in (threading.local, lambda: Filled(0)):
            compiled, local, seen = slotrt.compile(step), make(), []
            FILLED.clear()

            def run():
                seen.append([compiled(local) for _ in range(3)])

            for _ in range(2):
                thread = threading.Thread(target=run)
                thread.start()
                thread.join()
            run()
            run()
            self.assertEqual(seen, [[1, 2, 3], [1, 2, 3], [1, 2, 3], [4, 5, 6]])
            self.assertEqual(len(FILLED), 0 if make is threading.local else 2)


if __name__ == "__main__":
    unittest.main()
