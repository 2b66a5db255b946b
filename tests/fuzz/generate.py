"""Writes random Python programs: operators, classes, containers, control flow, exceptions, closures, generators.

A program is a module that defines `main(a, b, c)`. It is deterministic, terminates (loops have constant bounds, no
recursion) and uses nothing but builtins. The same seed gives the same program.
"""

import random

BINARY = ["+", "-", "*", "//", "%", "&", "|", "^", ">>", "/", "@", "<<"]
COMPARE = ["<", "<=", "==", "!=", ">", ">=", "in", "not in", "is", "is not"]
UNARY = ["-", "+", "~", "not "]
LITERALS = [
    "0", "1", "-1", "2", "3", "7", "True", "False", "None", "1.5", "-0.0", "2j", "'ab'", "''", "b'x'", "()", "(1, 2)",
    "[]", "[3, 1, 2]", "{}", "{'k': 1}", "{1: 2, 'k': 3}", "{1, 2}", "frozenset((1, 3))", "range(4)", "...", "10**20",
]
CALLS = [
    "len({0})", "abs({0})", "bool({0})", "str({0})", "repr({0})", "int({0})", "float({0})", "list({0})", "tuple({0})",
    "sorted({0})", "sum({0})", "min({0}, {1})", "max({0}, {1})", "isinstance({0}, {1})", "hash({0})", "type({0})",
    "divmod({0}, {1})", "pow({0}, 2)", "round({0})", "iter({0})", "next(iter({0}))", "list(zip({0}, {1}))",
    "list(enumerate({0}))", "list(map(str, {0}))", "any({0})", "all({0})", "dict({0})", "set({0})", "callable({0})",
    "list(reversed({0}))", "getattr({0}, 'value', {1})", "hasattr({0}, 'value')", "issubclass(type({0}), int)",
    "format({0})", "(id({0}) == id({1}))", "[*{0}, {1}]", "{{**{0}}}", "f'{{ {0} }}-{{ {1} !r}}'",
]
METHODS = [
    "{0}.append({1})", "{0}.extend({1})", "{0}.pop()", "{0}.get({1})", "{0}.update({1})", "{0}.keys()", "{0}.items()",
    "{0}.add({1})", "{0}.join(['x', 'y'])", "{0}.split()", "{0}.upper()", "{0}.count({1})", "{0}.index({1})",
    "{0}.copy()", "{0}.setdefault({1}, 5)", "{0}.union({1})", "{0}.insert(0, {1})", "{0}.value", "{0}.twice()",
    "{0}.bit_length()", "{0}.strip()", "{0}.startswith('a')", "{0}.clear()", "{0}.sort()",
]
DUNDERS = ["add", "sub", "mul", "or", "and", "xor", "lshift", "floordiv", "mod", "matmul", "truediv", "pow"]
ERRORS = ["ValueError", "TypeError", "KeyError", "IndexError", "ZeroDivisionError", "AttributeError", "Exception"]


