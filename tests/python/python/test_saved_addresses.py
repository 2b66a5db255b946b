"""Traces on disk that ask for `id`: which objects are one is so in the next process, too; the numbers are not, and never get there."""

import tempfile
import textwrap
import unittest

from two_processes import run

HEAD = """
import builtins, copy, functools, inspect, math, operator, os, pickle, sys, traceback
import slotrt
class Kept:
    def __init__(self, **names): self.__dict__.update(names)
    def __repr__(self): return f"Kept({self.__dict__})"
SALT = os.environ["SALT"]
PADDING = [bytearray(n) for n in range(int(SALT))]
def made(text="f"):
    def f(): return 1
    return f
A, B, C, OTHER = Kept(), Kept(), made(), made()
D = C if SALT == "300" else made()
LISTED, TEXT = [1], "".join(["te", "xt"])
SAME = TEXT if SALT == "300" else "".join(["te", "xt"])
PAIR = tuple([A, B])
TWIN = PAIR if SALT == "300" else tuple([A, B])
CACHE, HOLDER, NUMBER, FIXED = {}, Kept(), id(A), 1 << 20
def wrapped(f):
    @functools.wraps(f)
    def wrapper(*args): return f(*args)
    return wrapper
@wrapped
@wrapped
def chain(x): return x
CONFIG = Kept(names=["a", "b"], sizes={"a": (1, 2), "b": [3]}, inner=Kept(x=1.5, y=None))
CONFIG.inner.outer = CONFIG
"""


def caller(bodies):
    """A program whose functions have these bodies."""
    functions = [f"def f{number}(x):\n{textwrap.indent(body, '    ')}\n" for number, body in enumerate(bodies)]
    calls = ", ".join(f'("f{number}", f{number}, (3,))' for number in range(len(bodies)))
    return HEAD + "\n".join(functions) + f"\nCALLS = [{calls}]\n"


