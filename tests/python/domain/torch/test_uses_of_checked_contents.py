"""Operations that look at contents to see whether these are right, or what to do: losses of sequences, covariances, spectra, assignments where one
truth says whether.

A row is a use and how many graph breaks its calls have at most. Compiled as it is, as a `GraphModule` and through AOTAutograd it does
what it does uncompiled."""

import unittest

import torch
import torch_programs
from torch import distributions, nn
from torch.nn import functional as F


def matrix():
    return torch.arange(1.0, 7.0).reshape(2, 3) / 4


def leaf():
    return matrix().requires_grad_()


def of(function, *makers):
    return lambda: (function, lambda number: [make() for make in makers or (matrix,)], [])


def letters():
    return (torch.arange(12.0).reshape(4, 1, 3) / 5).requires_grad_()


def loss_of_letters(x):
    return F.ctc_loss(x.log_softmax(-1), torch.tensor([[1, 2]]), torch.tensor([4]), torch.tensor([2])) * 2


def loss_of_lengths(x):
    return nn.CTCLoss()(x.log_softmax(-1), torch.tensor([[1, 2]]), (4,), (2,)) * 2


def covariances(x):
    return torch.cov(x) * 2, torch.corrcoef(x)


def wave():
    return torch.arange(32.0).sin()


def back_and_forth(x):
    window = torch.hann_window(8)
    spectrum = torch.stft(x, 8, hop_length=4, window=window, return_complex=True)
    return spectrum.abs() * 2, torch.istft(spectrum, 8, hop_length=4, window=window, length=32) + 1


def does_not_overlap(x):
    spectrum = torch.stft(x, 8, hop_length=8, window=torch.hann_window(8), return_complex=True, center=False)
    try:
        return torch.istft(spectrum, 8, hop_length=8, window=torch.hann_window(8), center=False)
    except RuntimeError as error:
        return str(error)[:30], x * 2


def where_one_truth_says(x):
    y = x * 2
    y[x.sum() > 1] = 7.0
    y[0, x.sum() > 100] = 8.0
    y[x.sum() < 0] = x + 1
    return y


def divergence(x):
    return distributions.kl_divergence(distributions.Bernoulli(logits=x), distributions.Bernoulli(0.5))


def by_number(x):
    y = x * 2
    y[x.argmax() - 4] = 0.0
    return y


def asserted_before_a_change(x, y):
    try:
        assert (x > 0).all(), "what is not positive"
        if torch.isnan(y).any():
            raise ValueError("what is no number")
    except (AssertionError, ValueError) as error:
        return type(error), str(error), y
    y.add_(1)
    return x * 2


def asserted(number):
    return [[matrix(), matrix()], [matrix() - 1, matrix()], [matrix(), matrix() / 0 * 0]][number]


ROWS = [
    (lambda: (asserted_before_a_change, asserted, []), None),
    (of(loss_of_letters, letters), 0),
    (of(loss_of_lengths, letters), 0),
    (of(covariances), 0),
    (of(back_and_forth, wave), 0),
    (of(does_not_overlap, wave), None),
    (of(where_one_truth_says), 0),
    (of(where_one_truth_says, leaf), 0),
    (of(divergence, leaf), 0),
    (of(by_number), 0),
]


class UsesOfCheckedContents(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS


if __name__ == "__main__":
    unittest.main()
