"""Runs the cases of a function on both sides, and counts equal and different outcomes."""

import signal

import values
from describe import describe, text
from hidden import slots_after
from outcome import outcome
from subjects import too_large

LIMIT = 5  # seconds for one case
SHOWN = 3  # cases of one difference
PATIENCE = 3  # slow cases of one function


class Slow(BaseException):
    """A case that ran into the time limit."""


class Clock:
    """Ends a case that exceeds the limit with an exception, again and again, as the case may swallow it."""

    def __init__(self):
        self.armed = self.rang = False
        signal.signal(signal.SIGALRM, self.ring)

    def ring(self, *_):
        if self.armed:
            self.rang = True
            raise Slow

    def start(self):
        self.rang, self.armed = False, True
        signal.setitimer(signal.ITIMER_REAL, LIMIT, 1)

    def stop(self):
        self.armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)


def empty():
    """An empty report."""
    return {"cases": 0, "differences": 0, "too large": 0, "slow": [], "functions": {}, "unsupported": {}, "stopped": {}, "entered": [], "groups": {}}


class Runner:
    """Runs cases and counts."""

    def __init__(self, report):
        self.report, self.clock, self.entered = report, Clock(), set(report["entered"])

    def subject(self, subject, limit, start=0, progress=None):
        """All cases of a function from the one of this number; `progress` is told the number and the side before each."""
        name, count = subject.function.__name__, 0
        for index, case in enumerate(subject.cases(limit)):
            if index < start:
                continue
            if too_large(subject, case):
                self.report["too large"] += 1
                continue
            count += self.case(subject, case, index % 64 == 0, lambda side: progress and progress(index, side))
            if len(self.report["slow"]) >= PATIENCE:
                break
        if count:
            self.report["functions"][name] = self.report["functions"].get(name, 0) + count
        self.report["entered"] = sorted(self.entered)

    def case(self, subject, case, logged, side=lambda side: None):
        """Whether the case could be compared."""
        try:
            try:
                self.clock.start()
                both = self.both(subject, case, logged, side)
            finally:
                self.clock.stop()
        except Slow:
            both = None
            self.clock.stop()
        if both is None or self.clock.rang:
            self.report["slow"].append(f"{subject.function.__name__}({case.shown()})")
            return 0
        (theirs, after), (mine, mine_after) = both
        if mine[0] == "unsupported":
            self.report["unsupported"][mine[1]] = self.report["unsupported"].get(mine[1], 0) + 1
            name = f"{subject.function.__name__}: {mine[1]}"
            self.report["stopped"][name] = self.report["stopped"].get(name, 0) + 1
            return 0
        self.report["cases"] += 1
        if mine != theirs or after != mine_after:
            self.differ(subject, case, mine, theirs, after, mine_after)
        return 1

    def both(self, subject, case, logged, side):
        """The outcome of the interpreter and of the translation, each with its arguments afterwards."""
        side(0)
        args = case.make()
        theirs = outcome(subject.theirs, args), afterwards(case, args)
        # A hash may be the address: both sides get the same objects then, which hashing does not change.
        args = args if "hash" in subject.function.__name__.lower() else case.make()
        side(1)
        call = subject.function
        if logged:
            log = []
            call = lambda *args: subject.function.logged(log, *args)
        mine = outcome(call, args), afterwards(case, args)
        if logged:
            self.entered.update(name for what, name in log if what == "enter")
        return theirs, mine

    def differ(self, subject, case, mine, theirs, after, mine_after):
        kind = "arguments afterwards" if mine == theirs else "calls" if mine[0] == theirs[0] else "result"
        ours, other = (mine_after, after) if mine == theirs else (mine, theirs)
        shown = f"({case.shown()}): {text(repr(ours))[:400]}, the interpreter {text(repr(other))[:400]}"
        note(self.report, (subject.function.__name__, subject.how, kind), shown)


def note(report, key, shown):
    """One difference more, of a function, what it is compared with, and what differs."""
    report["differences"] += 1
    group = report["groups"].setdefault("\t".join(key), [0, []])
    group[0] += 1
    if len(group[1]) < SHOWN:
        group[1].append(shown)


def afterwards(case, args):
    """The arguments after a call; values that all cases share become again what they were."""
    out = []
    for part, arg in zip(case.parts, args):
        if isinstance(part, values.Value):
            if not part.fixed and issubclass(type(arg), type):
                out.append(slots_after(arg))
            out.append(part.changes() if part.fixed else describe(arg))
    return out


def merge(report, other):
    """Adds a report to a report."""
    for key, value in other.items():
        if key == "groups":
            for name, (count, cases) in value.items():
                group = report[key].setdefault(name, [0, []])
                group[0] += count
                group[1] += cases[: SHOWN - len(group[1])]
        elif key == "entered":
            report[key] = sorted({*report[key], *value})
        elif isinstance(value, dict):
            for name, count in value.items():
                report[key][name] = report[key].get(name, 0) + count
        else:
            report[key] += value
