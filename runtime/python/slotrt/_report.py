"""Frames as text for people, for `explain` and the log."""

import itertools
import os

_AGAIN = "traced again because this no longer held"
#: No column gets narrower than this.
_LEAST = 6
_COLUMNS = ("op", "name", "target", "args", "meta", "line", "route")


def title(frame):
    """One line: the frame, the number of instructions traced, how it ends."""
    where = f", from line {frame['resumed_at']}" if frame["resumed_at"] is not None else ""
    place = f"{frame['name']} ({frame['file']}:{frame['line']}{where})"
    return f"{place}: {frame['steps']} instructions traced, ends with {frame['end']}"


def topics(frame, width=None):
    """Topic, heading and lines of each section that is not empty; tables are no wider than `width`, if there is one."""
    if frame["skipped"]:
        yield "breaks", "left alone", [frame["skipped"]]
    if frame["recompiled_because"]:
        again = f"not traced again: {frame['skipped']}; this did not hold" if frame["skipped"] else _AGAIN
        yield "recompiles", again, frame["recompiled_because"]
    if frame["graph"]:
        yield "graph", "graph", table([_row(frame, node) for node in frame["graph"]], width)
    if frame["guards"]:
        rows = [(guard["source"], guard["check"], _how(guard), guard["reason"]) for guard in frame["guards"]]
        yield "guards", "guards", table(rows, width)
    if frame["routes"]:
        rows = [(place(frame, route), route["instruction"], " > ".join(route["functions"])) for route in frame["routes"]]
        yield "routes", "ways through C", table(rows, width)
    if frame["effects"]:
        yield "effects", "side effects", frame["effects"]
    if frame["break"]:
        stop = frame["break"]
        hints = [f"hint: {hint}" for hint in stop["hints"]]
        where = "" if stop["frame"] == frame["name"] else f" of {stop['frame']} ({stop['file']})"
        first = f"line {stop['line']}{where}: {stop['kind']}: {stop['context']}"
        yield "breaks", "break", [first, stop["explanation"], *hints]
    if frame["bytecode"]["after"]:
        pairs = itertools.zip_longest(frame["bytecode"]["before"], frame["bytecode"]["after"], fillvalue="")
        yield "bytecode", "bytecode before and after", table([(before, "|", after) for before, after in pairs], width)


def _how(guard):
    return f"{guard['how']}: {guard['because']}" if guard["how"] else ""


def table(rows, width=None):
    """Rows with aligned columns, no wider than `width`: the widest columns give way, and cells that do not fit are cut."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    if width is not None:
        _shrink(widths, width - 2 * (len(widths) - 1))
    return ["  ".join(_cut(cell, wide).ljust(wide) for cell, wide in zip(row, widths)).rstrip() for row in rows]


def _shrink(widths, room):
    """Cuts the widest columns to one width, so that all fit into `room`."""
    cap = max(widths)
    while cap > _LEAST and sum(min(width, cap) for width in widths) > room:
        cap -= 1
    widths[:] = [min(width, cap) for width in widths]


def _cut(cell, width):
    return cell if len(cell) <= width else cell[: max(width - 1, 0)] + "…"


def fit(lines, width):
    """Lines cut where they are wider than `width`, if there is one."""
    return lines if width is None else [_cut(line, width) for line in lines]


def terminal_width(stream):
    """The width of the terminal that a stream writes to; `None` if it is none."""
    try:
        if stream is not None and stream.isatty():
            import shutil  # Here, so that importing slotrt stays quick.

            return shutil.get_terminal_size().columns
    except (AttributeError, OSError, ValueError):
        pass
    return None


def place(frame, entry):
    """The line of an operation; with its file, where that is not the frame's."""
    if not entry["line"]:
        return ""
    other = entry["file"] != frame["file"]
    return f"{os.path.basename(entry['file'])}:{entry['line']}" if other else str(entry["line"])


def _row(frame, node):
    args = [*node["args"], *(f"{name}={value}" for name, value in node["kwargs"].items())]
    texts = {**node, "args": ", ".join(args), "line": place(frame, node), "route": " > ".join(node["route"] or ())}
    return tuple(str(texts[column] or "") for column in _COLUMNS)
