"""Damaged code objects: refused with an error that names an offset, or read; never a crash."""

import dis
import json
import pathlib
import random
import subprocess
import sys
import types
import unittest

from slotrt import bytecode

# Debug builds of CPython abort on such code themselves, where code objects are made or read.
SURVIVES = unittest.skipIf(hasattr(sys, "gettotalrefcount"), "a debug build aborts on damaged code")


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
    """`co_code` that CPython itself survives: no inline cache beyond the end, no opcode of its private range."""
    private = {number for name, number in dis._all_opmap.items() if name.startswith(("INSTRUMENTED_", "ENTER_EXEC"))}
    data = bytearray(data[: len(data) & ~1])
    for at in range(0, len(data), 2):
        if data[at] in private:
            data[at] = 0xE0
    return bytes(data) + bytes([dis.opmap["NOP"], 0]) * 12


class Damaged(unittest.TestCase):
    def check(self, code):
        """The code is read, or the error names an offset."""
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

    def test_split_compile_and_edit_refuse_damaged_code(self):
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

    @SURVIVES
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

    @SURVIVES
    def test_fuzz_the_library(self):
        """In a process of its own, so that a crash is seen."""
        runner = pathlib.Path(__file__).parents[2] / "codes" / "damage.py"
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

    @SURVIVES
    def test_fuzz_random_bytes(self):
        pick = random.Random(21)
        for _ in range(20_000):
            data = guarded(pick.randbytes(2 * pick.randrange(1, 40)))
            try:
                code = sample.__code__.replace(co_code=data, co_exceptiontable=pick.randbytes(pick.randrange(20)))
            except ValueError:
                continue
            self.check(code)


if __name__ == "__main__":
    unittest.main()
