"""Looking at what a program calls asks it for nothing: names, modules and receivers are read past methods of the program."""
import unittest

import slotrt

ASKED = []


class Answers:
    """Answers for any attribute, notes which, and has a text of its own."""

    def __getattr__(self, name):
        ASKED.append(name)
        return Answers()

    def __str__(self):
        ASKED.append("str")
        return "answers"

    def __call__(self, *given):
        return len(given)


class Property:
    @property
    def __name__(self):
        ASKED.append("name")
        return "by a property"

    def __call__(self, given):
        return given


class Raised(Exception):
    def __getattribute__(self, name):
        ASKED.append(name)
        return super().__getattribute__(name)

    def __setattr__(self, name, value):
        ASKED.append(name)
        super().__setattr__(name, value)


def raises(x):
    raise Raised(x, f"{x}")


def raised_through(x):
    return raises(x + 1)


def beside_sets(x):
    kept = {x, x + 1}
    return Answers()(kept, 1), Property()(kept), sorted(kept)


def from_outside(x, call=Answers(), other=Property()):
    kept = {x}
    print(end="")
    return call(kept), other(kept)


def held_by_the_trace(x):
    made = [Answers(), Property()]
    kept = {1, 2}
    return [call(kept) for call in made], max(made, key=lambda call: call is made[0]) is made[0]


class ObjectsAreNotAsked(unittest.TestCase):
    def test_nothing_is_asked(self):
        for function in (beside_sets, from_outside, held_by_the_trace):
            with self.subTest(function.__name__):
                expected, compiled = function(3), slotrt.compile(function)
                for _ in range(3):
                    self.assertEqual(compiled(3), expected)
                self.assertEqual(ASKED, [])

    def test_exceptions(self):
        for function in (raises, raised_through):
            compiled = slotrt.compile(function)
            for number in range(3):
                try:
                    compiled(number)
                except Raised:
                    pass
                else:
                    self.fail(function.__name__)
                self.assertEqual(ASKED, [], function.__name__)

    def tearDown(self):
        ASKED.clear()


if __name__ == "__main__":
    unittest.main()
