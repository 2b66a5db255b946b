"""The outcome of a call, as plain data."""

from describe import describe, error
from log import LOG, name_of

from slotrt import protocol


def outcome(function, args):
    """The outcome of a call, as plain data."""
    del LOG[:]
    try:
        result = function(*args)
    except protocol.Unsupported as stop:
        return ("unsupported", stop.name)
    except RecursionError:
        # Which frame is one too many depends on the frames of the caller.
        return ("raised", "RecursionError")
    except Exception as raised:
        shown = ("raised", name_of(type(raised)), error(raised))
        if type(raised) is TypeError and raised.args and "cannot be given from Python" in str(raised.args[0]):
            return ("unsupported", "pointer")
    else:
        shown = result_of(result, args)
    seen = list(LOG)
    return (shown, seen)


def result_of(result, args):
    if result is protocol.NULL:
        return "NULL"
    for index, arg in enumerate(args):
        if result is arg:
            return ("argument", index)
    if type(result) is tuple and result and any(one is protocol.NULL for one in result):
        return tuple("NULL" if one is protocol.NULL else describe(one) for one in result)
    return ("value", describe(result))
