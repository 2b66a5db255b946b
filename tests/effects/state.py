"""The state of the process that a program sees: read, and changed so that a function that reads it gives another result."""

import abc
import builtins
import codecs
import contextlib
import contextvars
import csv
import decimal
import gc
import io
import locale
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

VARIABLE = contextvars.ContextVar("slotrt_probe")

#: Warnings, and errors that nobody handles, since it was cleared.
SAID = []

#: A locale that groups digits, in the form that `localedef` reads.
NUMBERS = 'LC_NUMERIC\ndecimal_point "<U002C>"\nthousands_sep "<U002E>"\ngrouping 3;3\nEND LC_NUMERIC\n'


def listen():
    """Records messages from now on instead of printing them."""
    warnings.simplefilter("always")
    warnings.showwarning = lambda message, category, *rest: SAID.append(f"{category.__name__}: {message}")
    sys.unraisablehook = lambda raised: SAID.append(f"unraisable {raised.exc_value!r}")


def snapshot():
    """The state that is compared before and after."""
    asynchronous = sys.get_asyncgen_hooks()
    return {
        "os.environ": dict(os.environ),
        "the working directory": os.getcwd(),
        "the locale": locale.setlocale(locale.LC_ALL),
        "the time zone": time.tzname,
        "the random state": random.getstate(),
        "sys.modules": frozenset(sys.modules),
        "sys": {name: id(value) for name, value in vars(sys).items() if not name.startswith("last_")},
        "sys.path": list(sys.path),
        "builtins": {name: id(value) for name, value in vars(builtins).items() if name != "_"},
        "limits of sys": (sys.getrecursionlimit(), getattr(sys, "get_int_max_str_digits", int)(), sys.getswitchinterval()),
        "hooks": (sys.gettrace(), sys.getprofile(), asynchronous, sys.excepthook, sys.displayhook),
        "warnings": (list(map(repr, warnings.filters)), dict(warnings.onceregistry)),
        "the collector": (gc.isenabled(), gc.get_threshold(), gc.get_debug(), len(gc.callbacks), gc.get_freeze_count()),
        "context variables": dict(contextvars.copy_context()),
        "the decimal context": repr(decimal.getcontext()),
        "csv": (csv.field_size_limit(), csv.list_dialects()),
        "abstract base classes": abc.get_cache_token(),
        "threads": threading.active_count(),
        "signal handlers": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)],
        "error handlers of codecs": [id(codecs.lookup_error(name)) for name in ("strict", "ignore", "replace")],
    }


def differs(before, after):
    """The first part that changed, in words; `None` if nothing did."""
    return next((name for name, value in before.items() if after[name] != value), None)


def make_locale():
    """A directory with the locale `xx_XX`, which groups digits, and why not if it cannot be made."""
    program = shutil.which("localedef")
    if program is None:
        return None, "the locale is not varied: no `localedef` here"
    room = pathlib.Path(tempfile.mkdtemp(prefix="slotrt-locale-"))
    (room / "source").write_text(NUMBERS, encoding="ascii")
    # It warns of the categories that are missing, and ends with 1 then.
    subprocess.run([program, "-c", "--no-archive", "-i", room / "source", room / "xx_XX"], capture_output=True, check=False)
    os.environ["LOCPATH"] = str(room)
    try:
        locale.setlocale(locale.LC_NUMERIC, "xx_XX")
    except locale.Error as error:
        return room, f"the locale is not varied: {error}"
    locale.setlocale(locale.LC_NUMERIC, "C")
    return room, None


@contextlib.contextmanager
def other(has_locale):
    """The process in another state: time zone, locale, random state, decimal context, limits, directory, streams, …"""
    saved = (os.environ.get("TZ"), os.getcwd(), locale.setlocale(locale.LC_NUMERIC), random.getstate(), decimal.getcontext(),
             sys.getrecursionlimit(), sys.stdout, sys.stdin, list(sys.argv), csv.field_size_limit())
    digits = getattr(sys, "get_int_max_str_digits", int)()
    replace = codecs.lookup_error("replace")
    token = VARIABLE.set(1)
    try:
        os.environ["TZ"] = "XYZ-7"
        time.tzset()
        os.chdir("/")
        if has_locale:
            locale.setlocale(locale.LC_NUMERIC, "xx_XX")
        random.seed(99)
        decimal.setcontext(decimal.Context(prec=2, Emax=99, capitals=0, rounding=decimal.ROUND_UP))
        sys.setrecursionlimit(saved[5] + 50)
        if digits:
            sys.set_int_max_str_digits(640)
        sys.stdout, sys.stdin, sys.argv = io.StringIO(), io.StringIO("in"), ["other"]
        csv.field_size_limit(1)
        codecs.register_error("replace", lambda error: ("other", error.end))
        gc.disable()
        yield
    finally:
        gc.enable()
        codecs.register_error("replace", replace)
        csv.field_size_limit(saved[9])
        sys.stdout, sys.stdin, sys.argv = saved[6:9]
        if digits:
            sys.set_int_max_str_digits(digits)
        sys.setrecursionlimit(saved[5])
        decimal.setcontext(saved[4])
        random.setstate(saved[3])
        locale.setlocale(locale.LC_NUMERIC, saved[2])
        os.chdir(saved[1])
        if saved[0] is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = saved[0]
        time.tzset()
        VARIABLE.reset(token)
