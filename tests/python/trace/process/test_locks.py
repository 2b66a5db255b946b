"""Locks from outside that a compiled function uses: every thread finds them free or held as in plain Python."""

import _imp
import os
import queue
import sys
import tempfile
import threading
import time
import unittest

import slotrt

try:
    import numpy
except ImportError:
    numpy = None


class Box:
    def __init__(self, lock):
        self.lock = lock
        self.count = 0
        self.seen = []


def in_with(box):
    with box.lock:
        box.count += 1
        return box.count


def by_hand(box):
    got = box.lock.acquire()
    box.count += 1
    box.lock.release()
    return got


def patient(box):
    return box.lock.acquire(False), box.lock.acquire(blocking=False), box.count


def with_a_limit(box):
    got = box.lock.acquire(timeout=3), box.count
    box.lock.release()
    return got


def wrong_limits(box):
    return box.lock.acquire(False, 1)


def wrong_argument(box):
    return box.lock.acquire(True, "x")


def twice(box):
    with box.lock:
        box.count += 1
    with box.lock:
        box.count += 1
    return box.count


def left_by_an_exception(box):
    with box.lock:
        box.count += 1
        raise KeyError(box.count)


def caught_within(box):
    try:
        with box.lock:
            box.seen.append(1 / box.count)
    except ZeroDivisionError as error:
        box.seen.append(str(error))
    return box.seen


def left_held(box):
    box.count += 1
    box.lock.acquire()
    return box.count


def released_unheld(box):
    box.count += 1
    box.lock.release()


def released_twice(box):
    with box.lock:
        box.count += 1
        box.lock.release()
    return box.count


def released_unheld_and_caught(box):
    try:
        box.lock.release()
    except RuntimeError as error:
        return type(error), str(error), box.count


def given_back(box):
    """Called where the lock is held."""
    box.count += 1
    box.lock.release()
    return box.lock.acquire(False)


def broken_within(box):
    with box.lock:
        box.count += 1
        slotrt.graph_break()
        box.count += 1
    return box.count


def raised_after_a_break(box):
    with box.lock:
        slotrt.graph_break()
        raise ValueError(box.count)


def looked_at(lock):
    before = lock.locked()
    with lock:
        within = lock.locked()
    return before, within, lock.locked()


def two_paths(one, other):
    with one:
        return other.acquire(False), one is other


def nested(lock):
    seen = [lock._is_owned()]
    with lock:
        with lock:
            seen.append(lock._is_owned())
        seen.append(lock._is_owned())
    return seen, lock._is_owned()


def imported(box):
    _imp.acquire_lock()
    try:
        _imp.acquire_lock()
        box.count += 1
        return _imp.lock_held(), box.count
    finally:
        _imp.release_lock()
        _imp.release_lock()


def state(lock):
    """Of a lock, without its address."""
    return repr(lock).rsplit(" at ", 1)[0]


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


