"""Writes random programs over objects from outside the compiled function, which change between its calls, within them, and natively
within them.

A program's module holds a few objects of the kinds below. `main` uses them, now and then changes one, and now and then calls a
function that is left alone by the compiler and changes one. Between the calls the module changes some, too.
"""

from flows import Flows
from kinds import CLASS_CHANGES, KINDS, PRELUDE
from writer import filled

#: What any object may be asked.
ANY = [
    "repr({0})", "bool({0})", "len({0})", "list({0})", "{0} == {1}", "type({0}).__name__", "hasattr({0}, 'x')", "getattr({0}, 'x', {1})", "isinstance({0}, {1})", "sorted({0}, key=repr)",
    "{1} in {0}", "[*{0}]", "dict({0})", "vars({0})", "{0}.x", "f'{{ {0} }}'", "str({0})", "callable({0})", "iter({0})", "next(iter({0}))", "({0}, {1})", "{0} is {1}", "{0} + {1}", "{0}[{1}]",
    "{0}.__class__", "copy.copy({0})", "tuple({0})", "{0} < {1}", "hash({0}) == hash({0})", "{0}({1})", "{0}.__dict__", "max({0}, key=repr)", "zip({0}, {1})", "list(map(str, {0}))",
]


class Outside(Flows):
    """Statements over the module's objects."""

    def __init__(self, seed):
        super().__init__(seed)
        self.held = {}
        self.pokes = []

    def object(self):
        """The name of one of the objects, and its kind."""
        name = self.pick(list(self.held))
        return name, self.held[name]

    def kinds(self):
        return [(30, self.used), (10, self.asked), (8, self.changed), (7, self.poked), (3, self.looped), *((weight / 8, write) for weight, write in super().kinds())]

    def atom(self):
        return self.pick(list(self.held)) if self.held and self.chance(0.1) else super().atom()

    def used(self):
        name, kind = self.object()
        text = filled(self.pick(KINDS[kind][1]), name, self.operand())
        self.noted(text)

    def asked(self):
        name, _ = self.object()
        self.noted(filled(self.pick(ANY), name, self.operand()))

    def operand(self):
        return self.pick(["a", "b", "'a'", "'b'", "0", "1", "2", "None", "'x'", "3", *self.held])

    def noted(self, text):
        """The expression, printed, kept, or branched on."""
        how = self.random.random()
        if how < 0.45:
            self.line(f"print({text})")
        elif how < 0.75:
            self.line(f"{self.known(self.name())} = {text}")
        elif how < 0.9:
            self.line(f"OUT.append({text})")
        else:
            self.line(f"if {text}:")
            self.block(self.used)
            self.line("else:")
            self.block(self.line, "print('not')")

    def change(self):
        """A statement that changes one of the objects, or a class or function of the module."""
        if self.chance(0.15):
            return self.pick(CLASS_CHANGES)
        name, kind = self.object()
        return filled(self.pick(KINDS[kind][2]), name, self.pick(["1", "'a'", "[2]", "None", "'x'", "5"]))

    def changed(self):
        self.line("\n".join(["try:", *("    " + line for line in self.change().split("\n")), "except Exception as e: print(type(e).__name__, e)"]))

    def poked(self):
        name = f"__poke{len(self.pokes)}"
        self.pokes.append((name, self.change()))
        self.line(f"{name}()")

    def looped(self):
        name, kind = self.object()
        self.line(f"for {self.known(self.name())} in (1, 2):")
        self.block(self.noted, filled(self.pick(KINDS[kind][1]), name, self.operand()))

    def function(self, name, write):
        """A function over the module's objects, which may give them new values."""
        self.line(f"def {name}:")
        self.depth += 1
        self.line(f"global OUT, TOTAL, {', '.join(name + part for name in self.held for part in ('', '_o', '_d', '_b', '_l'))}")
        write()
        self.depth -= 1


def module(writer):
    """The whole module."""
    writer.line(PRELUDE.strip("\n"))
    for index in range(writer.random.randint(1, 4)):
        kind = writer.pick(list(KINDS))
        name = f"H{index}"
        writer.line(filled(writer.pick(KINDS[kind][0]), name, "1"))
        writer.held[name] = kind
    if writer.chance(0.5):
        writer.helper(0)
    writer.function("main(a, b, c)", lambda: body(writer))
    for name, change in writer.pokes:
        writer.line("@__native")
        writer.function(f"{name}()", lambda change=change: writer.line(change))
    return "\n".join(writer.lines) + "\n"


def body(writer):
    writer.names = ["a", "b", "c"]
    writer.guarded(writer.random.randint(4, 14))
    writer.line(f"return {writer.expression(1)}")


def program(seed):
    """The program of a seed: its text, and its calls: what is done to the module before, and the arguments of `main`."""
    writer = Outside(f"outside {seed}")
    text = module(writer)
    values = ["0", "1", "2", "'a'", "'b'", "None", "[1]", "'x'", "(1, 2)", *writer.held]
    first, other = ([writer.pick(values) for _ in range(3)] for _ in range(2))
    calls = [("", first), ("", first), (writer.change(), first), ("", other)]
    for _ in range(3):
        change = "\n".join(writer.change() for _ in range(writer.random.randint(0, 2)))
        calls.append((change, first if writer.chance(0.7) else other))
    return text, calls


if __name__ == "__main__":
    import sys

    print(*program(sys.argv[1]), sep="\n")
