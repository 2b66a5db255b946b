"""Code objects: decoded and assembled again they are the same, and listings name what `dis` names."""

import dis
import os
import sys
import types
import unittest

from slotrt import bytecode

FIELDS = (
    "co_code", "co_exceptiontable", "co_linetable", "co_stacksize", "co_names", "co_consts", "co_varnames",
    "co_cellvars", "co_freevars", "co_flags", "co_name", "co_qualname", "co_argcount", "co_posonlyargcount",
    "co_kwonlyargcount", "co_firstlineno", "co_filename", "co_nlocals",
)
LIBRARY = os.path.dirname(os.__file__)


def nested(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested(constant)


def sources(everything):
    for folder, folders, files in os.walk(LIBRARY):
        folders[:] = sorted(name for name in folders if name != "site-packages" and (everything or name != "test"))
        for file in sorted(files):
            path = os.path.join(folder, file)
            if file.endswith(".py") and os.path.isfile(path):  # a distribution's links may lead nowhere
                yield path


def compiled(path):
    with open(path, "rb") as file:
        source = file.read()
    try:
        return compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None  # the test package holds files that are wrong on purpose


class RoundTrip(unittest.TestCase):
    def test_standard_library(self):
        count = 0
        for path in sources(everything=True):
            code = compiled(path)
            for code in nested(code) if code is not None else ():
                again = bytecode.roundtrip(code)
                for field in FIELDS:
                    if getattr(again, field) != getattr(code, field):
                        self.fail(f"{path}: {code.co_qualname}: {field} differs")
                self.assertEqual(list(again.co_positions()), list(code.co_positions()), path)
                count += 1
        self.assertGreater(count, 20_000)

    def test_large_code(self):
        lines = ["def f(x):"] + ["    x += 1"] * 20_000 + ["    return x"]
        space = {}
        exec("\n".join(lines), space)
        code = space["f"].__code__
        self.assertGreater(len(code.co_code) // 2, 70_000)
        self.assertEqual(bytecode.roundtrip(code).co_code, code.co_code)

    @unittest.skipUnless(hasattr(bytecode, "break_at"), "code is not split on this release")
    def test_large_code_breaks_anywhere(self):
        lines = ["def f(x):", "    total = 0", "    for i in range(2):"]
        lines += ["        total += x"] * 18_000 + ["        if i: x += 1"] + ["    return total"]
        space = {}
        exec("\n".join(lines), space)
        function = space["f"]
        offsets = [i.offset for i in dis.get_instructions(function) if i.opname == "BINARY_OP"]
        self.assertGreater(len(function.__code__.co_code) // 2, 70_000)
        self.assertEqual(bytecode.break_at(function, offsets[len(offsets) // 2], False)(3), function(3))

    @unittest.skipUnless(hasattr(bytecode, "break_at"), "code is not split on this release")
    def test_twenty_nested_blocks_break_anywhere(self):
        # CPython's compiler takes twenty; up to 3.12 the body of an `except` is one of them.
        deep = 20 if sys.version_info >= (3, 13) else 19
        lines = ["def f():"] + [" " * (i + 1) + "try:" for i in range(deep)] + [" " * (deep + 1) + "raise KeyError(1)"]
        for i in reversed(range(deep)):
            lines += [" " * (i + 1) + f"except {'KeyError' if i == 0 else 'ValueError'}:", " " * (i + 2) + "return 7"]
        space = {}
        exec("\n".join(lines), space)
        function, tried = space["f"], 0
        for instruction in dis.get_instructions(function):
            if instruction.opname in ("CACHE", "EXTENDED_ARG"):
                continue
            try:
                self.assertEqual(bytecode.break_at(function, instruction.offset)(), 7)
                tried += 1
            except ValueError as error:
                self.assertIn("unreachable", str(error))
        self.assertGreater(tried, 80)

    def test_many_names_and_long_jumps(self):
        body = "\n".join(f"        a{i} = x + {i + 1000}" for i in range(700))
        space = {}
        exec(f"def f(n):\n    x = n\n    while x > 0:\n        x -= 1\n{body}\n    return a699", space)
        function = space["f"]
        again = types.FunctionType(bytecode.roundtrip(function.__code__), space)
        self.assertEqual(again(3), function(3))

    def test_twenty_nested_blocks(self):
        depth = 20 if sys.version_info >= (3, 13) else 19  # what the compiler allows
        lines = ["def f():"] + [" " * (i + 1) + "try:" for i in range(depth)] + [" " * (depth + 1) + "raise KeyError(1)"]
        for i in reversed(range(depth)):
            lines += [" " * (i + 1) + f"except {'KeyError' if i == 0 else 'ValueError'}:", " " * (i + 2) + "return 7"]
        space = {}
        exec("\n".join(lines), space)
        code = bytecode.roundtrip(space["f"].__code__)
        self.assertEqual(types.FunctionType(code, space)(), 7)

    def test_stack_size_is_enough(self):
        for path in list(sources(everything=False))[::7]:
            code = compiled(path)
            for code in nested(code) if code is not None else ():
                self.assertEqual(bytecode.stack_size(code), code.co_stacksize, (path, code.co_qualname))

    def test_exec_made_and_replaced(self):
        code = compile("x = [i for i in range(3)]\nclass A:\n    y = [j for j in x]\n", "<made>", "exec")
        space = {}
        exec(bytecode.roundtrip(code.replace(co_filename="other")), space)
        self.assertEqual((space["x"], space["A"].y), ([0, 1, 2], [0, 1, 2]))

    def test_line_table_without_columns(self):
        def f():
            return 1

        code = f.__code__.replace(co_linetable=bytes([0xE8 | len(f.__code__.co_code) // 2 - 1, 2]))
        again = bytecode.roundtrip(code)
        if sys.version_info >= (3, 12):  # 3.11 has an entry for every instruction, which this table has not
            self.assertEqual(again.co_linetable, code.co_linetable)
        self.assertEqual(list(again.co_positions()), list(code.co_positions()))
        again = bytecode.roundtrip(f.__code__.replace(co_linetable=b""))
        self.assertEqual({position[0] for position in again.co_positions()}, {None})


def sample(a, *b, c=1, **d):
    try:
        with open(a) as file:
            for line in file:
                if line in b:
                    continue
                c += len(line)
    except OSError as error:
        return lambda: (error, d)
    return [c for _ in range(3)]


class Listing(unittest.TestCase):
    def test_names_like_dis(self):
        ours = [line.split() for line in bytecode.listing(sample.__code__).splitlines()]
        names = [next(word for word in words if word in dis.opmap) for words in ours]
        theirs = [i.opname for i in dis.get_instructions(sample) if i.opname not in ("CACHE", "EXTENDED_ARG")]
        self.assertEqual(names, theirs)


if __name__ == "__main__":
    unittest.main()
