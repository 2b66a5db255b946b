"""Generators and coroutines are called as their functions were when they were called, also where these get other names in the trace."""

import unittest

import slotrt


def generator():
    yield 1


async def coroutine():
    pass


def named_before(name):
    generator.__name__ = name
    made = generator()
    return made.__name__, generator.__name__


def named_before_a_break(name):
    generator.__name__ = name
    made = generator()
    slotrt.graph_break()
    return made.__name__


def named_after(name):
    made = generator()
    generator.__name__ = name
    return made.__name__


def leaves(name):
    made = generator()
    generator.__name__ = name
    return made


def of_a_coroutine(name):
    coroutine.__name__ = name
    made = coroutine()
    made.close()
    return made.__name__


class Names(unittest.TestCase):
    def test_the_name_at_the_call(self):
        for function in (named_before, named_before_a_break, named_after, leaves, of_a_coroutine):
            with self.subTest(function=function.__name__):
                seen = []
                for run in function, slotrt.compile(function):
                    generator.__name__ = coroutine.__name__ = "first"
                    results = [run(name) for name in ("a", "b", "b", "c")]
                    seen.append([getattr(result, "__name__", result) for result in results])
                self.assertEqual(seen[1], seen[0])


if __name__ == "__main__":
    unittest.main()
