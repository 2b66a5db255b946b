"""Frames as HTML: one document without scripts or network. Everything of programs is text in it, never markup."""

from html import escape
import itertools

from ._report import place, title

STYLE = """
.slotrt{--back:#fff;--text:#1c2024;--dim:#60646c;--line:#d9d9e0;--raised:#f4f4f7;--accent:#0b68cb;--bad:#c62f2f;
background:var(--back);color:var(--text);font:14px/1.45 system-ui,sans-serif;padding:8px 16px}
@media (prefers-color-scheme:dark){.slotrt{--back:#14161a;--text:#e6e8eb;--dim:#9ba1a9;--line:#30343b;--raised:#1d2026;--accent:#6cb2ff;--bad:#f0605f}}
.slotrt h1{font-size:17px}.slotrt h2{font-size:15px;border-top:1px solid var(--line);padding-top:12px}.slotrt h3{font-size:14px;margin:12px 0 4px}
.slotrt table{border-collapse:collapse}.slotrt th,.slotrt td{text-align:left;vertical-align:top;padding:2px 14px 2px 0;border-bottom:1px solid var(--line);color:inherit;background:none}
.slotrt th{color:var(--dim);font-weight:500}.slotrt pre,.slotrt code,.slotrt svg text{font:12.5px/1.4 ui-monospace,monospace}
.slotrt pre{background:var(--raised);color:inherit;padding:8px;overflow:auto;margin:0}.slotrt .pair{display:grid;grid-template-columns:1fr 1fr;gap:12px}
.slotrt .dim{color:var(--dim)}.slotrt .bad{color:var(--bad)}.slotrt a{color:var(--accent)}.slotrt svg{max-width:100%;overflow:visible}
.slotrt svg rect{fill:var(--raised);stroke:var(--line)}.slotrt svg text{fill:var(--text)}.slotrt svg .dim{fill:var(--dim)}.slotrt svg path{fill:none;stroke:var(--dim)}
.slotrt .bar{background:var(--accent);height:9px;display:inline-block}
"""


def document(heading, body):
    """A whole document."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{text(heading)}</title><style>body{{margin:0}}{STYLE}</style></head>\n"
        f'<body class="slotrt">{body}</body></html>\n'
    )


def fragment(body):
    """A part of somebody else's document, such as a notebook."""
    return f'<div class="slotrt"><style>{STYLE}</style>{body}</div>'


def text(value):
    """A value as text of HTML; what is no character of a document is shown as an escape."""
    plain = "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in str(value))
    return escape(plain)


