"""Traces on disk: a second process that runs the same program traces nothing; what does not fit is ignored, bad files are refused."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

import slotrt

PROGRAM = """
import functools, json, math, sys
import slotrt

LIMIT = 3
class Point:
    scale = 2
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)
    @property
    def norm(self):
        return math.sqrt(self.x * self.x + self.y * self.y) * self.scale
    @staticmethod
    def origin():
        return Point(0, 0)

def logged(f):
    @functools.wraps(f)
    def wrapper(*args):
        return ("logged", f(*args))
    return wrapper

def helper(x, *, step=1):
    return x + step if x < LIMIT else x - step

@logged
def decorated(x):
    return helper(x) * 2

def counter(start, step=2):
    def add(n):
        return start + n * step
    return add

def plain(x):
    return [helper(i) for i in range(x)]

def classes(a, b):
    p = Point(a, b) + Point.origin()
    return p.norm, p.x

def words(text, table):
    found = {}
    for word in text.split():
        found[word] = table.get(word, -1) + len(word)
    return found, sorted(found)

def raises(x):
    try:
        return 1 // x
    except ZeroDivisionError as error:
        return f"{type(error).__name__}: {error}"

def gathers(*args, key=None, **rest):
    yield from args
    yield key
    yield from rest.items()

def generators(x):
    return list(gathers(x, x + 1, key="k", more=2))

def membership(name):
    return name in {"one", "two"}, name in ("a", "b")

def formats(x):
    return f"{x:>5}|{x!r}|{math.pi:.3f}"

def bits(x):
    return (1 << 100) + x, x.bit_length(), 1.5e300, -0.0, 2j, b"bytes", ...

class Grid:
    def __getitem__(self, key):
        rows, column = key
        return type(rows) is slice, column

def slices(grid):
    return grid[:2, 0]

add = counter(10)
CALLS = [
    ("plain", plain, (5,)), ("classes", classes, (3, 4)), ("decorated", decorated, (2,)), ("closure", add, (1,)),
    ("words", words, ("a b a", {"a": 1})), ("raises", raises, (0,)),
    ("generators", generators, (1,)), ("membership", membership, ("one",)), ("formats", formats, ("x",)), ("bits", bits, (7,)),
    ("slices", slices, (Grid(),)),
]
"""

MAIN = """
compiled = {}
def run():
    said = []
    for name, f, args in CALLS:
        call = compiled.setdefault(f, slotrt.compile(f))
        said.append((name, repr(call(*args)), repr(call(*args))))
    return said

