"""Operators of bytes with operands whose class C code tells by more than slots."""

import array
import unittest

import slotrt


class Memory(unittest.TestCase):
    """Operands whose class C code tells by more than slots."""

    def test_as_in_plain_python(self):
        def outcome(function, *args):
            try:
                return function(*args)
            except (TypeError, ValueError) as error:
                return type(error), str(error)

        functions = [
            lambda x: b"x" % x,
            lambda x: b"%s" % x,
            lambda x: "%s" % x,
            lambda x: b"a" + x,
            lambda x: bytearray(b"a") + x,
            lambda x: bytearray(b"%r") % x,
            lambda x: b"ab" == x,
            lambda x: b"a" in x,
            lambda x: memoryview(b"ab") == x,
        ]
        for value in (bytearray(b"ab"), memoryview(b"ab"), array.array("b", b"ab"), b"ab", {"k": 1}):
            for function in functions:
                with self.subTest(type(value).__name__):
                    compiled = slotrt.compile(function)
                    self.assertEqual(outcome(compiled, value), outcome(function, value))
                    self.assertEqual(outcome(compiled, value), outcome(function, value))


if __name__ == "__main__":
    unittest.main()
