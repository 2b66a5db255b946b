"""The opcode tables of `generated/facts` against the running interpreter's `dis`."""

import dis
import json
import opcode
import pathlib
import sys
import unittest

SERIES = "%d.%d" % sys.version_info[:2]
FOLDER = pathlib.Path(__file__).parents[3] / "generated" / "facts"
# The tables are made from the headers of an installation, where there is one of the release.
INSTALLED = FOLDER / "installed" / (SERIES + ".json")
FACTS = INSTALLED if INSTALLED.exists() else FOLDER / (SERIES + ".json")


@unittest.skipUnless(FACTS.exists(), "no facts for CPython " + SERIES)
class Opcodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.facts = json.loads(FACTS.read_text())["opcodes"]
        cls.rows = {row["name"]: row for row in cls.facts["opcodes"]}
        cls.real = {name: row for name, row in cls.rows.items() if row["kind"] == "real"}

    def test_numbers(self):
        live = dict(opcode.opmap)
        live.update(getattr(opcode, "_specialized_opmap", {}))
        self.assertEqual(live, {name: row["number"] for name, row in self.rows.items() if name in live})
        self.assertEqual(set(self.real) - set(live), set())

    def test_have_argument(self):
        self.assertEqual(self.facts["have_argument"], dis.HAVE_ARGUMENT)

    @unittest.skipUnless(hasattr(opcode, "_inline_cache_entries"), "no inline caches")
    def test_caches(self):
        live = opcode._inline_cache_entries
        for name, row in self.real.items():
            entry = live.get(name, 0) if hasattr(live, "get") else live[row["number"]]
            self.assertEqual(row["caches"], entry, name)

    def test_stack_effects(self):
        tried = 0
        for name, row in self.real.items():
            if name in ("CACHE", "EXTENDED_ARG"):
                continue
            for oparg in (0, 1, 2, 3, 4, 5, 7, 255, 256, 515):
                for jump in (False, True):
                    live = dis.stack_effect(row["number"], oparg if "ARG" in row["flags"] else None, jump=jump)
                    scope = {"oparg": oparg if "ARG" in row["flags"] else 0, "jump": int(jump)}
                    if "effect" in row:
                        ours = value(row["effect"], scope)
                    else:
                        ours = value(row["pushed"], scope) - value(row["popped"], scope)
                    self.assertEqual(ours, live, (name, oparg, jump))
                    tried += 1
        self.assertGreater(tried, 1000)

    @unittest.skipUnless(hasattr(opcode, "_specializations"), "no specialisation table")
    def test_bases(self):
        for base, names in opcode._specializations.items():
            for name in names:
                self.assertEqual(self.rows[name].get("base"), base, name)

    def test_flags(self):
        numbers = {row["number"] for row in self.real.values()}
        for flag, live in (("NAME", dis.hasname), ("CONST", dis.hasconst), ("FREE", dis.hasfree), ("LOCAL", dis.haslocal)):
            ours = {row["number"] for row in self.real.values() if flag in row["flags"]}
            self.assertEqual(ours, numbers & set(live), flag)


def value(text, scope):
    """Evaluates a C expression in which every operand of two parts stands in parentheses."""
    depth, question, colon = 0, None, None
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and character == "?":
            question = place
        elif depth == 0 and character == ":":
            colon = place
    if question is not None:
        test, yes, no = text[:question], text[question + 1 : colon], text[colon + 1 :]
        return value(yes if value(test, scope) else no, scope)
    if "?" not in text:
        return int(eval(text, {}, scope))
    # The conditional is an operand: put its value in its place.
    start = text.index("(", text.rindex(" ", 0, text.index("(")))
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            inner = value(text[start + 1 : place], scope)
            return value(text[:start] + str(inner) + text[place + 1 :], scope)
    raise ValueError(text)


if __name__ == "__main__":
    unittest.main()