class Writer:
    """One program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.depth = 0
        self.names = []
        self.classes = []
        self.helpers = []
        self.fresh = 0
        self.loops = 0

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def chance(self, share):
        return self.random.random() < share

    def pick(self, items):
        return self.random.choice(items)

    def name(self, prefix="v"):
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def block(self, write, *arguments):
        """Writes an indented block whose new names end with it."""
        self.depth += 1
        known = list(self.names)
        write(*arguments)
        self.names = known
        self.depth -= 1

    # Expressions

    def atom(self):
        kind = self.random.random()
        if self.names and kind < 0.65:
            return self.pick(self.names)
        if self.classes and kind < 0.75:
            return f"{self.pick(self.classes)}({self.pick(LITERALS)})"
        return self.pick(LITERALS)

    def expression(self, depth=2):
        if depth == 0 or self.chance(0.2):
            return self.atom()
        one, two = self.expression(depth - 1), self.expression(depth - 1)
        kind = self.random.random()
        if kind < 0.25:
            return f"({one} {self.pick(BINARY)} {two})" if self.chance(0.85) else f"({one} ** 2)"
        if kind < 0.35:
            return f"({one} {self.pick(COMPARE)} {two})"
        if kind < 0.40:
            return f"({self.pick(UNARY)}{one})"
        if kind < 0.58:
            return self.pick(CALLS).format(one, two)
        if kind < 0.68:
            return self.pick(METHODS).format(f"({one})", two)
        if kind < 0.74:
            return f"({one})[{two}]"
        if kind < 0.79:
            return f"({one} if {two} else {self.atom()})"
        if kind < 0.84:
            return f"({one} {self.pick(['and', 'or'])} {two})"
        if kind < 0.88:
            return f"[x for x in {one} if x != {self.atom()}]"
        if kind < 0.91:
            return f"{{x: {self.atom()} for x in {one}}}"
        if kind < 0.94:
            return f"(lambda x, y={self.atom()}: (x, y))({one})"
        if kind < 0.97 and self.helpers:
            return f"{self.pick(self.helpers)}({one}, {two})"
        return self.pick(["({0}, {1})", "[{0}, {1}]", "{{'k': {0}, 1: {1}}}", "({0})[{1}:]"]).format(one, two)

    # Statements

    def statements(self, count):
        for _ in range(count):
            self.statement()

    def statement(self):
        kinds = [
            (30, self.assign), (10, self.show), (8, self.augmented), (7, self.branch), (7, self.loop), (8, self.attempt),
            (5, self.closure), (5, self.generator), (4, self.unpack), (3, self.raising), (3, self.store), (3, self.attribute),
            (2, self.match), (2, self.manager), (2, self.delete), (1, self.late_class),
        ]
        if self.depth > 4:
            kinds = kinds[:3]
        weights, writers = zip(*kinds)
        self.random.choices(writers, weights)[0]()

    def guarded(self, count):
        """Statements of which most go on after an exception, so that a program gets somewhere."""
        for _ in range(count):
            if self.chance(0.3):
                self.statement()
                continue
            self.line("try:")
            self.depth += 1
            self.statement()
            self.depth -= 1
            error = self.name("e")
            self.line(f"except Exception as {error}:")
            self.line(f"    print(type({error}).__name__, {error})")

    def assign(self):
        value = self.expression(self.random.randint(1, 3))
        name = self.pick(self.names) if self.names and self.chance(0.3) else self.name()
        self.line(f"{name} = {value}")
        if name not in self.names:
            self.names.append(name)

    def augmented(self):
        if self.names:
            self.line(f"{self.pick(self.names)} {self.pick(BINARY[:10])}= {self.expression(1)}")

    def show(self):
        self.line(f"print({self.expression(1)}, {self.atom()})")

    def branch(self):
        self.line(f"if {self.expression(2)}:")
        self.block(self.statements, self.random.randint(1, 3))
        if self.chance(0.5):
            self.line("else:")
            self.block(self.statements, self.random.randint(1, 2))

    def loop(self):
        if self.loops > 1:
            return self.assign()
        self.loops += 1
        name = self.name("i")
        over = self.pick(["range(3)", "range(4)", "'abc'", "[1, 2, 3]", "{'p': 1, 'q': 2}", "(x for x in range(3))"])
        self.line(f"for {name} in {over}:")
        self.names.append(name)
        self.block(self.loop_body)
        self.names.remove(name)
        if self.chance(0.2):
            self.line("else:")
            self.block(self.statements, 1)
        self.loops -= 1

    def loop_body(self):
        self.statements(self.random.randint(1, 3))
        if self.chance(0.3):
            self.line(f"if {self.expression(1)}:")
            self.depth += 1
            self.line(self.pick(["break", "continue"]))
            self.depth -= 1

    def attempt(self):
        self.line("try:")
        self.block(self.statements, self.random.randint(1, 3))
        if self.chance(0.85):
            error = self.name("e")
            self.line(f"except {self.pick(['Exception', self.pick(ERRORS), '(TypeError, ValueError)'])} as {error}:")
            self.block(self.handler, error)
            if self.chance(0.2):
                self.line("else:")
                self.block(self.statements, 1)
            if self.chance(0.25):
                self.line("finally:")
                self.block(self.statements, 1)
        else:
            self.line("finally:")
            self.block(self.statements, 1)

    def handler(self, error):
        self.line(f"print(type({error}).__name__, {error})")
        self.statements(self.random.randint(0, 2))
        if self.chance(0.1):
            self.line("raise")

    def raising(self):
        self.line(f"if {self.expression(1)}:")
        self.depth += 1
        cause = self.pick(["", " from None", " from KeyError(1)"])
        self.line(f"raise {self.pick(ERRORS)}({self.atom()}){cause}")
        self.depth -= 1

    def closure(self):
        name, cell = self.name("f"), self.name("n")
        self.line(f"{cell} = {self.atom()}")
        self.line(f"def {name}(p, q={self.atom()}, *rest, k={self.atom()}):")
        self.depth += 1
        known, self.names = self.names, ["p", "q", "rest", "k"]
        if self.chance(0.6):
            self.line(f"nonlocal {cell}")
            self.line(f"{cell} = (p, {cell})[self_index({self.pick(['0', '1', 'q'])})]")
        self.names.append(cell)
        self.statements(self.random.randint(0, 2))
        self.line(f"return {self.expression(2)}")
        self.names = known + [cell]
        self.depth -= 1
        result = self.name()
        self.line(f"{result} = {name}({self.atom()}, {self.pick(['', 'k=1', '*(1, 2)', '**dict(k=2)'])})")
        self.names.append(result)

    def generator(self):
        name, result = self.name("g"), self.name()
        self.line(f"def {name}(p):")
        self.depth += 1
        known, self.names = self.names, ["p"]
        self.line("for x in range(3):")
        self.depth += 1
        self.names.append("x")
        self.line(f"y = yield {self.expression(2)}")
        self.names.append("y")
        self.statements(self.random.randint(0, 1))
        self.depth -= 1
        if self.chance(0.4):
            self.line(f"yield from {self.pick(['(1, 2)', 'range(2)', 'p'])}")
        self.line("return p")
        self.names = known
        self.depth -= 1
        use = self.pick(["list({0}({1}))", "sum(1 for _ in {0}({1}))", "next({0}({1}))", "tuple({0}({1}))", "[*{0}({1})]"])
        self.line(f"{result} = {use.format(name, self.atom())}")
        self.names.append(result)

    def unpack(self):
        one, two = self.name(), self.name()
        left = self.pick([f"{one}, {two}", f"{one}, *{two}", f"*{one}, {two}"])
        self.line(f"{left} = {self.pick([self.expression(2), f'({self.atom()}, {self.atom()})'])}")
        self.names += [one, two]

    def store(self):
        if self.names:
            self.line(f"{self.pick(self.names)}[{self.atom()}] = {self.expression(1)}")

    def attribute(self):
        if self.names:
            self.line(f"{self.pick(self.names)}.value = {self.expression(1)}")

    def delete(self):
        if self.names:
            self.line(f"del {self.pick(self.names)}[{self.atom()}]")

    def match(self):
        self.line(f"match {self.expression(1)}:")
        self.depth += 1
        for pattern in self.random.sample(["int(x)", "[x, *_]", "{'k': x}", "(1 | 2) as x", "str() as x", "None"], 2):
            self.line(f"case {pattern}:")
            self.block(self.show)
        self.line("case _:")
        self.block(self.show)
        self.depth -= 1

    def manager(self):
        self.line(f"with Manager({self.pick(['True', 'False'])}) as {self.name('w')}:")
        self.block(self.statements, self.random.randint(1, 2))

    def late_class(self):
        name = self.name("L")
        self.line(f"class {name}({self.pick(self.classes or ['object'])}):")
        self.depth += 1
        self.line(f"value = {self.atom()}")
        self.line("def twice(self): return (self.value, self.value)")
        self.depth -= 1
        result = self.name()
        self.line(f"{result} = {name}({self.pick(['', '1'])})")
        self.names.append(result)

    # Modules

    def user_class(self, index):
        name = f"C{index}"
        base = self.pick(["", "", "(int)", "(list)", "(dict)", "(str)", "(Exception)"] + [f"({c})" for c in self.classes])
        self.line(f"class {name}{base}:")
        self.depth += 1
        if base == "":
            self.line("def __init__(self, value=0):")
            self.line("    self.value = value")
        for dunder in self.random.sample(DUNDERS, 3):
            for prefix in self.random.sample(["", "r", "i"], self.random.randint(1, 2)):
                result = self.pick(["NotImplemented", "('%s', other)" % dunder, "self", "type(self)", "other"])
                self.line(f"def __{prefix}{dunder}__(self, other): return {result}")
        extra = [
            "def __len__(self): return 2", "def __bool__(self): return False", "def __eq__(self, other): return other == 1",
            "def __hash__(self): return 7", "def __getitem__(self, key): return key if key != 4 else [][0]", "def __iter__(self): return iter((1, 2))",
            "def __contains__(self, x): return x == 1", "def __getattr__(self, name): return name",
            "def __call__(self, *args): return args", "def __lt__(self, other): return NotImplemented",
            "def __neg__(self): return 'neg'", "def __index__(self): return 1", "def __repr__(self): return 'R'",
            "value = 5", "__slots__ = ()", "__radd__ = None", "__hash__ = None", "def __float__(self): return 0.5",
            "@property\n    def twice2(self): return 2", "@staticmethod\n    def make(): return 3",
            "@classmethod\n    def build(cls): return cls", "def __setattr__(self, n, v): object.__setattr__(self, n, (v,))",
        ]
        for member in self.random.sample(extra, 4):
            self.line(member)
        self.line("def twice(self): return (self, self)")
        self.depth -= 1
        self.classes.append(name)

    def helper(self, index):
        name = f"h{index}"
        self.line(f"def {name}(p, q=1):")
        self.depth += 1
        self.names = ["p", "q"]
        self.statements(self.random.randint(1, 3))
        self.line(f"return {self.expression(2)}")
        self.depth -= 1
        self.helpers.append(name)

    def program(self):
        """The whole module."""
        self.line(PRELUDE)
        for index in range(self.random.randint(1, 3)):
            self.user_class(index)
        for index in range(self.random.randint(0, 2)):
            self.helper(index)
        self.line("def main(a, b, c):")
        self.depth = 1
        self.names = ["a", "b", "c"]
        self.guarded(self.random.randint(4, 10))
        self.line(f"return {self.expression(2)}")
        return "\n".join(self.lines) + "\n"


PRELUDE = '''class Manager:
    def __init__(self, swallow): self.swallow = swallow
    def __enter__(self): return self
    def __exit__(self, kind, error, tb):
        print('exit', kind and kind.__name__)
        return self.swallow
def self_index(i): return 1 if i else 0
'''


def program(seed):
    """The program of a seed: its text, and the argument tuples that `main` is called with, in order."""
    writer = Writer(seed)
    text = writer.program()
    first = tuple(writer.pick(LITERALS) for _ in range(3))
    other = tuple(writer.pick(LITERALS) for _ in range(3))
    return text, [first, first, other]


if __name__ == "__main__":
    import sys

    print(program(int(sys.argv[1]))[0])
