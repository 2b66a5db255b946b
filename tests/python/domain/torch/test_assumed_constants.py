"""Functions marked with `torch._dynamo.assume_constant_result`: called while tracing, their results are constants of the graph."""

import functools
import unittest

import torch

import slotrt

asked = []


def marked(function):
    """What the decorator does; it would import TorchDynamo."""
    function._dynamo_marked_constant = True
    return function


@functools.lru_cache
@marked
def has_package(name):
    import importlib.util

    asked.append(name)
    return importlib.util.find_spec(name) is not None


@marked
def scale(base, *, times=1):
    asked.append(base)
    return base * times


@marked
def gives_list():
    asked.append("list")
    return [1]


@marked
def raises():
    asked.append("raises")
    raise KeyError("no such thing")


class AssumedConstants(unittest.TestCase):
    def setUp(self):
        slotrt.reset()
        asked.clear()

    def compiled(self, function, *args, graphs=1):
        explanation = slotrt.explain(function)(*args)
        self.assertEqual((explanation.graphs, explanation.breaks), (graphs, 0))
        return explanation.result

    def test_a_probe_behind_a_cache_is_part_of_one_graph(self):
        def probe(x):
            return x + 1 if has_package("json.decoder") else x - 1

        x = torch.ones(2)
        self.assertTrue(torch.equal(self.compiled(probe, x), x + 1))
        self.assertEqual(asked, ["json.decoder"])
        has_package.cache_clear()
        asked.clear()
        compiled = slotrt.compile(probe)
        before = slotrt.stats()["frames_compiled"]
        for _ in range(3):
            self.assertTrue(torch.equal(compiled(x), x + 1))
        self.assertEqual(slotrt.stats()["frames_compiled"], before + 1)
        self.assertEqual(asked, ["json.decoder"])
        self.assertTrue(has_package("json.decoder"))
        self.assertEqual(asked, ["json.decoder"])
        has_package.cache_clear()

    def test_arguments_are_guarded(self):
        def scaled(x, base):
            return x * scale(base, times=3)

        compiled = slotrt.compile(scaled)
        for base in (2, 2, 5.5, 7.25, 2):
            self.assertTrue(torch.equal(compiled(torch.ones(2), base), torch.ones(2) * (base * 3)))

    def test_what_could_change_is_traced(self):
        def listed(x):
            items = gives_list()
            items.append(2)
            return x + len(items)

        compiled = slotrt.compile(listed)
        for _ in range(3):
            self.assertTrue(torch.equal(compiled(torch.ones(2)), torch.ones(2) + 2))

    def test_what_raises_raises(self):
        def fails(x):
            try:
                raises()
            except KeyError as error:
                return x + 1, str(error)

        compiled = slotrt.compile(fails)
        for _ in range(3):
            result, text = compiled(torch.ones(2))
            self.assertEqual((result.tolist(), text), ([2, 2], repr("no such thing")))

    def test_without_the_mark_nothing_is_assumed(self):
        def counted():
            asked.append(1)
            return len(asked)

        compiled = slotrt.compile(lambda x: x + counted())
        for expected in (2, 3, 4):
            self.assertEqual(compiled(torch.ones(1)).item(), expected)


if __name__ == "__main__":
    unittest.main()
