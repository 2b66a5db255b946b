"""Codec objects of C: incremental encoders and decoders, with the program's error handlers, which C finds by name."""

import codecs
import io
import unittest

import slotrt


class Counting:
    """A handler with state."""

    def __init__(self):
        self.calls = 0

    def handle(self, error):
        self.calls += 1
        return f"<{self.calls}>", error.end

    __call__ = handle


def marked(error):
    if isinstance(error, UnicodeDecodeError):
        return f"[{error.reason}:{error.object[error.start : error.end].hex()}]", error.end
    return f"({error.encoding} {ord(error.object[error.start]):x})".encode(), error.end


def failing(error):
    raise KeyError(error.start)


def there_and_back(text, encoding):
    encoded, length = codecs.getencoder(encoding)(text)
    return encoded, length, codecs.getdecoder(encoding)(encoded)


def with_errors(data, errors):
    return data.decode("euc_jp", errors)


def encoded_with_errors(text, errors):
    return text.encode("big5", errors)


def incremental(data):
    decoder = codecs.getincrementaldecoder("shift_jis")()
    found = [decoder.decode(data[:1]), decoder.getstate(), decoder.decode(data[1:], True), decoder.errors]
    decoder.reset()
    return found, decoder.getstate()


def incrementally_encoded(text):
    encoder = codecs.getincrementalencoder("hz")()
    return [encoder.encode(letter) for letter in text] + [encoder.encode("", True), encoder.getstate()]


def unfinished():
    decoder = codecs.getincrementaldecoder("gbk")()
    return decoder.decode(b"\xc4", True)


def read(data):
    reader = codecs.getreader("euc_kr")(io.BytesIO(data), "replace")
    return reader.readline(), reader.read(), reader.errors


def written(text):
    stream = io.BytesIO()
    writer = codecs.getwriter("iso2022_jp")(stream)
    writer.write(text)
    writer.writelines([text, "x"])
    writer.reset()
    return stream.getvalue()


def handler_is_set(data, errors):
    decoder = codecs.getincrementaldecoder("cp949")()
    decoder.errors = errors
    return decoder.decode(data, True)


def ascii_of(data, errors):
    return data.decode("ascii", errors)


def handler_of(name):
    try:
        return codecs.lookup_error(name)
    except LookupError as error:
        return str(error)


def codec_of(name):
    import _codecs_jp

    codec = _codecs_jp.getcodec(name)
    return codec.encode("\u3042")


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error), getattr(error, "args", None)


class CodecObjects(unittest.TestCase):
    def check(self, function, *calls, fullgraph=True):
        compiled = slotrt.compile(function, fullgraph=fullgraph)
        for args in (*calls, *calls):
            with self.subTest(function=function.__name__, args=args):
                self.assertEqual(outcome(compiled, *args), outcome(function, *args))

    def test_functions_of_a_codec(self):
        self.check(there_and_back, ("\u3042x", "euc_jp"), ("\u4e2d", "gb18030"), ("\u3042", "iso2022_jp"))
        self.check(there_and_back, ("\ud55c", "cp949"), ("\u4e2d", "big5hkscs"), ("\udeee", "johab"))
        self.check(codec_of, ("euc_jp",), ("no such",))

    def test_objects(self):
        self.check(incremental, ("\u3042\u3044".encode("shift_jis"),))
        self.check(incrementally_encoded, ("a\u4e2db",))
        self.check(unfinished, (), fullgraph=False)
        self.check(read, ("\ud55c\n\uae00".encode("euc_kr") + b"\xff",))
        self.check(written, ("\u3042",))

    def test_handlers(self):
        codecs.register_error("slotrt.marked", marked)
        codecs.register_error("slotrt.failing", failing)
        for errors in ("strict", "ignore", "replace", "backslashreplace", "slotrt.marked", "slotrt.failing", "none"):
            self.check(with_errors, (b"a\xff\xa4\xa2", errors))
            self.check(encoded_with_errors, ("a\udeee", errors))
            self.check(handler_is_set, (b"a\xff", errors), fullgraph=False)

    def test_a_handler_with_a_state(self):
        for name in ("method", "object"):
            plain, traced = Counting(), Counting()
            compiled = slotrt.compile(ascii_of)
            for _ in range(3):
                codecs.register_error("slotrt.counting", plain.handle if name == "method" else plain)
                expected = ascii_of(b"\xff\xfe", "slotrt.counting")
                codecs.register_error("slotrt.counting", traced.handle if name == "method" else traced)
                self.assertEqual(compiled(b"\xff\xfe", "slotrt.counting"), expected)
                self.assertEqual(traced.calls, plain.calls)

    def test_a_name_that_stands_for_another_handler_later(self):
        compiled, found = slotrt.compile(ascii_of), slotrt.compile(handler_of)
        codecs.register_error("slotrt.changing", marked)
        self.assertEqual(compiled(b"\xff", "slotrt.changing"), ascii_of(b"\xff", "slotrt.changing"))
        self.assertIs(found("slotrt.changing"), marked)
        codecs.register_error("slotrt.changing", codecs.ignore_errors)
        self.assertEqual(compiled(b"\xff", "slotrt.changing"), "")
        self.assertIs(found("slotrt.changing"), codecs.ignore_errors)

    def test_a_name_that_stands_for_a_handler_later(self):
        name = f"slotrt.later{id(self)}"
        compiled, found = slotrt.compile(ascii_of), slotrt.compile(handler_of)
        self.assertEqual(outcome(compiled, b"\xff", name), outcome(ascii_of, b"\xff", name))
        self.assertEqual(found(name), handler_of(name))
        codecs.register_error(name, marked)
        self.assertEqual(outcome(compiled, b"\xff", name), outcome(ascii_of, b"\xff", name))
        self.assertIs(found(name), marked)


if __name__ == "__main__":
    unittest.main()
