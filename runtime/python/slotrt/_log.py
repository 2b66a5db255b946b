"""The log of traces, chosen by the environment.

`SLOTRT_LOG` names topics, separated by commas: graph, guards, routes, effects, bytecode, breaks, recompiles, or all.
With `json` among them each record is one line of JSON. The log goes to standard error, or to the file that
`SLOTRT_LOG_FILE` names.
"""

import itertools
import json
import os
import sys

from ._report import fit, terminal_width, title, topics

TOPICS = ("graph", "guards", "routes", "effects", "bytecode", "breaks", "recompiles")


def from_environment():
    """The log that the environment asks for, or `None`."""
    wanted = [word.strip() for word in os.environ.get("SLOTRT_LOG", "").split(",") if word.strip()]
    if not wanted:
        return None
    unknown = [word for word in wanted if word not in (*TOPICS, "all", "json")]
    if unknown:
        known = ", ".join((*TOPICS, "all", "json"))
        print(f"slotrt: SLOTRT_LOG names unknown topics: {', '.join(unknown)}; known: {known}", file=sys.stderr)
    chosen = TOPICS if "all" in wanted else tuple(topic for topic in TOPICS if topic in wanted)
    return Log(chosen, "json" in wanted, os.environ.get("SLOTRT_LOG_FILE"))


class Log:
    """Writes the chosen topics of each frame that it is called with."""

    def __init__(self, chosen, as_json=False, path=None):
        self.chosen = chosen
        self.as_json = as_json
        self.path = path

    def __call__(self, frame):
        text = self._json(frame) if self.as_json else self._text(frame)
        if text and self.path:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(text)
        elif text and sys.stderr is not None:
            sys.stderr.write(text)

    def _text(self, frame):
        width = None if self.path else terminal_width(sys.stderr)
        room = width and width - len("[slotrt]     ")
        sections = [section for section in topics(frame, room) if section[0] in self.chosen]
        if not sections:
            return ""
        lines = [title(frame)]
        for _, heading, body in sections:
            lines += [f"  {heading}", *(f"    {line}" for line in body)]
        return "".join(f"{line}\n" for line in fit([f"[slotrt] {line}" for line in lines], width))

    def _json(self, frame):
        place = {key: frame[key] for key in ("name", "file", "line", "resumed_at")}
        lines = []
        for topic in self.chosen:
            content = _content(frame, topic)
            if content:
                lines.append(json.dumps({"topic": topic, **place, topic: content}, default=repr) + "\n")
        return "".join(lines)


def _content(frame, topic):
    if topic == "breaks":
        return frame["break"] or (frame["skipped"] and {"kind": "frame left alone", "context": frame["skipped"]})
    if topic == "recompiles":
        return frame["recompiled_because"]
    if topic == "bytecode":
        before, after = frame["bytecode"]["before"], frame["bytecode"]["after"]
        return [list(pair) for pair in itertools.zip_longest(before, after, fillvalue="")]
    return frame[topic]
