"""JSON scanners of C: the hooks that they call are traced."""

import json
import unittest

import slotrt


class Scanners(unittest.TestCase):
    def test_hooks_are_traced(self):
        calls = []

        def hook(found):
            calls.append(sorted(found))
            return tuple(found)

        decoder = json.JSONDecoder(object_hook=hook)

        def decode(text):
            return decoder.decode(text)

        compiled = slotrt.compile(decode, fullgraph=True)
        for _ in range(2):
            self.assertEqual(compiled('[{"a": 1, "b": {"c": NaN}}]'), [("a", "b")])
        self.assertEqual(calls, [["c"], ["a", "b"]] * 2)
        with self.assertRaisesRegex(json.JSONDecodeError, "Expecting value: line 1 column 2"):
            slotrt.compile(decode)("[x]")


if __name__ == "__main__":
    unittest.main()
