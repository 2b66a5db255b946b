"""The result of `slotrt.explain`: counts, data, and a report for people."""

import sys

from ._report import fit, terminal_width, title, topics


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
        return self.text(full=False)

    def text(self, full=True, width=None):
        """The report for people. Unless it is to be full, its lines are no wider than the terminal, or than `width`."""
        if full:
            width = None
        elif width is None:
            width = terminal_width(sys.stdout)
        counts = f"{self.graphs} graphs with {self.ops} operations, {self.breaks} breaks, {self.guards} guards"
        lines = [counts, *(line for frame in self.frames for line in _frame(frame, width))]
        return "\n".join(fit(lines, width))

    def html(self):
        """The report as one HTML document: graphs as tables and pictures, guards, bytecode before and after, breaks."""
        from ._page import document  # Here, so that importing slotrt stays quick.

        return document("slotrt report", self._body())

    def save(self, path):
        """Writes `html()` to a file."""
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(self.html())

    def _repr_html_(self):
        """What notebooks show."""
        from ._page import fragment

        return fragment(self._body())

    def _body(self):
        from ._page import frames, text

        return f"<h1>{text(repr(self)[1:-1])}</h1>{frames(self.frames)}"


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


def _frame(frame, width=None):
    """The lines of one frame's section. Bytecode is left out: it is in `frames` and in the log."""
    yield ""
    yield title(frame)
    for topic, heading, lines in topics(frame, width and width - 4):
        if topic != "bytecode":
            yield f"  {heading}"
            yield from (f"    {line}" for line in lines)
