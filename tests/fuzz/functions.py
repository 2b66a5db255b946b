"""Functions of random programs: closures, generators, coroutines, recursion, defaults, decorators."""

from statements import Statements

SIGNATURES = [
    "p, q={0}, *rest, k={1}", "p=1, /, q={0}, **more", "p={0}, q={1}", "p, q=[], k={{}}", "*p, q={0}", "p=2, *, q={0}, **more",
]
ARGUMENTS = ["{0}", "{0}, 2", "{0}, k={1}", "*(1, 2)", "{0}, **dict(q=2)", "{0}, *{1}", "", "{0}, q={1}", "**TABLE", "{0}, {1}, {1}"]
USES = [
    "list({0})", "sum(1 for _ in {0})", "next({0})", "tuple({0})", "[*{0}]", "driven({0})", "thrown({0})", "closed({0})", "dict(enumerate({0}))",
    "list(zip({0}, {0}))", "[x for x in {0} if x]", "max({0}, key=repr)", "delegated({0})", "{0}.send(None)", "sorted({0}, key=repr)",
]

DRIVERS = '''def driven(g):
    seen = [next(g)]
    try:
        while len(seen) < 4: seen.append(g.send(len(seen)))
    except StopIteration as stop: seen.append(stop.value)
    return seen
def thrown(g):
    seen = [next(g)]
    try: seen.append(g.throw(KeyError('t')))
    except (KeyError, StopIteration, RuntimeError) as error: seen.append(repr(error))
    return seen, list(g)
def closed(g):
    first = next(g)
    g.close()
    return first, list(g)
def delegated(g):
    def outer():
        result = yield from g
        yield ('result', result)
    return list(outer())
class Ready:
    def __init__(self, value): self.value = value
    def __await__(self):
        got = yield self.value
        return (self.value, got)
def run(co):
    seen = []
    try:
        while len(seen) < 5: seen.append(co.send(None if not seen else len(seen)))
    except StopIteration as stop: seen.append(stop.value)
    return seen
def noted(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        print('call', len(args))
        return f(*args, **kwargs)
    return inner
'''


