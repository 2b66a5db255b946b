"""An interpreter that keeps something elsewhere than the release that slotrt was built for: refused when it is imported, by name.

Another patch release is not at hand: what the interpreter shows of itself is changed instead, which looks the same from within.
"""

import subprocess
import sys
import unittest


def imported(change):
    """What a process says that imports slotrt after a change of what `sys` shows."""
    program = f"import sys\n{change}\nimport slotrt\nprint(slotrt.__name__)"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


class Layouts(unittest.TestCase):
    def refused(self, change, field):
        ended = imported(change)
        last = ended.stderr.splitlines()[-1]
        running = ".".join(map(str, sys.version_info[:3]))
        self.assertTrue(last.startswith(f"ImportError: this CPython {running} does not keep {field} where "), ended.stderr)
        self.assertIn("docs/adding-a-release.md", last)
        self.assertNotEqual(ended.returncode, 0)

    def test_as_it_is(self):
        self.assertEqual(imported("").stdout, "slotrt\n")

    def test_another_frame(self):
        field = "PyThreadState.current_frame" if sys.version_info >= (3, 13) else "PyThreadState.cframe"
        self.refused("frame = sys._getframe()\nsys._getframe = lambda: frame", field)

    @unittest.skipIf(sys.version_info >= (3, 13), "the interpreter's state is not read")
    def test_another_state(self):
        self.refused("sys.getrecursionlimit = lambda: 3", "_ceval_state.recursion_limit")


if __name__ == "__main__":
    unittest.main()
