"""Compares random programs compiled with the same programs uncompiled.

    python run.py --start SEED --count N [--torch | --outside] [--save FOLDER] [--batch N]

Every program runs five times compiled (seven with --outside): traced, from the cache, with other arguments, and after changes to
its module. Results, exceptions with everything that they refer to, lines, prints, and the arguments and globals afterwards must
be those of the uncompiled program.
Prints one line of JSON: counts, and the seeds that differ. A differing program is made smaller and saved.
"""

import argparse
import ast
import builtins
import contextlib
import gc
import io
import itertools
import json
import os
import pathlib
import random
import resource
import signal
import sys
import time
import traceback
import warnings

import described
import generate
import outside
import tensors

LIMIT = 10  # seconds of the processor's time for one program compiled
PLAIN_LIMIT = 2  # the same uncompiled
WAITED = 200  # seconds after which a program ends its process: one that waits takes no processor's time
MEMORY = 4 << 30
TORCH_MEMORY = 8 << 30  # of addresses: its libraries alone take several
CANDIDATE = 30  # seconds of the processor's time for one candidate of the smaller program
SEARCH = 300  # seconds for the search of a smaller program
AGAIN = 0.2  # seconds after which a program that swallowed the exception gets it again
SHAKEN = 20  # plain runs with objects at other addresses, before a difference counts
program = generate.program  # gives the program of a seed
WARM = 10  # plain runs after which the interpreter has specialised a program's operations


class TooLong(BaseException):
    """The program exceeds its time."""


class Deadline:
    """Ends what runs within once its time is over, also where the program swallows the exception that is to end it."""

    passed = False

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        Deadline.passed = False
        signal.signal(signal.SIGPROF, too_long)
        signal.setitimer(signal.ITIMER_PROF, self.seconds, AGAIN)

    def __exit__(self, *_):
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if Deadline.passed:
            raise TooLong


def too_long(signum, frame):
    Deadline.passed = True
    raise TooLong


def lines_of(error):
    """Lines of the program's own frames, and the names of their variables; of a recursion that C ends, each line once in a row."""
    lines, frame = [], error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == "program.py":
            lines.append((frame.tb_frame.f_code.co_name, frame.tb_lineno, sorted(frame.tb_frame.f_locals)))
        frame = frame.tb_next
    if is_ended_by_c(error):
        lines = [line for line, _ in itertools.groupby(lines)]
    return lines


def is_ended_by_c(error):
    """Whether C's own limit of recursion may have been reached before the one that programs set.

    So it may up to 3.12. A compiled call takes one level more of it: then the recursion is that much shorter, and ends elsewhere, where the
    exception has another text.
    """
    return isinstance(error, RecursionError) and sys.version_info < (3, 13)


def called(function, arguments):
    """What a call did, as plain data."""
    printed = io.StringIO()
    describer = described.Describer()
    with contextlib.redirect_stdout(printed):
        try:
            outcome = ["returned", describer.of(function(*arguments))]
        except (TooLong, MemoryError):
            raise
        except BaseException as error:
            told = type(error).__name__ if is_ended_by_c(error) else describer.of(error)
            outcome = ["raised", told, lines_of(error)]
        left = describer.of(arguments)
    found = {"outcome": outcome, "printed": described.settled(printed.getvalue()), "arguments": left}
    if described.Describer.tensors:
        found["state"] = described.Describer.tensors.state()
    return found


def same(function):
    return function


def observed(code, calls, wrap=same, native=same):
    """What all calls did in a fresh module, with the changes to the module between them; `native` leaves functions of the module alone."""
    namespace = {"__name__": "program", "__native": native}
    # Objects of earlier calls must not end, and print, during later ones.
    gc.collect()
    gc.disable()
    if described.Describer.tensors:
        described.Describer.tensors.start()
    try:
        return all_calls(code, calls, wrap, namespace)
    finally:
        gc.enable()


def all_calls(code, calls, wrap, namespace):
    """The calls, and what they left in the module."""
    exec(code, namespace)
    main, results = wrap(namespace["main"]), []
    for change, arguments in calls:
        with contextlib.suppress(Exception):
            exec(change, namespace)
        try:
            values = eval(f"({', '.join(arguments)},)", namespace)
        except Exception as error:
            results.append(repr(error))
            continue
        results.append(called(main, values))
    return results, described.namespace(namespace)


def shaken(shuffler):
    """Frees small objects of all sizes in an order of its own, so that the next ones come to stand somewhere else."""
    held = [bytes(shuffler.randrange(400)) for _ in range(20000)]
    shuffler.shuffle(held)
    kept = held[::2]
    del held
    return kept


