"""Files, directories and settings of the interpreter: each call sees them as they are then."""

import contextlib
import io
import os
import sys
import tempfile
import time
import unittest

import slotrt
from compared import Compared


class Files(Compared):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = os.path.join(self.directory.name, "text")
        self.write("first\nsecond\n")

    def write(self, text, ago=60):
        """Makes the file `ago` seconds old: its time then tells it from a later one."""
        with open(self.path, "w") as file:
            file.write(text)
        then = time.time() - ago
        os.utime(self.path, (then, then))

    def test_the_text_of_a_file_is_read_again_when_it_has_changed(self):
        def lines(path):
            with open(path) as file:
                found = file.readlines()
            return found, file.closed

        compiled = self.same(lines, self.path)
        self.write("something else", ago=30)
        self.assertEqual(compiled(self.path), (["something else"], True))
        self.same(lines, self.path)

    def test_files_written_one_after_the_other(self):
        def text(path):
            with open(path) as file:
                return file.read()

        compiled = slotrt.compile(text)
        for content in ("one", "two", "six"):
            self.write(content, ago=0)
            self.assertEqual(compiled(self.path), content)
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(text, fullgraph=True)(self.path)

    def test_a_file_that_comes_and_goes(self):
        def status(path):
            try:
                return os.stat(path).st_size, os.path.exists(path)
            except FileNotFoundError as error:
                return error.errno, str(error), os.path.exists(path)

        compiled = self.same(status, self.path)
        os.remove(self.path)
        self.assertEqual(compiled(self.path), status(self.path))
        self.write("longer than before, by far")
        self.assertEqual(compiled(self.path), status(self.path))

    def test_names_in_a_directory(self):
        def names(path):
            found = os.listdir(path)
            found.append("end")
            return sorted(found)

        compiled = self.same(names, self.directory.name)
        with open(os.path.join(self.directory.name, "other"), "w"):
            pass
        self.assertEqual(compiled(self.directory.name), ["end", "other", "text"])

    def test_a_file_that_is_left_open_or_written_is_no_part_of_a_graph(self):
        def left(path):
            return open(path)

        def written(path):
            with open(path, "a") as file:
                return file.write("more")

        with slotrt.compile(left)(self.path) as file:
            self.assertEqual(file.read(), "first\nsecond\n")
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(written, fullgraph=True)(self.path)
        self.assertEqual(slotrt.compile(written)(self.path), 4)
        with open(self.path) as file:
            self.assertEqual(file.read(), "first\nsecond\nmore")

    def test_the_working_directory(self):
        before = os.getcwd()
        compiled = self.same(lambda: os.getcwd())
        os.chdir(self.directory.name)
        try:
            self.assertEqual(compiled(), os.getcwd())
        finally:
            os.chdir(before)

    def test_settings(self):
        compiled = self.same(lambda: (sys.getrecursionlimit(), sys.getswitchinterval()))
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + 7)
        try:
            self.assertEqual(compiled()[0], limit + 7)
        finally:
            sys.setrecursionlimit(limit)


class Printing(unittest.TestCase):
    def test_print_into_text_of_the_trace(self):
        class Shouts:
            def write(self, text):
                heard.append(text.upper())

        heard = []

        def prints(value):
            into = io.StringIO()
            with contextlib.redirect_stdout(into):
                print(value, "b", sep="-", end="!\n")
            print([value], file=into)
            print("to", value, file=Shouts())
            return into.getvalue()

        compiled = slotrt.compile(prints, fullgraph=True)
        for value in (1, "x", 1):
            heard.clear()
            self.assertEqual(compiled(value), f"{value}-b!\n{[value]!r}\n")
            self.assertEqual(heard, ["TO", " ", str(value).upper(), "\n"])


if __name__ == "__main__":
    unittest.main()
