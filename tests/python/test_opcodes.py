"""The opcode tables of `generated/facts` against the running interpreter's `dis`."""

import dis
import json
import opcode
import pathlib
import sys
import unittest

SERIES = "%d.%d" % sys.version_info[:2]
FACTS = pathlib.Path(__file__).parents[2] / "generated" / "facts" / (SERIES + ".json")


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
            entry = live.get(name, 0) if isinstance(live, dict) else live[row["number"]]
            self.assertEqual(row["caches"], entry, name)

    def test_stack_effects(self):
        tried = 0
        for name, row in self.real.items():
            if "popped" not in row or name in ("CACHE", "EXTENDED_ARG"):
                continue
            for oparg in (0, 1, 2, 3, 4, 5, 7, 255, 256, 515):
                has_arg = "ARG" in row["flags"]
                live = dis.stack_effect(row["number"], oparg if has_arg else None)
                scope = {"oparg": oparg}
                self.assertEqual(value(row["pushed"], scope) - value(row["popped"], scope), live, (name, oparg))
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
    if " ? " in text:
        test, rest = text.split(" ? ")
        # The one conditional shape of the tables: `K + ((test) ? yes : no)`.
        head, test = test.split("((", 1)
        yes, no = rest.rstrip(")").split(" : ")
        return eval(head + "(%s if (%s else %s)" % (yes, test, no), {}, scope)
    return eval(text, {}, scope)


if __name__ == "__main__":
    unittest.main()