class Functions(Statements):
    """Statements that define functions and call them."""

    def kinds(self):
        return super().kinds() + [
            (5, self.closure), (5, self.generator), (3, self.counters), (2, self.late_binding), (2, self.recursion), (2, self.defaults),
            (2, self.coroutine), (2, self.kept_generator), (1, self.decorated), (1, self.generator_manager),
        ]

    def signature(self):
        return self.pick(SIGNATURES).format(self.atom(), self.atom())

    def call(self, name):
        """Shows what a call gives, or keeps it."""
        call = f"{name}({self.pick(ARGUMENTS).format(self.atom(), self.atom())})"
        if self.chance(0.3):
            self.line(f"print({call})")
        else:
            self.line(f"{self.known(self.name())} = {call}")

    def closure(self):
        name, cell = self.name("f"), self.name("n")
        self.line(f"{cell} = {self.atom()}")
        self.line(f"def {name}({self.signature()}):")
        self.scope(["p", "q", cell], self.closure_body, cell)
        self.known(cell)
        for _ in range(self.random.randint(1, 2)):
            self.call(name)
        if self.chance(0.3):
            self.known(name)

    def closure_body(self, cell):
        if self.chance(0.6):
            self.line(f"nonlocal {cell}")
            self.line(f"{cell} = {self.pick([f'(p, {cell})[self_index(q)]', f'[{cell}]', self.expression(1)])}")
            if self.chance(0.15):
                self.line(f"del {cell}")
        self.statements(self.random.randint(0, 2))
        self.line(f"return {self.expression(2)}")

    def counters(self):
        name, one, two = self.name("make"), self.name("inc"), self.name("get")
        self.line(f"def {name}(start):")
        self.line("    def inc(by=1):\n        nonlocal start\n        start += by\n        return start")
        self.line(f"    def get(): return {self.pick(['start', '(start, inc(1), start)', '[start for _ in (1, 2)]'])}")
        self.line("    return inc, get")
        self.line(f"{one}, {two} = {name}({self.atom()})")
        self.line(f"print({one}(), {two}(), {one}({self.atom()}), {two}())")
        if self.chance(0.4):
            self.known(one)

    def late_binding(self):
        name = self.known(self.name())
        self.line(f"{name} = []")
        self.line(f"for i in {self.pick(['range(3)', '(1, 2)', self.atom()])}:")
        self.line(f"    {name}.append({self.pick(['lambda: i', 'lambda i=i: i', 'lambda: [i for i in (i,)]'])})")
        self.line(f"print([f() for f in {name}])")

    def recursion(self):
        name = self.name("r")
        self.line(f"def {name}(depth, p):")
        self.line("    if depth <= 0: return [p]")
        self.scope(["p", "depth"], self.statements, self.random.randint(0, 1))
        step = self.pick(["{0}(depth - 1, p) + [depth]", "[*{0}(depth - 1, (p, depth))]", "({0}(depth - 1, depth), {0}(depth - 2, p))"])
        self.line(f"    return {step.format(name)}")
        self.line(f"{self.known(self.name())} = {name}(3, {self.atom()})")

    def defaults(self):
        name = self.name("d")
        self.line(f"def {name}(p, seen=[], *, k={self.atom()}):")
        self.line(f"    seen.append(p)\n    {self.pick(['return seen', 'return list(seen), k', 'seen = seen + [k]; return seen'])}")
        self.line(f"{self.known(self.name())} = {name}({self.atom()})")
        change = ["{0}.__defaults__ = ([7],)", "{0}.__kwdefaults__ = {{'k': 8}}", "{0}.note = {1}", "{0}.__name__ = 'other'", "{0}.__defaults__[0].append({1})", "pass"]
        self.line(self.pick(change).format(name, self.atom()))
        self.line(f"print({name}({self.atom()}), {name}.__defaults__, {name}.__name__, {name}.__dict__)")
        if self.chance(0.3):
            self.known(name)

    def generator(self):
        name, result = self.name("g"), self.name()
        self.line(f"def {name}(p):")
        self.scope(["p"], self.generator_body)
        use = self.pick(USES).format(f"{name}({self.atom()})")
        self.line(f"{result} = {use}")
        self.known(result)

    def generator_body(self):
        kept = self.chance(0.4)
        if kept:
            self.line("try:")
            self.depth += 1
        self.line(f"for x in {self.pick(['range(3)', 'p', '(1, 2)'])}:")
        self.depth += 1
        self.known("x")
        self.line(f"y = yield {self.expression(2)}")
        self.known("y")
        self.statements(self.random.randint(0, 1))
        self.depth -= 1
        if kept:
            self.depth -= 1
            self.line(self.pick([
                "finally:\n    print('finally')", "except KeyError as error:\n    yield ('handled', repr(error), repr(error.__context__))",
                "except GeneratorExit:\n    print('exit')\n    raise", "finally:\n    yield 'last'" if self.chance(0.2) else "finally:\n    p = None",
            ]))
        if self.chance(0.4):
            self.line(f"z = yield from {self.pick(['(1, 2)', 'range(2)', 'p', '(i for i in (p, p))'])}")
        self.line(self.pick(["return p", "return", "return (p, 1)", "raise KeyError(p)" if self.chance(0.3) else "pass"]))

    def kept_generator(self):
        name, kept = self.name("g"), self.name("kept")
        self.line(f"def {name}(p):")
        self.scope(["p"], self.generator_body)
        self.line(f"{kept} = {name}({self.atom()})")
        self.line(f"print(next({kept}))")
        self.statements(1)
        self.line(self.pick(["print(next({0}, 'end'))", "for x in {0}: print(x)", "{0}.close()", "print(driven({0}))", "SHARED.append(next({0}, 0))"]).format(kept))

    def coroutine(self):
        name = self.name("co")
        self.line(f"async def {name}(p):")
        self.scope(["p"], self.coroutine_body)
        self.line(f"{self.known(self.name())} = run({name}({self.atom()}))")

    def coroutine_body(self):
        self.line(f"x = await Ready({self.atom()})")
        self.known("x")
        self.line(self.pick([
            "async def more():\n    yield await Ready(p)\n    yield 2\nseen = [y async for y in more()]\nprint(seen)",
            "try:\n    y = await Ready(x)\nfinally:\n    print('end')",
            "class M:\n    async def __aenter__(self): return await Ready(1)\n    async def __aexit__(self, *info): print(info[0]); return True\nasync with M() as y:\n    y = y[0] + p",
            "for y in (1, 2):\n    x = await Ready((x, y))",
        ]))
        self.statements(1)
        self.line(f"return {self.expression(1)}")

    def decorated(self):
        name = self.name("f")
        self.line(self.pick(["@noted", "@noted\n@noted", "@functools.lru_cache", "@functools.partial(functools.partial, q=1)"]))
        self.line(f"def {name}(p, q=2):")
        self.scope(["p", "q"], self.closure_return)
        self.line(f"print({name}({self.atom()}), {name}({self.pick(['1', '(1, 2)'])}))")

    def closure_return(self):
        self.line(f"return {self.expression(2)}")

    def generator_manager(self):
        self.line(f"with managed({self.atom()}) as {self.known(self.name())}:")
        self.block(self.statements, self.random.randint(1, 2))

    def helper(self, index):
        """A function of the module."""
        name = f"h{index}"
        self.line(f"def {name}(p, q={self.pick(['1', '[]', 'None'])}):")
        self.scope(["p", "q"], self.helper_body)
        self.helpers.append(name)

    def helper_body(self):
        if self.chance(0.3):
            self.line("global TOTAL\nTOTAL = (p, 1)[0] if TOTAL else 5")
        self.statements(self.random.randint(1, 3))
        self.line(f"return {self.expression(2)}")
