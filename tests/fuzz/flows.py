"""Random functions, generators and coroutines whose control flow is nested at random, and random scopes."""

from arrays import Arrays

#: Expressions that record where control went and give a small value.
MARKS = ["mark({0})", "mark({0}) + p", "[mark({0}), q]", "mark(p)", "p", "q", "(p, q)", "mark({0}) or p", "not mark({0})"]
RAISES = ["raise KeyError({0})", "raise ValueError from KeyError({0})", "raise OwnError({0}) from None", "[][{0}]", "1 // 0", "raise", "assert p, {0}", "len({0})", "missing", "p.missing"]
CAUGHT = ["KeyError", "ValueError", "(KeyError, ZeroDivisionError)", "Exception", "LookupError", "BaseException", "OwnError", "mark(KeyError)", "NameError", "GeneratorExit"]
MANAGERS = ["Manager(True)", "Manager(False)", "managed({0})", "Exits({0})", "Exits(KeyError)", "contextlib.suppress(KeyError)", "contextlib.closing(numbers({0}))"]

FLOWS = '''import traceback
def mark(x):
    TRAIL.append(x)
    return x
class Exits:
    def __init__(self, value): self.value = value
    def __enter__(self): return self.value, mark('enter')
    def __exit__(self, kind, error, tb):
        mark(('exit', kind))
        if isinstance(self.value, type): raise self.value(mark('exit'))
        return self.value
    async def __aenter__(self): return await Ready(self.value), mark('enter')
    async def __aexit__(self, kind, error, tb):
        mark(('exit', kind, await Ready(1)))
        return self.value
def numbers(x):
    try: yield from (x, 2, 3)
    finally: mark('numbers')
async def counted(x):
    try:
        yield await Ready(x)
        yield 2
    finally: mark('counted')
def played(g, moves):
    seen = []
    for move in moves:
        try:
            if move is None: seen.append(next(g))
            elif isinstance(move, type): seen.append(g.throw(move(len(seen))))
            elif move == 'close': seen.append(g.close())
            else: seen.append(g.send(move))
        except BaseException as error:
            seen.append((repr(error), repr(error.__context__), [(t.name, t.lineno - error.__traceback__.tb_lineno) for t in traceback.extract_tb(error.__traceback__)]))
    return seen, TRAIL[-20:]
class Pt:
    __match_args__ = 'x', 'y'
    def __init__(self, x, y): self.x, self.y = x, y
async def collected(g): return [x async for x in g]
TRAIL = []
'''

SIGNATURES = ["a, /, b, *, c=1", "*a, **b", "a, b=2, *c, d, **e", "a=1, /, b=2, *c", "self, *a, self2=0, **b", "*, a, b={0}", "a, b, c=3", "**a", "a"]
CALLED = ["{0}(*{1})", "{0}(*{1}, **{2})", "{0}(1, *{1}, 2)", "{0}(*{1}, *{1})", "{0}(a=1, **{2})", "{0}(1, b=2, **{2})", "{0}(**{2}, **{{'d': 4}})", "{0}(1, 2, d=3)", "{0}(c=1, *{1})", "{0}(*{1}, a=5)", "{0}()"]

