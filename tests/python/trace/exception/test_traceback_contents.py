"""What a program reads from a traceback within the trace: source lines, `f_locals` and `f_globals`."""

import traceback
import sys
import unittest

from compared import Compared


class Tracebacks(Compared):
    @unittest.skipIf(sys.version_info >= (3, 15), "it looks into a frozendict, for which a trace ends")
    def test_a_traceback_with_its_source_lines(self):
        def fails(value):
            return value.missing

        def report(value):
            try:
                fails(value)
            except AttributeError:
                return traceback.format_exc().splitlines()[-3:]

        self.same(report, 1)

    def test_f_locals_and_f_globals(self):
        def fails(value):
            twice = [value, value]
            raise ValueError(twice)

        def report(value):
            other = value
            try:
                fails(value)
            except ValueError as error:
                outer = error.__traceback__.tb_frame
                inner = error.__traceback__.tb_next.tb_frame
                seen = inner.f_locals["twice"], sorted(inner.f_locals), inner.f_globals["__name__"], len(inner.f_locals)
                other = 5
                return seen, outer.f_locals["other"], "value" in outer.f_locals, inner.f_locals.get("none", 7)

        self.same(report, 3)
        self.same(report, "x")


if __name__ == "__main__":
    unittest.main()
