"""What `slotrt.explain` returns: numbers, and a report for people."""

import json

_COLUMNS = ("op", "name", "target", "args", "meta", "line")


class Explanation:
    """One explained call: the result, and every frame that was traced for it."""

    def __init__(self, result, frames):
        self.result = result
        self.frames = frames
        self.graphs = sum(1 for frame in frames if frame["graph"])
        self.breaks = sum(1 for frame in frames if frame["break"])
        self.ops = sum(frame["ops"] for frame in frames)
        self.guards = sum(len(frame["guards"]) for frame in frames)
        self.reasons = [_reason(frame) for frame in frames if frame["break"] or frame["skipped"]]

    def data(self):
        """All of it as plain data that `json.dumps` takes."""
        return {
            "graphs": self.graphs,
            "breaks": self.breaks,
            "ops": self.ops,
            "guards": self.guards,
            "reasons": self.reasons,
            "result": repr(self.result),
            "frames": self.frames,
        }

    def to_json(self, **options):
        """`data()` as a JSON text."""
        return json.dumps(self.data(), **options)

    def __repr__(self):
        counts = f"{self.graphs} graphs, {self.breaks} breaks, {self.ops} ops, {self.guards} guards"
        return f"<slotrt.Explanation: {counts}>"

    def __str__(self):
        counts = f"{self.graphs} graphs with {self.ops} operations, {self.breaks} breaks, {self.guards} guards"
        return "\n".join([counts, *(line for frame in self.frames for line in _frame(frame))])


def _reason(frame):
    place = {"file": frame["file"], "frame": frame["name"]}
    if frame["break"]:
        return {**frame["break"], **place}
    return {
        "kind": "frame left alone",
        "context": frame["skipped"],
        "explanation": "The frame runs uncompiled.",
        "hints": [],
        "line": frame["line"],
        **place,
    }


def _frame(frame):
    """The lines of one frame's section."""
    where = f", from line {frame['resumed_at']}" if frame["resumed_at"] is not None else ""
    yield ""
    yield f"{frame['name']}{where}: {frame['steps']} instructions traced, ends with {frame['end']}"
    if frame["skipped"]:
        yield f"  left alone: {frame['skipped']}"
    if frame["recompiled_because"]:
        yield f"  traced again because this no longer held: {frame['recompiled_because']}"
    if frame["graph"]:
        yield "  graph"
        yield from (f"    {line}" for line in _table([_row(node) for node in frame["graph"]]))
    if frame["guards"]:
        yield "  guards"
        rows = [(guard["source"], guard["check"], guard["reason"]) for guard in frame["guards"]]
        yield from (f"    {line}" for line in _table(rows))
    if frame["routes"]:
        yield "  ways through C"
        rows = [(str(route["line"]), route["instruction"], " > ".join(route["functions"])) for route in frame["routes"]]
        yield from (f"    {line}" for line in _table(rows))
    if frame["effects"]:
        yield "  side effects"
        yield from (f"    {effect}" for effect in frame["effects"])
    if frame["break"]:
        stop = frame["break"]
        yield f"  break at line {stop['line']}: {stop['kind']}: {stop['context']}"
        yield f"    {stop['explanation']}"
        yield from (f"    hint: {hint}" for hint in stop["hints"])


def _row(node):
    args = [*node["args"], *(f"{name}={value}" for name, value in node["kwargs"].items())]
    return tuple(", ".join(args) if column == "args" else str(node[column] or "") for column in _COLUMNS)


def _table(rows):
    """Rows with aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
