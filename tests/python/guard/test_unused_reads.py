"""What a trace read and did not use must be there at the next call: where it is gone, plain Python's exception comes."""

import unittest

import slotrt

LEFT = 1
TABLE = {"k": 1}


class Holder:
    pass


def read_global():
    LEFT
    return 1


def kept_global():
    return [LEFT]


def read_entry():
    TABLE["k"]
    return 1


def read_attribute(holder):
    holder.x
    return 1


def kept_attribute(holder):
    return [holder.x]


def outcome(function, *args):
    """The result or the exception."""
    try:
        return repr(function(*args))
    except Exception as error:
        return repr(error)


def with_cell():
    held = 1

    def read():
        held
        return 1

    def drop():
        nonlocal held
        del held

    return read, drop


class Removed(unittest.TestCase):
    def test_gone_before_the_second_call(self):
        global LEFT
        holder = Holder()
        holder.x = 1
        read_cell, drop = with_cell()
        cases = [
            (read_global,), (kept_global,), (read_entry,), (read_attribute, holder), (kept_attribute, holder), (read_cell,),
        ]  # fmt: skip
        compiled = [slotrt.compile(function) for function, *_ in cases]
        for call, (function, *args) in zip(compiled, cases):
            self.assertEqual(outcome(call, *args), outcome(function, *args))
        left, entry = LEFT, TABLE.pop("k")
        try:
            del LEFT, holder.x
            drop()
            for call, (function, *args) in zip(compiled, cases):
                with self.subTest(function=function.__name__):
                    self.assertEqual(outcome(call, *args), outcome(function, *args))
        finally:
            LEFT = left
            TABLE["k"] = entry


VANISHES = 1


class Vanishing:
    field = 1


class RemovedAndRestored(unittest.TestCase):
    """A name, attribute or item that was read but not used raises when it is gone."""

    def test_a_global(self):
        def function():
            VANISHES  # noqa: B018
            return "read"

        compiled = slotrt.compile(function)
        compiled()
        global VANISHES
        del VANISHES
        with self.assertRaisesRegex(NameError, "name 'VANISHES' is not defined"):
            compiled()
        VANISHES = 1
        self.assertEqual(compiled(), "read")

    def test_an_attribute_and_an_item(self):
        def function(instance, table):
            instance.own  # noqa: B018
            table["key"]  # noqa: B018
            return "read"

        compiled = slotrt.compile(function)
        instance = Vanishing()
        instance.own = 1
        self.assertEqual(compiled(instance, {"key": 1}), "read")
        with self.assertRaisesRegex(KeyError, "key"):
            compiled(instance, {})
        del instance.own
        with self.assertRaisesRegex(AttributeError, "'Vanishing' object has no attribute 'own'"):
            compiled(instance, {"key": 1})


if __name__ == "__main__":
    unittest.main()
