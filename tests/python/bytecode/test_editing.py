"""Editing code objects: what is inserted, deleted, moved and retargeted keeps jumps, handlers, lines and behaviour."""

import contextlib
import dis
import io
import random
import sys
import traceback
import types
import unittest

import split_samples
from slotrt import bytecode

CASES = [case for case in split_samples.CASES if isinstance(case[0], types.FunctionType)]


def chain(error):
    """Types, messages and lines of an exception and its causes."""
    out = []
    while error is not None:
        frames = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:]]
        out.append((type(error).__name__, str(error), frames))
        error = error.__cause__ or error.__context__
    return out


def observe(function, args):
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            result = repr(function(*args))
    except BaseException as error:
        result = chain(error)
    return result, printed.getvalue()


def like(function, code):
    """The function with another code object."""
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    return made


def body(code):
    """Index of the first instruction after RESUME."""
    names = [name for _, name, *_ in code.instructions()]
    return names.index("RESUME") + 1


def fixed(code):
    """Places before which nothing may be inserted: what FOR_ITER skips at the end of its loop, the CALL of a PRECALL."""
    rows = code.instructions()
    calls = {index + 1 for index, row in enumerate(rows) if row[1] == "PRECALL"}
    ends = {target for _, name, _, target, *_ in rows if name == "FOR_ITER"}
    return calls | {index + 1 for index, row in enumerate(rows) if row[0] in ends}


def effective(code):
    """What an instruction does, without how its argument is spelled."""
    return [(name, arg, line) for _, name, arg, target, _, line in bytecode.Code(code).instructions() if name != "NOP"]


class Properties(unittest.TestCase):
    def check(self, function, args, code):
        self.assertEqual(observe(like(function, code), args), observe(function, args), function.__qualname__)
        self.assertEqual(bytecode.roundtrip(code).co_code, code.co_code)

    def test_what_is_inserted_does_nothing_if_it_is_nothing(self):
        pick = random.Random(1)
        for function, args in CASES:
            with self.subTest(function.__qualname__):
                code = bytecode.Code(function.__code__)
                before = [row for row in code.instructions()]
                for _ in range(pick.choice((1, 5, 40, 400))):  # the last ones make jumps too long for one byte
                    index = pick.randrange(body(code), len(code))
                    if index not in fixed(code):
                        code.insert(index, "NOP")
                made = code.assemble()
                self.assertEqual([row for row in code.instructions() if row[1] != "NOP"], [row for row in before if row[1] != "NOP"])
                self.check(function, args, made)

    def test_what_is_inserted_and_deleted_again_leaves_no_trace(self):
        pick = random.Random(2)
        for function, _ in CASES:
            with self.subTest(function.__qualname__):
                code, labels = bytecode.Code(function.__code__), set()
                for _ in range(200):
                    index = pick.randrange(body(code), len(code))
                    if index not in fixed(code):
                        labels.add(code.insert(index, "NOP"))
                    places = [index for index, row in enumerate(code.instructions()) if row[0] in labels]
                    if pick.random() < 0.5 and places:
                        code.delete(pick.choice(places))
                while places := [index for index, row in enumerate(code.instructions()) if row[0] in labels]:
                    code.delete(places[-1])
                made = code.assemble()
                for field in ("co_code", "co_exceptiontable", "co_linetable", "co_stacksize", "co_consts", "co_names"):
                    self.assertEqual(getattr(made, field), getattr(function.__code__, field), field)

    def test_what_moves_with_jumps_there_and_back_runs_the_same(self):
        pick, moved, ahead = random.Random(3), 0, 0
        for function, args in CASES * 4:
            with self.subTest(function.__qualname__):
                code = bytecode.Code(function.__code__)
                start = pick.randrange(body(code), len(code) - 1)
                stop = pick.randrange(start + 1, min(len(code), start + 12))
                if {start, stop} & fixed(code):
                    continue
                rows = code.instructions()
                first, after, end = rows[start][0], rows[stop][0], len(code)
                code.move(start, stop, end)
                code.insert(len(code), "JUMP_BACKWARD", target=after)
                code.insert(start, "JUMP_FORWARD", target=first)
                try:
                    made = code.assemble()
                except bytecode.Error as error:
                    # Conditional jumps go forward only, since 3.12.
                    self.assertRegex(str(error), "cannot jump in the direction|does not lead to the END_FOR")
                    ahead += 1
                    continue
                moved += 1
                self.check(function, args, made)
        self.assertGreater(moved, ahead)
        self.assertGreater(moved, len(CASES))

    def test_what_is_retargeted_goes_to_a_copy(self):
        """Every jump goes to a NOP that stands before its target."""
        retargeted = 0
        for function, args in CASES:
            with self.subTest(function.__qualname__):
                code = bytecode.Code(function.__code__)
                targets = {target for _, name, _, target, *_ in code.instructions() if target is not None and name != "FOR_ITER"}
                targets -= {target for _, name, _, target, *_ in code.instructions() if name == "FOR_ITER"}
                for target in sorted(targets):
                    index = [row[0] for row in code.instructions()].index(target)
                    code.retarget(target, code.insert(index, "NOP"))
                    retargeted += 1
                self.assertFalse(targets & {row[3] for row in code.instructions()})
                self.check(function, args, code.assemble())
        self.assertGreater(retargeted, 50)

    def test_stack_is_never_smaller_than_the_compilers(self):
        pick = random.Random(4)
        for function, _ in CASES:
            code = bytecode.Code(function.__code__)
            places = [place for place in range(body(code), len(code)) if place not in fixed(code)]
            index = pick.choice(places)
            for _ in range(9):
                code.insert(index, "POP_TOP")
            for _ in range(9):
                code.insert(index, "LOAD_CONST", code.constant(None))
            made = code.assemble()
            self.assertGreaterEqual(made.co_stacksize, function.__code__.co_stacksize)
            self.assertGreaterEqual(made.co_stacksize, 9)
            self.assertGreaterEqual(made.co_stacksize, bytecode.stack_size(made))


