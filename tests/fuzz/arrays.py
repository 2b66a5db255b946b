"""Random programs with numpy arrays: operators, indices, reductions, views, changes, errors that contents decide."""

from modules import Modules
from writer import filled

ARRAYS = [
    "np.arange(4)", "np.array([1.0, -2.0, 3.0])", "np.ones((2, 2))", "np.array([True, False, True])", "np.array(5)", "np.zeros(0)", "np.float64(2.5)",
    "np.array([3, 1, 2], dtype=np.int8)", "np.array([[1, 2], [3, 4]])", "np.array([1j, 2])", "np.int64(3)", "np.array([0, 1, 2])", "np.array(['a', 'bc'])",
]
USES = [
    "{0} + {1}", "{0} * 2", "{0} / {1}", "{0} // {1}", "{0} % 2", "{0} @ {1}", "-{0}", "abs({0})", "~{0}", "{0} ** 2", "{0} ** {1}", "{0} < {1}", "{0} == {1}",
    "{0} & {1}", "{0} << 1", "2 ** {0}", "1 / {0}", "{0}[0]", "{0}[-1]", "{0}[1:]", "{0}[::-1]", "{0}[{1}]", "{0}[{0} > 0]", "{0}[..., 0]", "{0}[None]",
    "{0}.sum()", "{0}.mean()", "{0}.max()", "{0}.min(axis=0)", "{0}.any()", "{0}.all()", "{0}.shape", "{0}.T", "{0}.dtype", "{0}.ndim", "{0}.size", "{0}.reshape(-1)",
    "{0}.reshape(2, 2)", "{0}.astype(int)", "{0}.astype(float)", "{0}.copy()", "{0}.tolist()", "{0}.item()", "{0}.argmax()", "{0}.cumsum()", "{0}.flatten()",
    "np.sqrt({0})", "np.log({0})", "np.exp({0})", "np.add({0}, {1})", "np.where({0} > 1, {0}, {1})", "np.maximum({0}, {1})", "np.concatenate([{0}, {1}])",
    "np.stack([{0}, {0}])", "np.dot({0}, {1})", "np.sum({0})", "np.linalg.inv({0})", "np.zeros_like({0})", "np.isnan({0})", "np.clip({0}, 0, 1)", "np.add({0}, 1, out={0})",
    "len({0})", "float({0})", "int({0})", "bool({0})", "list({0})", "isinstance({0}, np.ndarray)", "({0} > 0).all()", "sum({0})", "max({0})", "{0} in [{1}]", "hash({0})",
    "[x + 1 for x in {0}]", "{0}.missing", "{0} if {1} is None else {1}", "type({0})", "str({0})", "f'{{ {0} }}'", "operator.add({0}, {1})", "{0} + [1, 2, 3]",
    "'a' + {0}", "{0} + None", "[{0}] * 2", "{0}.real", "{0}.flat[0]", "np.array([{0}, {0}])", "{0}.fill(3)", "np.array_equal({0}, {1})", "{0}.T is {0}", "{0} is {0}",
    "np.vstack(({0}, {1}))", "np.take({0}, {1})", "np.broadcast_to({0}, (2, 4))", "{0}.dot({0})", "np.float32({0})", "np.integer in type({0}).__mro__",
]
CHANGES = ["{0}[0] = {1}", "{0}[:] = {1}", "{0} += {1}", "{0} *= 2", "{0} /= 2", "{0}[{0} > 1] = 0", "{0}.shape = (2, 2)", "{0}[1:] += 1", "{0}.sort()", "{0}.flags.writeable = False"]


class Arrays(Modules):
    """Statements with arrays; a program that has them imports numpy."""

    arrays = False

    def kinds(self):
        kinds = super().kinds()
        if self.arrays:
            kinds = [(30, self.array), (6, self.array_change), (3, self.array_shown), *kinds, (6, self.array_attempt), (3, self.array_branch)]
        return kinds

    def array_expression(self):
        one = self.pick(self.names or ARRAYS) if self.chance(0.8) else self.pick(ARRAYS)
        other = self.pick(self.names or ARRAYS) if self.chance(0.6) else self.pick([*ARRAYS, "2", "0", "1.5"])
        text = filled(self.pick(USES), one, other)
        return filled(self.pick(USES), f"({text})", other) if self.chance(0.3) else text

    def array(self):
        self.line(f"{self.known(self.name())} = {self.array_expression()}")

    def array_shown(self):
        self.line(f"print({self.array_expression()})")

    def array_change(self):
        if self.names:
            self.line(self.pick(CHANGES).format(self.pick(self.names), self.pick([*self.names, "2", "[1]"])))

    def array_attempt(self):
        error = self.name("e")
        if self.chance(0.3):
            self.line(f"with np.errstate({self.pick(['all', 'divide', 'invalid'])}='{self.pick(['raise', 'ignore'])}'):")
            self.depth += 1
            self.attempted(error)
            self.depth -= 1
        else:
            self.attempted(error)

    def attempted(self, error):
        self.line("try:")
        self.depth += 1
        self.array()
        self.array()
        self.depth -= 1
        self.line(f"except {self.pick(['Exception', 'ValueError', '(IndexError, TypeError)', 'FloatingPointError'])} as {error}:")
        self.line(f"    print(type({error}).__name__, {error})")
        if self.chance(0.3):
            self.line("finally:\n    print('finally')")

    def array_branch(self):
        self.line(f"if {self.array_expression()}:")
        self.block(self.array)
        self.line("else:")
        self.block(self.array_shown)
