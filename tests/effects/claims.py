"""Claims about C functions that follow from their effects, as far as a run can contradict them."""

import typing

#: Effects that no run can check: the function may do anything that Python code does, or acts on the world outside.
UNTRIED = {"unknown": "its effects are not known", "python": "may run Python code of its own choice",
           "imports": "may import a module", "io": "does input or output"}


class Claim(typing.NamedTuple):
    """What must hold of each call of a function."""

    #: Its first C argument stays as it is.
    keeps_own: bool
    #: The other arguments stay as they are.
    keeps_others: bool
    #: Iterators among the arguments may be advanced all the same.
    advances: bool
    #: The state of the process stays as it is.
    keeps_state: bool
    #: The same arguments give the same result, whatever the state of the process is.
    same: bool
    #: It issues no warning.
    silent: bool
    #: No object dies that the caller does not hold.
    none_dies: bool
    #: Slots through which Python code may run; `*`: any.
    slots: frozenset
    #: Some of these slots belong to the first argument itself.
    own_slots: bool


def claim(row):
    """The claim of a row of the published effects, or the reason why a run could contradict none."""
    flags = set(row.get("flags", ()))
    if row["verdict"] == "unknown":
        flags.add("unknown")
    for flag, why in UNTRIED.items():
        if flag in flags:
            return why
    changed = [*row.get("mutates", ()), *row.get("sets", ())]
    foreign = any(word in ("other", "global") for word in changed)
    own = any(word.endswith("arg0") for word in changed)
    others = any("arg" in word and not word.endswith("arg0") for word in changed)
    return Claim(
        keeps_own=not (own or foreign),
        keeps_others=not (others or foreign),
        advances="result" in changed,
        keeps_state="writes global" not in flags,
        same=not {"reads global", "writes global"} & flags,
        silent="warns" not in flags,
        none_dies=not row.get("releases"),
        slots=frozenset(row.get("slots", ())),
        own_slots=any("arg0" in words for words in row.get("slots", {}).values()),
    )


def allowed(claim, method, slots_of):
    """Whether a claim lets a special method run."""
    if method == "__del__":
        return not claim.none_dies or bool(claim.slots)
    slots = claim.slots
    if "*" in slots or "tp_call" in slots:
        return True
    # A method without a slot is found as an attribute.
    return bool(slots & slots_of.get(method, {"tp_getattro"}))
