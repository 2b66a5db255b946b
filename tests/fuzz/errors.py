"""Exceptions in random programs: handlers, causes, contexts, groups, managers."""

from functions import Functions
from vocabulary import ERRORS


class Errors(Functions):
    """Statements that raise and handle."""

    def kinds(self):
        return super().kinds() + [
            (8, self.attempt), (3, self.raising), (2, self.manager), (2, self.chained), (1, self.group), (1, self.leaving), (1, self.asserting),
            (1, self.stacked),
        ]

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
        self.line(f"print(type({error}).__name__, {error}, repr({error}.__context__), repr({error}.__cause__))")
        if self.chance(0.15):
            kept = self.known(self.name())
            self.line(f"{kept} = {error}")
        if self.chance(0.1):
            self.line(f"{error}.add_note('note')\n{error}.extra = 1")
        self.statements(self.random.randint(0, 2))
        if self.chance(0.1):
            self.line(self.pick(["raise", f"raise {error}", f"raise ValueError(1) from {error}", "raise KeyError"]))

    def raised(self):
        """An expression to raise."""
        return self.pick([f"{self.pick(ERRORS)}({self.atom()})", self.pick(ERRORS), f"OwnError({self.atom()}, code={self.atom()})", "StopIteration(4)", "OSError(2, 'no')"])

    def raising(self):
        self.line(f"if {self.expression(1)}:")
        self.line(f"    raise {self.raised()}{self.pick(['', ' from None', ' from KeyError(1)'])}")

    def chained(self):
        error, kept = self.name("e"), self.known(self.name())
        self.line("try:")
        self.line("    try:")
        self.depth += 1
        self.block(self.statements, 1)
        self.line(f"    raise {self.raised()}")
        self.line(f"except Exception as {error}:")
        self.line(f"    raise {self.raised()}{self.pick(['', ' from None', f' from {error}'])}")
        self.depth -= 1
        self.line(f"except Exception as {error}:")
        self.line(f"    {kept} = {error}")
        self.line(f"    print(repr({error}), repr({error}.__context__), repr({error}.__cause__), {error}.__suppress_context__)")

    def group(self):
        error = self.name("e")
        self.line("try:")
        self.line(f"    raise ExceptionGroup('g', [{self.pick(['ValueError(1)', 'KeyError(2)'])}, OwnError({self.atom()}), ExceptionGroup('h', [TypeError(3)])])")
        self.line(f"except* ({self.pick(['ValueError', 'KeyError'])}, TypeError) as {error}:")
        self.line(f"    print('one', repr({error}))")
        self.block(self.statements, 1)
        self.line(f"except* OwnError as {error}:")
        self.line(f"    print('two', repr({error}), {error}.exceptions)")
        if self.chance(0.5):
            self.line("except* Exception:\n    print('rest')")

    def leaving(self):
        """A loop or function left from inside `try` and `finally`."""
        name = self.name("f")
        self.line(f"def {name}(p):")
        self.scope(["p"], self.leaving_body)
        self.line(f"{self.known(self.name())} = {name}({self.atom()})")

    def leaving_body(self):
        leave = [["return p", "break", "continue"][self.random.randint(0, 2)] for _ in range(2)]
        self.line("seen = []\nfor x in (1, 2, 3):")
        self.line(f"    try:\n        seen.append(x)\n        if x == {self.pick('12')}: {leave[0]}")
        self.depth += 1
        self.block(self.statements, 1)
        self.depth -= 1
        self.line(f"    except (TypeError, KeyError) as error:\n        seen.append(type(error))\n        {leave[1]}")
        self.line(f"    finally:\n        seen.append('f')\n        {self.pick(['pass', 'pass', 'if x == 2: return seen', 'if p: continue'])}")
        self.line("else:\n    seen.append('else')\nreturn seen")

    def asserting(self):
        self.line(f"assert {self.expression(1)}, {self.atom()}")

    def manager(self):
        manager = self.pick(["Manager(True)", "Manager(False)", "contextlib.suppress(TypeError)", "contextlib.nullcontext(1)", f"managed({self.atom()})"])
        self.line(f"with {manager} as {self.name('w')}:")
        self.block(self.statements, self.random.randint(1, 2))

    def stacked(self):
        self.line("with contextlib.ExitStack() as stack:")
        self.line(f"    stack.enter_context(Manager({self.pick(['True', 'False'])}))\n    stack.callback(print, 'last', {self.atom()})")
        self.block(self.statements, 1)
