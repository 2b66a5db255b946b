"""The README's example prints what the README shows; SLOTRT_BLESS=1 writes it there."""

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
    return "\n".join(re.sub(r"  +", "  ", line).rstrip() if "0x…" in line else line.rstrip() for line in text.splitlines())


class Readme(unittest.TestCase):
    def test_the_example_prints_what_is_shown(self):
        text = README.read_text(encoding="utf-8")
        example = EXAMPLE.search(text)[1]
        shown = f"```text\n{printed(example)}\n```\n"
        wanted = OUTPUT.sub(lambda found: found[1] + shown + found[2], text)
        if os.environ.get("SLOTRT_BLESS"):
            README.write_text(wanted, encoding="utf-8")
        self.assertEqual(text, wanted, "run SLOTRT_BLESS=1 cargo xtask test --only python readme")


if __name__ == "__main__":
    unittest.main()
