"""Random programs that a counting build runs, so that the next one is laid out by what they run; others than `runtime.py` measures.

    python training.py
"""

import contextlib
import io
import pathlib
import signal
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "fuzz"))

import generate
import slotrt

FIRST, COUNT = 500_000, 200
LIMIT = 1  # second for a program


class TooLong(BaseException):
    """The program exceeds its time."""


def too_long(*_):
    raise TooLong


def run(seed):
    text, calls = generate.program(seed)
    namespace = {"__name__": "program"}
    exec(compile(text, f"program-{seed}", "exec"), namespace)
    main = slotrt.compile(namespace["main"])
    for change, spelled in calls:
        with contextlib.suppress(Exception):
            exec(change, namespace)
            main(*eval(f"({', '.join(spelled)},)", namespace))


def train():
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, too_long)
    for seed in range(FIRST, FIRST + COUNT):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            with contextlib.suppress(Exception, TooLong):
                signal.setitimer(signal.ITIMER_REAL, LIMIT, LIMIT)
                run(seed)
            signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    train()
