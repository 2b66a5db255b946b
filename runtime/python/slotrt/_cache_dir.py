"""Traces in a folder: loaded when a process first compiles, saved when it ends. Each program has a file of its own there."""

import atexit
import contextlib
import os
import sys
import time

# Seconds that a process which ends waits for others that are saving.
_PATIENCE = 30

_used = {}


def use(session, folder):
    """Has traces kept in a folder, from the first call for it on."""
    folder = os.path.abspath(os.fspath(folder))
    if isinstance(folder, bytes):
        folder = os.fsdecode(folder)
    if folder not in _used:
        _used[folder] = kept = _Kept(session, folder)
        kept.begin()


class _Kept:
    """The traces of this program in one folder."""

    def __init__(self, session, folder):
        self._session, self._folder = session, folder
        self._path = os.path.join(folder, f"{_program()}.traces")

    def begin(self):
        self._session.keep_traces()
        self._load()
        atexit.register(self._end)

    def _load(self):
        from ._slotrt import TraceFileError

        try:
            self._session.load(self._path)
        except FileNotFoundError:
            # No process of this program has ended so far.
            pass
        except (TraceFileError, OSError) as error:
            _tell("not used, and replaced when this process ends", error)

    def _end(self):
        if not self._session.stats()["frames_compiled"]:
            return
        try:
            os.makedirs(self._folder, exist_ok=True)
            with _locked(f"{self._path}.lock") as alone:
                if alone:
                    self._sweep()
                # Others may have saved meanwhile: what they have traced stays.
                self._load()
                self._session.save(self._path)
        except Exception as error:
            _tell("not saved", error)

    def _sweep(self):
        """Drops what processes left that were killed while they saved: nobody else saves now."""
        beginning = f".{os.path.basename(self._path)}."
        for name in os.listdir(self._folder):
            if name.startswith(beginning):
                with contextlib.suppress(OSError):
                    os.remove(os.path.join(self._folder, name))


def _program():
    """The name of the program's file: it tells programs, interpreters and builds apart."""
    from hashlib import blake2b

    from . import __version__

    main = getattr(sys.modules.get("__main__"), "__file__", None)
    path = os.path.abspath(main) if main else "interactive"
    digest = blake2b("\n".join((path, sys.version, __version__)).encode(errors="surrogateescape"), digest_size=8)
    stem = os.path.splitext(os.path.basename(path))[0]
    return f"{stem}-{sys.implementation.cache_tag}-{digest.hexdigest()}"


@contextlib.contextmanager
def _locked(path):
    """One process at a time, where the system has such locks; elsewhere the last one wins. Says which."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        yield False
        return
    with open(path, "ab") as file:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                flock(file, LOCK_EX | LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)
        yield True


def _tell(what, error):
    from logging import getLogger

    getLogger("slotrt").warning("traces of the cache folder are %s: %s", what, error)
