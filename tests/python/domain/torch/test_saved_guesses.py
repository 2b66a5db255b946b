"""Traces on disk that have guessed what contents decide, or choose by contents what guards say is there: another process does with other contents
what it does uncompiled, and traces nothing where they are as they were."""

import tempfile
import unittest

import two_processes

PROGRAM = """
import os, torch
import torch.nn.functional as F

CONTENTS = {
    "usual": {"classes": [0, 1, 2], "rows": [[1, 0, 1], [0, 1, 0], [1, 1, 1]], "x": [1.0, 2.0, 3.0], "tokens": [[1, 2, 0], [2, 1, 1]]},
    "rare": {"classes": [0, -100, 2], "rows": [[1, 0, 1], [0, 0, 0], [1, 1, 1]], "x": [1.0, float("nan"), 3.0], "tokens": [[1, 0, 2], [2, 0, 1]]},
    "wrong": {"classes": [0, 3, -1], "rows": [[0, 0, 0]] * 3, "x": [-1.0, 20.0, 3.0], "tokens": [[0, 2, 1], [1, 2, 1]]},
}
given = {name: torch.tensor(held) for name, held in CONTENTS[os.environ["CONTENTS"]].items()}
net = torch.nn.Linear(3, 3)
torch.nn.init.eye_(net.weight), torch.nn.init.zeros_(net.bias)

def shown(value):
    return str(value.tolist())

def step(scores, classes):
    net.weight.grad = net.bias.grad = None
    loss = F.cross_entropy(net(scores), classes)
    loss.backward()
    return shown(loss.detach()), shown(net.weight.grad), shown(torch.eye(4)[classes])

def experts(x, rows):
    total = torch.zeros_like(x)
    for number in range(3):
        chosen = torch.where(rows[number] > 0)[0]
        if chosen.numel() == 0:
            continue
        total.index_add_(0, chosen, x[chosen] * (number + 1))
    return shown(total)

def finite(x):
    loss = x.log().sum()
    return "no number" if torch.isnan(loss) else shown(loss * 2)

def ends(tokens):
    seen = []
    for number in range(3):
        seen.append(tokens[:, number])
        if (tokens[:, number] == 0).all():
            break
    return shown(torch.stack(seen))

def checked(x):
    assert (x > 0).all(), "not positive"
    if (x > 9).any():
        raise ValueError(f"too large: {x.max().item()}")
    return shown(x + 1)

matrix = torch.arange(9.0).reshape(3, 3) / 7
USES = [(step, matrix, given["classes"]), (experts, matrix, given["rows"]), (finite, given["x"]), (ends, given["tokens"]), (checked, given["x"])]
CALLS = [(f.__name__, f, args) for f, *args in USES for _ in range(2)]
OPTIONS = {"backend": os.environ["BACKEND"]}
"""


class SavedGuesses(unittest.TestCase):
    def check(self, backend, firsts):
        plain = {contents: self.run_program(None, "plain", contents, backend) for contents in ("usual", "rare", "wrong")}
        for first in firsts:
            with tempfile.TemporaryDirectory() as folder:
                saved = self.run_program(folder, "save", first, backend)
                self.assertEqual(saved["said"], plain[first]["said"])
                reasons = {reason.split(",")[0] for reason in saved["saved"]["left_out"]}
                self.assertLessEqual(reasons, {"a guess of contents that was wrong"} if first == "wrong" else set())
                for second in plain:
                    with self.subTest(first=first, second=second):
                        loaded = self.run_program(folder, "load", second, backend)
                        self.assertEqual(loaded["said"], plain[second]["said"])
                        self.assertEqual(loaded["unfit"], {})
                        self.assertGreater(loaded["loaded"], 0)
                        if first == second:
                            self.assertEqual(loaded["traced"], 0)

    def run_program(self, folder, mode, contents, backend):
        with tempfile.TemporaryDirectory() as other:
            return two_processes.run(folder or other, mode, PROGRAM, CONTENTS=contents, BACKEND=backend)

    def test_as_they_are(self):
        self.check("eager", ("usual", "wrong"))

    def test_through_autograd(self):
        self.check("aot_eager", ("usual",))


if __name__ == "__main__":
    unittest.main()
