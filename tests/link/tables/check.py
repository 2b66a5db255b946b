"""Runs the C program and compares each row that it prints with `generated/facts`; and the live interpreter with its release."""

import dis
import json
import opcode
import re
import subprocess
import sys
from pathlib import Path

FACTS = Path(__file__).parents[3] / "generated" / "facts"
KINDS = {"static": 0, "spec": 1, "structsequence": 2}
OPCODE_KINDS = {"real": 0, "specialised": 1, "instrumented": 2, "pseudo": 3}
ROWS = ("release", "slot", "slotdef", "wrapper", "type", "masks", "held", "method", "getset", "member", "opcode", "struct", "field")
OPERANDS = [(oparg, jump) for oparg in range(6) for jump in (-1, 0, 1)]


def word(value):
    return "-" if value is None else str(value)


def evaluated(text, oparg, jump):
    """A C expression, read by Python: the few that there are differ in the conditional alone."""
    test, question, rest = text.partition(" ? ")
    if question and test.count("(") == test.count(")"):
        yes, no = rest.split(" : ")
        return evaluated(yes if evaluated(test, oparg, jump) else no, oparg, jump)
    while " ? " in text:
        end = text.index(")", text.index(" : "))
        start = text.rindex("((", 0, text.index(" ? "))
        value = evaluated(text[start + 1 : end], oparg, jump)
        text = f"{text[:start]}{value}{text[end + 1:]}"
    return int(eval(text, {}, {"oparg": oparg, "jump": jump}))


def effect(row, oparg, jump):
    if jump == -1:
        both = [effect(row, oparg, jump) for jump in (0, 1)]
        return None if None in both else max(both)
    if row.get("effect") is not None:
        return evaluated(row["effect"], oparg, jump)
    if row.get("popped") is None or row.get("pushed") is None:
        return None
    return evaluated(row["pushed"], oparg, jump) - evaluated(row["popped"], oparg, jump)


def opcode_rows(facts):
    rows = {row["name"]: row for row in facts["opcodes"]["opcodes"]}
    for row in facts["opcodes"]["opcodes"]:
        base = rows.get(row.get("base"), row)
        argument = "ARG" in row["flags"] or "ARG" in base["flags"]
        cache = -1 if row["number"] > 255 else row["caches"] if row["kind"] == "real" else 0
        head = ["opcode", row["name"], row["number"], OPCODE_KINDS[row["kind"]], base["number"], row["caches"], int(argument), cache]
        yield head + [word(effect(row, oparg, jump)) for oparg, jump in OPERANDS]


def type_rows(facts, order):
    constants = facts["constants"]
    for row in facts["types"]:
        texts = [word(row.get(key)) for key in ("base", "metatype")]
        yield ["type", row["c_name"], row["tp_name"], row["file"], row["line"], KINDS[row["kind"]], *texts] + [
            row["basicsize"], row["itemsize"], " | ".join(row["flags"])]
        yield ["masks"]
        for name, held in sorted(row["slots"].items(), key=lambda item: order[item[0]]):
            origin = 1 if held["origin"] == "inherited" else 2 if held.get("ready") else 0
            yield ["held", name, held["function"], origin, word(held.get("from"))]
        for method in row["methods"]:
            flags = sum(constants[flag] for flag in method["flags"])
            yield ["method", method["name"], method["function"], flags, word(method.get("signature"))]
        for getset in row["getset"]:
            yield ["getset", getset["name"], *(word(getset.get(key)) for key in ("get", "set", "closure"))]
        for member in row["members"]:
            yield ["member", member["name"], member["type"], member["field"], " | ".join(member["flags"])]


def expected(facts):
    yield from (["slotdef", row["name"], row["slot"], row["offset"], word(row["function"]), word(row["wrapper"])]
                + [row["flags"], len(row["doc"].encode())] for row in facts["slotdefs"])