mode, path = sys.argv[1:3]
loaded = slotrt.load(path) if mode == "load" else None
said = run()
stats = slotrt.stats()
saved = slotrt.save(path) if mode == "save" else None
print(json.dumps({
    "said": said, "traced": stats["frames_compiled"], "loaded": stats["traces_loaded"], "saved": saved,
    "unfit": loaded and loaded.unfit, "traces": loaded and loaded.traces, "used": loaded and loaded.used,
}))
"""


def run(folder, mode, path, program=PROGRAM, main=MAIN, **environment):
    """Runs the program in a process of its own."""
    import json

    script = pathlib.Path(folder, "program.py")
    script.write_text(program + main)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script, mode, path], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, filter(None, sys.path))), "PYTHONDONTWRITEBYTECODE": "1", **environment},
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


class Saved(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = str(pathlib.Path(folder.name, "traces"))

    def test_second_process_traces_nothing(self):
        first = run(self.folder, "save", self.path)
        self.assertEqual(first["saved"]["left_out"], {})
        self.assertGreaterEqual(first["saved"]["traces"], 10)
        second = run(self.folder, "load", self.path)
        self.assertEqual(second["unfit"], {})
        self.assertEqual(second["said"], first["said"])
        self.assertEqual(second["traced"], 0)
        self.assertEqual(second["loaded"], second["used"])
        self.assertEqual(second["used"], first["saved"]["traces"])

    def test_changed_program(self):
        first = run(self.folder, "save", self.path)
        changed = PROGRAM.replace("LIMIT = 3", "LIMIT = 1").replace("return p.norm, p.x", "return p.norm, p.y").replace("scale = 2", "scale = 5")
        plain = run(self.folder, "none", self.path, changed)
        second = run(self.folder, "load", self.path, changed)
        self.assertEqual(second["said"], plain["said"])
        self.assertNotEqual(second["said"], first["said"])
        self.assertGreater(second["traced"], 0)
        self.assertGreater(second["loaded"], 0)

    def test_changed_helper(self):
        run(self.folder, "save", self.path)
        for old, new in (("step=1)", "step=2)"), ("else x - step", "else x * step"), ("return math.sqrt", "return 1 + math.sqrt")):
            with self.subTest(new=new):
                changed = PROGRAM.replace(old, new)
                self.assertEqual(run(self.folder, "load", self.path, changed)["said"], run(self.folder, "none", self.path, changed)["said"])

    def test_lines_that_moved(self):
        run(self.folder, "save", self.path)
        moved = run(self.folder, "load", self.path, "\n\n" + PROGRAM)
        self.assertGreater(moved["traced"], 0)

    def test_loaded_is_saved_again(self):
        first = run(self.folder, "save", self.path)
        main = MAIN.replace("said = run()", "said = None; slotrt.load(path); saved = slotrt.save(path + '2')", 1)
        self.assertIsNone(run(self.folder, "none", self.path, main=main)["said"])
        second = run(self.folder, "load", self.path + "2")
        self.assertEqual((second["said"], second["traced"]), (first["said"], 0))

    def test_order_of_sets(self):
        program = PROGRAM + textwrap.dedent("""
            def ordered(x):
                return list({"a", "b", "c", "d", "e", "f", x})
            def unordered(x):
                return sorted([x, "b"]) if x else list({"a", "b", "c", x})
            CALLS = [("ordered", ordered, ("x",)), ("unordered", unordered, ("x",))]
        """)
        first = run(self.folder, "save", self.path, program, PYTHONHASHSEED="1")
        same = run(self.folder, "load", self.path, program, PYTHONHASHSEED="1")
        self.assertEqual((same["said"], same["traced"]), (first["said"], 0))
        other = run(self.folder, "load", self.path, program, PYTHONHASHSEED="2")
        plain = run(self.folder, "none", self.path, program, PYTHONHASHSEED="2")
        self.assertEqual(other["said"], plain["said"])
        self.assertEqual((other["traced"], other["loaded"]), (1, 1))
        self.assertIn("the order of a set", str(other["unfit"]))

    def test_modules_that_calls_import(self):
        """The first call of another process imports them where the plain function does; from the second on nothing is traced."""
        pathlib.Path(self.folder, "late.py").write_text("said = []\ndef double(x):\n    said.append(x)\n    return x * 2\nprint('imported')\n")
        program = PROGRAM + textwrap.dedent("""
            def imports(x):
                if x:
                    import late
                    return late.double(x), "colorsys" in sys.modules
                return x
            def imports_more(x):
                from colorsys import rgb_to_hsv
                import late as again
                return rgb_to_hsv(x, 1, 2), again.double(x)
            CALLS = [("none", imports, ("",)), ("imports", imports, ("ab",)), ("more", imports_more, (4,)), ("more", imports_more, (4,))]
        """)
        plain = run(self.folder, "none", self.path, program)
        first = run(self.folder, "save", self.path, program)
        self.assertEqual((first["saved"]["left_out"], first["saved"]["traces"]), ({}, 3))
        second = run(self.folder, "load", self.path, program)
        self.assertEqual(second["said"], plain["said"])
        self.assertEqual((second["unfit"], second["traced"], second["loaded"]), ({}, 0, 3))

    def test_modules_that_are_gone(self):
        """A module that another process does not import: a call waits for it once, then the function is traced."""
        pathlib.Path(self.folder, "late.py").write_text("def double(x):\n    return x * 2\n")
        program = PROGRAM + textwrap.dedent("""
            if len(sys.argv) > 1 and sys.argv[1] == "save":
                import late
            else:
                class late:
                    def double(x): return x * 3
            def uses(x):
                return late.double(x)
            CALLS = [("uses", uses, (3,)), ("uses", uses, (3,))]
        """)
        run(self.folder, "save", self.path, program)
        second = run(self.folder, "load", self.path, program)
        self.assertEqual(second["said"], [["uses", "9", "9"]] * 2)
        self.assertEqual((second["traced"], second["loaded"]), (1, 0))
        self.assertIn("late is not there", second["unfit"])

    def test_sets_whose_order_nothing_sees(self):
        program = PROGRAM + textwrap.dedent("""
            def walk(names, seen=None):
                if seen is None:
                    seen = set()
                for name in names:
                    if name not in seen:
                        seen.add(name)
                        yield name
            def distinct(x):
                return [name for name in walk(("a", "b", "a", x))], "b" in {n for n in ("b", "c")}
            def compared(x):
                names = {"a", "b"} | {x}
                return len(names), names == {"a", "b"}, names.issubset({"a", "b", "c"}), bool(names - {"a", "b"})
            class Tree:
                def __init__(self, name, *parts):
                    self.name, self.parts = name, parts
                def all(self, seen=None):
                    if seen is None:
                        seen = set()
                    if self.name not in seen:
                        seen.add(self.name)
                        yield self.name
                        for part in self.parts:
                            yield from part.all(seen)
            TREE = Tree("root", Tree("left"), Tree("right", Tree("left")))
            def methods(x):
                return list(TREE.all()), x
            CALLS = [("distinct", distinct, ("x",)), ("compared", compared, ("x",)), ("methods", methods, ("x",))]
        """)
        first = run(self.folder, "save", self.path, program, PYTHONHASHSEED="1")
        self.assertEqual(first["saved"]["left_out"], {})
        second = run(self.folder, "load", self.path, program, PYTHONHASHSEED="2")
        self.assertEqual((second["said"], second["traced"], second["unfit"]), (first["said"], 0, {}))

    def test_sets_of_one_item(self):
        """They have no order, wherever they are."""
        program = PROGRAM + textwrap.dedent("""
            class Layer:
                def __init__(self, *names):
                    self.names, self.more = set(), {"one"}
                    for name in names:
                        self.names.add(name)
            def made(x):
                layer = Layer(x)
                held = [layer.names, {x}]
                return held, sorted(Layer().names), list(layer.more), f"{layer.names}", {n for n in layer.more}
            def kept(x):
                return Layer(), x
            CALLS = [("made", made, ("x",)), ("kept", lambda x: kept(x)[0].__dict__, ("x",))]
        """)
        first = run(self.folder, "save", self.path, program, PYTHONHASHSEED="1")
        self.assertEqual(first["saved"]["left_out"], {})
        second = run(self.folder, "load", self.path, program, PYTHONHASHSEED="2")
        self.assertEqual((second["said"], second["traced"], second["unfit"]), (first["said"], 0, {}))

    def test_sets_that_grow_elsewhere(self):
        """A set that had one item when the trace let go of it."""
        more = '"beta", "gamma", "delta", "epsilon", "zeta"'
        ways = (
            f"held = [s]; s.update(({more})); return repr(held)", f"h = Holder(s); h.s |= {{{more}}}; return repr(vars(h))", f"held = [s]; [s.add(n) for n in ({more})]; return repr(held)",
            f"held = [s]; list(map(s.add, ({more}))); return repr(held)", f"held = (s,); list(map(set.add, held * 5, ({more}))); return repr(held)",
            f"held = [s]; operator.ior(s, {{{more}}}); return repr(held)", f"held = [s]; functools.reduce(operator.ior, [s, {{{more}}}]); return repr(held)",
            f"parts = [map(s.add, ({more})), s, map(s.discard, ({more}))]; return list(itertools.chain.from_iterable(parts))",
            f"held = [s, s.add, s.discard]; return list(itertools.chain(map(held[1], ({more})), *held[:1], map(held[2], ({more}))))",
            f"h = Holder(s); given(h, {more}); return h.shown()", f"g = lambda: list(s); s.update(({more})); return list(map(lambda f: f(), [g]))",
            f"held = {{1: s}}; held[1].update([{more}]); return str(held)", f"held = [s]; s.symmetric_difference_update([{more}]); return pickle.dumps(held)",
            f"return [list(n) for n in walked(s, {more})]", f"OUT.s = s; s.update([{more}]); return repr(OUT.s)", f"OUT.s = s; OUT.s.update([{more}]); return [*OUT.s]", f"KEPT.update([{more}]); return [KEPT, x][:1]",
        )  # fmt: skip
        program = PROGRAM + textwrap.dedent("""
            import itertools, operator, pickle
            class Holder:
                def __init__(self, s): self.s = s
                def shown(self): return repr(self.__dict__)
            OUT, KEPT = Holder(None), set()
            def given(h, *names): h.s.update(names)
            def walked(s, *names):
                yield s
                s.update(names)
                yield s
        """) + "\n".join(f"def f{number}(x):\n    s = {{'alpha'}}; {way}" for number, way in enumerate(ways))
        program += "\nCALLS = [(f'f{n}', globals()[f'f{n}'], ('x',)) for n in range(%d)]\n" % len(ways)
        run(self.folder, "save", self.path, program, PYTHONHASHSEED="1")
        for seed in ("2", "3"):
            other = run(self.folder, "load", self.path, program, PYTHONHASHSEED=seed)
            plain = run(self.folder, "none", self.path, program, PYTHONHASHSEED=seed, main=MAIN.replace("slotrt.compile(f)", "f"))
            for way, loaded, expected in zip(ways, other["said"], plain["said"], strict=True):
                self.assertEqual(loaded, expected, way)

    def test_ways_to_see_the_order_of_a_set(self):
        """On each of them the order is that of the process, not of the one that traced."""
        names = '{"alpha", "beta", "gamma", "delta", "epsilon", x}'
        ways = (
            f"[n for n in {names}]", f"tuple({names})", f"str({names})", f"f'{{{names}}}'", f"'-'.join({names})", f"{names}.pop()",
            f"[*{names}]", f"list(map(list, [{names}]))", f"repr([{names}])", f"packed({names})", f"named(n={names})",
            f"kept({names})()", f"sorted({names}, key=len)", f"next(iter({names}))", f"dict.fromkeys({names})", f"frozenset({names})",
            f"Holder({names}).shown()", f"list(given({names}))", f"list({names} | {{'zeta'}})", f"max({names}, key=len)",
            f"list(zip({names}, range(9)))", f"{names}.union(['eta'])", f"variables({names})",
        )
        program = PROGRAM + textwrap.dedent("""
            def packed(*args): return repr(args)
            def named(**names): return repr(names)
            def kept(s): return lambda: list(s)
            def given(s): yield from s
            def variables(s): return repr(locals())
            class Holder:
                def __init__(self, s): self.s = s
                def shown(self): return repr(self.s)
        """) + "\n".join(f"def f{number}(x): return {way}" for number, way in enumerate(ways))
        program += "\nCALLS = [(f'f{n}', globals()[f'f{n}'], ('x',)) for n in range(%d)]\n" % len(ways)
        run(self.folder, "save", self.path, program, PYTHONHASHSEED="1")
        other = run(self.folder, "load", self.path, program, PYTHONHASHSEED="2")
        plain = run(self.folder, "none", self.path, program, PYTHONHASHSEED="2", main=MAIN.replace("slotrt.compile(f)", "f"))
        for way, loaded, expected in zip(ways, other["said"], plain["said"], strict=True):
            self.assertEqual(loaded, expected, way)

    def test_sets_of_objects_with_addresses(self):
        """Equal hashes of texts do not make their order the same."""
        program = PROGRAM + textwrap.dedent("""
            def order(x):
                return [f.__name__ for f in {helper, plain, classes, words, raises, gathers, generators, formats, bits}]
            def asked(x):
                return helper in {helper, plain}, len({helper, plain, helper})
            CALLS = [("order", order, (1,)), ("asked", asked, (1,))]
        """)
        first = run(self.folder, "save", self.path, program, PYTHONHASHSEED="1")
        self.assertIn("an address", " ".join(first["saved"]["left_out"]))
        self.assertEqual(first["saved"]["traces"], 1)
        main = MAIN.replace("def run():", "plainly = [repr(f(*a)) for _, f, a in CALLS]\ndef run():")
        main = main.replace('"said": said,', '"said": said, "plain": plainly,')
        for _ in range(3):
            second = run(self.folder, "load", self.path, program, main=main, PYTHONHASHSEED="1")
            self.assertEqual([said for _, said, _ in second["said"]], second["plain"])

    def test_addresses_and_hashes_by_other_names(self):
        ways = (
            "named(KEPT)", "builtins.id(KEPT)", "hashed('alpha')", "'alpha'.__hash__()", "KEPT.__hash__()", "held[0](KEPT)",
            "list(map(named, [KEPT]))", "getattr(builtins, 'id')(KEPT)", "operator.methodcaller('__hash__')('alpha')", "str.__hash__('alpha')",
            "sorted(TEXTS, key=hashed)", "sorted(TEXTS, key=str.__hash__)", "sorted(TEXTS, key=functools.partial(hashed))",
            "1 if named(KEPT) // 32 % 2 else 2", "1 if hashed('alpha') % 2 else 2", "1 if int(repr(KEPT).split('0x')[1][:-1], 16) // 32 % 2 else 2",
            "{'a': object.__hash__(KEPT)}", "frozenset(TEXTS).__hash__()", "f'{KEPT}'[-6:-1]", "max(*[TEXTS], **{'key': hashed})",
        )  # fmt: skip
        program = PROGRAM + textwrap.dedent("""
            import builtins, functools, operator, os
            class Kept: pass
            PADDING = [bytearray(n) for n in range(int(os.environ["PADDING"]))]
            KEPT, named, hashed, held = Kept(), id, hash, [id]
            TEXTS = ["alpha", "beta", "gamma", "delta", "epsilon"]
        """) + "\n".join(f"def f{number}(x): return {way}" for number, way in enumerate(ways))
        program += "\nCALLS = [(f'f{n}', globals()[f'f{n}'], ('x',)) for n in range(%d)]\n" % len(ways)
        main = MAIN.replace("def run():", "plainly = [repr(f(*a)) for _, f, a in CALLS]\ndef run():")
        main = main.replace('"said": said,', '"said": said, "plain": plainly,')
        run(self.folder, "save", self.path, program, main=main, PADDING="7")
        for padding in ("100", "333"):
            second = run(self.folder, "load", self.path, program, main=main, PADDING=padding)
            for way, (_, said, _), expected in zip(ways, second["said"], second["plain"], strict=True):
                self.assertEqual(said, expected, way)

    def test_a_set_built_after_another_was_seen(self):
        """The iterator of a comprehension is no item of its set, and who moves a set does not see what is in it."""
        program = PROGRAM + textwrap.dedent("""
            class Kept: pass
            def builds(x):
                kept = Kept()
                object.__setattr__(kept, "names", {"a", "b", "c"})
                names = {str(n) for n in [x, 2, 3]}
                other = names if x else None
                return "2" in other, len(names), sorted(names), sorted(kept.names)
            CALLS = [("builds", builds, (5,))]
        """)
        first = run(self.folder, "save", self.path, program, PYTHONHASHSEED="1")
        self.assertEqual((first["saved"]["traces"], first["saved"]["left_out"]), (1, {}))
        for seed in "12":
            second = run(self.folder, "load", self.path, program, PYTHONHASHSEED=seed)
            self.assertEqual(second["said"], first["said"])

    def test_what_is_left_out(self):
        program = PROGRAM + textwrap.dedent("""
            def address(x):
                return id(LIMIT) == id(x)
            CALLS = [("address", address, (5,))]
        """)
        first = run(self.folder, "save", self.path, program)
        told = " ".join(first["saved"]["left_out"])
        self.assertRegex(told, r"an address or a hash at .*:\d+, ")
        second = run(self.folder, "load", self.path, program)
        self.assertEqual(second["said"], first["said"])

    def test_reset_forgets_what_was_loaded(self):
        run(self.folder, "save", self.path)
        main = MAIN.replace("said = run()", "slotrt.reset(); said = run()", 1)
        self.assertEqual(run(self.folder, "load", self.path, main=main)["loaded"], 0)


class Refused(unittest.TestCase):
    """Files that are no files of traces, or no longer."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = pathlib.Path(cls.folder.name, "traces")

        def f(x):
            return x * 2 + 1

        slotrt.reset()
        cls.compiled = slotrt.compile(f)
        cls.compiled(3)
        cls.report = slotrt.save(cls.path)
        cls.content = cls.path.read_bytes()

    def refused(self, content, words):
        path = pathlib.Path(self.folder.name, "bad")
        path.write_bytes(content)
        with self.assertRaisesRegex(slotrt.TraceFileError, words):
            slotrt.load(path)

    def test_report(self):
        self.assertEqual(self.report["bytes"], len(self.content))
        self.assertIsInstance(slotrt.load(self.path), slotrt.LoadedTraces)
        self.assertIn("traces", repr(slotrt.load(self.path)))

    def test_missing(self):
        with self.assertRaises(FileNotFoundError):
            slotrt.load(self.path.with_name("nothing"))
        with self.assertRaises(OSError):
            slotrt.load(self.folder.name)
        with self.assertRaises(OSError):
            slotrt.save(self.path.with_name("no folder") / "traces")
        with self.assertRaises(TypeError):
            slotrt.load(None)

    def test_foreign(self):
        for content in (b"", b"PK\x03\x04", b"slotrt", b"\x80\x05N.", b"import os"):
            self.refused(content, "no file of traces")

    def test_cut_off(self):
        for length in (*range(14, 60), *range(60, len(self.content), 97), len(self.content) - 1):
            self.refused(self.content[:length], "cut off or damaged")
        self.refused(self.content + b"x", "damaged: something follows")

    def test_changed_bytes(self):
        for place in (*range(14, 60), *range(60, len(self.content), 31)):
            for change in (0x01, 0x80):
                content = bytearray(self.content)
                content[place] ^= change
                self.refused(bytes(content), "cut off or damaged|of form")

    def test_other_version(self):
        path = pathlib.Path(self.folder.name, "other")
        cases = [(sys, "version", "3.99.0 (main)", "the interpreter"), (slotrt._slotrt, "__file__", __file__, "slotrt")]
        for module, name, value, words in cases:
            with self.subTest(words=words), mock.patch.object(module, name, value):
                slotrt.save(path)
            with self.assertRaisesRegex(slotrt.TraceFileError, f"saved by {words} .*; this process has .*Save it again"):
                slotrt.load(path)

    def test_processes_at_once(self):
        script = textwrap.dedent(f"""
            import sys
            import slotrt
            def f(x):
                return x * {{number}} + 1
            compiled = slotrt.compile(f)
            compiled(3)
            for _ in range(60):
                slotrt.save({str(self.path)!r})
                slotrt.load({str(self.path)!r})
        """)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, filter(None, sys.path)))}
        running = [subprocess.Popen([sys.executable, "-c", script.format(number=number)], env=environment) for number in range(3)]
        for _ in range(40):
            slotrt.load(self.path)
        self.assertEqual([process.wait() for process in running], [0, 0, 0])
        slotrt.load(self.path)
        self.assertEqual([path.name for path in pathlib.Path(self.folder.name).iterdir() if path.name.startswith(".")], [])


if __name__ == "__main__":
    unittest.main()
