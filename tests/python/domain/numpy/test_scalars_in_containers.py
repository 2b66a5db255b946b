"""numpy's numbers from outside in containers, and beside integers: they are the numbers that they are, and another one is no other trace."""

import json
import math
import unittest

import slotrt

try:
    import numpy as np
except ImportError as error:
    raise unittest.SkipTest(f"numpy is not installed: {error}") from error


def kept(x, number):
    held = {"rate": number, "count": x}
    parts = (number, x), [number] * 2
    return held["rate"], {**held}["rate"], parts, (lambda **named: named["rate"])(rate=number), [number] == [number]


def chosen(x, number):
    return sorted([(number, 1), (0.5, 2)]), min([number, 2, 3.0]), max(number, 1.5), number in [1.0, number]


# With one trace for all numbers.
COMPUTED = [
    kept,
    lambda x, number: (x * number, 1 - number, 7 // number + 7 % number - 7**number),
    lambda x, number: (1 < number, 2 >= number, number == 1),
    lambda x, number: (sum([number, number]), sum({"a": number, "b": 1}.values()), math.prod([number, 2])),
    lambda x, number: np.array([number, 2]),
]
OTHERS = [
    chosen,
    lambda x, number: 1j * number,
    lambda x, number: "%.3f %s" % (number, number),
    lambda x, number: json.dumps({"a": number}),
    lambda x, number: (math.sqrt(number), math.fsum([number, 0.1]), round(number)),
    lambda x, number: (repr([number, {"a": number}]), f"{number:.2f}"),
    lambda x, number: ({number: 1}[number], len({number, 1.5}), hash(number)),
]
KINDS = [np.float64, np.float32, np.complex128, np.int64]


def outcome(function, *args):
    try:
        return repr(function(*args))
    except Exception as error:
        return type(error), str(error)


class ScalarsInContainers(unittest.TestCase):
    def agree(self, functions):
        for index, function in enumerate(functions):
            for kind in KINDS:
                for of_container in (False, True):
                    with self.subTest(row=index, kind=kind.__name__, of_container=of_container):
                        slotrt.reset()
                        use = (lambda x, held, function=function: function(x, held["rate"])) if of_container else function
                        compiled = slotrt.compile(use)
                        for number in (1.5, 2.5, 3.5, 1.0):
                            given = kind(number)
                            args = (3, {"rate": given}) if of_container else (3, given)
                            self.assertEqual(outcome(compiled, *args), outcome(use, *args))
                        yield kind, slotrt.stats()

    def test_what_is_computed_with_them(self):
        for kind, stats in self.agree(COMPUTED):
            if kind is np.float64:
                self.assertEqual((stats["recompiles"], stats["graph_breaks"]), (0, 0))

    def test_what_c_looks_at(self):
        for _ in self.agree(OTHERS):
            pass


if __name__ == "__main__":
    unittest.main()