class Edits(unittest.TestCase):
    def test_new_behaviour(self):
        def function(x):
            return x + 1

        code = bytecode.Code(function.__code__)
        names = [row[1] for row in code.instructions()]
        at = names.index("RETURN_VALUE")
        code.insert(at, "BUILD_LIST", 1)
        index = code.local("seen")
        code.insert(at, "COPY", 1)
        code.insert(at + 1, "STORE_FAST", index)
        made = like(function, code.assemble())
        self.assertEqual(made(2), [3])
        self.assertIn("seen", made.__code__.co_varnames)

    def test_a_new_jump_skips_a_call(self):
        def function(x):
            if x:
                raise KeyError(x)
            return x

        code = bytecode.Code(function.__code__)
        rows = code.instructions()
        start = body(code)
        last = [row[0] for row in rows if row[1] in ("LOAD_FAST", "LOAD_FAST_BORROW")][-1]
        code.insert(start, "JUMP_FORWARD", target=last)
        made = like(function, code.assemble())
        self.assertEqual(made(5), 5)

    def test_handlers_cover_what_is_inserted(self):
        def function():
            try:
                x = 1
                x.bit_length()
            except ValueError as error:
                return "caught", error.args
            return "ended"

        code = bytecode.Code(function.__code__)
        at = next(i for i, row in enumerate(code.instructions()) if row[1] in ("LOAD_ATTR", "LOAD_METHOD"))
        code.insert(at, "RAISE_VARARGS", 1)
        code.insert(at, "LOAD_CONST", code.constant(ValueError("inserted")))
        made = like(function, code.assemble())
        self.assertEqual(made(), ("caught", ("inserted",)))
        self.assertNotEqual(made.__code__.co_exceptiontable, function.__code__.co_exceptiontable)

    def test_long_jumps_get_their_prefixes(self):
        def function(n):
            total = 0
            for i in range(n):
                total += i
            return total

        code = bytecode.Code(function.__code__)
        at = next(i for i, row in enumerate(code.instructions()) if row[1] == "STORE_FAST" and row[2] == 2)
        for _ in range(70_000):
            code.insert(at, "NOP")
        made = like(function, code.assemble())
        self.assertEqual(made(10), function(10))
        jumps = [i for i in dis.get_instructions(made) if i.opname in ("FOR_ITER", "JUMP_BACKWARD")]
        self.assertTrue(all(jump.arg > 65_535 for jump in jumps))

    def test_jumps_that_became_short_lose_their_prefixes(self):
        # CPython's debug builds refuse an EXTENDED_ARG of 0.
        space = {}
        exec("def function(x):\n    while x:\n        x -= 1\n" + "        x = x or x\n" * 100 + "    return x", space)
        code = bytecode.Code(space["function"].__code__)
        self.assertIn(dis.opmap["EXTENDED_ARG"], code.assemble().co_code[::2])
        start = next(i for i, row in enumerate(code.instructions()) if row[5] == 4)
        while code.instructions()[start][5] is not None and 4 <= code.instructions()[start][5] <= 102:
            code.delete(start)
        short = code.assemble()
        rows = list(dis.get_instructions(short))
        self.assertNotIn("EXTENDED_ARG", [row.opname for row in rows])
        self.assertEqual(like(space["function"], short)(5), 0)
        self.assertEqual(bytecode.roundtrip(short).co_code, short.co_code)

    def test_lines_stay(self):
        def function(x):
            y = x + 1
            return y / 0

        code = bytecode.Code(function.__code__)
        for _ in range(3):
            code.insert(body(code), "NOP")
        told = observe(like(function, code.assemble()), (1,))
        self.assertEqual(told, observe(function, (1,)))
        self.assertEqual(told[0][0][2], [("function", function.__code__.co_firstlineno + 2)])

    def test_errors(self):
        def function(n):
            for i in range(n):
                print(i)

        code = bytecode.Code(function.__code__)
        end = len(code)
        for wrong in (lambda: code.insert(end + 1, "NOP"), lambda: code.delete(end), lambda: code.move(0, 3, 2), lambda: code.move(3, 1, 0), lambda: code.move(0, end + 1, 0)):
            self.assertRaises(IndexError, wrong)
        for wrong in (
            lambda: code.insert(0, "NO_SUCH"), lambda: code.insert(0, "CACHE"), lambda: code.insert(0, "NOP", target=0),
            lambda: code.insert(0, "JUMP_FORWARD"), lambda: code.insert(0, "JUMP_FORWARD", target=9_999), lambda: code.retarget(0, 9_999),
            lambda: bytecode.Code(3), lambda: code.insert(0, "INSTRUMENTED_LINE"),
        ):
            with self.assertRaisesRegex(bytecode.Error, r"^offset \d+: "):
                wrong()

        def assembled(edit, message):
            edited = bytecode.Code(function.__code__)
            edit(edited)
            with self.assertRaisesRegex(bytecode.Error, r"^offset \d+: .*" + message):
                edited.assemble()

        at = body(code)
        assembled(lambda code: code.insert(at, "POP_TOP"), "pops 1 values from a stack of 0")
        assembled(lambda code: code.insert(at, "LOAD_CONST", 99), "there are only")
        assembled(lambda code: code.insert(at, "LOAD_FAST", 99), "there are only")
        assembled(lambda code: [code.delete(at) for _ in range(len(code) - at)], "runs off the end|belongs to no instruction|not lead to")
        if sys.version_info >= (3, 12):
            end = next(i for i, row in enumerate(code.instructions()) if row[1] == "END_FOR")
            assembled(lambda code: code.retarget(code.instructions()[end][0], code.instructions()[at][0]), "does not lead to the END_FOR|stack depth")
        self.assertEqual(bytecode.Code(function.__code__).assemble().co_code, function.__code__.co_code)


if __name__ == "__main__":
    unittest.main()
