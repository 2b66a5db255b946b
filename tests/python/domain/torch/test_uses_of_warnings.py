"""What PyTorch warns of: each warning once, at the program's line, whether PyTorch repeats it or gives it once in a process."""

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import unittest
import warnings

import slotrt
import torch
import torch_programs

WAYS = {
    "plain": lambda function: function,
    "as they are": slotrt.compile,
    "fx": slotrt.compile(backend=lambda graph, inputs: graph),
    "autograd": slotrt.compile(backend="aot_eager"),
}


def tensors(number):
    return [torch.arange(12.0).reshape(2, 3, 2) + number]


def use(function):
    return lambda: (function, tensors, [])


def indices_in_a_list(x):
    y = x + 1
    z = y[[[1, 0]]]
    return z * 2


def result_of_another_size(x):
    y = torch.ones(3)
    torch.sin(x + 1, out=y)
    return y * 2


def results_of_another_size(x):
    torch.sort(x, out=(torch.empty(1), torch.empty(1, dtype=torch.long)))
    return x + 1


def ranges(x):
    first = torch.range(0, 3)
    second = torch.range(0, 2)
    return first.sum() + second.sum() + x


def bytes_for_truths(x):
    return x[torch.tensor([1, 0], dtype=torch.uint8)]


def raised(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return torch.range(0, 3) + x.sum()
        except UserWarning as warning:
            return str(warning)[:40], x * 2


def ignored(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = torch.range(0, 3) + x.sum()
    return y * 2


def transposed(x):
    return x.T * 2


def without_dimension(x):
    y = x * 2
    z = torch.cross(y[:, :, 0], y[:, :, 1])
    return z + 1


def half_complex(x):
    y = torch.zeros(2, dtype=torch.complex32)
    return y.real + x.sum()


def half_complex_as_it_is(x):
    y = torch.view_as_complex(x.half())
    z = torch.atleast_1d(y.contiguous()).positive().resolve_neg()
    return z.real + x.sum(), z.nonzero(), z[0, 1].item()


def rows_compressed(x):
    y = x[0] + 1
    return y.to_sparse_csr().to_dense() * 2


def transposed_again(x):
    y = x + 1
    return y.T, torch.cross(y[:, :, 0], y[:, :, 1])


def told():
    """What each call of what warns once in a process warns of, compiled as the command line says."""
    log, compiled = [], WAYS[sys.argv[2]]
    for function in (without_dimension, transposed, half_complex, half_complex_as_it_is, rows_compressed, transposed_again):
        call = compiled(function)
        for number in range(2):
            with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()) as shown:
                warnings.simplefilter("always")
                call(*tensors(number))
            warned = re.findall(r"^(.+):(\d+): \w+: (.+)$", shown.getvalue(), re.MULTILINE)
            log.append((function.__name__, number, [(text[:60], line, file) for file, line, text in warned]))
        if sys.argv[2] == "as they are":
            print(function.__name__, slotrt.stats()["graph_breaks"], file=sys.stderr)
            slotrt.reset()
    print(log)


class Repeated(torch_programs.ThreeWays, unittest.TestCase):
    functions = indices_in_a_list, result_of_another_size, results_of_another_size, ranges, bytes_for_truths, raised, ignored
    rows = [(use(function), None) for function in functions]


class OncePerProcess(unittest.TestCase):
    maxDiff = None

    def test_once(self):
        logs, environment = {}, {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        for way in WAYS:
            command = sys.executable, __file__, "told", way
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
            logs[way] = ast.literal_eval(done.stdout)
            if way == "as they are":
                breaks = dict(line.split() for line in done.stderr.splitlines() if line.split()[0] in globals())
        self.assertEqual(sum(len(warned) for _, _, warned in logs["plain"]), 4)
        for way, log in logs.items():
            with self.subTest(way=way):
                texts = [[text for text, *_ in warned] for _, _, warned in log]
                self.assertEqual(texts, [[text for text, *_ in warned] for _, _, warned in logs["plain"]])
        self.assertEqual(breaks["without_dimension"], "0")
        self.assertEqual(breaks["half_complex_as_it_is"], "0")
        self.assertEqual(breaks["half_complex"], "0")
        self.assertEqual(breaks["transposed_again"], "0")
        self.assertEqual(logs["as they are"], logs["plain"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["told"]:
        told()
    else:
        unittest.main()
