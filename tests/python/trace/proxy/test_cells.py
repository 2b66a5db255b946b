"""Errors of C while cells of functions and class statements hold containers: C does not look into them, but where it compares cells."""

import unittest

import slotrt


class Bare:
    pass


class OwnList(list):
    pass


def while_a_cell_holds_a_list():
    held = [1]

    def read():
        return held

    try:
        zip(read(), Bare())
    except TypeError as error:
        return str(error)


def while_a_class_has_methods():
    class Own:
        def method(self):
            return 1

    try:
        zip((Own().method(),), Own())
    except TypeError as error:
        return str(error)


def after_a_cell_was_set():
    held = None

    def read():
        return held

    held = {"a": 1}
    try:
        round(Bare())
    except TypeError as error:
        return str(error), read()


def cells_compared(first, second):
    def left():
        return first

    def right():
        return second

    said = []
    for one, other in (
        (left.__closure__[0], right.__closure__[0]),
        (left.__closure__, right.__closure__),
        ([*left.__closure__], [*right.__closure__]),
    ):
        try:
            said.append(one < other)
        except TypeError as error:
            said.append(str(error))
    return said


class Cells(unittest.TestCase):
    def test_errors_while_cells_hold_containers(self):
        for function in (while_a_cell_holds_a_list, while_a_class_has_methods, after_a_cell_was_set):
            with self.subTest(function.__name__):
                self.assertEqual(slotrt.compile(function, fullgraph=True)(), function())

    def test_cells_compared(self):
        for first, second in (([1], {}), ([1], [2]), (OwnList([1]), [2]), ([1], ["a"]), (Bare(), [1])):
            with self.subTest(first=first, second=second):
                compiled = slotrt.compile(cells_compared)
                expected = cells_compared(first, second)
                self.assertEqual([compiled(first, second) for _ in range(2)], [expected] * 2)


if __name__ == "__main__":
    unittest.main()
