"""Codecs that functions of the program find: C asks these at the first use of a name, and keeps what they give."""

import codecs
import itertools
import subprocess
import sys
import unittest

import slotrt

# A collector shows nothing of what is frozen: servers freeze all that they have loaded.
FROZEN = """
import codecs, gc, slotrt

def encoded(text):
    codecs.register_error("seen", lambda error: ("?", error.end))
    return text.encode("ascii", "seen"), text.encode("utf-16-le", "replace"), b"12".decode("Latin 1")

gc.freeze()
print(slotrt.compile(encoded, fullgraph=True)("a\u00fc"))
"""

NAMES = (f"slotrt_found{number}" for number in itertools.count())
LOG = []


class Found:
    """A codec of the program, by a name of its own."""

    def __init__(self):
        self.name = next(NAMES)

    def encode(self, text, errors="strict"):
        LOG.append(("encode", type(text), errors))
        return b"x", len(text)

    def decode(self, data, errors="strict"):
        LOG.append(("decode", type(data), errors))
        return "y", len(data)

    def search(self, name):
        if name == self.name:
            LOG.append("search")
            return codecs.CodecInfo(self.encode, self.decode, name=name)


def methods(name):
    return "abc".encode(name), b"12".decode(name, "ignore"), bytearray(b"12").decode(encoding=name)


def classes(name):
    return str(b"12", name), bytes("12", encoding=name), bytearray("12", name)


def functions(name):
    return codecs.encode("abc", name), codecs.decode(b"x", name), codecs.lookup(name).encode("ab")


def registered_here(name):
    found = Found()
    found.name = name
    codecs.register(found.search)
    try:
        return "abc".encode(name)
    finally:
        codecs.unregister(found.search)


def library(text):
    return text.encode("utf-16-le", "replace"), b"12".decode("Latin 1"), codecs.encode(text, "rot13"), codecs.lookup("UTF 8").name


def missing(name):
    try:
        return "abc".encode(name)
    except LookupError as error:
        return str(error).replace(name, "")


def over_a_break(text):
    encoded = text.encode("cp864", "ignore")
    slotrt.graph_break()
    return encoded, encoded.decode("cp864")


def outcome(function, *args):
    LOG.clear()
    try:
        result = function(*args)
    except LookupError as error:
        result = type(error)
    return result, list(LOG)


class CodecSearch(unittest.TestCase):
    def same(self, function):
        """Compiled and plain, each with a codec that nobody has asked for yet."""
        outcomes = []
        for called in (function, slotrt.compile(function)):
            found = Found()
            codecs.register(found.search)
            try:
                outcomes.append([outcome(called, found.name) for _ in range(3)])
            finally:
                codecs.unregister(found.search)
        self.assertEqual(*outcomes)

    def test_a_codec_of_the_program(self):
        for function in (methods, classes, functions):
            with self.subTest(function=function):
                self.same(function)

    def test_registered_by_the_function(self):
        outcomes = []
        for called in (registered_here, slotrt.compile(registered_here)):
            name = next(NAMES)
            outcomes.append([outcome(called, name) for _ in range(2)])
        self.assertEqual(*outcomes)

    def test_codecs_of_the_library_break_nothing(self):
        compiled, found = slotrt.compile(library, fullgraph=True), Found()
        self.assertEqual(compiled("ab"), library("ab"))
        codecs.register(found.search)
        try:
            self.assertEqual(slotrt.compile(library, fullgraph=True)("ab"), library("ab"))
        finally:
            codecs.unregister(found.search)

    def test_frozen_objects(self):
        done = subprocess.run([sys.executable, "-c", FROZEN], capture_output=True, text=True)
        self.assertEqual((done.stdout.strip(), done.stderr), (str((b"a?", "aü".encode("utf-16-le"), "12")), ""))

    def test_a_codec_that_nobody_has_asked_for_yet(self):
        compiled = slotrt.compile(over_a_break)
        for _ in range(2):
            self.assertEqual(compiled("abc\u00fc"), (b"abc", "abc"))

    def test_a_codec_that_comes_after_a_trace(self):
        compiled, found = slotrt.compile(missing), Found()
        self.assertEqual(compiled(found.name), missing(found.name))
        codecs.register(found.search)
        try:
            self.assertEqual(compiled(found.name), b"x")
        finally:
            codecs.unregister(found.search)
        self.assertEqual(compiled(found.name), missing(found.name))


if __name__ == "__main__":
    unittest.main()