def compare(facts, rows):
    """Differences of one release."""
    slots = [row for row in rows if row[0] == "slot"]
    order = {row[1]: index for index, row in enumerate(slots)}
    fields = {(layout["name"], field["name"]): field for layout in facts["structs"] for field in layout["fields"]}
    suites = {"": "PyTypeObject", "tp_as_async": "PyAsyncMethods", "tp_as_number": "PyNumberMethods",
              "tp_as_mapping": "PyMappingMethods", "tp_as_sequence": "PySequenceMethods", "tp_as_buffer": "PyBufferProcs"}
    for _, name, suite, signature, offset, _heap in slots:
        field = fields[suites[suite], name]
        if (field["type"], str(field["offset"])) != (signature, offset):
            yield f"slot {name}"
    wanted = list(expected(facts)) + list(type_rows(facts, order)) + list(opcode_rows(facts))
    for layout in facts["structs"]:
        wanted.append(["struct", layout["name"], layout["file"], layout["line"], layout["size"], layout["align"]])
        for field in layout["fields"]:
            wanted.append(["field", field["name"], field["type"], field["offset"], field["size"], field["offset"]])
    found = [row for row in rows if row[0] not in ("slot", "wrapper")]
    found = [row[:1] if row[0] == "masks" else row for row in found]
    wanted = [[str(cell) for cell in row] for row in wanted]
    if len(wanted) != len(found):
        yield f"{len(found)} rows, not {len(wanted)}"
    yield from (f"{one} is not {other}" for one, other in zip(found, wanted) if one != other)
    wrappers = {row["wrapper"] for row in facts["slotdefs"]} - {None}
    if {row[1] for row in rows if row[0] == "wrapper"} != wrappers:
        yield "wrappers"


def against_interpreter(rows):
    """The opcodes that this interpreter's compiler emits, as `dis` knows them."""
    for row in rows:
        name = row[1]
        if row[0] != "opcode" or row[3] != "0" or name not in opcode.opmap:
            continue
        number = int(row[2])
        if opcode.opmap[name] != number:
            yield f"{name} is {opcode.opmap[name]}"
        for (oparg, jump), value in zip(OPERANDS, row[8:]):
            argument = oparg if row[6] == "1" else None
            try:
                wanted = dis.stack_effect(number, argument, jump={-1: None, 0: False, 1: True}[jump])
            except ValueError:
                continue
            if value != "-" and row[6] == "1" and wanted != int(value):
                yield f"{name}({oparg}, {jump}) has the effect {wanted}, not {value}"


def masks_of_list(rows):
    """The masks of `list`, which PyTorch states so."""
    place = next(index for index, row in enumerate(rows) if row[:2] == ["type", "PyList_Type"])
    return rows[place + 1][1:] == ["255", "7", "0", "3315"]


def main(program):
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    # Macros of C may be written over several lines.
    lines = re.split(r"\n(?=(?:%s)\t)" % "|".join(ROWS), lines.rstrip("\n"))
    releases, problems = {}, []
    for row in (line.split("\t") for line in lines):
        if row[0] == "release":
            rows = releases[row[2]] = []
        else:
            rows.append(row)
    committed = {path.stem for path in FACTS.glob("3.*.json")}
    read = {release.rpartition(".")[0] for release in releases}
    if read != committed or not {f"3.{minor}" for minor in range(8, 16)} <= read:
        problems.append(f"releases {sorted(read)}, not {sorted(committed)}")
    for release, rows in releases.items():
        facts = json.loads((FACTS / f"{release.rpartition('.')[0]}.json").read_text())
        problems += [f"{release}: {problem}" for problem in compare(facts, rows)]
        if not masks_of_list(rows):
            problems.append(f"{release}: the masks of list")
        if release.rpartition(".")[0] == "%d.%d" % sys.version_info[:2]:
            problems += [f"{release}: {problem}" for problem in against_interpreter(rows)]
    for problem in problems[:20]:
        print(problem, file=sys.stderr)
    print(f"{len(lines)} rows of {len(releases)} releases, {len(problems)} differ")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
