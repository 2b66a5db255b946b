"""Memory views that a compiled function makes: over bytes, and over arrays that it made."""

import array
import io
import struct
import unittest

import slotrt


class Number:
    def __index__(self):
        return 65


def looked_at(data):
    view = memoryview(data)
    return (
        (view.nbytes, view.readonly, view.format, view.itemsize, view.ndim, view.shape, view.strides, view.suboffsets),
        (view.c_contiguous, view.f_contiguous, view.contiguous, len(view), view.tobytes(), view.tolist(), view.hex()),
        (view[0], view[-1], bytes(view[1:3]), list(view), list(reversed(view)), 98 in view),
        (view == data, view != b"x", view[::-1].tobytes(), hash(view) == hash(data), view.obj is data),
    )


def written():
    data = bytearray(b"abcdef")
    view = memoryview(data)
    view[0] = 90
    view[1:3] = b"xy"
    view[-1] = Number()
    part = view[2:4]
    part[0] = 33
    return data, bytes(view), part.tolist(), part.obj is data


def cast():
    numbers = array.array("i", [1, -2, 3])
    view = memoryview(numbers)
    view[1] = 7
    as_bytes = view.cast("B")
    as_bytes[0] = 5
    square = as_bytes.cast("B", [3, 4])
    return numbers, view.format, len(as_bytes), square.shape, square[0, 0], view.tolist(), view == numbers


def released():
    data = bytearray(b"ab")
    with memoryview(data) as view:
        data[0] = 99
        first = view[0]
    data.append(1)
    try:
        view[0]
    except ValueError as error:
        return data, first, str(error), repr(view)[:9]


def packed():
    data = bytearray(8)
    struct.pack_into("<I", memoryview(data), 2, 258)
    length = io.BytesIO(b"xyz").readinto(memoryview(data)[5:])
    return data, length


def read_only(data):
    memoryview(data)[0] = 1


def wrong_type():
    memoryview(bytearray(3))[0] = "a"


def wrong_value():
    memoryview(bytearray(3))[0] = 256


def wrong_index():
    return memoryview(b"abc")[3]


def no_buffer():
    return memoryview("abc")


def no_buffer_of_python():
    return memoryview(Number())


def wrong_cast():
    return memoryview(b"abc").cast("I")


def unhashable():
    return hash(memoryview(bytearray(b"a")))


def other_size():
    data = bytearray(3)
    memoryview(data)[0:2] = b"abc"


def refusal_of(function, *args):
    try:
        function(*args)
    except (IndexError, TypeError, ValueError) as error:
        return type(error), str(error)


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


def grown():
    data = bytearray(b"ab")
    view = memoryview(data)
    first = view[0]
    del view
    data.append(first)
    return data


def grown_after_a_temporary():
    data = array.array("B", b"ab")
    total = sum(memoryview(data))
    data.append(total & 127)
    return data


def grown_while_looked_at():
    data = bytearray(b"ab")
    view = memoryview(data)
    try:
        data.append(1)
    except BufferError as error:
        return data, view[0], str(error)


def released_while_looked_at():
    view = memoryview(b"ab")
    other = memoryview(view)
    inner = io.BytesIO()
    inner.write(view)
    view.release()
    return other.tobytes(), inner.getvalue()


def returned():
    data = bytearray(b"ab")
    return data, memoryview(data)


def of_an_object_from_outside(data):
    view = memoryview(data)
    view[0] = 1
    return view[1]


class MemoryViews(unittest.TestCase):
    def check(self, function, *args, fullgraph=True):
        compiled = slotrt.compile(function, fullgraph=fullgraph)
        for _ in range(2):
            with self.subTest(function=function.__name__):
                expected, found = outcome(function, *args), outcome(compiled, *args)
                self.assertEqual(found, expected)
                self.assertIs(type(found), type(expected))

    def test_views_of_bytes(self):
        for data in (b"abcd", bytes(range(256))):
            self.check(looked_at, data)

    def test_views_of_what_was_made(self):
        for function in (written, cast, released, packed):
            self.check(function)

    def test_refusals(self):
        for data in (b"abc", b"x"):
            self.check(refusal_of, read_only, data)
        functions = (wrong_type, wrong_value, wrong_index, no_buffer, no_buffer_of_python, wrong_cast, unhashable)
        for function in (*functions, other_size):
            self.check(refusal_of, function)
            self.check(function, fullgraph=False)

    def test_memory_that_grows_when_nobody_looks_into_it(self):
        for function in (grown, grown_after_a_temporary, grown_while_looked_at, released_while_looked_at):
            self.check(function, fullgraph=False)

    def test_a_materialised_view(self):
        compiled = slotrt.compile(returned)
        for _ in range(2):
            data, view = compiled()
            view[0] = 120
            self.assertIs(view.obj, data)
            self.assertEqual(data, b"xb")
            self.assertRaises(BufferError, data.append, 1)

    def test_memory_from_outside(self):
        compiled = slotrt.compile(of_an_object_from_outside)
        for data in (bytearray(b"ab"), array.array("B", b"cd"), memoryview(bytearray(b"ef"))):
            second = data[1]
            self.assertEqual(compiled(data), second)
            self.assertEqual(data[0], 1)


if __name__ == "__main__":
    unittest.main()
