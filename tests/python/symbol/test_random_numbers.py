"""Random programs over numbers that change from call to call do what they do uncompiled."""

import math
import random
import unittest

import slotrt

INTEGERS = [0, 1, 2, 3, 5, 7, -1, -2, -9, 63, 64, 257, 1000, 2**31, -(2**31), 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**63, 2**70, -(2**100)]
FLOATS = [0.0, -0.0, 1.0, 0.5, -2.5, 3.75, 1e10, 1e308, -1e308, 5e-324, float("inf"), float("-inf"), float("nan"), 2.0**53, 2.0**63]

ROUNDED = ["int", "round", "math.floor", "math.ceil", "math.trunc", "math.sqrt"]


class Derived(int):
    """An `int` that says its name."""

    def __add__(self, other):
        return ("derived", int(self) + other)


class Holder:
    """What programs read from, and write to."""

    def __init__(self, value):
        self.value = value


def expression(chance, names, depth):
    """A random expression over names."""
    if depth == 0 or chance.random() < 0.2:
        return chance.choice([*names, *names, str(chance.choice([0, 1, 2, 3, -1, 7, 0.5, -2.0]))])
    part = lambda: expression(chance, names, depth - 1)
    kind = chance.randrange(16)
    if kind < 7:
        return f"({part()} {chance.choice(['+', '-', '*', '+', '-', '//', '%', '/'])} {part()})"
    if kind == 7:
        return f"({part()} {chance.choice(['&', '|', '^'])} {part()})"
    if kind == 8:
        return f"({part()} {chance.choice(['<<', '>>', '**', '**'])} {chance.choice([0, 1, 2, 3, 0.5, -0.5, -1.5])})"
    if kind == 9:
        return f"({chance.choice(['-', '+', '~', 'abs', 'int', 'float', 'bool', 'not ', *ROUNDED])}({part()}))"
    if kind == 10:
        return f"{chance.choice(['min', 'max'])}({part()}, {part()})"
    if kind == 11:
        return f"({part()} if {part()} {chance.choice(['<', '<=', '==', '!=', '>', '>='])} {part()} else {part()})"
    if kind == 12:
        return f"sum([{part()}, {part()}])"
    if kind == 13:
        return f"[{part()}, {part()}][{chance.choice([0, 1, -1])}]"
    if kind == 14:
        return f"({part()} and {part()} or {part()})"
    return f"len(str({part()}))"


def statement(chance, names):
    """A random statement; it may bind another name."""
    made = lambda depth=3: expression(chance, names, depth)
    kind = chance.randrange(14)
    if kind < 4:
        name = f"v{len(names)}"
        text = f"{name} = {made()}"
        names.append(name)
        return text
    if kind == 4:
        return f"holder.value += {made(1)}"
    if kind == 5:
        return f"holder.value = {made(2)}"
    if kind == 6:
        return f"kept.append({made(2)})"
    if kind == 7:
        return f"kept.append(({made(2)}, [{made(1)}], {{'key': {made(1)}}}))"
    if kind == 8:
        return f"if {made(2)} {chance.choice(['<', '==', '>='])} {made(1)}: kept.append({made(1)})"
    if kind == 9:
        return f"kept.append(f'{{{made(1)}}} {{{made(1)}!r}}')"
    if kind == 10:
        return f"kept.append(sorted([{made(1)}, {made(1)}, {made(1)}]))"
    if kind == 11:
        return f"kept.append({made(1)} in ({made(1)}, {made(1)}))"
    if kind == 12:
        return f"kept.append('%s %r' % ({made(1)}, {made(1)}))"
    return f"kept.append({made(1)} is None or {made(1)} == 'text')"


def program(seed):
    """A function of two numbers, a holder and a list."""
    chance = random.Random(seed)
    names = ["a", "b", "holder.value"]
    lines = [statement(chance, names) for _ in range(chance.randrange(1, 6))]
    lines.append(f"return {', '.join(names)}, {expression(chance, names, 2)}")
    return "def program(a, b, holder, kept):\n    " + "\n    ".join(lines)


def numbers(chance, mostly):
    """Arguments of one call."""
    if chance.random() < 0.75:
        return chance.choice([chance.randrange(-6, 12), chance.randrange(2, 300)]) if mostly is int else chance.uniform(-4, 9)
    return chance.choice([*INTEGERS, *FLOATS, True, False, Derived(4)])


def shown(value):
    """What a value is, with the classes of all that it holds."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(item) for item in value]
    if isinstance(value, dict):
        return [(shown(key), shown(item)) for key, item in value.items()]
    return type(value).__name__, repr(value)


def outcome(function, args, holder):
    """What a call gives or raises, and leaves behind."""
    kept = []
    try:
        result = shown(function(*args, holder, kept))
    except Exception as error:
        result = type(error).__name__, str(error)
    return result, shown(kept), shown(holder.value)


class Programs(unittest.TestCase):
    """Compiled and plain calls agree, whatever comes in."""

    def run_seeds(self, seeds, **options):
        for seed in seeds:
            text = program(seed)
            scope = {"math": math}
            exec(text, scope)
            plain, compiled = scope["program"], slotrt.compile(scope["program"], **options)
            chance = random.Random(seed)
            kinds = [chance.choice([int, float]) for _ in range(3)]
            first = numbers(chance, kinds[2])
            holders = Holder(first), Holder(first)
            for call in range(8):
                args = numbers(chance, kinds[0]), numbers(chance, kinds[1])
                if chance.random() < 0.4:
                    again = numbers(chance, kinds[2])
                    holders[0].value = holders[1].value = again
                expected = outcome(plain, args, holders[0])
                found = outcome(compiled, args, holders[1])
                self.assertEqual(expected, found, f"seed {seed}, call {call}, {args}, {options}\n{text}")

    def test_numbers_that_change(self):
        self.run_seeds(range(250))

    def test_symbolic_from_the_first(self):
        self.run_seeds(range(250, 330), dynamic=True)

    def test_known_always(self):
        self.run_seeds(range(330, 350), dynamic=False)


if __name__ == "__main__":
    unittest.main()
