"""The result of `slotrt.explain`: counts, data, and a report for people."""

from ._report import title, topics


class Explanation:
    """One call: its result, and every frame that was traced for it."""

    def __init__(self, result, frames):
        self.result = result
        self.frames = frames
        self.graphs = sum(1 for frame in frames if frame["graph"])
        self.breaks = sum(1 for frame in frames if frame["break"])
        self.ops = sum(frame["ops"] for frame in frames)
        self.guards = sum(len(frame["guards"]) for frame in frames)
        self.reasons = [_reason(frame) for frame in frames if frame["break"] or frame["skipped"]]

    def data(self):
        """Everything as plain data for `json.dumps`."""
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
        """`data()` as JSON text."""
        import json  # Here, so that importing slotrt stays quick.

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
    """The lines of one frame's section. Bytecode is left out: it is in `frames` and in the log."""
    yield ""
    yield title(frame)
    for topic, heading, lines in topics(frame):
        if topic != "bytecode":
            yield f"  {heading}"
            yield from (f"    {line}" for line in lines)
