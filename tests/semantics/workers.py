"""Runs a few functions at a time in a process of their own, with bounded memory. A process that a signal ends counts as a difference."""

import gc
import itertools
import json
import mmap
import os
import resource
import selectors
import signal
import struct
import time
import traceback

from runner import LIMIT, Runner, empty, merge, note

MEMORY = 4 << 30  # bytes of addresses
HANGS = 4 * LIMIT + 10  # seconds in one case: C code that no signal ends
CRASHES = 5  # of one function; then it is given up
BATCH = 8  # functions of one process
PLACE = struct.Struct("qqq")  # number of the function, number of the case, side
SIDES = "the interpreter", "the translation"


class Worker:
    """A process that runs the cases of some functions, of the first from one of them on."""

    def __init__(self, subjects, limit, start):
        self.subjects, self.limit, self.start = subjects, limit, start
        self.place = mmap.mmap(-1, PLACE.size)
        self.seen, self.since, self.said = None, time.monotonic(), b""
        self.pipe, out = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(self.pipe)
            self.work(out)
        os.close(out)

    def work(self, out):
        """In the process: the report of each function goes through the pipe as a line."""
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            with os.fdopen(out, "wb", 0) as pipe:
                for at, subject in enumerate(self.subjects):
                    report = empty()
                    Runner(report).subject(subject, self.limit, 0 if at else self.start, lambda index, side, at=at: PLACE.pack_into(self.place, 0, at, index, side))
                    pipe.write(json.dumps(report).encode() + b"\n")
                    gc.collect()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def hangs(self):
        """Whether it has been at one case for too long."""
        now, seen = time.monotonic(), self.place[:]
        if seen != self.seen:
            self.seen, self.since = seen, now
        return now - self.since > HANGS

    def crash(self, status):
        """The function and the case at which it ended, and the message."""
        at, index, side = PLACE.unpack(self.place[:])
        case = next(itertools.islice(self.subjects[at].cases(self.limit), index, None))
        why = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
        return at, index, f"({case.shown()}): {SIDES[side]} ended by {why}"


class Pool:
    """As many processes at once as asked for, until all functions are done."""

    def __init__(self, subjects, limit, jobs, progress):
        self.waiting = [(subjects[at : at + BATCH], 0) for at in range(0, len(subjects), BATCH)][::-1]
        self.limit, self.jobs, self.progress, self.total = limit, jobs, progress, len(subjects)
        self.report, self.done, self.running = empty(), 0, selectors.DefaultSelector()
        self.crashes = {}

    def run(self):
        gc.collect()
        gc.freeze()
        while self.waiting or self.running.get_map():
            while self.waiting and len(self.running.get_map()) < self.jobs:
                subjects, start = self.waiting.pop()
                worker = Worker(subjects, self.limit, start)
                self.running.register(worker.pipe, selectors.EVENT_READ, worker)
            for key, _ in self.running.select(1):
                self.hear(key.data)
            for key in list(self.running.get_map().values()):
                if key.data.hangs():
                    os.kill(key.data.pid, signal.SIGKILL)
        gc.unfreeze()
        return self.report

    def hear(self, worker):
        """A worker's lines, and its end."""
        said = os.read(worker.pipe, 1 << 16)
        *lines, worker.said = (worker.said + said).split(b"\n")
        for line in lines:
            merge(self.report, json.loads(line))
            self.done += 1
            if self.progress:
                self.progress(f"{self.done}/{self.total}: {self.report['cases']} cases, {self.report['differences']} differences")
        if said:
            return
        self.running.unregister(worker.pipe)
        os.close(worker.pipe)
        status = os.waitpid(worker.pid, 0)[1]
        if status:
            self.crashed(worker, status)

    def crashed(self, worker, status):
        """A difference; what comes after it is run in a new process."""
        at, index, shown = worker.crash(status)
        subject = worker.subjects[at]
        note(self.report, (subject.function.__name__, subject.how, "end of the process"), shown)
        self.crashes[subject] = self.crashes.get(subject, 0) + 1
        again = self.crashes[subject] < CRASHES
        self.done += not again
        rest = worker.subjects[at if again else at + 1 :]
        if rest:
            self.waiting.append((rest, index + 1 if again else 0))
