"""The examples of the documents print what the documents show; SLOTRT_BLESS=1 writes it there."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
README = ROOT / "README.md"
EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)
OUTPUT = re.compile(r"(<!-- output:begin -->\n).*?(<!-- output:end -->)", re.DOTALL)


def printed(example):
    """The example's output, without paths and addresses of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "example.py")
        path.write_text(example, encoding="utf-8")
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=folder, check=True)
        text = done.stdout.replace(f"{os.path.realpath(folder)}/", "").replace(f"{folder}/", "")
    text = re.sub(r"0x[0-9a-f]+…?", "0x…", text)
    # A module's text names its file; the columns stay where they are.
    text = re.sub(r"(<module '\w+' from ')[^'…\n]*…", lambda found: f"{found[1]}…".ljust(len(found[0])), text)
    return "\n".join(re.sub(r"  +", "  ", line).rstrip() if "0x…" in line else line.rstrip() for line in text.splitlines())


class Documents(unittest.TestCase):
    def check(self, path):
        """The output shown in the document is that of its first example."""
        text = path.read_text(encoding="utf-8")
        example = EXAMPLE.search(text)[1]
        shown = f"```text\n{printed(example)}\n```\n"
        wanted = OUTPUT.sub(lambda found: found[1] + shown + found[2], text)
        if os.environ.get("SLOTRT_BLESS"):
            path.write_text(wanted, encoding="utf-8")
        self.assertEqual(text, wanted, "run SLOTRT_BLESS=1 cargo xtask test --only python readme")

    def test_readme(self):
        self.check(README)

    @unittest.skipUnless(sys.version_info[:2] == (3, 13), "counts of instructions are those of 3.13")
    def test_page_on_reports(self):
        self.check(README.parent / "docs" / "reports.md")


if __name__ == "__main__":
    unittest.main()