class Locks(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def same(self, function, make, before=lambda lock: None, calls=3):
        def results(run):
            box = Box(make())
            said = []
            for _ in range(calls):
                before(box.lock)
                said.append((outcome(run, box), box.count, list(box.seen), state(box.lock)))
            return said

        self.assertEqual(results(slotrt.compile(function)), results(function))

    def test_as_without(self):
        functions = (in_with, by_hand, with_a_limit, wrong_limits, wrong_argument, twice, left_by_an_exception)
        functions += (caught_within, released_unheld, released_twice, released_unheld_and_caught, broken_within)
        functions += (raised_after_a_break,)
        for make in (threading.Lock, threading.RLock):
            for function in functions:
                with self.subTest(function.__name__, make=make.__name__):
                    self.same(function, make)

    def test_left_held(self):
        for function in (patient, left_held):
            with self.subTest(function.__name__):
                self.same(function, threading.RLock)
                self.same(function, threading.Lock, before=lambda lock: lock.locked() and lock.release())

    def test_held_before(self):
        self.same(patient, threading.Lock, before=lambda lock: lock.acquire(False))
        self.same(given_back, threading.Lock, before=lambda lock: lock.acquire(False))
        self.same(given_back, threading.RLock, before=lambda lock: lock.acquire())
        self.same(in_with, threading.RLock, before=lambda lock: lock.acquire())

    def test_state_and_text_of_a_lock(self):
        for function, lock in ((looked_at, threading.Lock()), (nested, threading.RLock())):
            compiled = slotrt.compile(function)
            for _ in range(3):
                self.assertEqual(compiled(lock), function(lock))
        lock = threading.RLock()
        self.assertEqual(slotrt.compile(nested)(lock), nested(lock))
        with lock:
            self.assertEqual(slotrt.compile(nested)(lock), nested(lock))

    def test_without_breaks(self):
        functions = (in_with, by_hand, twice, caught_within, released_unheld_and_caught, with_a_limit)
        for make in (threading.Lock, threading.RLock):
            for function in functions:
                with self.subTest(function.__name__, make=make.__name__):
                    box = Box(make())
                    self.assertEqual(slotrt.explain(function)(box).breaks, 0)
        self.assertEqual(slotrt.explain(imported)(Box(None)).breaks, 0)

    def test_the_same_lock_twice(self):
        compiled = slotrt.compile(two_paths)
        for make in (threading.Lock, threading.RLock):
            for _ in range(2):
                one, other, third = make(), make(), make()
                self.assertEqual(compiled(one, other), (True, False))
                self.assertEqual(compiled(third, third), two_paths(*[make()] * 2))
                self.assertEqual((state(one), state(third)), (state(make()), state(third)))
                self.assertEqual(compiled(make(), make()), (True, False))

    def test_the_import_lock(self):
        compiled = slotrt.compile(imported)
        for _ in range(3):
            self.assertEqual(compiled(Box(None)), (True, 1))
            self.assertFalse(_imp.lock_held())
        released = slotrt.compile(lambda: _imp.release_lock())
        for _ in range(2):
            self.assertEqual(outcome(released), outcome(_imp.release_lock))


WAITERS = queue.SimpleQueue()
GIVEN = []


def waits_for_another_thread(make):
    lock = make()
    lock.acquire()
    GIVEN.append(lock)
    WAITERS.put(lock)
    return lock.acquire(timeout=60), lock.locked()


def waits_in_python(make):
    semaphore = make(1)
    semaphore.acquire()
    WAITERS.put(semaphore)
    return semaphore.acquire(timeout=60), True


class Threads(unittest.TestCase):
    def test_a_lock_of_the_trace_that_another_thread_releases(self):
        def releases():
            for _ in range(3):
                WAITERS.get().release()

        for make in (threading.Lock, threading.Semaphore):
            thread = threading.Thread(target=releases)
            thread.start()
            compiled = slotrt.compile(waits_for_another_thread if make is threading.Lock else waits_in_python)
            self.assertEqual([compiled(make) for _ in range(3)], [(True, True)] * 3)
            thread.join()

    def setUp(self):
        slotrt.reset()

    def test_nothing_is_lost(self):
        """Every thread finds what the others left."""
        for make in (threading.Lock, threading.RLock):
            for function in (in_with, by_hand, twice, broken_within):
                with self.subTest(function.__name__, make=make.__name__):
                    box, compiled = Box(make()), slotrt.compile(function)
                    plain = Box(make())
                    function(plain)

                    def work():
                        for _ in range(500):
                            compiled(box)

                    self.in_threads(work)
                    self.assertEqual(box.count, 2000 * plain.count)
                    self.assertEqual(state(box.lock), state(plain.lock))

    def test_nothing_is_lost_to_a_thread_that_waits(self):
        """A thread that waits for a lock gets it as soon as it is released, also where no other thread may run."""
        for make in (threading.Lock, threading.RLock):
            box, turns = Box(make()), iter(range(4))
            quick, slow = slotrt.compile(twice), slotrt.compile(broken_within)

            def work():
                function = quick if next(turns) % 2 else slow
                for _ in range(1000):
                    function(box)

            self.in_threads(work)
            self.assertEqual(box.count, 8000)

    def in_threads(self, work, count=4):
        failed = []

        def run():
            try:
                work()
            except BaseException as error:
                failed.append(error)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            threads = [threading.Thread(target=run) for _ in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
        finally:
            sys.setswitchinterval(interval)
        self.assertEqual((failed, [thread.is_alive() for thread in threads]), ([], [False] * count))

    def test_held_by_another(self):
        """The compiled function waits for the thread that holds the lock."""
        for make in (threading.Lock, threading.RLock):
            box, compiled = Box(make()), slotrt.compile(in_with)
            self.assertEqual(compiled(box), 1)
            held, go = threading.Event(), threading.Event()

            def hold():
                with box.lock:
                    held.set()
                    go.wait(30)
                    box.count += 10

            thread = threading.Thread(target=hold)
            thread.start()
            held.wait(30)
            self.assertFalse(slotrt.compile(lambda box: box.lock.acquire(False))(box))
            threading.Timer(0.05, go.set).start()
            self.assertEqual(compiled(box), 12)
            thread.join()
            self.assertEqual(compiled(box), 13)

    def test_released_by_another(self):
        """A thread cannot release a lock that it does not own."""
        lock = threading.RLock()
        release = slotrt.compile(lambda lock: lock.release())
        plain = outcome(threading.RLock().release)
        self.assertEqual(outcome(release, lock), plain)
        thread = threading.Thread(target=lock.acquire)
        thread.start()
        thread.join()
        self.assertEqual(outcome(release, lock), plain)

    def test_what_is_made_of_locks(self):
        def passed_on(queue, item):
            queue.put(item)
            return queue.get(), queue.qsize(), queue.empty()

        def notified(condition):
            with condition:
                condition.notify_all()
            return condition._is_owned()

        for function, args in ((passed_on, (queue.Queue(), 5)), (notified, (threading.Condition(),))):
            compiled = slotrt.compile(function)
            for _ in range(3):
                self.assertEqual(compiled(*args), function(*args))
        for _ in range(4):
            self.pass_items_on()

    def pass_items_on(self):
        """Functions compiled anew: other threads change the queue while they are traced."""
        items = queue.Queue(3)
        put, get, got = slotrt.compile(lambda item: items.put(item)), slotrt.compile(lambda: items.get()), []
        put(1)
        get()

        def work():
            for index in range(50):
                put(index)
                got.append(get())

        self.in_threads(work)
        self.assertEqual(sorted(got), sorted(list(range(50)) * 4))

    def test_waiting(self):
        """A thread that waits on a condition is notified."""
        condition, done = threading.Condition(), []

        def wait():
            with condition:
                condition.wait(30)
                done.append(len(condition._waiters))

        def notify():
            with condition:
                condition.notify()
                return condition._is_owned()

        compiled = slotrt.compile(notify)
        for _ in range(3):
            thread = threading.Thread(target=wait)
            thread.start()
            while not condition._waiters:
                time.sleep(0.001)
            self.assertTrue(compiled())
            thread.join(30)
            self.assertFalse(thread.is_alive())
        self.assertEqual(done, [0, 0, 0])


class System(unittest.TestCase):
    """Compiled code repeats a trace's questions to the system once it holds the lock."""

    def setUp(self):
        slotrt.reset()

    def test_the_working_directory(self):
        def where(box):
            with box.lock:
                box.seen.append(os.getcwd())
            return os.path.exists("one"), os.getcwd()

        box, compiled, before = Box(threading.Lock()), slotrt.compile(where), os.getcwd()
        self.assertEqual(slotrt.explain(where)(box).breaks, 0)
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            os.mkdir(os.path.join(one, "one"))
            try:
                for path in (one, other, one, one):
                    os.chdir(path)
                    self.assertEqual(compiled(box), (path == one, os.getcwd()))
                    self.assertEqual(box.seen.pop(), os.getcwd())
                    self.assertFalse(box.lock.locked())
            finally:
                os.chdir(before)

    def test_what_a_lock_protects(self):
        """No thread sees a file that another thread makes and removes under the lock."""

        def held(box):
            with box.lock:
                box.count += 1
                return os.path.exists(path)

        def made(box):
            with box.lock:
                os.mkdir(path)
                os.rmdir(path)
                box.count += 1

        with tempfile.TemporaryDirectory() as within:
            path = os.path.join(within, "made")
            box, turns, seen = Box(threading.Lock()), iter(range(4)), []
            look, make = slotrt.compile(held), slotrt.compile(made)

            def work():
                looks = next(turns) % 2
                for _ in range(300):
                    seen.append(look(box)) if looks else make(box)

            Threads.in_threads(self, work)
        self.assertEqual((set(seen), box.count), ({False}, 1200))


@unittest.skipIf(numpy is None, "needs numpy")
class Graphs(unittest.TestCase):
    def setUp(self):
        slotrt.reset()

    def test_a_graph_that_raises(self):
        def taken(lock, array, index):
            with lock:
                return numpy.take(array + 1, index)

        lock = threading.Lock()
        compiled = slotrt.compile(taken)
        for index in (1, 7, 2, 9):
            args = lock, numpy.arange(4.0), numpy.array(index)
            self.assertEqual(outcome(compiled, *args), outcome(taken, *args))
            self.assertFalse(lock.locked())

    def test_nothing_is_lost(self):
        """Other threads run while a graph runs: they find the lock held."""
        lock, array = threading.Lock(), numpy.zeros(20000)

        def grown(array):
            with lock:
                array += 1

        compiled = slotrt.compile(grown)

        def work():
            for _ in range(200):
                compiled(array)

        Threads.in_threads(self, work)
        self.assertEqual((array.min(), array.max()), (800, 800))
        self.assertFalse(lock.locked())


if __name__ == "__main__":
    unittest.main()
