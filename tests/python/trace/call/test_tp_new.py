"""What a call of a class makes is what its slot `tp_new` says, not what the name `__new__` finds."""

import unittest

import slotrt


class Listed(list):
    """C leaves `list`'s function in the slot: the wrapper of another class is no function of this one."""

    __new__ = object.__new__


class Spelled(str):
    __new__ = object.__new__


class Failing(ValueError):
    __new__ = object.__new__


class Meta(type):
    __new__ = object.__new__


def told(make):
    """The type and text of what a call gives, or of what it raises."""
    try:
        made = make()
    except Exception as error:
        return type(error).__name__, str(error)
    return type(made).__name__, repr(made) if type(made).__repr__ is not object.__repr__ else ""


def own_base():
    class C(list):
        __new__ = object.__new__

    return told(C), told(lambda: C([1, 2])), told(lambda: C([1], 2))


def foreign_base():
    class C:
        __new__ = list.__new__

    return told(C), told(lambda: C(1))


def derived_from_foreign():
    class C:
        __new__ = dict.__new__

    class D(C):
        def __init__(self, value):
            self.value = value

    return D(3).value, told(D)


def from_outside():
    return told(Listed), told(lambda: Listed("ab")), len(Listed("ab")), told(lambda: Spelled(12)), told(lambda: Failing(1, 2))


def metaclass_from_outside():
    return told(lambda: Meta("C", (), {})), told(lambda: Meta(1))


def set_later():
    class A:
        pass

    class B(A):
        def __new__(cls):
            return super().__new__(cls)

    B.__new__ = object.__new__

    class C(B):
        pass

    return told(B), told(C), told(lambda: C(1)), told(lambda: B(1, a=2))


def restored():
    class A:
        def __new__(cls, *args):
            raise AssertionError("A")

    class B(A):
        __new__ = object.__new__

        def __init__(self, value):
            self.value = value

    seen = [told(lambda: B(3))]
    del B.__new__
    seen.append(told(lambda: B(3)))
    return seen


def static_wrapper():
    class C(list):
        __new__ = staticmethod(object.__new__)

    return told(C), told(lambda: C([1]))


def called_by_name():
    return told(lambda: object.__new__(Listed)), told(lambda: list.__new__(Listed)), told(lambda: Listed.__new__(Listed, [1]))


def without_init():
    class C(tuple):
        __new__ = list.__new__
        __init__ = object.__init__

    return told(C), told(lambda: C([1])), told(lambda: C([1], 2))


class TpNew(unittest.TestCase):
    def test_programs(self):
        for program in (
            own_base,
            foreign_base,
            derived_from_foreign,
            from_outside,
            metaclass_from_outside,
            set_later,
            restored,
            static_wrapper,
            called_by_name,
            without_init,
        ):
            with self.subTest(program.__name__):
                expected, compiled = program(), slotrt.compile(program)
                for _ in range(2):
                    self.assertEqual(compiled(), expected)

    def test_instances_leave_the_trace(self):
        def made():
            class C(list):
                __new__ = object.__new__

            made = C([1])
            made.name = "made"
            outside = Listed("ab")
            outside.append("c")
            return made, outside

        for _ in range(2):
            first, second = slotrt.compile(made)()
            self.assertEqual((list(first), first.name, type(first).__name__), ([1], "made", "C"))
            self.assertEqual((list(second), type(second)), (["a", "b", "c"], Listed))


if __name__ == "__main__":
    unittest.main()
