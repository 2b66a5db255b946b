"""Every code object of the standard library, decoded and assembled; prints the counts as a line of JSON.

What is compared: all fields of the code object made again, the positions of its instructions, the stack size computed
with the compiler's own, every instruction's name, argument and its meaning with `dis`, and the stack effect of every
opcode, for every class of argument, with `dis.stack_effect`.
"""

import dis
import json
import os
import sys
import types
import warnings

from slotrt import bytecode

FIELDS = (
    "co_code", "co_exceptiontable", "co_linetable", "co_stacksize", "co_names", "co_consts", "co_varnames",
    "co_cellvars", "co_freevars", "co_flags", "co_name", "co_qualname", "co_argcount", "co_posonlyargcount",
    "co_kwonlyargcount", "co_firstlineno", "co_filename", "co_nlocals",
)
LIBRARY = os.path.dirname(os.__file__)
JUMPS = set(dis.hasjrel) | set(dis.hasjabs)
ARGUMENTS = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 255, 256, 515, 65_535)
SHOWN = 20
# 3.11's dis does not name the constant.
UNSAID = {"KW_NAMES": "names"} if sys.version_info < (3, 12) else {}
# Opcodes that no code object's co_code contains.
INTERNAL = ("CACHE", "EXTENDED_ARG", "RESERVED", "ENTER_EXECUTOR", "TRACE_RECORD")


def sources():
    for folder, folders, files in os.walk(LIBRARY):
        folders[:] = sorted(name for name in folders if name not in ("site-packages", "dist-packages"))
        for path in (os.path.join(folder, file) for file in sorted(files) if file.endswith(".py")):
            if os.path.isfile(path):  # a distribution's links may lead nowhere
                yield path


def compiled(path):
    with open(path, "rb") as file:
        source = file.read()
    try:
        return compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None  # the test package holds files that are wrong on purpose


def nested(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested(constant)


def described(code):
    """The lines of `dis`, without the targets of jumps: releases name those differently."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("CACHE", "EXTENDED_ARG"):
            continue
        if instruction.opcode in JUMPS:
            yield (instruction.offset, instruction.opname, None)
        else:
            yield (instruction.offset, instruction.opname, (instruction.arg or 0, instruction.argrepr or UNSAID.get(instruction.opname, "")))


def ours(code):
    for offset, name, argument, meaning in bytecode.instructions(code):
        if meaning is None:
            yield (offset, name, None)
        else:
            takes = dis.opmap[name] in TAKES
            yield (offset, name, (argument if takes else 0, UNSAID.get(name, meaning) if takes else ""))


TAKES = {number for number in dis.opmap.values() if number in getattr(dis, "hasarg", range(dis.HAVE_ARGUMENT, 256))}


def differences(code):
    """The differences."""
    again = bytecode.roundtrip(code)
    for field in FIELDS:
        if getattr(again, field) != getattr(code, field):
            yield f"{field} differs"
    if list(again.co_positions()) != list(code.co_positions()):
        yield "positions differ"
    if (size := bytecode.stack_size(code)) != code.co_stacksize:
        yield f"stack size {size}, the compiler's is {code.co_stacksize}"
    for mine, theirs in zip(ours(code), described(code), strict=True):
        if mine != theirs:
            yield f"{mine}, dis says {theirs}"


def effects(report):
    """Compares stack effects, opcode by opcode."""
    for name, number in sorted(dis.opmap.items()):
        if number > 255 or name in INTERNAL or name.startswith("INSTRUMENTED_"):
            continue
        for argument in ARGUMENTS if number in TAKES else (None,):
            for jump in (None, False, True):
                theirs = dis.stack_effect(number, argument, jump=jump)
                mine = bytecode.stack_effect(number, argument or 0, jump=jump)
                report["effects"] += 1
                if mine != theirs:
                    report["different"].append(f"{name} {argument} jump={jump}: {mine}, dis says {theirs}")


def main():
    warnings.simplefilter("ignore")
    report = {"codes": 0, "instructions": 0, "effects": 0, "different": []}
    effects(report)
    for path in sources():
        code = compiled(path)
        for code in nested(code) if code is not None else ():
            report["codes"] += 1
            report["instructions"] += len(bytecode.instructions(code))
            try:
                found = list(differences(code))
            except bytecode.Error as error:
                found = [str(error)]
            where = f"{os.path.relpath(path, LIBRARY)}: {code.co_qualname}"
            report["different"].extend(f"{where}: {what}" for what in found)
    report["differences"] = len(report["different"])
    del report["different"][SHOWN:]
    print(json.dumps(report))


if __name__ == "__main__":
    main()
