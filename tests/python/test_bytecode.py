"""Code objects: decode and assemble, damaged ones, listings."""
import dis
import json
import os
import pathlib
import random
import subprocess
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


def guarded(data):
    """What CPython itself survives as `co_code`: no inline cache beyond the end, no number that it keeps to itself."""
    private = {number for name, number in dis._all_opmap.items() if name.startswith(("INSTRUMENTED_", "ENTER_EXEC"))}
    data = bytearray(data[: len(data) & ~1])
    for at in range(0, len(data), 2):
        if data[at] in private:
            data[at] = 0xE0
    return bytes(data) + bytes([dis.opmap["NOP"], 0]) * 12


class Damaged(unittest.TestCase):
    def check(self, code):
        """Either an error that names an offset, or a code object."""
        try:
            bytecode.roundtrip(code)
            bytecode.listing(code)
        except bytecode.Error as error:
            self.assertRegex(str(error), r"^offset \d+: ")
            return True
        return False

    def expect(self, message, **changes):
        with self.assertRaisesRegex(bytecode.Error, message):
            bytecode.roundtrip(sample.__code__.replace(**changes))

    def test_messages(self):
        code = sample.__code__.co_code
        with self.assertRaisesRegex(bytecode.Error, "offset 2: opcode 255 does not exist"):
            bytecode.check(code[:2] + b"\xff\0" + code[2:], b"", b"", 1)
        ext = bytes([dis.opmap["EXTENDED_ARG"], 0])
        self.expect("EXTENDED_ARG without an instruction", co_code=ext)
        self.expect("more than three EXTENDED_ARG", co_code=ext * 4 + code)
        self.expect("jumps to offset", co_code=bytes([dis.opmap["JUMP_FORWARD"], 200]) + code)
        self.expect("exception table", co_exceptiontable=b"\x01\x02")
        self.expect("exception table entry names offset", co_exceptiontable=bytes([0x80, 0x3F | 0x40, 0x3F, 0, 0]))
        self.expect("line table", co_linetable=b"\x00")
        self.expect("there are only 0 constants", co_consts=())
        self.expect("there are only 0 names", co_names=())
        self.expect("offset [0-9]+: the stack is [2-9] deep after it, but co_stacksize is 1", co_stacksize=1)
        pop = bytes([dis.opmap["POP_TOP"], 0])
        self.expect("pops 1 values from a stack of 0", co_code=pop + code, co_exceptiontable=b"")
        self.expect("runs off the end", co_code=bytes([dis.opmap["NOP"], 0]), co_exceptiontable=b"", co_linetable=b"")

    def test_nothing_of_ours_takes_damaged_code(self):
        """Splitting, compiling and editing refuse what assembling refuses."""
        pop = bytes([dis.opmap["POP_TOP"], 0])
        for changes in ({"co_code": pop + sample.__code__.co_code, "co_exceptiontable": b""}, {"co_stacksize": 1}):
            damaged = types.FunctionType(sample.__code__.replace(**changes), globals())
            for use in (bytecode.Code, bytecode.roundtrip):
                with self.assertRaisesRegex(bytecode.Error, r"^offset \d+: "):
                    use(damaged.__code__)
            if sys.version_info[:2] == (3, 13):
                import slotrt

                with self.assertRaisesRegex(bytecode.Error, r"^offset \d+: "):
                    bytecode.break_at(damaged, 4)
                with self.assertRaisesRegex(bytecode.Error, r"^offset \d+: "):
                    slotrt.compile(damaged)("x")

    def test_not_a_code_object(self):
        with self.assertRaisesRegex(bytecode.Error, "expected a code object, not int"):
            bytecode.roundtrip(3)

    def test_fuzz(self):
        pick = random.Random(20)
        errors = 0
        for round in range(20_000):
            field = pick.choice(("co_code", "co_exceptiontable", "co_linetable"))
            data = bytearray(getattr(sample.__code__, field))
            for _ in range(pick.randrange(1, 6)):
                data[pick.randrange(len(data))] = pick.randrange(256)
            if pick.random() < 0.2:
                del data[pick.randrange(len(data)) & ~1:]
            if field == "co_code":
                data = guarded(data)
            try:
                code = sample.__code__.replace(**{field: bytes(data)})
            except ValueError:
                continue  # CPython itself refuses
            errors += self.check(code)
        self.assertGreater(errors, 5_000)

    def test_fuzz_the_library(self):
        """In a process of its own, for a crash must not go unseen."""
        runner = pathlib.Path(__file__).parents[1] / "codes" / "damage.py"
        ran = subprocess.run([sys.executable, runner, "--count", "1500"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout[-2000:] + ran.stderr[-2000:])
        report = json.loads(ran.stdout.splitlines()[-1])
        self.assertEqual(report["different"], [])
        self.assertGreater(report["refused"], 500)
        self.assertGreater(report["sound"], 100)

    def test_fuzz_byte_strings(self):
        pick = random.Random(22)
        code = sample.__code__
        whole = [code.co_code, code.co_linetable, code.co_exceptiontable]
        errors = 0
        for _ in range(50_000):
            parts = [bytearray(part) for part in whole]
            part = parts[pick.randrange(3)]
            for _ in range(pick.randrange(3)):
                part[pick.randrange(len(part))] = pick.randrange(256)
            del part[pick.randrange(len(part) + 1) :]
            try:
                bytecode.check(*map(bytes, parts), code.co_firstlineno)
            except bytecode.Error as error:
                self.assertRegex(str(error), r"^offset \d+: ")
                errors += 1
        self.assertGreater(errors, 20_000)
        self.assertGreater(bytecode.check(*whole, code.co_firstlineno), 50)

    def test_fuzz_random_bytes(self):
        pick = random.Random(21)
        for _ in range(20_000):
            data = guarded(pick.randbytes(2 * pick.randrange(1, 40)))
            try:
                code = sample.__code__.replace(co_code=data, co_exceptiontable=pick.randbytes(pick.randrange(20)))
            except ValueError:
                continue
            self.check(code)


class Listing(unittest.TestCase):
    def test_names_like_dis(self):
        ours = [line.split() for line in bytecode.listing(sample.__code__).splitlines()]
        names = [next(word for word in words if word in dis.opmap) for words in ours]
        theirs = [i.opname for i in dis.get_instructions(sample) if i.opname not in ("CACHE", "EXTENDED_ARG")]
        self.assertEqual(names, theirs)


if __name__ == "__main__":
    unittest.main()
