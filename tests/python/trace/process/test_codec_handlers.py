"""Codec error handlers that a compiled function registers: C finds them inside the trace, all code finds them afterwards."""

import codecs
import unittest

import slotrt

NAME = "slotrt.registered"


class Counting:
    def __init__(self):
        self.calls = 0

    def handle(self, error):
        self.calls += 1
        return f"<{self.calls}>", error.end


def marked(error):
    return "[marked]", error.end


def used(data):
    def handler(error):
        seen.append(error.object[error.start])
        return "?", error.end

    seen = []
    codecs.register_error(NAME, handler)
    text = data.decode("ascii", NAME)
    return text, seen, codecs.lookup_error(NAME) is handler


def twice(data):
    codecs.register_error(NAME, marked)
    first = data.decode("ascii", NAME)
    counting = Counting()
    codecs.register_error(NAME, counting.handle)
    return first, data.decode("ascii", NAME), codecs.getdecoder("euc_jp")(data, NAME), counting.calls


def over_a_break(data):
    codecs.register_error(NAME, marked)
    first = data.decode("ascii", NAME)
    slotrt.graph_break()
    return first, data.decode("ascii", NAME)


def of_c(data):
    codecs.register_error(NAME, codecs.ignore_errors)
    return data.decode("ascii", NAME)


def failing(data):
    def handler(error):
        raise ValueError(error.start)

    codecs.register_error(NAME, handler)
    try:
        return data.decode("ascii", NAME)
    except ValueError as error:
        return error.args, type(error.__context__)


def wrong_result(data):
    codecs.register_error(NAME, lambda error: "no tuple")
    try:
        return data.decode("ascii", NAME)
    except TypeError as error:
        return str(error)


def unless_there(data, name):
    try:
        codecs.lookup_error(name)
        known = True
    except LookupError as error:
        known = str(error)
        codecs.register_error(name, marked)
    return known, data.decode("ascii", name)


def refused():
    found = []
    for name, handler in ((NAME, 1), (1, marked), ("a\0b", marked)):
        try:
            codecs.register_error(name, handler)
        except (TypeError, ValueError) as error:
            found.append((type(error), str(error)))
    return found


def registering(data):
    def handler(error):
        codecs.register_error(NAME + ".inner", marked)
        return "i", error.end

    codecs.register_error(NAME, handler)
    return data.decode("ascii", NAME) + data.decode("ascii", NAME + ".inner")


class Registered(unittest.TestCase):
    def check(self, function, *args, fullgraph=True):
        compiled = slotrt.compile(function, fullgraph=fullgraph)
        for _ in range(3):
            with self.subTest(function=function.__name__):
                self.assertEqual(compiled(*args), function(*args))

    def test_used_at_once(self):
        for function in (used, twice, of_c, failing, wrong_result):
            self.check(function, b"a\xff\xfe")

    def test_over_a_break(self):
        self.check(over_a_break, b"\xff", fullgraph=False)

    def test_registered_while_c_waits(self):
        self.check(registering, b"\xff", fullgraph=False)

    def test_refused(self):
        self.check(refused, fullgraph=False)

    def test_found_afterwards(self):
        compiled = slotrt.compile(used, fullgraph=True)
        for _ in range(2):
            codecs.register_error(NAME, marked)
            _, seen, _ = compiled(b"\xff")
            handler = codecs.lookup_error(NAME)
            self.assertEqual(handler.__qualname__, "used.<locals>.handler")
            self.assertEqual(b"\xfe".decode("ascii", NAME), "?")
            self.assertEqual(seen, [0xFF, 0xFE])

    def test_only_where_there_is_none(self):
        compiled = slotrt.compile(unless_there)
        names = [f"slotrt.unless{id(self)}.{which}" for which in ("plain", "traced")]
        for _ in range(3):
            known, text = unless_there(b"\xff", names[0])
            again = compiled(b"\xff", names[1])
            self.assertEqual(again, (known.replace("plain", "traced") if known is not True else True, text))

    def test_a_trace_that_stops_leaves_no_name(self):
        def stopped(data):
            codecs.register_error(name, marked)
            data.decode("ascii", name)
            slotrt.graph_break()

        name = f"slotrt.stopped{id(self)}"
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(stopped, fullgraph=True)(b"\xff")
        self.assertRaises(LookupError, codecs.lookup_error, name)


if __name__ == "__main__":
    unittest.main()
