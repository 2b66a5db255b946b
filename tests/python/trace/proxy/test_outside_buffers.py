"""Byte arrays from outside, and views of bytes: the trace works on a copy, and changes the original at its end."""

import operator
import unittest

import slotrt


class Number:
    def __index__(self):
        return 65


BYTE_ARRAYS = (
    lambda b: (len(b), bool(b), b[0], b[-1], b[1:3], bytes(b), list(b), sum(b), max(b)),
    lambda b: (b == b"hello", b"ell" in b, 104 in b, b + b"x", b"x" + b, b * 2, b < b"i", repr(b), str(b)),
    lambda b: (b.decode(), b.upper(), b.find(b"l"), b.startswith(b"he"), b.split(b"l"), b.hex(), b.count(b"l")),
    lambda b: ([byte for byte in b], int.from_bytes(b, "big"), b"-".join([b, b]), b"%s" % b, bytearray(b), hash(bytes(b))),
    lambda b: (b.append(33), b.extend(b"abc"), b.pop(), b.insert(0, Number()), b.reverse(), len(b)),
    lambda b: (operator.setitem(b, 0, 66), operator.setitem(b, slice(1, 3), b"wxyz"), operator.delitem(b, 0), b.copy()),
    lambda b: (operator.iadd(b, b"q") is b, b.clear(), b.extend(range(3)), b),
    lambda b: (memoryview(b)[0], memoryview(b).tolist()),
    lambda b: (next(iter(b)), list(reversed(b)), sorted(b), b.index(108)),
    lambda b: b[77],
    lambda b: b.append(300),
    lambda b: hash(b),
    lambda b: iter(b),
    lambda b: b.translate(None, b"l"),
)
VIEWS = (
    lambda m: (m[0], m[-1], len(m), m.nbytes, m.readonly, m.format, m.shape, m.itemsize, m.ndim, m.contiguous),
    lambda m: (bytes(m), m.tobytes(), m.tolist(), m.hex(), list(m), sum(m), 108 in m, bytes(m[1:3])),
    lambda m: (m == b"hello", m == m, m[::-1].tobytes(), bytes(m.obj), m.toreadonly().readonly, m.cast("b").format),
    lambda m: m[77],
    lambda m: hash(m) == hash(bytes(m)),
    lambda m: operator.setitem(m, 0, 66),
    lambda m: (operator.setitem(m, slice(0, 2), b"zz"), m[0], bytes(m.obj)),
    lambda m: m.release(),
    lambda m: next(iter(m)),
)


def outcome(function, given, *holders):
    try:
        result = function(given)
        result = list(result) if hasattr(result, "__next__") else result
    except Exception as error:
        result = type(error).__name__, str(error)
    try:
        left = bytes(given)
    except ValueError as error:
        left = str(error)
    return result, left, [bytes(holder) for holder in holders]


class OutsideBuffers(unittest.TestCase):
    def test_byte_arrays(self):
        for program in BYTE_ARRAYS:
            compiled = slotrt.compile(program)
            for viewed in (False, True, False):
                with self.subTest(line=program.__code__.co_firstlineno, viewed=viewed):
                    pairs = [bytearray(b"hello"), bytearray(b"hello")]
                    views = [memoryview(each) for each in pairs if viewed]
                    for change in (lambda b: None, lambda b: operator.setitem(b, 0, 120), lambda b: None):
                        self.assertEqual(outcome(compiled, pairs[0]), outcome(program, pairs[1]))
                        change(pairs[0])
                        change(pairs[1])
                    for view in views:
                        view.release()

    def test_no_break(self):
        for program in BYTE_ARRAYS[:9]:
            slotrt.compile(program, fullgraph=True)(bytearray(b"hello"))
        for program in VIEWS[:3]:
            slotrt.compile(program, fullgraph=True)(memoryview(b"hello"))
            slotrt.compile(program, fullgraph=True)(memoryview(bytearray(b"hello")))

    def test_views(self):
        makers = (
            lambda: memoryview(b"hello"),
            lambda: memoryview(bytearray(b"hello")),
            lambda: memoryview(bytearray(b"--hello--"))[2:7],
            lambda: memoryview(bytearray(b"hello")).toreadonly(),
            lambda: memoryview(b"h-e-l-l-o")[::2],
            lambda: memoryview(bytearray(b"hellohello")).cast("B", (2, 5)),
            lambda: memoryview(b"hello").cast("b"),
        )
        for program in VIEWS:
            compiled = slotrt.compile(program)
            for number, make in enumerate(makers):
                with self.subTest(line=program.__code__.co_firstlineno, number=number):
                    one, other = make(), make()
                    self.assertEqual(outcome(compiled, one, one.obj), outcome(program, other, other.obj))

    def test_a_view_and_what_it_shows(self):
        programs = (
            lambda b, m: (operator.setitem(b, 0, 65), m[0], operator.setitem(m, 1, 66), bytes(b)),
            lambda b, m: (m[0], operator.setitem(b, 0, 65), m[0], m.obj is b),
            lambda b, m: b.append(1),
            lambda b, m: (b.append(1), b.pop()),
        )
        for program in programs:
            compiled = slotrt.compile(program)
            for same in (True, False, True):
                with self.subTest(line=program.__code__.co_firstlineno, same=same):
                    seen = []
                    for function in (compiled, program):
                        data, other = bytearray(b"hello"), bytearray(b"world")
                        view = memoryview(data if same else other)
                        try:
                            seen.append(function(data, view))
                        except BufferError as error:
                            seen.append(str(error))
                        seen.append((bytes(data), bytes(other)))
                    self.assertEqual(seen[:2], seen[2:])


if __name__ == "__main__":
    unittest.main()
