"""Runs each case in a process of its own: one that ends, or takes too long, is one row."""

import json
import os
import selectors
import signal

SECONDS = 240  # after which a case counts as dead


def rows(cases, jobs, check):
    """The name of each of `cases`, a dictionary, with what `check` says of it, so many at a time; in the order in which they end."""
    waiting, running, selector = list(cases.items()), {}, selectors.DefaultSelector()
    while waiting or running:
        while waiting and len(running) < jobs:
            name, case = waiting.pop(0)
            child, reads = _start(case, check)
            running[reads] = name, child, b""
            selector.register(reads, selectors.EVENT_READ)
        for key, _ in selector.select():
            name, child, text = running[key.fd]
            part = os.read(key.fd, 1 << 16)
            if part:
                running[key.fd] = name, child, text + part
                continue
            selector.unregister(key.fd)
            os.close(key.fd)
            del running[key.fd]
            _, status = os.waitpid(child, 0)
            died = {"outcome": "died", "why": f"the process ended with {os.waitstatus_to_exitcode(status)}"}
            yield name, json.loads(text) if text else died


def _start(case, check):
    """A process that tries one case; it writes its row into the pipe whose other end this gives."""
    reads, writes = os.pipe()
    child = os.fork()
    if child:
        os.close(writes)
        return child, reads
    os.close(reads)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    signal.alarm(SECONDS)
    try:
        row = check(case)
    except Exception as error:
        row = {"outcome": "fails", "why": f"{type(error).__name__}: {error}"[:300]}
    os.write(writes, json.dumps(row).encode())
    os._exit(0)