@contextlib.contextmanager
def asked_for_addresses_live_on():
    """`id()` and `hash()` keep alive what they are asked for, so that no later object gets the address of one that has ended."""
    asked, kept = {name: getattr(builtins, name) for name in ("id", "hash")}, []

    def keeping(plain):
        def asks(*args):
            kept.append(args)
            return plain(*args)

        return asks

    for name, plain in asked.items():
        setattr(builtins, name, keeping(plain))
    try:
        yield
    finally:
        for name, plain in asked.items():
            setattr(builtins, name, plain)


def hangs_on_addresses(code, calls, plain):
    """Whether the program does something else where its objects stand elsewhere: a nan's hash is its address, and whether an object
    gets the address of one that has ended is up to the allocator."""
    try:
        with Deadline(PLAIN_LIMIT), asked_for_addresses_live_on():
            if observed(code, calls) != plain:
                return True
    except (TooLong, MemoryError):
        return True
    shuffler = random.Random(0)
    for _ in range(SHAKEN):
        ballast = shaken(shuffler)
        try:
            with Deadline(PLAIN_LIMIT):
                if observed(code, calls) != plain:
                    return True
        except (TooLong, MemoryError):
            return True
        del ballast
    return False


def compare(text, calls):
    """None if compiled and uncompiled agree, "unstable" if the program does not agree with itself, else the difference."""
    import slotrt

    try:
        code = compile(text, "program.py", "exec")
    except SyntaxError:
        return "unstable"
    # While the evaluation hook is in, CPython runs no call of Python inside its caller's frame: arguments end later.
    slotrt.reset()
    try:
        with Deadline(PLAIN_LIMIT):
            plain = observed(code, calls)
            if plain != observed(code, calls):
                return "unstable"
    except (TooLong, MemoryError):
        return "unstable"
    try:
        with Deadline(LIMIT):
            compiled = observed(code, calls, slotrt.compile, slotrt.disable)
    except (TooLong, MemoryError) as error:
        return {"call": "all", "plain": "ends", "compiled": f"exceeds its limits: {type(error).__name__}"}
    if plain == compiled:
        return None
    slotrt.reset()
    if hangs_on_addresses(code, calls, plain):
        return "unstable"
    pairs = enumerate(zip(plain[0], compiled[0]))
    found = [{"call": index, "plain": one, "compiled": two} for index, (one, two) in pairs if one != two]
    return found[0] if found else {"call": "globals", "plain": plain[1], "compiled": compiled[1]}


def verdict_on(text, calls):
    """What `compare` says of a program, or "crashes"; in a fork, as it may crash, and within limits, as what is left of a program may
    have lost what ended its loops."""

    def judge(writer):
        resource.setrlimit(resource.RLIMIT_CPU, (CANDIDATE, CANDIDATE))
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                verdict = compare(text, calls)
            except Exception:  # without its main function, for one
                verdict = "unstable"
            os.write(writer, json.dumps(verdict).encode())

    lines, status = in_fork(judge)
    if status < 0:
        return "unstable" if -status in (signal.SIGXCPU, signal.SIGKILL) else "crashes"
    return json.loads("".join(lines)) if status == 0 else "unstable"


def differs(text, calls):
    """Whether a candidate for the smaller program still differs, or crashes."""
    verdict = verdict_on(text, calls)
    return verdict == "crashes" or isinstance(verdict, dict)


def smaller(text, calls):
    """The program without the statements that the difference does not need, as far as the time for the search goes."""
    tree, end = ast.parse(text), time.monotonic() + SEARCH
    changed = True
    while changed:
        changed = False
        for node in ast.walk(tree):
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                items = getattr(node, field, None)
                if not isinstance(items, list):
                    continue
                for index in range(len(items) - 1, -1, -1):
                    taken = items.pop(index)
                    empty = not items and field == "body"
                    if empty:
                        items.append(ast.Pass())
                    if isinstance(taken, ast.Pass) or time.monotonic() > end or not still(tree, calls):
                        items[:] = items[: -1 if empty else None]
                        items.insert(index, taken)
                    else:
                        changed = True
    return ast.unparse(tree)


def still(tree, calls):
    """Whether the tree is a program that still differs."""
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        compile(text, "program.py", "exec")
    except Exception:
        return False
    return differs(text, calls)


