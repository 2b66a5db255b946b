"""The base of a program's writer: lines, blocks, names, choices, expressions."""

import random

from vocabulary import BINARY, CALLS, COMPARE, COMPREHENSIONS, LITERALS, METHODS, MORE_CALLS, STRINGS, UNARY



def filled(template, one, two):
    """The template with these expressions. Up to 3.11 an expression in an f-string must not contain its quotes, nor a backslash."""
    text = template.format(one, two)
    if not template.startswith("f'"):
        return text
    inner = "" if "{1}" not in template else two
    inner += one
    quotes = [quote for quote in ("'", '"', "'''", '"""') if quote not in inner and "\\" not in inner]
    return f"f{quotes[0]}{text[2:-1]}{quotes[0]}" if quotes else f"format({one})"


class Writer:
    """Lines of one program, the names that are known at the place where it writes, and expressions over them."""

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
        """Writes one or several lines at the present depth."""
        self.lines += ["    " * self.depth + part for part in text.split("\n")]

    def chance(self, share):
        return self.random.random() < share

    def pick(self, items):
        return self.random.choice(items)

    def name(self, prefix="v"):
        """A new name, not yet known."""
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def known(self, name):
        """Makes a name usable in what follows."""
        if name not in self.names:
            self.names.append(name)
        return name

    def block(self, write, *arguments):
        """Writes an indented block whose new names end with it."""
        self.depth += 1
        known, before = list(self.names), len(self.lines)
        write(*arguments)
        if len(self.lines) == before:
            self.line("pass")
        self.names = known
        self.depth -= 1

    def scope(self, names, write, *arguments):
        """Writes the body of a function that knows these names alone."""
        self.depth += 1
        known, self.names = self.names, list(names)
        loops, self.loops = self.loops, 0
        write(*arguments)
        self.names, self.loops = known, loops
        self.depth -= 1

    def atom(self):
        """A name, an instance, a literal."""
        kind = self.random.random()
        if self.names and kind < 0.65:
            return self.pick(self.names)
        if self.classes and kind < 0.75:
            return f"{self.pick(self.classes)}({self.pick(LITERALS)})"
        if kind < 0.78:
            return self.pick(["TOTAL", "SHARED", "TABLE"])
        return self.pick(LITERALS)

    def expression(self, depth=2):
        """An expression of at most this depth."""
        if depth == 0 or self.chance(0.2):
            return self.atom()
        one, two = self.expression(depth - 1), self.expression(depth - 1)
        writers = [
            (22, self.operation), (10, self.comparison), (5, self.unary), (16, self.template(CALLS)), (9, self.template(MORE_CALLS)),
            (10, self.template(METHODS, "({0})")), (6, self.template(STRINGS)), (6, self.template(COMPREHENSIONS)), (5, self.item), (9, self.choice),
            (3, self.function_call), (5, self.display),
        ]
        weights, writers = zip(*writers)
        return self.random.choices(writers, weights)[0](one, two)

    def template(self, templates, first="{0}"):
        """A writer that fills one of the templates."""
        return lambda one, two: filled(self.pick(templates), first.format(one), two)

    def operation(self, one, two):
        return f"({one} {self.pick(BINARY)} {two})" if self.chance(0.85) else f"({one} ** 2)"

    def comparison(self, one, two):
        if self.chance(0.15):
            return f"({one} {self.pick(COMPARE)} {two} {self.pick(COMPARE[:6])} {self.atom()})"
        return f"({one} {self.pick(COMPARE)} {two})"

    def unary(self, one, two):
        return f"({self.pick(UNARY)}{one})"

    def item(self, one, two):
        return f"({one})[{self.pick(['0', '-1', '1:', '::2', two, two])}]"

    def choice(self, one, two):
        if self.chance(0.5):
            return f"({one} if {two} else {self.atom()})"
        return f"({one} {self.pick(['and', 'or'])} {two})"

    def function_call(self, one, two):
        if not self.helpers or self.chance(0.4):
            return f"(lambda x, y={self.atom()}: (x, y))({one})"
        form = self.pick(["{0}({1}, {2})", "{0}({1})", "{0}(*({1}, {2}))", "{0}({1}, q={2})", "{0}(**{{'p': {1}, 'q': {2}}})"])
        return form.format(self.pick(self.helpers), one, two)

    def display(self, one, two):
        form = self.pick(["({0}, {1})", "[{0}, {1}]", "{{'k': {0}, 1: {1}}}", "{{{0}, {1}}}", "(*{0}, {1})", "{{'k': 0, **{0}}}"])
        return form.format(one, two)