SCOPES = [
    # comprehensions
    "{0} = [(x, y) for x in {1} if mark(x) for y in (x, {2}) if y]", "{0} = [[x for x in (x, y)] for x, y in [({1}, {2})]]", "{0} = {{x: (lambda: x)() for x in {1}}}",
    "x = {1}\n{0} = [x for x in (x, 1)], x", "{0} = [(lambda y: [x, y])(x) for x in {1}]", "{0} = [lambda: (x, {0}_n) for x in (1, 2) if ({0}_n := x)]\n{0} = [f() for f in {0}]",
    "{0} = [{0}_l := ({1}), [{0}_l := x for x in (1, 2)], {0}_l]", "{0} = list((x, (y for y in (x, x))) and x for x in {1})", "{0} = [x for x in [{1}] for x in [x, {2}]]",
    "{0} = [locals() for {0}_x in (1,)][0].get('{0}_x')", "{0} = {{**{{x: 1 for x in {1}}}, 'z': [*(y for y in {2})]}}", "{0} = [[[a for a in (b,)] for b in (c,)] for c in {1}]",
    "def {0}_f(x):\n    return [x for x in (x, {1})], [lambda: x for y in (1,)][0](), x\n{0} = {0}_f({2})", "{0} = [mark(x) for x in numbers({1}) if x != 2]",
    # class bodies
    "class {0}C:\n    x = {1}\n    y = [x for _ in (1, 2)] if not x else [x for x in (x,)]\n    z = (lambda: x)\n{0} = {0}C.y", "x = 3\nclass {0}C:\n    x = x\n    def m(self): return x, self.x, __class__\n{0} = {0}C().m()[:2]",
    "class {0}C(metaclass=Meta):\n    for i in (1, 2): locals()[f'm{{i}}'] = lambda self, i=i: (self, i)\n    del i\n{0} = sorted(k for k in {0}C.__dict__ if k[0] != '_')",
    "class {0}C:\n    __slots__ = ('a', '__dict__')\n    a = property()\n", "class {0}C:\n    __slots__ = ('a', 'b')\n    def __init__(self, v): self.a = v\n{0} = {0}C({1})\nprint({0}.a, hasattr({0}, 'b'))\ndel {0}.a\n{0}.a",
    "class {0}D:\n    def __set_name__(self, owner, name): mark((owner.__name__, name))\n    def __get__(self, obj, cls=None): return mark(obj is None), {1}\n    def __set__(self, obj, value): obj.__dict__['d'] = mark(value)\n"
    "class {0}C:\n    d = {0}D()\n{0} = {0}C()\n{0}.d = {2}\nprint({0}.d, {0}.__dict__, {0}C.d)",
    "class {0}M(type):\n    @classmethod\n    def __prepare__(meta, name, bases, **more): return Names(mark)\n    def __new__(meta, name, bases, space, k=1): return super().__new__(meta, name, bases, dict(space))\n    def __init__(cls, *args, k=2): cls.k = k\n"
    "class Names(dict):\n    def __init__(self, note): self.note = note\n    def __setitem__(self, key, value):\n        self.note(key)\n        super().__setitem__(key, value)\n    def __missing__(self, key):\n        if key == 'made': return [key]\n        raise KeyError(key)\n"
    "class {0}C(metaclass={0}M, k={1}):\n    a = made\n    def f(self): return super().__init__\n    b: int = 3\n{0} = {0}C.k, {0}C.a, list({0}C.__annotations__)",
    "class {0}C(Mixin):\n    def twice(self):\n        one = super().twice()\n        return one, [super({0}C, self).twice() for _ in (1,)], (lambda self: super().twice())(self) if {1} else None\n{0} = {0}C().twice()",
    "class {0}C:\n    if {1}:\n        v = 1\n    else:\n        w = 2\n    try: u = v\n    except NameError as e: u = str(e)\n    global {0}_g\n    {0}_g = u\nprint({0}C.u, {0}_g, hasattr({0}C, 'e'))",
    # names
    "def {0}_f():\n    x = {1}\n    def g():\n        nonlocal x\n        del x\n    g()\n    try: return x\n    except NameError as e: return str(e)\nprint({0}_f())",
    "def {0}_f(x):\n    if x: del x\n    try: return x\n    except UnboundLocalError as e: return str(e), e.name if hasattr(e, 'name') else 0\nprint({0}_f({1}))",
    "def {0}_f():\n    for x in {1}: pass\n    return x\n{0} = {0}_f()", "{0} = {1}\ndel ({0}), [{0}]" , "{0}, [*{0}_r], {0}_l = {1}, {2}, 3\nprint({0}_r)", "{0} = {0}_a = [{1}]\n{0} += {0}_a\nprint({0} is {0}_a, {0})",
    "def {0}_f(x: mark('annotated') = mark({1}), *, y=mark(2)) -> mark('result'):\n    z: int\n    w: mark(3) = x\n    return w\n{0} = {0}_f(), {0}_f.__annotations__", "while (x := {1}) and not mark(x): break\nelse: x = 'else'\nprint(x)",
    "{0} = (x := {1}, [x for x in {2}], x)", "mark({1})[mark({2})] = mark(3)", "mark([1])[mark(0)] += mark({1})", "{0} = {1} if mark({2}) else mark(4) if mark(0) else mark(5)", "{0} = mark(1) < mark({1}) < mark(3)",
    "try:\n    {0} = {1}.x.y\nexcept AttributeError as x:\n    {0} = x.name\ntry: x\nexcept NameError as e: print(e)", "@mark\n@(lambda f: mark(lambda *a: f(*a, {1})))\ndef {0}_f(*a): return a\nprint({0}_f(2))",
    "{0} = (lambda *a, x={1}, **k: (a, x, k))(1, *{2}, y=3)", "def {0}_f(x, f=lambda: {1}):\n    global TOTAL\n    TOTAL, x = x, TOTAL\n    return x, f()\n{0} = {0}_f({2})",
    "def {0}_f():\n    def a(n): return n and b(n - 1)\n    def b(n): return mark(n) and a(n - 1)\n    return a(3), a.__closure__ is None\n{0} = {0}_f()", "exec('def {0}_f(): return x, [x for y in (1,)]', d := {{'x': {1}}})\n{0} = d['{0}_f']()",
    # patterns
    "match {1}:\n    case [a, *b, c] if mark(a): {0} = a, b, c\n    case {{'k': a, **b}}: {0} = a, b\n    case str(a) | bytes(a): {0} = a\n    case int() | float() as a if a > mark(1): {0} = a\n    case None | True: {0} = 1\n    case a: {0} = a",
    "match {1}, {2}:\n    case (int(real=a), b) | (b, int(real=a)): {0} = a, b\n    case ([a, _] | [a], {{}}): {0} = a\n    case (Pt(x, y=0), _): {0} = x\n    case (Color.RED | 'ab', -1 | 2j): {0} = 3\n    case _ if mark(0): {0} = 4",
    "match Pt({1}, {2}):\n    case Pt(0, y): {0} = y\n    case Pt(x=[x, *_]) | Pt(y=[x, *_]): {0} = x\n    case Pt(Pt(), _) | Pt(a=1): pass\n    case Pt(x, y): {0} = mark((x, y))",
]


