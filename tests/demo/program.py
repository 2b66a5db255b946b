"""The program that `cargo xtask demo` traces: ordinary Python that dispatches in C."""

import numpy as np


class Rights:
    """What a user may do; `|` joins two of them, or one with a plain dict."""

    def __init__(self, names):
        self.names = names

    def __or__(self, other):
        if isinstance(other, dict):
            return type(self)(self.names | other)
        return type(self)(self.names | other.names)

    def __ror__(self, other):
        return type(self)(other | self.names)


class Audited(Rights):
    """A subclass that overrides `__ror__`: on the right of a `Rights` it is asked first."""

    def __ror__(self, other):
        return Audited({"audit": True} | other.names | self.names)


def weigh(values, factor):
    """A helper, called from the loop."""
    return values * factor + 1


def program(x, y, options):
    """Joins options and rights, computes on arrays in a loop, prints in the middle, and goes on."""
    settings = {"rounds": 2, "factor": 3} | options
    rights = Rights({"read": True}) | Audited({"write": True})
    total = x + y
    for i in range(settings["rounds"]):
        total = total * settings["factor"] - weigh(y, i)
    print("half way after", settings["rounds"], "rounds:", len(rights.names), "rights")
    rights = {"login": True} | Rights(rights.names)
    return (total - x) @ y, type(rights).__name__, rights.names


def arguments():
    """What the demo calls `program` with."""
    x = np.arange(4.0)
    return x, x + 0.5, {"factor": 5}


def other_arguments():
    """Arguments of other types: other guards, another trace."""
    x = np.arange(4)
    return x, x * 2, {"rounds": 3}
