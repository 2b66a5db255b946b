"""`gc.collect()` in a trace, and who follows it; code as the interpreter adapts it."""

import gc
import unittest

import slotrt

SEEN = []


def collects():
    gc.collect()
    return len(SEEN)


def adapted():
    return (lambda: 0).__code__._co_code_adaptive


class Collector(unittest.TestCase):
    def setUp(self):
        SEEN.clear()

    def test_callbacks_run_where_the_program_collects(self):
        compiled = slotrt.compile(collects)
        self.assertEqual(compiled(), 0)

        def follow(phase, info):
            SEEN.append(phase)

        gc.callbacks.append(follow)
        try:
            self.assertEqual(compiled(), 2)
            self.assertEqual(compiled(), 4)
            with self.assertRaises(slotrt.GraphBreak):
                slotrt.compile(collects, fullgraph=True)()
        finally:
            gc.callbacks.remove(follow)
        self.assertEqual(slotrt.compile(collects, fullgraph=True)(), len(SEEN))

    def test_adapted_code_is_asked_natively(self):
        self.assertEqual(slotrt.compile(adapted)(), adapted())
        with self.assertRaises(slotrt.GraphBreak):
            slotrt.compile(adapted, fullgraph=True)()


if __name__ == "__main__":
    unittest.main()
