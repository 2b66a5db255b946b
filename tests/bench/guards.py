"""Guards and traces of the programs of `runtime.py` and of calls that differ in their aliases, beside TorchDynamo's on the same calls.

Prints a Markdown table, which docs/guards.md keeps. Needs PyTorch.

    python tests/bench/guards.py
"""

import contextlib
import io
import itertools
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "fuzz"))

import generate
import torch
from slotrt import _slotrt
from torch._dynamo.utils import counters

RANDOM = 20


def slotrt_counts(make):
    """Traces, guards, and the guards among them that each call checks."""
    session = _slotrt.Session(record=True)
    quietly(make, lambda function: session.compile(function, None, False))
    frames = [frame for frame in session.frames() if not frame["skipped"]]
    guards = [guard for frame in frames for guard in frame["guards"]]
    return len(frames), len(guards), sum(guard["how"] != "watched" for guard in guards)


def dynamo_counts(make):
    """Traces, and guards that have code: the others only say where a value comes from."""
    torch._dynamo.reset()
    counters.clear()
    guards = []

    def compiled(function):
        note = lambda found: guards.extend(guard for guard in found if guard.code_list)
        return torch._dynamo.optimize("eager", guard_export_fn=note)(function)

    quietly(make, compiled)
    return counters["frames"]["ok"], len(guards)


def quietly(make, compiled):
    """Runs a program's calls; what they print and raise is no matter."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        make(compiled)


def arrays(compiled):
    import numpy as np

    function = compiled(lambda x, y: x + y)
    for _ in range(3):
        function(np.arange(4.0), np.ones(4))


def reading(kind):
    """A function that reads twenty names, as `runtime.reading` makes it."""

    def run(compiled):
        import runtime

        function = compiled(runtime.reader(kind, 20))
        for _ in range(3):
            function(None)

    return run


def sets(kind):
    """Eight values of one number."""

    def run(compiled):
        namespace = {"number": 0}
        exec(f"def f(a, x, y, z): return [x, y, z][{'a' if kind == 'argument' else 'number'} % 3]", namespace)
        function = compiled(namespace["f"])
        for number in range(8):
            namespace["number"] = number
            function(number if kind == "argument" else 0, 1.5, "text", None)

    return run


def random_programs(compiled):
    for seed in range(RANDOM):
        text, calls = generate.program(seed)
        namespace = {"__name__": "program"}
        exec(compile(text, "program.py", "exec"), namespace)
        function = compiled(namespace["main"])
        for change, spelled in calls:
            with contextlib.suppress(Exception):
                exec(change, namespace)
                function(*eval(f"({', '.join(spelled)},)", namespace))


def branches(x, a, b, c):
    x = x + 1
    if a:
        x = x + 2
    x = x + 3
    if b:
        x = x + 4
    x = x + 5
    if c:
        x = x + 6
    return x + 7


def aliased_branches(compiled):
    """Eight calls that differ in which of two tensors decides each branch."""
    function, x = compiled(branches), torch.ones(3)
    for choice in itertools.product((torch.tensor([True]), torch.tensor([False])), repeat=3):
        function(x, *choice)


def aliased_operands(compiled):
    """Three tensors, each pattern of which are the same."""
    function, pool = compiled(lambda x, y, z: x * y + z), [torch.ones(3), torch.zeros(3), torch.rand(3)]
    for choice in itertools.product(pool, repeat=3):
        function(*choice)


def tied_parameters(compiled):
    """A module of which two layers share a parameter, or do not."""

    class Tied(torch.nn.Module):
        def __init__(self, tied):
            super().__init__()
            self.one, self.other = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
            if tied:
                self.other.weight = self.one.weight

        def forward(self, x):
            return self.other(self.one(x))

    run = compiled(lambda module, x: module(x))
    for tied in (True, False, True, False):
        run(Tied(tied), torch.ones(1, 3))


def numbers(compiled):
    """A number and a text that are passed through."""

    def step(x, number, text):
        return (x + 1) if x is not None else (number, text)

    function = compiled(step)
    for number in range(5):
        function(torch.ones(2), number * 1000, f"text {number}")


PROGRAMS = (
    ("two arrays are added", arrays),
    ("20 globals", reading("globals")),
    ("20 names of a module", reading("module")),
    ("20 attributes of a class", reading("class")),
    ("8 values of an argument", sets("argument")),
    ("8 values of a global", sets("global")),
    (f"{RANDOM} random programs", random_programs),
    ("8 calls: two tensors decide three branches", aliased_branches),
    ("27 calls: which of three operands are one tensor", aliased_operands),
    ("4 modules: two layers share a parameter, or not", tied_parameters),
    ("5 calls: a number and a text are passed through", numbers),
)


def main():
    warnings.simplefilter("ignore")
    torch._dynamo.config.recompile_limit = 64
    print("| program | traces | guards | of these checked | Dynamo: traces | guards |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, make in PROGRAMS:
        row = [name, *slotrt_counts(make), *dynamo_counts(make)]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
