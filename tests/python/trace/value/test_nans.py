"""NaNs differ by identity: the hash of one is its address, and containers compare identity first."""
import contextlib
import io
import unittest

import slotrt

ONE, OTHER = float("nan"), float("nan")


class Hashed:
    def __init__(self, inner):
        self.inner = inner

    def __hash__(self):
        print("hash")
        return hash(self.inner)

    def __eq__(self, other):
        print("eq")
        return self.inner == other.inner


def hashed(x):
    return len({Hashed(x * 2), Hashed(x * 2)})


def made(x):
    one, other = x**2, x**2
    return one is other, hash(one) == hash(other), len({one, other}), [one] == [one], [one] == [other]


def parts(x):
    return [x * 2, (1, -x), complex(1, x), complex(x, -0.0), {x + 1: 2}]


def searched(x, y=ONE):
    found = x in (y,), [x] == [y], (x,) == (y,), {x: 1}.get(y), {(x, 1): 1}.get((y, 1)), hash(x) == hash(y)
    return found, ONE is x, ONE in [x], {ONE: 3}.get(x), [x, y].index(y), [x, y].count(x)


def kept_in(x, values):
    return x in values, values.count(x), [x] + values, dict.fromkeys(values).get(x)


def given_by_a_manager(x):
    @contextlib.contextmanager
    def giving(x):
        try:
            yield x
        except AttributeError:
            pass

    with giving(x) as y:
        y.nothing
    return y is x, {y: 1}.get(x)


CALLS = [
    (given_by_a_manager, (ONE,)),
    (hashed, (ONE,)),
    (made, (ONE,)),
    (parts, (ONE,)),
    *((searched, pair) for pair in ((ONE,), (OTHER,), (ONE, OTHER), (OTHER, ONE), (OTHER, OTHER), (ONE, ONE))),
    *((kept_in, (x, [y, 1.5])) for x in (ONE, OTHER) for y in (ONE, OTHER)),
]


def seen(function, arguments):
    """Result and prints, with NaNs by name."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        return repr(function(*arguments)), printed.getvalue()


def addresses(found):
    return [one if one == one else id(one) for one in (found if isinstance(found, (list, dict)) else [found])]


class Nans(unittest.TestCase):
    def test_as_in_plain_python(self):
        compiled = {function: slotrt.compile(function) for function, _ in CALLS}
        for _ in range(3):
            for function, arguments in CALLS:
                with self.subTest(function.__name__, arguments=[argument is ONE for argument in arguments]):
                    self.assertEqual(seen(compiled[function], arguments), seen(function, arguments))

    def test_each_call_makes_new_ones(self):
        compiled = slotrt.compile(parts, fullgraph=True)
        results = [compiled(ONE) for _ in range(3)]
        self.assertEqual(len({result[0] for result in results}), 3)
        self.assertEqual(len({result[2] for result in results}), 3)

    def test_those_that_tuples_and_frozen_sets_hold_are_the_same_afterwards(self):
        functions = [
            lambda held: [one for one in held if one != one],
            lambda held: max(held),
            lambda held: [*held][0],
            lambda held: next(iter(held)),
            lambda held: dict.fromkeys(held),
            lambda held: (lambda *given: sorted(given, key=str)[-1])(*held),
            lambda held: [hash(held), *held],
        ]
        for function in functions:
            for held in ((ONE, 1), frozenset({OTHER})):
                compiled = slotrt.compile(function)
                for _ in range(3):
                    self.assertEqual(addresses(compiled(held)), addresses(function(held)))

    def test_those_of_nested_tuples(self):
        compiled = slotrt.compile(lambda held: [one for inner in held for one in inner])
        for _ in range(3):
            self.assertEqual(addresses(compiled(((1, ONE), (OTHER,)))), addresses([1, ONE, OTHER]))


if __name__ == "__main__":
    unittest.main()
