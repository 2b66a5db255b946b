"""Traces on disk that end in a graph break: the second process goes on in the same continuations, and traces none of them."""

import tempfile
import unittest

from two_processes import check, run


class Saved(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check(self, program, **others):
        return check(self, self.folder, program, **others)

    def test_break_in_the_middle(self):
        first, _ = self.check("""
import slotrt
seen = []
def f(x, *, scale=2):
    seen.append(x)
    y = x * scale
    slotrt.graph_break()
    seen.append(y)
    slotrt.graph_break()
    return y + len(seen)
CALLS = [("f", f, (3,)), ("again", f, (3,)), ("text", f, ("ab",))]
def more(): return seen
""")
        self.assertGreaterEqual(first["breaks"], 2)

    def test_loops(self):
        self.check("""
import slotrt
def f(n):
    total = 0
    for i in range(n):
        total += i
        slotrt.graph_break()
        total *= 2
    return total
def g(names):
    found = {}
    for name in names:
        if name in found:
            continue
        found[name] = len(found)
        slotrt.graph_break()
        try:
            found[name] += int(name)
        except ValueError as error:
            found[name] = str(error)
            slotrt.graph_break()
    return found
CALLS = [("f", f, (4,)), ("f", f, (4,)), ("g", g, (("a", "7", "a", "b"),))]
""")

    def test_handlers_and_contexts(self):
        self.check("""
import slotrt
log = []
class Context:
    def __enter__(self):
        log.append("in")
        return self
    def __exit__(self, kind, error, traceback):
        log.append(kind and kind.__name__)
        return kind is KeyError
def f(x):
    with Context() as c:
        log.append(x)
        slotrt.graph_break()
        if x > 1:
            raise KeyError(x)
        log.append(x + 1)
    try:
        slotrt.graph_break()
        return 10 // x
    except ZeroDivisionError as error:
        slotrt.graph_break()
        log.append(str(error))
        return str(error)
    finally:
        log.append("done")
def raises(x):
    y = x + 1
    slotrt.graph_break()
    def inner(z):
        return z // (x - x)
    return inner(y)
CALLS = [("one", f, (1,)), ("two", f, (2,)), ("none", f, (0,)), ("raises", raises, (4,))]
def more(): return log
""")

    def test_generators_and_coroutines(self):
        self.check("""
import slotrt
def numbers(n):
    for i in range(n):
        slotrt.graph_break()
        got = yield i * 2
        if got:
            yield got + 1
    return "end"
def around(n):
    result = yield from numbers(n)
    yield result
def f(n):
    made = around(n)
    return [next(made), made.send(5), *made]
async def waits(x):
    slotrt.graph_break()
    return x + 1
async def both(x):
    return await waits(x) + await waits(x + 1)
def runs(x):
    try:
        both(x).send(None)
    except StopIteration as stop:
        return stop.value
CALLS = [("f", f, (3,)), ("generator", lambda n: list(around(n)), (2,)), ("numbers", lambda n: list(numbers(n)), (2,)), ("runs", runs, (1,))]
""")

    def test_frames_that_are_entered(self):
        """Calls whose frames go on from where they broke, and functions that native calls reach."""
        self.check("""
import slotrt
log = []
def inner(x, depth):
    log.append(x)
    y = x + depth
    slotrt.graph_break()
    if depth:
        y += inner(y, depth - 1)
    return y * 2
class Thing:
    def __init__(self, k): self.k = k
    def method(self, x):
        slotrt.graph_break()
        return x + self.k
def outer(x):
    first = inner(x, 2)
    return first, Thing(3).method(first), inner(1, 0)
def sorts(items):
    def key(item):
        slotrt.graph_break()
        return -item
    return sorted(items, key=key), [*map(inner_key, items)]
def inner_key(item):
    slotrt.graph_break()
    return item * 10
CALLS = [("outer", outer, (1,)), ("outer", outer, (1,)), ("sorts", sorts, ([3, 1, 2],))]
def more(): return log
""")

    def test_closures(self):
        self.check("""
import slotrt
def counter(start):
    total = start
    def add(n):
        nonlocal total
        total += n
        slotrt.graph_break()
        total *= 2
        return total
    return add
add, other = counter(1), counter(5)
def defines(x):
    def local(y):
        return x + y
    slotrt.graph_break()
    x += 1
    return local(1), [local(i) for i in range(2)]
CALLS = [("add", add, (2,)), ("add", add, (3,)), ("other", other, (1,)), ("defines", defines, (4,))]
""")

    def test_changed_program(self):
        """A continuation whose program has changed is traced anew."""
        program = """
import slotrt
FACTOR = 2
def helper(x): return x + 1
def f(x):
    slotrt.graph_break()
    return helper(x) * FACTOR
CALLS = [("f", f, (3,))]
"""
        check(self, self.folder, program)
        for old, new in (("FACTOR = 2", "FACTOR = 5"), ("x + 1", "x - 1"), ("helper(x) *", "helper(x) -")):
            changed = program.replace(old, new)
            with self.subTest(new=new):
                self.assertEqual(run(self.folder, "load", changed)["said"], run(self.folder, "plain", changed)["said"])

    def test_compiled_functions_in_each_other(self):
        self.check("""
import slotrt
@slotrt.compile
def inner(x):
    y = x + 1
    slotrt.graph_break()
    return y * 2
class Model:
    @slotrt.compile
    def forward(self, x): return inner(x) + self.k
    k = 3
model = Model()
@slotrt.disable
def native(x): return x + 100
def f(x):
    return inner(x) + model.forward(x) + native(x)
CALLS = [("f", f, (3,)), ("f", f, (3,))]
""")

    def test_observers_and_limits(self):
        """What runs as it is in the first process does so in the second."""
        _, second = self.check("""
import slotrt, sys
def f(x):
    slotrt.graph_break()
    return sys._getframe().f_lineno + x
def g(x):
    slotrt.graph_break()
    return x * 2
CALLS = [("f", f, (1,)), ("g", g, (1,))]
""")
        self.assertGreater(second["skipped"], 0)


if __name__ == "__main__":
    unittest.main()
