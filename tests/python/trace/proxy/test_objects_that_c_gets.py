"""Objects that C gets by itself, from a module, and gives to code of the program: they are what they were."""

import sys
import typing
import unittest

import slotrt

Ts = typing.TypeVarTuple("Ts")
T = typing.TypeVar("T")


def unpacked(parameters):
    return [*parameters][0]


def alias(parameters):
    return tuple[*parameters]


def joined(parameter):
    return parameter | "text"


class ObjectsThatCGets(unittest.TestCase):
    def test_special_forms(self):
        compiled = slotrt.compile(unpacked)
        for _ in range(2):
            made = compiled(Ts)
            self.assertEqual(made, unpacked(Ts))
            self.assertIs(made.__origin__, typing.Unpack)

    def test_what_is_made_of_them(self):
        for function, parameter in ((alias, Ts), (joined, T)):
            with self.subTest(function=function.__name__):
                compiled = slotrt.compile(function)
                for _ in range(2):
                    made, plain = compiled(parameter), function(parameter)
                    self.assertEqual((repr(made), made.__parameters__), (repr(plain), plain.__parameters__))
                    if function is alias:
                        self.assertEqual(made[int, str], plain[int, str])


class Account:
    events = None


def audited(event, args, account=Account, *, kept=Account()):
    if account.events is not None and event == "code.__new__":
        kept.last = event
        account.events.append(type(kept).__name__)


def renamed(number):
    return audited.__code__.replace(co_name="other").co_name, number + 1


class Defaults(unittest.TestCase):
    """What the interpreter fills in where C calls a function of the program is no object of C's: here an audit hook, which cannot be taken out."""

    def test_of_a_function_that_c_calls(self):
        sys.addaudithook(audited)
        compiled = slotrt.compile(renamed)
        for number in range(4):
            self.assertEqual(compiled(number), renamed(number))
        self.assertEqual(slotrt.stats()["graph_breaks"], 0)
        results = []
        for function in (renamed, compiled):
            Account.events = []
            function(1)
            results.append(Account.events)
            Account.events = None
        self.assertEqual(results[1][-1:], results[0])


if __name__ == "__main__":
    unittest.main()
