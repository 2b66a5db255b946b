"""Emitted code and continuations contain only what control can reach."""
import unittest

import slotrt


def made(text):
    namespace = {}
    exec(compile(text, "emitted.py", "exec"), namespace)
    return namespace["f"]


def steps(count):
    return "".join(f"    a = a + b * {n}\n" for n in range(count))


def straight(before, after):
    broken = "    print(end='')\n"
    return f"def f(a, b):\n{steps(before)}{broken}{steps(after)}    return a\n"


class Emitted(unittest.TestCase):
    def frames(self, text, *args):
        """Instructions before and after, of each frame that was traced; the compiled function gives what the original does."""
        slotrt.reset()
        function = made(text)
        expected = function(*args)
        report = slotrt.explain(function)(*args)
        self.assertEqual(report.result, expected)
        return [(frame["bytecode"]["before"], frame["bytecode"]["after"]) for frame in report.frames]

    def sizes(self, text, *args):
        return [(len(before), len(after)) for before, after in self.frames(text, *args)]

    def test_what_comes_after_a_break_is_in_its_continuation_alone(self):
        short, long = (self.sizes(straight(3, after), 1, 2) for after in (3, 60))
        self.assertEqual(len(short), 2)
        self.assertEqual(short[0][1], long[0][1])
        self.assertGreater(long[1][0], short[1][0] + 200)

    def test_what_comes_before_a_break_is_not_in_its_continuation(self):
        short, long = (self.sizes(straight(before, 3), 1, 2) for before in (3, 60))
        self.assertEqual(short[1], long[1])
        self.assertGreater(long[0][0], short[0][0] + 200)

    def test_what_leads_back_stays(self):
        text = "def f(a, b):\n    for i in range(3):\n{}        print(end='')\n    return a\n"
        inner = steps(40).replace("    a", "        a")
        short, long = (self.sizes(text.format(body), 1, 2) for body in ("        a = a + b\n", inner))
        self.assertGreater(long[1][0], short[1][0] + 150)
        self.assertEqual(short[0][1], long[0][1])

    def test_handlers_that_apply_stay(self):
        text = (
            "def f(a, b):\n    try:\n        a = a + b\n        print(end='')\n        a = a / b\n        a = [][a]\n"
            "    except ZeroDivisionError:\n        a = 'zero'\n    except TypeError as error:\n        a = str(error)\n    return a\n"
        )
        for b in (0, 2):
            before, _ = self.frames(text, 1, b)[1]
            self.assertTrue(any("CHECK_EXC_MATCH" in line for line in before))

    def test_other_branches_go(self):
        text = (
            "def f(a, b):\n    if a:\n        print(end='')\n        return a * b\n    else:\n"
            + steps(50).replace("    a", "        a") + "        print(end='')\n        return a - b\n"
        )
        sizes = self.sizes(text, 3, 2)
        self.assertLess(sizes[0][1], 60)
        self.assertLess(sizes[1][0], 40)


if __name__ == "__main__":
    unittest.main()
