"""`SLOTRT_TRACE=dir`: every compilation of a program as pages in a folder, with JSON beside them.

Each process appends its frames to `PID.jsonl` and writes a page for each; the index of all processes is written when one ends. Nothing here
stops the program: a folder that cannot be written is said once.
"""

import atexit
import json
import os
import sys
import time

from ._page import document, frame_body, table, text
from ._report import title


class Trace:
    """Writes each frame that it is called with."""

    def __init__(self, folder):
        self.folder = folder
        self.start = time.monotonic()
        self.count = 0
        self.broken = False
        atexit.register(self.finish)

    def __call__(self, frame):
        if not self.broken:
            try:
                self._write(frame)
            except OSError as error:
                self._complain(error)

    def _write(self, frame):
        if not self.count:
            os.makedirs(self.folder, exist_ok=True)
        self.count += 1
        name = f"{os.getpid()}-{self.count}.html"
        with open(os.path.join(self.folder, name), "w", encoding="utf-8", errors="backslashreplace") as file:
            back = '<p><a href="index.html">All compilations</a></p>'
            file.write(document(title(frame), f"{back}<h1>{text(title(frame))}</h1>{frame_body(frame)}"))
        record = {"page": name, "seconds": round(time.monotonic() - self.start, 6), "frame": frame}
        with open(os.path.join(self.folder, f"{os.getpid()}.jsonl"), "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(json.dumps(record, default=repr) + "\n")

    def _complain(self, error):
        self.broken = True
        if sys.stderr is not None:
            print(f"slotrt: SLOTRT_TRACE: {error}; the trace ends here", file=sys.stderr)

    def finish(self):
        """Writes the index of everything in the folder."""
        if self.count and not self.broken:
            try:
                with open(os.path.join(self.folder, "index.html"), "w", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(index(self.folder))
            except OSError as error:
                self._complain(error)


def records(folder):
    """What the processes wrote, by process; a line that was not finished is left out."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".jsonl"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                rows = found[name.removesuffix(".jsonl")] = []
                for line in file:
                    try:
                        rows.append(json.loads(line))
                    except ValueError:
                        continue
    return found


def index(folder):
    """The index: counts, then a timeline for each function."""
    parts = ["<h1>Compilations</h1>"]
    for process, rows in records(folder).items():
        frames = [row["frame"] for row in rows]
        spent = sum((frame.get("ns") or {}).get("total", 0) for frame in frames) / 1e9
        broken = sum(1 for frame in frames if frame["break"])
        parts.append(f"<h2>Process {text(process)}: {len(rows)} compilations in {spent:.2f} s, {broken} breaks</h2>")
        parts.append(_slowest(rows))
        by_function = {}
        for row in rows:
            frame = row["frame"]
            by_function.setdefault((frame["name"], frame["file"], frame["line"]), []).append(row)
        for (name, file, line), own in by_function.items():
            parts.append(f"<h3>{text(name)} <span class=dim>{text(file)}:{text(line)}</span></h3>{_timeline(own)}")
    return document("slotrt: compilations", "".join(parts))


def _slowest(rows):
    total = lambda row: (row["frame"].get("ns") or {}).get("total", 0)
    slowest = sorted(rows, key=total, reverse=True)[:5]
    return table(("slowest", "ms"), (((_link(row),), f"{total(row) / 1e6:.1f}") for row in slowest))


def _link(row):
    frame = row["frame"]
    where = "" if frame["resumed_at"] is None else f", from line {frame['resumed_at']}"
    return f'<a href="{text(row["page"])}">{text(frame["name"] + where)}</a>'


def _timeline(rows):
    def cells(row):
        frame = row["frame"]
        times = frame.get("ns") or {}
        why = "; ".join(frame["recompiled_because"] or ())
        stop = frame["break"] and f"{frame['break']['kind']}: {frame['break']['context']}"
        spent = [f"{times.get(name, 0) / 1e6:.1f}" for name in ("trace", "backend", "emit")]
        return (f"{row['seconds']:.3f}", (_link(row),), frame["end"], stop or frame["skipped"] or "", why, len(frame["guards"]), frame["ops"], *spent)

    headings = ("at s", "compiled", "ends with", "break", "traced again because", "guards", "operations", "trace ms", "backend ms", "emit ms")
    return table(headings, map(cells, rows))


def both(*writers):
    """One that passes each frame to all of these that there are; `None` if there is none."""
    present = [writer for writer in writers if writer is not None]
    if len(present) < 2:
        return present[0] if present else None

    def write(frame):
        for writer in present:
            writer(frame)

    return write