def batch(seeds, writer):
    """Runs seeds one after the other, telling the parent where it is."""
    import slotrt

    totals = {}
    for seed in seeds:
        os.write(writer, f"at {seed}\n".encode())
        signal.alarm(WAITED)
        text, calls = program(seed)
        verdict = compare(text, calls)
        if isinstance(verdict, dict) and compare(text, calls) == "unstable":
            verdict = "unstable"
        kind = "same" if verdict is None else "unstable" if verdict == "unstable" else "different"
        for name, value in slotrt.stats().items():
            if isinstance(value, int):
                totals[name] = totals.get(name, 0) + value
        os.write(writer, f"{kind} {seed}\n".encode())
    os.write(writer, f"stats {json.dumps(totals)}\n".encode())


def in_fork(work):
    """Runs `work(writer)` in a fork of limited memory; returns the lines that it wrote, and how it ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            work(writer)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(3)
    os.close(writer)
    with os.fdopen(reader) as lines:
        said = [line.rstrip("\n") for line in lines]
    return said, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_batch(seeds):
    """Runs a batch in a fork; returns its lines, the seed at which it died, if it did, and how it ended."""

    def work(writer):
        with contextlib.redirect_stdout(io.StringIO()):
            batch(seeds, writer)

    lines, status = in_fork(work)
    said = [line.partition(" ") for line in lines]
    at = [int(rest) for kind, _, rest in said if kind == "at"]
    return said, (at[-1] if status != 0 and at else None), status


def dies_by_itself(seed):
    """Whether the interpreter dies of the program uncompiled, as 3.13.0 does once it has specialised a call."""

    def warm(_):
        signal.alarm(WAITED)
        text, calls = program(seed)
        with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()), Deadline(LIMIT):
            code = compile(text, "program.py", "exec")
            for _ in range(WARM):
                observed(code, calls)

    return in_fork(warm)[1] < 0


def with_torch():
    """The programs are those over tensors."""
    global MEMORY, program
    import described_tensors
    import torch

    torch.set_num_threads(1)
    # What PyTorch imports when it is used first is imported before the forks: what a fork imports, its many collections visit.
    import torch._dynamo
    import torch._functorch.aot_autograd
    import torch.export
    import torch.func
    import torch.onnx
    import torch.utils.checkpoint

    torch.ones(2, requires_grad=True).sum().backward()
    MEMORY, program, described.Describer.tensors = TORCH_MEMORY, tensors.program, described_tensors


def main():
    """Reads the command line, runs, prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--progress", action="store_true")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--outside", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    import slotrt  # noqa: F401  (once, before the forks)

    with contextlib.suppress(ImportError):
        import numpy  # noqa: F401  (the same)
    if options.torch:
        with_torch()
    if options.outside:
        global program
        program = outside.program
    # Objects from before the programs outlive them: the many collections need not visit them.
    gc.collect()
    gc.freeze()
    report = {"same": 0, "unstable": 0, "different": [], "crashed": [], "stats": {}}
    seeds = list(range(options.start, options.start + options.count))
    while seeds:
        said, died, status = run_batch(seeds[: options.batch])
        done, found = 0, []
        for kind, _, rest in said:
            if kind in ("same", "unstable"):
                report[kind] += 1
                done += 1
            elif kind == "different":
                report["different"].append(int(rest))
                found.append([int(rest), "behaves differently"])
                done += 1
            elif kind == "stats":
                for name, value in json.loads(rest).items():
                    report["stats"][name] = report["stats"].get(name, 0) + value
        if died is not None:
            if dies_by_itself(died):
                report["unstable"] += 1
            else:
                report["crashed"].append([died, status])
                found.append([died, f"ends the process: {status}"])
            done += 1
        if not done:
            raise SystemExit(f"no program of seeds {seeds[0]}… ran: status {status}")
        seeds = seeds[done:]
        if options.progress:
            print(json.dumps({"done": options.count - len(seeds), "found": found}), flush=True)
    with contextlib.redirect_stdout(io.StringIO()):
        save(report, options.save)
    print(json.dumps(report), flush=True)


def save(report, folder):
    """Writes a smaller program, and what differs, for the first few seeds that differ or crash."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for seed in report["different"][:10] + [seed for seed, _ in report["crashed"]][:5]:
        text, calls = program(seed)
        text = smaller(text, calls)
        verdict = verdict_on(text, calls)
        what = json.dumps(verdict, indent=1) if isinstance(verdict, dict) else verdict
        path = folder / f"{seed}.py"
        path.write_text(f"{text}\n\nCALLS = {calls!r}\nDIFFERENCE = '''{what}'''\n", encoding="utf-8")


if __name__ == "__main__":
    main()
