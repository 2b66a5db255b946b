"""What `slotrt.explain` returns: numbers, and a report for people."""

from ._report import title, topics


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
        import json  # here, for importing slotrt must be quick

        return json.dumps(self.data(), **options)

    def __repr__(self):
        counts = f"{self.graphs} graphs, {self.breaks} breaks, {self.ops} ops, {self.guards} guards"
        return f"<slotrt.Explanation: {counts}>"

    def __str__(self):
        counts = f"{self.graphs} graphs with {self.ops} operations, {self.breaks} breaks, {self.guards} guards"
        return "\n".join([counts, *(line for frame in self.frames for line in _frame(frame))])


def _reason(frame):
    if frame["break"]:
        return frame["break"]
    return {
        "kind": "frame left alone",
        "context": frame["skipped"],
        "explanation": "The frame runs uncompiled.",
        "hints": [],
        "file": frame["file"],
        "line": frame["line"],
        "frame": frame["name"],
    }


def _frame(frame):
    """The lines of one frame's section; bytecode is in `frames` and in the log."""
    yield ""
    yield title(frame)
    for topic, heading, lines in topics(frame):
        if topic != "bytecode":
            yield f"  {heading}"
            yield from (f"    {line}" for line in lines)
