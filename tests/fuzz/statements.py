"""Statements of random programs: assignments, control flow, patterns, deletion."""

from vocabulary import BINARY
from writer import Writer

PATTERNS = [
    "int(x)", "[x, *_]", "{'k': x}", "(1 | 2) as x", "str() as x", "None", "[1, [x]]", "{'k': x, **rest}", "(x, y) if x == y", "[*_, x]",
    "float(real=x)", "{1: 2}", "OwnError(code=x)", "bool()", "'ab' | b'x'", "(int() | str()) as x", "[] | {}", "Manager(swallow=x)",
]


class Statements(Writer):
    """Statements that every program has."""

    def kinds(self):
        """Weights and writers of statements; those that open no block first."""
        return [
            (30, self.assign), (10, self.show), (8, self.augmented), (3, self.store), (3, self.attribute), (2, self.delete),
            (4, self.unpack), (2, self.global_store), (2, self.change_shared),
            (7, self.branch), (7, self.loop), (3, self.while_loop), (3, self.match), (1, self.unbind),
        ]

    def statements(self, count):
        for _ in range(count):
            self.statement()

    def statement(self):
        kinds = self.kinds()
        weights, writers = zip(*(kinds[:9] if self.depth > 4 else kinds))
        self.random.choices(writers, weights)[0]()

    def guarded(self, count):
        """Statements of which most go on after an exception, so that a program gets somewhere."""
        for _ in range(count):
            if self.chance(0.3):
                self.statement()
                continue
            self.line("try:")
            known = self.names
            self.block(self.statement)
            self.names = known
            error = self.name("e")
            self.line(f"except Exception as {error}:")
            self.line(f"    print(type({error}).__name__, {error})")

    def assign(self):
        value = self.expression(self.random.randint(1, 3))
        name = self.pick(self.names) if self.names and self.chance(0.3) else self.name()
        self.line(f"{name} = {value}")
        self.known(name)

    def augmented(self):
        if self.names:
            target = self.pick(["{0}", "{0}", "{0}", "{0}[0]", "{0}.value", "{0}['k']"]).format(self.pick(self.names))
            self.line(f"{target} {self.pick(BINARY[:10])}= {self.expression(1)}")

    def show(self):
        self.line(f"print({self.expression(1)}, {self.atom()})")

    def store(self):
        if self.names:
            index = self.pick([self.atom(), self.atom(), "1:2", "0", "-1", "'k'"])
            self.line(f"{self.pick(self.names)}[{index}] = {self.expression(1)}")

    def attribute(self):
        if self.names:
            self.line(f"{self.pick(self.names)}.{self.pick(['value', 'value', 'other', '__class__'])} = {self.expression(1)}")

    def delete(self):
        if self.names:
            what = self.pick(["{0}[{1}]", "{0}.value", "{0}['k']", "{0}[0:1]"])
            self.line(f"del {what.format(self.pick(self.names), self.atom())}")

    def unpack(self):
        one, two = self.name(), self.name()
        left = self.pick([f"{one}, {two}", f"{one}, *{two}", f"*{one}, {two}", f"[{one}, ({two}, *_)]"])
        self.line(f"{left} = {self.pick([self.expression(2), f'({self.atom()}, {self.atom()})'])}")
        self.names += [one, two]

    def global_store(self):
        self.line(self.pick(["globals()['TOTAL'] = {0}", "TABLE['k'] = {0}", "SHARED.append({0})", "SHARED[:] = [{0}]"]).format(self.atom()))

    def change_shared(self):
        self.line(self.pick(["TABLE.update(k={0})", "TABLE.pop('k', None)", "SHARED.extend([{0}])"]).format(self.atom()))

    def branch(self):
        self.line(f"if {self.expression(2)}:")
        self.block(self.statements, self.random.randint(1, 3))
        if self.chance(0.2):
            self.line(f"elif {self.expression(1)}:")
            self.block(self.statements, 1)
        if self.chance(0.5):
            self.line("else:")
            self.block(self.statements, self.random.randint(1, 2))

    def loop(self):
        if self.loops > 1:
            return self.assign()
        self.loops += 1
        name = self.name("i")
        over = self.pick(["range(3)", "range(4)", "'abc'", "[1, 2, 3]", "{'p': 1, 'q': 2}", "(x for x in range(3))", "SHARED[:3]", "enumerate('ab')"])
        self.line(f"for {name} in {over}:")
        self.names.append(name)
        self.block(self.loop_body)
        self.names.remove(name)
        self.orelse()
        self.loops -= 1

    def while_loop(self):
        if self.loops > 1:
            return self.assign()
        self.loops += 1
        name = self.name("n")
        self.line(f"{name} = 0")
        self.line(f"while {name} < 3 and not ({self.atom()} is {self.atom()}):")
        self.line(f"    {name} += 1")
        self.block(self.loop_body)
        self.orelse()
        self.loops -= 1

    def orelse(self):
        if self.chance(0.2):
            self.line("else:")
            self.block(self.statements, 1)

    def loop_body(self):
        self.statements(self.random.randint(1, 3))
        if self.chance(0.3):
            self.line(f"if {self.expression(1)}:")
            self.depth += 1
            self.line(self.pick(["break", "continue"]))
            self.depth -= 1

    def match(self):
        self.line(f"match {self.expression(1)}:")
        self.depth += 1
        for pattern in self.random.sample(PATTERNS, 3):
            self.line(f"case {pattern}:")
            self.block(self.show)
        self.line("case _:")
        self.block(self.show)
        self.depth -= 1

    def unbind(self):
        if self.names and self.depth < 3:
            name = self.pick(self.names)
            self.line(f"del {name}")
            self.show()
            self.line(f"{name} = {self.atom()}")
