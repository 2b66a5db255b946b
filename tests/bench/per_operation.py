"""What one more operation of PyTorch's adds to the first call of a loop: as it is, with a backend that gets a `GraphModule` and runs it, and
what PyTorch alone takes to make such a module of as many nodes. Prints a table.

    ROUNDS=15 python tests/bench/per_operation.py

Times are CPU time of the first call after everything was forgotten, over a later one; the lengths and the kinds take turns. The median of the
rounds wobbles with the machine, the least time less so.
"""

import gc
import operator
import os
import statistics
import time
import warnings

import slotrt
import torch
from torch_programs import loop

LENGTHS = (100, 1000)
ROUNDS = int(os.environ.get("ROUNDS", 15))


def as_it_is(graph, inputs):
    """A backend that gets a `GraphModule` and runs it."""
    return graph.forward


def module_alone(count):
    """The same graph, made by PyTorch alone; it is called as a compiled function is."""
    made = torch.fx.Graph()
    value = made.placeholder("x")
    for _ in range(count):
        value = made.call_function(operator.add, (value, 1))
    made.output(value)
    return torch.fx.GraphModule(torch.nn.Module(), made).forward


def compiled(backend):
    """How a loop is compiled and called first."""

    def first(function, count, x):
        call = slotrt.compile(function, backend=backend)
        call(x)
        return call

    return first


def alone(function, count, x):
    """The same of PyTorch's module alone."""
    call = module_alone(count)
    call(x)
    return call


KINDS = {"traced": compiled("eager"), "with a GraphModule": compiled(as_it_is), "the GraphModule alone": alone}


def first_ns(first, function, count, x):
    """CPU time of the first call, over a later one."""
    slotrt.reset()
    start = time.process_time_ns()
    call = first(function, count, x)
    made = time.process_time_ns()
    call(x)
    return (made - start) - (time.process_time_ns() - made)


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    functions, x = {count: loop(count) for count in LENGTHS}, torch.ones(4)
    times = {(kind, count): [] for kind in KINDS for count in LENGTHS}
    gc.freeze()
    with torch.no_grad():
        for round in range(ROUNDS + 1):
            for count in LENGTHS:
                for kind, first in KINDS.items():
                    spent = first_ns(first, functions[count], count, x)
                    # The first round warms up what the process keeps.
                    if round:
                        times[kind, count].append(spent)
    few, many = LENGTHS
    print(f"slotrt {slotrt.__version__}, PyTorch {torch.__version__}, {ROUNDS} rounds\n\n| | µs for an operation | least |\n| --- | --- | --- |")
    for kind in KINDS:
        cells = ((of(times[kind, many]) - of(times[kind, few])) / (many - few) / 1000 for of in (statistics.median, min))
        print(f"| {kind} | {' | '.join(f'{cell:.1f}' for cell in cells)} |")


if __name__ == "__main__":
    main()
