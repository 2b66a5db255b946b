"""The log of an operation: calls of user methods and warnings, in order."""

import warnings

LOG = []


def note(*what):
    """Adds an entry."""
    LOG.append(what)


def name_of(kind):
    """The name of a class, whatever its metaclass says."""
    return type.__getattribute__(kind, "__qualname__")


def logged(name, answer):
    """A method that logs its call, then gives what `answer` gives."""

    def method(self, *args, **kwargs):
        LOG.append((name_of(type(self)), name, tuple(name_of(type(arg)) for arg in args), tuple(kwargs)))
        return answer(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


def watch_warnings():
    """Puts every warning into the log instead of on the screen."""
    warnings.simplefilter("always")
    warnings._showwarnmsg = lambda message: note("warning", name_of(message.category), str(message.message))