def table(headings, rows):
    """Rows under headings. A cell is text, or markup made here in a tuple of one."""
    head = "".join(f"<th>{text(heading)}</th>" for heading in headings)
    lines = ("".join(f"<td>{cell[0] if isinstance(cell, tuple) else text(cell)}</td>" for cell in row) for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{line}</tr>' for line in lines)}</tbody></table>"


def frames(all_frames):
    """The sections of frames, one after another."""
    return "".join(f'<h2 id="frame-{number}">{text(title(frame))}</h2>{frame_body(frame)}' for number, frame in enumerate(all_frames))


def frame_body(frame):
    """Everything of one frame."""
    return "".join(f"<h3>{text(heading)}</h3>{body}" for heading, body in _sections(frame) if body)


def _sections(frame):
    yield "times", _times(frame.get("ns") or {})
    yield "left alone", frame["skipped"] and f"<p>{text(frame['skipped'])}</p>"
    yield "traced again: these guards failed", frame["recompiled_because"] and _list(frame["recompiled_because"])
    yield "break", frame["break"] and _break(frame["break"])
    yield "graph", frame["graph"] and _graph(frame)
    yield "graph as a picture", frame["graph"] and picture(frame)
    yield "guards, checked ones first", frame["guards"] and _guards(frame["guards"])
    yield "ways through C", frame["routes"] and table(
        ("line", "instruction", "C functions"),
        ((place(frame, route), route["instruction"], " > ".join(route["functions"])) for route in frame["routes"]),
    )
    yield "side effects", frame["effects"] and _list(frame["effects"])
    yield "bytecode before and after", frame["bytecode"]["after"] and _bytecode(frame["bytecode"])


def _list(lines):
    return f"<ul>{''.join(f'<li>{text(line)}</li>' for line in lines)}</ul>"


def _times(times):
    total = times.get("total") or 0
    if not total:
        return ""
    rows = ((name, f"{spent / 1e6:.2f} ms", (f'<span class="bar" style="width:{max(1, 200 * spent // total)}px"></span>',)) for name, spent in times.items())
    return table(("what", "time", ""), rows)


def _break(stop):
    where = f"{stop['file']}:{stop['line']} in {stop['frame']}"
    rows = [("kind", stop["kind"]), ("context", stop["context"]), ("explanation", stop["explanation"]), ("place", where)]
    return table(("part", ""), [*rows, *(("hint", hint) for hint in stop["hints"])])


def _graph(frame):
    def arguments(node):
        return ", ".join([*node["args"], *(f"{name}={value}" for name, value in node["kwargs"].items())])

    rows = (
        (node["name"], node["op"], node["target"], arguments(node), node["meta"] or "", place(frame, node), " > ".join(node["route"] or ()))
        for node in frame["graph"]
    )
    return table(("node", "kind", "function", "arguments", "result", "line", "C functions"), rows)


def _guards(guards):
    # A watched guard costs nothing while its watch holds; a checked one costs something at each call.
    ordered = sorted(guards, key=lambda guard: (guard["how"] == "watched", guard["because"] or "", guard["reason"]))
    rows = ((guard["how"] or "", guard["because"] or "", guard["source"], guard["check"], guard["reason"]) for guard in ordered)
    return table(("cost", "why", "source", "check", "reason"), rows)


def _bytecode(bytecode):
    # A constant may be written as long as a whole namespace.
    before, after = ("\n".join(_short(line, 160) for line in bytecode[side]) for side in ("before", "after"))
    return f'<div class="pair"><pre>{text(before)}</pre><pre>{text(after)}</pre></div>'


def picture(frame):
    """The graph drawn: a node a line, edges at the left, source lines and C functions beside it."""
    row, left, limit = 26, 90, 400
    nodes, cut = frame["graph"][:limit], len(frame["graph"]) - limit
    numbers = {node["name"]: number for number, node in enumerate(nodes)}
    parts = []
    for number, node in enumerate(nodes):
        top = number * row + 4
        for argument in [*node["args"], *node["kwargs"].values()]:
            for word in _words(str(argument)):
                source = numbers.get(word)
                if source is not None and source < number:
                    start, end = source * row + 14, top + 10
                    bend = max(10, left - 12 - 6 * min(12, number - source))
                    parts.append(f'<path d="M{left} {start} C{bend} {start} {bend} {end} {left} {end}"/>')
        label = f"{node['name']} = {node['target']}" if node["op"] not in ("placeholder", "output") else f"{node['op']} {node['name']}"
        beside = f"line {place(frame, node)}" if node["line"] else ""
        beside += f"  {' > '.join(node['route'])}" if node["route"] else ""
        parts.append(f'<rect x="{left}" y="{top}" width="330" height="20" rx="4"/><text x="{left + 8}" y="{top + 14}">{text(_short(label, 40))}</text>')
        parts.append(f'<text class="dim" x="{left + 344}" y="{top + 14}">{text(beside)}</text>')
    height = len(nodes) * row + 8
    more = f'<p class="dim">and {cut} more nodes: the table has them</p>' if cut > 0 else ""
    return f'<svg role="img" aria-label="graph" width="1100" height="{height}" viewBox="0 0 1100 {height}">{"".join(parts)}</svg>{more}'


def _words(argument):
    word = ""
    for c in itertools.chain(argument, " "):
        if c.isalnum() or c == "_":
            word += c
        elif word:
            yield word
            word = ""


def _short(line, width):
    return line if len(line) <= width else line[: width - 1] + "…"
