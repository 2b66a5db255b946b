"""Keys with `__hash__` and `__eq__` of Python code: they run as often as in plain Python."""

import unittest

import slotrt


class Key:
    def __init__(self):
        self.asked = []

    def __hash__(self):
        self.asked.append("hash")
        return 1

    def __eq__(self, other):
        self.asked.append("eq")
        return self is other


def looked_up(table):
    key = Key()
    try:
        table[key]
    except KeyError as error:
        return key in table, table.get(key, 5), error.args[0] is key, key.asked


def put_in_and_out(table):
    key = Key()
    table[key] = 1
    del table[key]
    return len(table), key.asked


class Keys(unittest.TestCase):
    def test_as_plain_python(self):
        for function in (looked_up, put_in_and_out):
            for table in ({}, {1: 2}):
                compiled = slotrt.compile(function, fullgraph=True)
                self.assertEqual(compiled(dict(table)), function(dict(table)))
                self.assertEqual(compiled(dict(table)), function(dict(table)))


if __name__ == "__main__":
    unittest.main()
