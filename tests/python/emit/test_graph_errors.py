"""A call in the graph raises: the program's handlers get the exception of plain Python, after the same side effects."""
import signal
import traceback
import unittest
import warnings

import slotrt

try:
    import numpy
except ImportError:
    numpy = None


def in_a_try(x, out):
    out.append("before")
    try:
        y = numpy.linalg.inv(x)
        out.append("after")
    except numpy.linalg.LinAlgError as error:
        out.append(str(error))
        return out
    return out, y.tolist()


def in_a_continuation(x, out):
    z = None
    try:
        slotrt.graph_break()
        z = x + 1
        out.append(1)
        y = numpy.linalg.inv(x)
    except numpy.linalg.LinAlgError:
        return out, z.tolist()
    finally:
        out.append("finally")
    return y.tolist()


def in_a_loop(x, out):
    for n in range(3):
        try:
            out.append(n)
            slotrt.graph_break()
            y = numpy.linalg.inv(x * (2 - n))
            out.append(float(y[0, 0]))
        except numpy.linalg.LinAlgError:
            out.append("caught")
            continue
    return out


def with_cells(x, out, *more, key=None, **words):
    def read():
        return y, out

    y = None
    try:
        y = numpy.linalg.inv(x)
        slotrt.graph_break()
    except numpy.linalg.LinAlgError:
        return "caught", read()[0], out, more, key, words
    return read()[0].tolist()


def uncaught(x, out):
    out.append(1)
    y = x + 1
    return (numpy.linalg.inv(x)
            + y)


def unbound(x, out):
    if len(out) > 5:
        z = 1
    try:
        slotrt.graph_break()
        y = numpy.linalg.inv(x)
        del out
        slotrt.graph_break()
        y = numpy.linalg.inv(x - 2 * numpy.eye(2))
    except numpy.linalg.LinAlgError:
        try:
            return z, out
        except NameError as error:
            return str(error)
    return y.tolist()


def generates(x, out):
    try:
        yield 1
        y = numpy.linalg.inv(x)
        out.append(2)
        yield y.tolist()
    except numpy.linalg.LinAlgError:
        yield "caught"
    finally:
        out.append("finally")


def drained(x, out):
    return list(generates(x, out)), out


def called(graph, examples):
    return lambda *inputs: graph(*inputs)


def observed(function, *args):
    try:
        return repr(function(*args))
    except Exception as error:
        return type(error), str(error), [entry.lineno for entry in traceback.extract_tb(error.__traceback__)][1:2]


@unittest.skipUnless(hasattr(slotrt, "compile") and numpy, "slotrt does not trace this release, or numpy is not installed")
class GraphErrors(unittest.TestCase):
    FUNCTIONS = [in_a_try, in_a_continuation, in_a_loop, with_cells, uncaught, unbound, drained]

    def setUp(self):
        slotrt.reset()

    def test_the_program_raises_it(self):
        good, bad, other = numpy.eye(2) * 2, numpy.zeros((2, 2)), numpy.eye(2) * 4
        for backend in (None, called):
            for function in self.FUNCTIONS:
                compiled = slotrt.compile(function, backend=backend) if backend else slotrt.compile(function)
                for value in (good, bad, other, bad, good):
                    expected = observed(function, value, [])
                    self.assertEqual(observed(compiled, value, []), expected, function.__name__)
        self.assertGreater(slotrt.stats()["graphs"], 10)
        self.assertGreater(slotrt.stats()["cache_hits"], 10)

    def test_generators(self):
        compiled = slotrt.compile(generates)
        for value in (numpy.eye(2), numpy.zeros((2, 2)), numpy.eye(2)):
            self.assertEqual(list(compiled(value, [])), list(generates(value, [])))

    def test_what_only_the_backend_raises_leaves_the_frame(self):
        def raises(graph, examples):
            def run(*inputs):
                raise RuntimeError("the backend's own")

            return run

        def function(x, out):
            try:
                y = x + 1
                out.append(y)
                return y
            except RuntimeError:
                return "not an exception of the program"

        out = []
        with self.assertRaisesRegex(RuntimeError, "the backend's own"):
            slotrt.compile(function, backend=raises)(numpy.arange(3), out)
        self.assertEqual(out, [])

    def test_signals_in_the_graph(self):
        """Python's own handler raises in the backend's code: the program gets it where it looks next, under its handlers."""
        def interrupted(graph, examples):
            def run(*inputs):
                signal.raise_signal(signal.SIGINT)
                return graph(*inputs)

            return run

        def function(x, out):
            try:
                y = x + 1
                out.append(1)
                abs(len(y))
                out.append("not here")
            except KeyboardInterrupt:
                return "caught", out

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        compiled = slotrt.compile(function, backend=interrupted)
        for _ in range(2):
            self.assertEqual(compiled(numpy.arange(3), []), ("caught", [1]))

    def test_warnings_as_errors(self):
        def function(x):
            try:
                return (1 / x).tolist()
            except (RuntimeWarning, FloatingPointError) as error:
                return str(error)

        compiled = slotrt.compile(function)
        for values in ([1.0, 2.0], [0.0, 1.0], [4.0, 1.0]):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.assertEqual(compiled(numpy.array(values)), function(numpy.array(values)))


if __name__ == "__main__":
    unittest.main()
