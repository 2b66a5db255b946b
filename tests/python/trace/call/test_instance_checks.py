"""`isinstance` of objects that say their class themselves: the answers, the exceptions, and how often each is asked."""

import abc
import collections.abc
import unittest

import slotrt

asked = []


class SaysItsClass:
    def __init__(self, said):
        self.said = said

    @property
    def __class__(self):
        asked.append(self.said)
        if self.said is None:
            raise ZeroDivisionError("class")
        return self.said

    def __len__(self):
        return 1


class Abstract(abc.ABC):
    pass


class OfAbstract(SaysItsClass, Abstract):
    pass


CHECKS = [
    lambda x: isinstance(x, int),
    lambda x: isinstance(x, (list, str)),
    lambda x: isinstance(x, (list, SaysItsClass)),
    lambda x: isinstance(x, (list, (Abstract, int))),
    lambda x: isinstance(x, int | str),
    lambda x: isinstance(x, SaysItsClass),
    lambda x: isinstance(x, Abstract),
    lambda x: isinstance(x, collections.abc.Sized),
    lambda x: isinstance(x, (collections.abc.Sized, int)),
    lambda x: isinstance(x, (collections.abc.Hashable, collections.abc.Iterable, list)),
    lambda x: isinstance(x, (OfAbstract, collections.abc.Mapping)),
    lambda x: Abstract.__instancecheck__(x),
]


def outcome(check, given):
    asked.clear()
    try:
        result = check(given)
    except Exception as error:
        result = type(error), str(error)
    return result, len(asked)


class InstanceChecks(unittest.TestCase):
    def test_answers(self):
        for number, check in enumerate(CHECKS):
            slotrt.reset()
            compiled = slotrt.compile(check)
            for kind in SaysItsClass, OfAbstract:
                for said in int, list, dict, None, 3, Abstract, collections.abc.Sized:
                    with self.subTest(number, kind=kind.__name__, said=said):
                        wanted = outcome(check, kind(said))
                        self.assertEqual(outcome(compiled, kind(said)), wanted)
                        self.assertEqual(outcome(compiled, kind(said)), wanted)


if __name__ == "__main__":
    unittest.main()