class Addresses(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def two(self, bodies, salts=("7", "100", "300")):
        """What the processes say, each beside what the plain program says in it."""
        program = caller(bodies)
        # The plain function runs in the same process: its addresses are those that the compiled one must give.
        program += "\nplainly = [repr_of(f, args) for _, f, args in CALLS]\ndef more(): return plainly\n"
        program = program.replace("\nplainly", '\ndef repr_of(f, args):\n    try:\n        return repr(f(*args))\n    except Exception as error:\n        return f"{type(error).__name__}: {error}"\nplainly', 1)
        first = run(self.folder, "save", program, SALT=salts[0])
        reports = [first] + [run(self.folder, "load", program, SALT=salt) for salt in salts[1:]]
        for report in reports:
            for (_, said), plain, body in zip(report["said"], report["more"], bodies, strict=True):
                self.assertEqual(said.split(" [(")[0], plain, body)
        return reports

    def saved(self, bodies, unfit=0):
        first, *others = self.two(bodies)
        self.assertEqual(first["saved"]["left_out"], {})
        self.assertEqual(first["saved"]["traces"], len(bodies))
        self.assertEqual(others[0]["unfit"], {})
        self.assertEqual((others[0]["traced"], others[0]["loaded"]), (0, len(bodies)))
        return others

    def test_what_is_saved(self):
        self.saved([
            "return inspect.unwrap(chain).__name__, inspect.unwrap(made).__name__",
            "memo = {id(A): A}\nreturn id(A) in memo, id(B) in memo, len(memo), memo.get(id(B), x), memo[id(A)] is A",
            "memo = {}\nfor kept in (A, B, LISTED, C, Kept):\n    memo[id(kept)] = x\nreturn len(memo), id(OTHER) in memo, memo.get(id(LISTED)), id(TEXT) in memo",
            "seen = {}\ndef visit(node, memo):\n    if memo.get(id(node)) is not None:\n        return 0\n    memo[id(node)] = node\n    return 1 + sum([visit(n, memo) for n in node.__dict__.values() if type(n) is Kept])\nreturn visit(CONFIG, seen), len(seen)",
            "mine = [[x], [x], {}]\nmemo = {id(item): n for n, item in enumerate(mine)} if False else {}\nfor n, item in enumerate(mine):\n    memo[id(item)] = n\nreturn [memo[id(item)] for item in mine], id(mine) in memo",
            "memo = {}\ntry:\n    memo[id(A)]\nexcept KeyError:\n    memo[id(A)] = x\nreturn memo[id(A)], len(memo)",
            "return id(A) == id(B), id(C) != id(OTHER), id(A) == id(A)",
            "copied = copy.deepcopy(CONFIG)\nreturn copied.names, copied.sizes, copied.inner.outer is copied, copied.inner is CONFIG.inner",
            "listed = [[x], {'a': [x]}]\nlisted.append(listed)\ncopied = copy.deepcopy(listed)\nreturn copied[2] is copied, copied[0], copied[1]",
        ])

    def test_numbers_that_leave(self):
        self.two([
            "return {id(A): x}", "return [*{id(A): x}]", "memo = {id(A): x}\nreturn list(memo.items())", "return str({id(A): x})", "memo = {id(A): x}\nreturn f'{memo}'",
            "return pickle.dumps({id(A): x})", "memo = {id(A): x}\nreturn (lambda: memo)()", "memo = {id(A): x}\ndef g(): return memo\nreturn [*map(repr, [g()])]",
            "def numbers():\n    yield id(A)\n    yield id(B)\nreturn [*numbers()]", "HOLDER.memo = {id(A): x}\nreturn HOLDER.memo", "CACHE[id(A)] = x\nreturn list(CACHE)",
            "HOLDER.number = id(A)\nreturn HOLDER.number", "global G\nG = id(A)\nreturn G", "return NUMBER in {id(A): 1}", "return id(A) in {NUMBER: 1}", "return id(A) in {NUMBER}",
            "return id(A) == NUMBER, id(B) == NUMBER", "return id(A) // 32 % 64", "return id(A) > id(B), id(B) < id(A), id(A) >= id(CACHE)", "return hash(id(A)) // 32 % 64", "return str(id(A))", "return -id(A)",
            "return [id(A)]", "return (id(A), x)", "return len({id(A), id(B)}), {id(A)}", "d = id(A)\nslotrt.graph_break()\nreturn d", "memo = {id(A): x}\nslotrt.graph_break()\nreturn memo, id(A) in memo",
            "return id(A) or x", "d = id(A)\nreturn d if d else x", "return divmod(id(A), 4096)[1] // 32", "assert False, id(A)", "raise KeyError(id(A))",
            "return {}[id(A)]", "try:\n    {}[id(A)]\nexcept KeyError as error:\n    return str(error)", "try:\n    {}[id(A)]\nexcept KeyError as error:\n    return error.args",
            "try:\n    {}[id(A)]\nexcept KeyError as error:\n    caught = error\nreturn caught.args", "try:\n    {}[id(A)]\nexcept KeyError:\n    return sys.exc_info()[1].args",
            "try:\n    {}[id(A)]\nexcept KeyError:\n    return traceback.format_exc()[-20:]", "try:\n    {}[id(A)]\nexcept KeyError:\n    raise ValueError(x)",
            "try:\n    try:\n        {}[id(A)]\n    except KeyError:\n        raise ValueError(x)\nexcept ValueError as error:\n    return str(error.__context__)",
            "with Context() as c:\n    {}[id(A)]\nreturn c.seen",
        ])  # fmt: skip

    def test_dicts_that_are_looked_at(self):
        self.two([
            "memo = {id(A): x}\nreturn " + way for way in (
                "packed(memo)", "named(m=memo)", "given([memo])", "kept(memo)()", "functools.partial(memo.get, id(A))()", "[*map(memo.get, [id(A), id(B), NUMBER])]",
                "memo.__contains__(NUMBER)", "dict(memo)", "memo.copy()", "memo | {}", "{**memo}", "sorted(memo)", "max(memo)", "sum(memo)", "next(iter(memo))", "memo.popitem()",
                "[k for k in memo]", "{k: v for k, v in memo.items()}", "memo.setdefault(NUMBER, 5)", "memo.pop(NUMBER)", "memo == {NUMBER: x}", "list(memo)", "(*memo,)",
                "locals()['memo']", "sys._getframe().f_locals['memo']", "eval('memo')", "getattr(sys._getframe(), 'f_locals')['memo']", "repr([memo])", "type('C', (), {'m': memo}).m", "defaulted(memo)()",
                "memo.get(NUMBER)", "memo[NUMBER]", "operator.getitem(memo, NUMBER)", "operator.itemgetter(NUMBER)(memo)", "dict.get(memo, NUMBER)", "memo.keys() & {NUMBER}",
                "(lambda: memo).__closure__[0].cell_contents", "inspect.getclosurevars(lambda: memo).nonlocals", "[k for k, in zip(memo)]", "'%s' % memo", "'{}'.format(memo)", "matched(memo)",
                "memo.update({id(B): NUMBER}) or [*memo.values()]", "(memo.__setitem__(FIXED, id(B)), [*memo.values()])", "unpacked(*memo)", "dict.fromkeys(memo)", "copy.copy(memo)", "copy.deepcopy(memo)",
                "memo.get(id(B), id(B))", "next(walked(memo))", "reversed(memo).__next__()", "held(memo)", "memo.get(Sly(NUMBER), 'none')", "id(A) in {Sly(NUMBER): 1}", "listed(id(A))", "holds(memo, id(A))",
                "holds(memo, NUMBER)", "star(*[memo, x])", "late(memo)", "len(memo) + id(A)", "(L(), x)[1]", "vars_of(memo)",
            )
        ])  # fmt: skip

    def test_objects_that_are_one_elsewhere(self):
        """Two functions of this process are one in another, as are two equal texts and tuples."""
        first, second, third = self.two([
            "return id(C) == id(D)", "return id(D) in {id(C): 1}", "memo = {id(C): 1}\nmemo[id(D)] = 2\nreturn len(memo)", "return id(SAME) in {id(TEXT): 1}",
            "return id(SAME) == id(TEXT)", "return id(TWIN) in {id(PAIR): 1}", "return C is D", "memo = {id(TEXT): 1}\nmemo[id(SAME)] = 2\nreturn len(memo)",
            "return id(x) in {id(3): 1}, id('text') in {id('text'): 1}", "memo = {id(1.5): 1, id(-0.0): 2}\nreturn len(memo)",
        ])  # fmt: skip
        self.assertIn("is another object, too", " ".join(third["unfit"]))

    def test_ids_beside_numbers(self):
        """A number of the program may be the address of an object in another process."""
        first, *_ = self.two(["return id(A) in {FIXED: 1}", "memo = {id(A): 1}\nreturn FIXED in memo", "memo = {FIXED: 1}\nmemo[id(A)] = 2\nreturn len(memo)", "return id(A) == FIXED", "memo = {id(A): 1}\nmemo[FIXED] = 2\nreturn len(memo)", "return memo_of(FIXED).get(id(A))"])
        self.assertEqual(first["saved"]["traces"], 0)

    def test_what_is_never_saved(self):
        first, *_ = self.two([
            "return id(A) > id(B)", "return id(A) <= id(B)", "return id(A) or x", "return {id(A): x}", "return len({id(A), id(B)})", "memo = {id(A): x}\nreturn [1 for k in memo]",
            "memo = {id(A): x}\nreturn len(locals())", "memo = {}\nmemo[id(TEXT)] = x\nreturn len(memo)", "try:\n    {}[id(A)]\nexcept KeyError as error:\n    return len(str(error))",
        ])  # fmt: skip
        self.assertEqual(first["saved"]["traces"], 0)

    def test_short_lives(self):
        self.two([
            "memo = {}\nmemo[id(Kept())] = 1\nreturn len(memo)", "kept = [Kept()]\nmemo = {id(kept[0]): 1}\nother = Kept()\nreturn id(other) in memo",
            "memo = {}\nfor n in range(4):\n    k = Kept()\n    memo[id(k)] = k\nreturn len(memo)", "HOLDER.temporary = Kept()\nmemo = {id(HOLDER.temporary): 1}\nreturn id(HOLDER.temporary) in memo",
        ])  # fmt: skip


HELPERS = '''
def packed(*args): return repr(args)
def named(**names): return repr(names)
def given(items): return repr(items)
def kept(memo): return lambda: list(memo)
def defaulted(memo):
    def g(m=memo): return [*m]
    return g
def matched(memo):
    match memo:
        case {**rest}: return rest
def unpacked(first): return first
def walked(memo): yield from memo
def held(memo):
    d = id(A)
    def g():
        yield memo.get(d)
        yield d
    return list(g())
class Sly:
    def __init__(self, n): self.n = n
    def __hash__(self): return hash(self.n)
    def __eq__(self, other): return other == self.n
def listed(n): return [n]
def holds(memo, n): return n in memo
def star(memo, x): return [*memo]
def late(memo):
    slotrt.graph_break()
    return NUMBER in memo, id(A) in memo, id(B) in memo
def L():
    n = id(A)
    return locals()
def vars_of(memo):
    V = locals
    return V()
def memo_of(n): return {n: 1}
class Context:
    seen = None
    def __enter__(self): return self
    def __exit__(self, kind, error, traceback):
        self.seen = error.args
        return True
'''
HEAD += HELPERS

if __name__ == "__main__":
    unittest.main()
