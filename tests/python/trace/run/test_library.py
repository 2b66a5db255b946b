"""The calls into the standard library that `prove breaks --library` breaks (tests/breaks/library.py), compiled instead."""

import io
import pathlib
import re
import sys
import unittest
from contextlib import redirect_stderr, redirect_stdout

import slotrt

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "breaks"))
import library

ADDRESS = re.compile(r"0x[0-9a-f]+")


def outcome(scenario):
    """What the calls give, print and raise, without addresses."""
    printed, given = io.StringIO(), []
    with redirect_stdout(printed), redirect_stderr(io.StringIO()):
        try:
            given.extend(ADDRESS.sub("0x", repr(value)) for value in scenario())
        except Exception as error:
            given.append((type(error).__name__, str(error)))
    return given, ADDRESS.sub("0x", printed.getvalue())


class Library(unittest.TestCase):
    def test_compiled(self):
        self.assertGreater(len(library.SCENARIOS), 20)
        for name, scenario in library.SCENARIOS.items():
            outcome(scenario)  # imports, caches
            expected = outcome(scenario)
            compiled = slotrt.compile(scenario)
            for call in ("traced", "again"):
                with self.subTest(name, call=call):
                    self.assertEqual(outcome(compiled), expected)


if __name__ == "__main__":
    unittest.main()
