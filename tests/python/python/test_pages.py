"""Reports as HTML and as text that fits a terminal; `SLOTRT_TRACE`."""

import html.parser
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import slotrt
from slotrt._report import table

try:
    import numpy
except ImportError:
    numpy = None

BAD = '</td><script>alert(1)</script><img src=x onerror="x">'


def function(a, names):
    b = a + 1
    slotrt.graph_break()
    names[BAD] = b
    return b * 2


class Parser(html.parser.HTMLParser):
    """Elements that are open, and their names."""

    EMPTY = {"meta", "br", "path", "rect"}

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.words, self.unbalanced = [], set(), [], []

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data):
        self.words.append(data)


def parsed(text):
    parser = Parser()
    parser.feed(text)
    parser.close()
    return parser


class Pages(unittest.TestCase):
    def setUp(self):
        self.report = slotrt.explain(function)(1, {BAD: 2})

    def test_a_document_has_every_section_and_is_balanced(self):
        page = parsed(self.report.html())
        self.assertEqual((page.open, page.unbalanced), ([], []))
        words = " ".join(page.words)
        for heading in ("guards, checked ones first", "break", "bytecode before and after", "ways through C", "the program asks for a graph break here"):
            self.assertIn(heading, words)
        self.assertIn("Content-Security-Policy", self.report.html())

    def test_what_programs_contain_is_text(self):
        frame = dict(self.report.frames[0], name=BAD, file=BAD, effects=[BAD], recompiled_because=[BAD], skipped=BAD)
        frame["guards"] = [{"source": BAD, "check": BAD, "reason": BAD, "how": "checked", "because": BAD}]
        frame["graph"] = [{"op": "call_function", "name": BAD, "target": BAD, "args": [BAD], "kwargs": {BAD: BAD}, "meta": BAD, "file": BAD, "line": 1, "route": [BAD]}]
        frame["break"] = dict.fromkeys(("kind", "context", "explanation", "file", "line", "frame"), BAD) | {"hints": [BAD]}
        self.report.frames = [frame]
        for text in (self.report.html(), self.report._repr_html_()):
            page = parsed(text)
            self.assertFalse(page.seen & {"script", "img"}, text)
            self.assertEqual((page.open, page.unbalanced), ([], []))
            self.assertIn("alert(1)", " ".join(page.words))

    def test_graphs_are_tables_and_pictures(self):
        from slotrt._page import picture

        node = {"op": "call_function", "kwargs": {}, "meta": None, "file": "<here>", "line": 3, "route": ["PyNumber_Add", "binary_op1"]}
        nodes = [dict(node, op="placeholder", name="x", target="x", args=[]), dict(node, name="add", target="operator.add", args=["x", "1"])]
        drawn = picture({"file": "<here>", "graph": nodes})
        self.assertEqual((drawn.count("<rect"), drawn.count("<path")), (2, 1))
        self.assertIn("PyNumber_Add &gt; binary_op1", drawn)

    @unittest.skipIf(numpy is None, "no numpy")
    def test_an_operation_names_its_file_and_the_calls_that_lead_to_it(self):
        names = {}
        exec(compile("def inner(a):\n    return a * 2\n\ndef outer(a):\n    return inner(a)\n", "/a/other.py", "exec"), names)
        outer = names["outer"]

        def function(a):
            b = outer(a)
            return -b

        report = slotrt.explain(function)(numpy.ones(2))
        line = function.__code__.co_firstlineno + 2
        places = {node["name"]: (node["file"], node["line"], node["route"][:2]) for node in report.frames[0]["graph"]}
        self.assertEqual(places["mul"], ("/a/other.py", 2, ["PyNumber_Multiply", "binary_op1"]))
        self.assertEqual(places["neg"][:2], (__file__, line), "what returned is no longer on the way")
        rows = {row.split()[1]: row for row in report.text().splitlines() if row.startswith("    call_function")}
        self.assertIn(" other.py:2 ", rows["mul"])
        self.assertIn(f" {line} ", rows["neg"])
        self.assertIn(">other.py:2<", report.html())

    def test_save(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "report.html")
            self.report.save(path)
            self.assertEqual(path.read_text(encoding="utf-8"), self.report.html())

    def test_text_fits(self):
        whole = self.report.text()
        self.assertGreater(max(map(len, whole.splitlines())), 80)
        for width in (200, 80, 30):
            self.assertLessEqual(max(map(len, self.report.text(full=False, width=width).splitlines())), width)
        self.assertEqual(str(self.report), whole, "no terminal, no limit")

    def test_the_widest_columns_give_way(self):
        lines = table([("a" * 50, "b", "c" * 50)], 40)
        self.assertLessEqual(len(lines[0]), 40)
        self.assertEqual(lines[0].split()[1], "b")


PROGRAM = """
import slotrt

@slotrt.compile
def function(a):
    b = a + 1
    slotrt.graph_break()
    return b

function(1)
function(1.5)
"""


class Traces(unittest.TestCase):
    def run_with(self, folder):
        environment = {**os.environ, "SLOTRT_TRACE": str(folder)}
        return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120)

    def test_a_run_has_an_index_a_timeline_and_json(self):
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                done = self.run_with(pathlib.Path(folder, "new"))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            room = pathlib.Path(folder, "new")
            index = parsed((room / "index.html").read_text(encoding="utf-8"))
            self.assertEqual((index.open, index.unbalanced), ([], []))
            words = " ".join(index.words)
            self.assertIn("a type is int", words, "the guard that failed is named")
            processes = sorted(room.glob("*.jsonl"))
            self.assertEqual(len(processes), 2)
            records = [json.loads(line) for line in processes[0].read_text(encoding="utf-8").splitlines()]
            self.assertGreaterEqual(len(records), 3)
            for record in records:
                self.assertTrue((room / record["page"]).exists())
                self.assertIn(record["frame"]["name"], words)

    def test_a_folder_that_cannot_be_written_is_said_once(self):
        with tempfile.TemporaryDirectory() as folder:
            blocked = pathlib.Path(folder, "file")
            blocked.write_text("")
            done = self.run_with(blocked / "below")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count("SLOTRT_TRACE"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
