"""Calls one C function with many arguments and names the claims that a call contradicts."""

import random
import re
import types
import zlib

import state
from claims import allowed
from picture import picture
from samples import CALLS, LONG, NAMES, VALUES, Plain, Watched

#: Receivers of one type that are tried, at most.
RECEIVERS = 12
#: How many letters of a picture a report shows.
SHOWN = 240
FIRSTS = {"index": [lambda: 0, lambda: 1, lambda: -1, lambda: 7], "name": NAMES, "": VALUES}
#: Values whose slots run no code of others, and always give the same.
ATOMS = (int, bool, float, complex, str, bytes, type(None), type(...), range, Watched, Plain)
#: Bits of an `int` whose text is never too long.
SHORT = 2000
#: Values whose slots, moreover, change nothing; the text and the hash of `Plain` are its address.
QUIET = (*(kind for kind in ATOMS if kind is not Plain), list, tuple, dict, set, frozenset, bytearray, slice)


def argument_makers(way, receivers, limit):
    """Lists of makers of arguments, the receiver first: as many for each number of arguments, the same in each run."""
    chosen = random.Random(zlib.crc32(way.name.encode()))
    firsts = [[lambda: way.owner]] if way.of_class else [[maker] for maker in receivers] if way.owner else [[]]
    numbers = range(way.fewest, way.most + 1)
    found = []
    for number in numbers:
        pools = [FIRSTS[way.first] if place == 0 else VALUES for place in range(number)]
        if number == 1 and way.owner is None and not way.first:
            pools = [[*VALUES, LONG]]
        total = len(firsts)
        for pool in pools:
            total *= len(pool)
        share = max(limit // len(numbers), 1)
        for index in range(total) if total <= share else chosen.sample(range(total), share):
            index, first = divmod(index, len(firsts))
            makers = list(firsts[first])
            for pool in pools:
                index, place = divmod(index, len(pool))
                makers.append(pool[place])
            found.append(makers)
    return found


class Outcome:
    """What one call did."""

    def __init__(self, call, args):
        before = [picture(arg) for arg in args]
        # The text of a long `int` depends on a limit that programs set.
        self.quiet = all(type(arg) in QUIET and not (type(arg) is int and arg >> SHORT) for arg in args)
        CALLS.clear()
        state.SAID.clear()
        try:
            result = call(*args)
        except Exception as error:
            result = error.with_traceback(None)
        self.ran = list(CALLS)
        self.said = list(state.SAID)
        self.reached = not isinstance(result, TypeError)
        self.changed = [index for index, arg in enumerate(args) if picture(arg) != before[index]]
        self.before = before
        self.result = result
        self.kinds = tuple(map(type, args))
        if type(result) is types.CoroutineType:
            result.close()


def contradiction(way, claim, args, outcome, slots_of):
    """How a call contradicts the claim; `None` if it does not.

    A claim that names slots says nothing of what the C functions do that the arguments' types have there.
    """
    others = outcome.kinds[0 if way.owner is None else 1:]
    if not claim.slots or (not claim.own_slots and all(kind in ATOMS for kind in others)):
        for method in outcome.ran:
            if not allowed(claim, method, slots_of):
                return f"claimed not to run {method}, ran it"
    if outcome.said and claim.silent and not claim.slots:
        return f"claimed to say nothing, said {outcome.said[0]}"
    if {"*", "tp_call"} & claim.slots and not outcome.quiet:
        return None
    for index in outcome.changed:
        of_receiver = index == 0 and way.owner is not None
        if (claim.keeps_own if of_receiver else claim.keeps_others) and not (claim.advances and hasattr(args[index], "__next__")):
            return f"claimed to keep argument {index}, changed it"
    return None


def made(makers):
    """New arguments; `None` where the release cannot make them."""
    try:
        return tuple(maker() for maker in makers)
    except Exception:
        return None


class Trial:
    """The results of a function's calls."""

    def __init__(self):
        self.calls = 0
        self.reached = 0
        self.false = None


def run(way, claim, receivers, slots_of, limit, has_locale):
    """Calls the function in two states of the process and compares."""
    trial = Trial()
    lists = argument_makers(way, receivers[:RECEIVERS], limit)
    before = state.snapshot()
    first = [_one(way, claim, makers, slots_of, trial) for makers in lists]
    changed = state.differs(before, state.snapshot())
    if trial.false is None and claim.keeps_state and changed:
        trial.false = f"{way.name}: claimed to keep the state of the process, changed {changed}"
    if trial.false is None and claim.same:
        with state.other(has_locale):
            second = [_one(way, claim, makers, slots_of, trial) for makers in lists]
        for one, two in zip(first, second):
            if trial.false or one is None or two is None or claim.slots and not one.quiet:
                continue
            # In the same state, on which texts of some values depend.
            one.result, two.result = picture(one.result), picture(two.result)
            if one.result != two.result:
                trial.false = f"{way.name}{shown(one.before)}: claimed to give the same always, gave {shown(one.result)} and {shown(two.result)}"
    return trial


def shown(pictures):
    """Pictures in short."""
    text = re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", str(pictures))
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _one(way, claim, makers, slots_of, trial):
    args = made(makers)
    if args is None:
        return None
    outcome = Outcome(way.call, args)
    trial.calls += 1
    trial.reached += outcome.reached
    found = contradiction(way, claim, args, outcome, slots_of)
    if found and trial.false is None:
        trial.false = f"{way.name}{shown(outcome.before)}: {found}"
    return outcome
