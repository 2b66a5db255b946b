"""Frames as text for people, for `explain` and the log."""

import itertools

_AGAIN = "traced again because this no longer held"
_COLUMNS = ("op", "name", "target", "args", "meta", "line", "route")


def title(frame):
    """One line: the frame, the number of instructions traced, how it ends."""
    where = f", from line {frame['resumed_at']}" if frame["resumed_at"] is not None else ""
    place = f"{frame['name']} ({frame['file']}:{frame['line']}{where})"
    return f"{place}: {frame['steps']} instructions traced, ends with {frame['end']}"


def topics(frame):
    """Topic, heading and lines of each section that is not empty."""
    if frame["skipped"]:
        yield "breaks", "left alone", [frame["skipped"]]
    if frame["recompiled_because"]:
        again = f"not traced again: {frame['skipped']}; this did not hold" if frame["skipped"] else _AGAIN
        yield "recompiles", again, frame["recompiled_because"]
    if frame["graph"]:
        yield "graph", "graph", table([_row(node) for node in frame["graph"]])
    if frame["guards"]:
        rows = [(guard["source"], guard["check"], _how(guard), guard["reason"]) for guard in frame["guards"]]
        yield "guards", "guards", table(rows)
    if frame["routes"]:
        rows = [(str(route["line"]), route["instruction"], " > ".join(route["functions"])) for route in frame["routes"]]
        yield "routes", "ways through C", table(rows)
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
        yield "bytecode", "bytecode before and after", table([(before, "|", after) for before, after in pairs])


def _how(guard):
    return f"{guard['how']}: {guard['because']}" if guard["how"] else ""


def table(rows):
    """Rows with aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def _row(node):
    args = [*node["args"], *(f"{name}={value}" for name, value in node["kwargs"].items())]
    texts = {**node, "args": ", ".join(args), "route": " > ".join(node["route"] or ())}
    return tuple(str(texts[column] or "") for column in _COLUMNS)