class Flows(Arrays):
    """Statements with random control flow and scopes."""

    flows = False

    def kinds(self):
        kinds = super().kinds()
        return [(14, self.scoped), (5, self.star_call), *kinds, (14, self.flow), (8, self.flow_of_generator), (5, self.flow_of_coroutine)] if self.flows else kinds

    def scoped(self):
        name = self.name("s")
        self.line(self.pick(SCOPES).format(name, self.atom(), self.atom()))
        if self.chance(0.3):
            self.known(name)

    def star_call(self):
        name = self.name("f")
        self.line(f"def {name}({self.pick(SIGNATURES).format(self.atom())}): return sorted(locals().items(), key=repr)")
        self.line(f"print({self.pick(CALLED).format(name, self.atom(), self.pick(['TABLE', 'dict(b=1, c=2)', self.atom()]))})")

    def flow(self):
        name = self.name("f")
        self.line(f"def {name}(p, q=2):")
        self.scope(["p", "q"], self.flow_body, "def")
        self.line(f"print({name}({self.atom()}), {name}({self.atom()}), TRAIL[-20:])")
        if self.chance(0.2):
            self.known(name)

    def flow_of_generator(self):
        name = self.name("g")
        self.line(f"def {name}(p, q=2):")
        self.scope(["p", "q"], self.flow_body, "generator")
        moves = ["None", "None", "None", "1", self.atom(), "KeyError", "ValueError", "'close'", "GeneratorExit", "StopIteration"]
        self.line(f"print(played({name}({self.atom()}), [None, {', '.join(self.pick(moves) for _ in range(self.random.randint(1, 5)))}]))")

    def flow_of_coroutine(self):
        name = self.name("co")
        self.line(f"async def {name}(p, q=2):")
        self.scope(["p", "q"], self.flow_body, "coroutine")
        self.line(self.pick(["print(run({0}({1})))", "print(played({0}({1}), [None, 1, 2, KeyError, 3]))", "print(played({0}({1}), [None, ValueError, None, 'close', 4]))"]).format(name, self.atom()))

    def flow_body(self, kind):
        if kind == "generator":
            self.line("p = yield p")
        if kind == "coroutine":
            self.line("p = await Ready(p)")
        self.kind = kind
        self.flow_block(self.random.randint(2, 3), False, False)
        self.line(f"return {self.mark()}")

    def mark(self):
        return self.pick(MARKS).format(self.pick(["1", "2", "3", "'m'", "None", "0"]))

    def flow_block(self, depth, in_loop, in_star):
        """Some statements: the deeper, the simpler."""
        for _ in range(self.random.randint(1, 3 if depth else 2)):
            nested = [self.flow_try, self.flow_try, self.flow_loop, self.flow_if, self.flow_with, self.flow_nested] if depth else []
            simple = [self.flow_mark, self.flow_mark, self.flow_raise, self.flow_leave, self.flow_wait, self.flow_name]
            self.pick(nested * 2 + simple)(depth - 1, in_loop, in_star)

    def flow_part(self, depth, in_loop, in_star):
        self.depth += 1
        before = len(self.lines)
        self.flow_block(depth, in_loop, in_star)
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    def flow_mark(self, depth, in_loop, in_star):
        self.line(self.pick(["{0}", "p = {0}", "q = {0}", "x = {0}", "p, q = q, p"]).format(self.mark()))

    def flow_name(self, depth, in_loop, in_star):
        self.line(self.pick(["x", "del q", "q = x", "print(p)", "e", "p += q", "x = [p for p in (p, q)]", "SHARED[0] = p", "p = lambda: q", "e = q"]))

    def flow_raise(self, depth, in_loop, in_star):
        text = self.pick(RAISES).format(self.pick(["1", "p", "'r'"]))
        self.line(f"if {self.pick(['p', 'q', 'not p', 'mark(1)', 'len(TRAIL) % 2'])}: {text}" if self.chance(0.6) else text)

    def flow_leave(self, depth, in_loop, in_star):
        ways = [f"return {self.mark()}"] * 2 * (not in_star) + ["break", "continue"] * 2 * in_loop
        if ways:
            text = self.pick(ways)
            self.line(f"if {self.pick(['p', 'not q', 'len(TRAIL) % 3'])}: {text}" if self.chance(0.7) else text)

    def flow_wait(self, depth, in_loop, in_star):
        if self.kind == "generator":
            self.line(self.pick(["q = yield p", "yield", "x = yield from (p, q)", "yield (yield q)", "p = yield from numbers(q)", "x = [(yield), p]"]))
        elif self.kind == "coroutine":
            self.line(self.pick(["q = await Ready(p)", "x = [y async for y in counted(p)]", "await collected(counted(q))", "x = await Ready(q), await Ready(p)", "x = [await Ready(y) for y in (p, q)]"]))
        else:
            self.flow_mark(depth, in_loop, in_star)

    def flow_if(self, depth, in_loop, in_star):
        self.line(f"if {self.mark()}:")
        self.flow_part(depth, in_loop, in_star)
        if self.chance(0.5):
            self.line("else:")
            self.flow_part(depth, in_loop, in_star)

    def flow_loop(self, depth, in_loop, in_star):
        head = ["for i in (1, 2, 3):", "for p in range(2):", "for i, q in enumerate('ab'):", "for i in numbers(p):", "while len(TRAIL) % 5 and len(TRAIL) < 300 and mark(1):"]
        if self.kind == "coroutine":
            head.append("async for i in counted(p):")
        self.line(self.pick(head))
        self.flow_part(depth, True, in_star)
        if self.chance(0.3):
            self.line("else:")
            self.flow_part(depth, in_loop, in_star)

    def flow_with(self, depth, in_loop, in_star):
        managers = [self.pick(MANAGERS).format(self.pick(["p", "0", "1", "None"])) for _ in range(self.random.randint(1, 2))]
        waits = self.kind == "coroutine" and self.chance(0.4)
        if waits:
            managers = ["Exits(p)"]
        target = self.pick(["", " as x", " as (x, _)"])
        self.line(f"{'async ' * waits}with {', '.join(managers)}{target}:")
        self.flow_part(depth, in_loop, in_star)

    def flow_try(self, depth, in_loop, in_star):
        star = self.chance(0.12)
        self.line("try:")
        self.flow_part(depth, in_loop, in_star)
        handlers = self.random.randint(0, 2)
        for _ in range(handlers):
            caught = self.pick(CAUGHT)
            self.line(f"except{'*' * star} {'Exception' if star and 'Base' in caught else caught}{self.pick(['', ' as e', ' as e'])}:")
            self.flow_part(depth, in_loop and not star, in_star or star)
        if handlers and self.chance(0.3):
            self.line("else:")
            self.flow_part(depth, in_loop, in_star)
        if not handlers or self.chance(0.4):
            self.line("finally:")
            self.flow_part(depth, in_loop, in_star)

    def flow_nested(self, depth, in_loop, in_star):
        """A function within, whose variables are those around it."""
        name, kind = self.name("h"), self.kind
        self.kind = "def"
        self.line(f"def {name}(x=p):")
        self.depth += 1
        if self.chance(0.5):
            self.line("nonlocal q")
        self.flow_block(depth, False, False)
        self.line("return p")
        self.depth -= 1
        self.kind = kind
        self.line(f"{self.pick(['x = ', 'p = ', ''])}{name}({self.pick(['', 'q', 'p'])})")
