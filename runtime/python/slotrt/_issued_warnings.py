"""Warnings that a compiled program gives: whether compiled code may give them, and how it does."""

import io
import re
import sys
import types
import warnings

_HEAP_TYPE = 1 << 9

_withheld = {}  # by text: what gives a warning that a library gives once in a process, and has given to a trace only


def is_plain(text, category, file, line, namespace):
    """Whether such a warning raises nothing and runs no code of the program: neither filters nor what shows it, nor the category."""
    return _is_builtin(category) and _is_shown_plainly() and _is_let_through(text, category, line, _module(namespace))


def give(text, category, file, line, namespace):
    """`warnings.warn` at that line. CPython: `do_warn`, `setup_context`."""
    registry = namespace.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, category, file, line, _module(namespace), registry)


class _Once:
    """Gives a warning at its first call only."""

    given = False

    def __call__(self, *warning):
        if not self.given:
            self.given = True
            give(*warning)


def once(text, begun):
    """What gives a warning that nobody has got yet, of those that a library gives once in a process; `begun`: a trace got it just now."""
    if begun:
        _withheld[text] = _Once()
    held = _withheld.get(text)
    return None if held is None or held.given else held


def _module(namespace):
    name = namespace.get("__name__")
    return name if isinstance(name, str) else "<string>"


def _is_builtin(category):
    """Whether instances are made and written by CPython's own code."""
    if type(category) is not type or not issubclass(category, Warning):
        return False
    owners = (next(base for base in category.__mro__ if name in vars(base)) for name in ("__init__", "__new__", "__str__"))
    return not any(owner.__flags__ & _HEAP_TYPE for owner in owners)


def _is_shown_plainly():
    if warnings.showwarning is not warnings._showwarning_orig or warnings.formatwarning is not warnings._formatwarning_orig:
        return False
    show = warnings._showwarnmsg_impl
    # A list that records warnings is one that a trace may read. From 3.14 on functions are of another module, and a context may have the list.
    of_library = type(show) is types.FunctionType and show.__module__ in ("warnings", "_py_warnings")
    return of_library and _recorded() is None and _is_of_c(sys.stderr)


def _recorded():
    return warnings._get_context().log if hasattr(warnings, "_get_context") else None


def _is_of_c(stream):
    kinds = [kind for kind in (io.TextIOWrapper, io.StringIO) if isinstance(stream, kind)]
    return stream is None or any(type(stream).write is kind.write for kind in kinds)


def filters():
    """The list that decides which warnings are shown."""
    # From 3.14 on a context may have its own.
    return warnings._get_filters() if hasattr(warnings, "_get_filters") else warnings.filters


def _is_let_through(text, category, line, module):
    """Whether the filter that decides raises nothing. CPython: `get_filter`."""
    for action, message, kind, where, number in filters():
        if type(kind) is not type or not all(type(pattern) in (re.Pattern, str, type(None)) for pattern in (message, where)):
            return False
        if issubclass(category, kind) and number in (0, line) and _fits(message, text) and _fits(where, module):
            return action != "error"
    return warnings.defaultaction != "error"


def _fits(pattern, text):
    if isinstance(pattern, re.Pattern):
        return pattern.match(text) is not None
    return pattern is None or pattern == text
