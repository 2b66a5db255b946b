"""`tests/effects/run.py` finds false claims: it runs on facts that state wrong effects of some C functions."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).parents[2]
RELEASE = "{}.{}".format(*sys.version_info)
#: There are no C sources of these at hand.
FACTS = TESTS.parent / "generated" / "facts" / "{}.json".format("3.13" if RELEASE in ("3.12", "3.14", "3.15") else RELEASE)

PURE = {"verdict": "pure"}
#: Type or module, Python name, the effects that are claimed, and what contradicts them.
LIES = [
    ("list", "append", PURE, "claimed to keep argument 0, changed it"),
    ("list", "extend", {"verdict": "changes arguments", "mutates": ["arg0"]}, "claimed to keep argument 1, changed it"),
    ("list", "count", PURE, "claimed not to run __eq__, ran it"),
    ("list", "clear", {"verdict": "changes arguments", "mutates": ["arg0", "inside arg0"]}, "claimed not to run __del__, ran it"),
    ("_csv", "field_size_limit", {"verdict": "impure", "flags": ["reads global"]}, "changed csv"),
    ("builtins", "id", PURE, "claimed to give the same always"),
    ("float", "__format__", PURE, "claimed to give the same always"),
    ("_operator", "index", PURE, "claimed not to run __index__, ran it"),
]


def function_of(facts, owner, name):
    """The C function, and its file."""
    for row in facts["module_functions"]:
        if (row["module"], row["name"]) == (owner, name):
            return row["function"], row["file"]
    for row in facts["types"]:
        for method in row.get("methods", ()):
            if (row["tp_name"], method["name"]) == (owner, name):
                return method["function"], row["file"]
    raise LookupError(f"{owner}.{name}")


def report(lies):
    """The runner's report on facts in which these rows replace those of the same functions."""
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    functions = {function_of(facts, owner, name): claimed for owner, name, claimed, _ in LIES}
    if lies:
        for row in facts["effects"]:
            claimed = functions.get((row["name"], row["file"]))
            if claimed:
                names = {"name": row["name"], "file": row["file"]}
                row.clear()
                row.update(names | claimed)
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(facts, file)
        file.flush()
        only = ",".join(sorted({name for name, _ in functions}))
        command = [sys.executable, "-B", str(TESTS / "effects" / "run.py"), file.name, "--only", only]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


class EffectClaims(unittest.TestCase):
    def test_every_false_claim_is_found(self):
        said = report(lies=True)
        without_locale = any("locale is not varied" in note for note in said["notes"])
        for owner, name, _, what in LIES:
            if name == "__format__" and without_locale:
                continue
            with self.subTest(f"{owner}.{name}"):
                found = [line for line in said["false"] if line.startswith((f"{owner}.{name}[", f"{owner}.{name}:"))]
                self.assertEqual(len(found), 1, said["false"])
                self.assertIn(what, found[0])

    def test_the_true_claims_hold(self):
        said = report(lies=False)
        self.assertEqual(said["false"], [])
        self.assertGreater(said["calls"], 500)


if __name__ == "__main__":
    unittest.main()
