"""The generated dispatch functions on real objects against the interpreter: results, exceptions, order of user calls."""

import operator
import unittest
import warnings

import slotrt.protocol as protocol

BINARY = {
    "Or": operator.or_, "Xor": operator.xor, "And": operator.and_, "Lshift": operator.lshift, "Rshift": operator.rshift,
    "Subtract": operator.sub, "Add": operator.add, "Multiply": operator.mul, "MatrixMultiply": operator.matmul,
    "FloorDivide": operator.floordiv, "TrueDivide": operator.truediv, "Remainder": operator.mod, "Divmod": divmod,
    "InPlaceOr": operator.ior, "InPlaceXor": operator.ixor, "InPlaceAnd": operator.iand, "InPlaceLshift": operator.ilshift,
    "InPlaceRshift": operator.irshift, "InPlaceSubtract": operator.isub, "InPlaceAdd": operator.iadd,
    "InPlaceMultiply": operator.imul, "InPlaceMatrixMultiply": operator.imatmul, "InPlaceFloorDivide": operator.ifloordiv,
    "InPlaceTrueDivide": operator.itruediv, "InPlaceRemainder": operator.imod,
}
UNARY = {"Negative": operator.neg, "Positive": operator.pos, "Invert": operator.invert, "Absolute": abs, "Index": operator.index, "Float": float}
CALLS = []
NAMES = ["or", "xor", "and", "lshift", "rshift", "sub", "add", "mul", "matmul", "floordiv", "truediv", "mod", "divmod"]


def recorder(name, answer):
    def method(self, *args):
        CALLS.append((type(self).__name__, name, tuple(type(arg).__name__ for arg in args)))
        return answer(self, *args)

    return method


def fail(self, *args):
    raise ValueError("from a user method")


ANSWERS = {"Answers": lambda *args: "answer", "Declines": lambda *args: NotImplemented, "Raises": fail}


import functools


@functools.cache
def make(name, base, prefixes, answer):
    names = [f"__{prefix}{name}__" for name in NAMES for prefix in prefixes if (prefix, name) != ("i", "divmod")]
    return type(name, (base,), {dunder: recorder(dunder, answer) for dunder in names})


def values():
    """Fresh values, as many each time."""
    out = [0, 1, -3, 2**70, True, 1.5, float("inf"), 2j, "a%s", b"ab", bytearray(b"x"), [1, 2], (3,), {}, {"k": 1}, {1, 2}, frozenset({2}),
           None, NotImplemented, ..., range(3), int, int | str, print, len, memoryview(b"ab"), {1: 2}.keys(), object, type]
    for kind, answer in ANSWERS.items():
        left = make("Left" + kind, object, ("",), answer)
        both = make("Both" + kind, object, ("", "r"), answer)
        out += [left(), both(), make("Sub" + kind, both, ("r",), answer)(), make("Right" + kind, object, ("r",), answer)(),
                make("InPlace" + kind, object, ("i",), answer)(), make("Int" + kind, int, ("", "r"), answer)(5),
                make("Dict" + kind, dict, ("r",), answer)(a=1)]
    return out + others()


@functools.cache
def kinds():
    hidden = type("Hidden", (), {f"__{name}__": None for name in NAMES})
    meta = type("Meta", (type,), {"__or__": recorder("__or__", lambda *args: "meta"), "__rmul__": recorder("__rmul__", lambda *args: 7)})
    return [hidden, type("Plain", (), {}), lambda: meta("Made", (), {}), type("Indexed", (), {"__index__": lambda self: 2}),
            type("BadIndex", (), {"__index__": lambda self: "no", "__float__": lambda self: 1, "__bool__": lambda self: 3})]


def others():
    return [kind() for kind in kinds()]


def outcome(function, *args):
    CALLS.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args)
            shown = (type(result).__name__, repr(result).split(" at 0x")[0])
        except RecursionError:
            shown = ("raised", "RecursionError")
        except Exception as error:
            shown = ("raised", type(error).__name__, str(error).split(" at 0x")[0])
    return shown, list(CALLS), [str(one.message) for one in caught]


class Protocol(unittest.TestCase):
    def compare(self, name, ours, theirs, arity):
        count = len(values())
        cases = 0
        for i in range(count):
            for j in range(count) if arity == 2 else [0]:
                # The same value twice as an in-place operation would see it, but never shared between the two runs.
                mine, other = values(), values()
                args = lambda all: (all[i], all[j])[:arity]
                if name.endswith("shift") and isinstance(mine[j], int) and mine[j] > 2**40:
                    continue
                got, want = outcome(ours, *args(mine)), outcome(theirs, *args(other))
                self.assertEqual(got, want, (name, args(mine)))
                cases += 1
        return cases

    def test_binary(self):
        for name, theirs in BINARY.items():
            with self.subTest(name):
                self.assertGreater(self.compare(name, getattr(protocol, "PyNumber_" + name), theirs, 2), 2000)

    def test_unary(self):
        for name, theirs in UNARY.items():
            with self.subTest(name):
                self.compare(name, getattr(protocol, "PyNumber_" + name), theirs if name != "Float" else operator_float, 1)

    def test_compare(self):
        names = ["lt", "le", "eq", "ne", "gt", "ge"]
        for op, name in enumerate(names):
            with self.subTest(name):
                self.compare(name, lambda v, w: protocol.PyObject_RichCompare(v, w, op), getattr(operator, name), 2)

    def test_truth(self):
        self.compare("bool", lambda v: bool(protocol.PyObject_IsTrue(v)), operator.truth, 1)
        self.compare("len", protocol.PyObject_Size, len, 1)

    def test_items(self):
        self.compare("getitem", protocol.PyObject_GetItem, operator.getitem, 2)


def operator_float(value):
    """`PyNumber_Float` as `float` reaches it for one argument that is no subclass matter."""
    return float(value)


if __name__ == "__main__":
    unittest.main()
