"""Classes and indices that losses, embeddings and other operations take after `backward()`, in training loops that a program compiles as a whole:
guards say that what they choose is there.

A row is a use and how many graph breaks its calls have at most."""

import unittest

import slotrt
import torch
import torch_programs
from torch import nn
from torch.nn import functional as F


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))


def batches(count=3, classes=3):
    drawn = torch.Generator().manual_seed(1)
    return [(torch.randn(4, 3, generator=drawn), torch.randint(0, classes, (4,), generator=drawn)) for _ in range(count)]


def trained(loss, given=batches):
    """A use that makes a step with `loss(scores, classes)` for each batch."""

    def use():
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def f(pairs):
            total = 0.0
            for x, y in pairs:
                value = loss(model(x), y)
                optimizer.zero_grad()
                value.backward()
                optimizer.step()
                total += value.item()
            return total

        return f, lambda number: [given()], [model]

    return use


def padded():
    return [(x, torch.where(y > 1, -100, y)) for x, y in batches()]


def images():
    drawn = torch.Generator().manual_seed(1)
    return [(x, torch.randint(0, 3, (4, 2), generator=drawn)) for x, _ in batches()]


def of_images(scores, classes):
    return F.cross_entropy(scores[:, :, None].expand(4, 3, 2), classes)


def probabilities():
    return [(x, F.one_hot(y, 3).float()) for x, y in batches()]


def alone(scores, classes):
    return F.cross_entropy(scores[0], classes[0])


def made_here(scores, classes):
    return F.cross_entropy(scores, (torch.arange(4) + 1) % 3) + F.cross_entropy(scores, torch.zeros(4, dtype=torch.long))


def gathered(scores, classes):
    return -scores.log_softmax(-1).gather(1, classes[:, None]).mean()


def indexed(scores, classes):
    return -scores.log_softmax(-1)[torch.arange(4), classes].mean() + scores[0, classes[0]]


def as_vectors(scores, classes):
    return F.mse_loss(scores, F.one_hot(classes, 3).float())


def added(scores, classes):
    return torch.zeros(3, 3).index_add_(0, classes, scores).pow(2).sum()


def scattered(scores, classes):
    return torch.zeros(3).scatter_add(0, classes, scores[:, 0]).pow(2).sum()


def in_parts(scores, classes):
    first, second = classes.view(2, 2).unbind()
    return F.cross_entropy(scores, torch.cat([second, torch.stack([first[0], first[1]])]))


def language_model():
    embed, head = nn.Embedding(7, 4), nn.Linear(4, 7)
    optimizer = torch.optim.Adam([*embed.parameters(), *head.parameters()], lr=0.01)

    def f(ids):
        for start in range(0, 6, 3):
            x, y = ids[:, start : start + 3], ids[:, start + 1 : start + 4]
            loss = F.cross_entropy(head(embed(x)).reshape(-1, 7), y.reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.detach()

    return f, lambda number: [torch.arange(number, number + 14).reshape(2, 7) % 7], [embed, head]


def best_path():
    """Places of the greatest numbers choose items."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def f(x):
        model(x).sum().backward()
        optimizer.step()
        with torch.no_grad():
            values, places = model(x).max(0)
            best = values.argmax().item()
            return best, places[best].item(), x[places[best].item()]

    return f, lambda number: [torch.arange(9.0).reshape(3, 3) + number], [model]


def frozen():
    """Parameters that no gradient comes to are asked for theirs."""
    model = net()

    def f(x):
        for parameter in model[0].parameters():
            parameter.requires_grad_(False)
        model(x).sum().backward()
        found = [parameter.grad is None for parameter in model.parameters()]
        for parameter in model[0].parameters():
            parameter.requires_grad_(True)
        model.zero_grad()
        return found

    return f, lambda number: [torch.ones(2, 3)], [model]


def averaged_data():
    """`data` is set before `backward()`."""
    model, other = net(), net()

    def f(x):
        for held, given in zip(other.parameters(), model.parameters()):
            held.data = held.data * 0.9 + given.data * 0.1
        for _ in range(2):
            F.mse_loss(model(x), other(x).detach()).backward()
            with torch.no_grad():
                for held in model.parameters():
                    held -= 0.1 * held.grad.T.T
                    held.grad = None
        return model(x).detach()

    return f, lambda number: [torch.ones(2, 3)], [model, other]


ROWS = [
    (trained(F.cross_entropy), 0),
    (trained(F.cross_entropy, padded), 0),
    (trained(lambda scores, classes: F.nll_loss(scores.log_softmax(-1), classes)), 0),
    (trained(of_images, images), 0),
    (trained(F.cross_entropy, probabilities), 0),
    (trained(alone), 0),
    (trained(made_here), 0),
    (trained(gathered), 0),
    (trained(indexed), 0),
    (trained(as_vectors), 0),
    (trained(added), 0),
    (trained(scattered), 0),
    (trained(in_parts), 0),
    (language_model, 0),
    (best_path, 0),
    (frozen, 0),
    (averaged_data, 0),
]


def refused(calls, given, loss=F.cross_entropy, change=None):
    """What a loop does, call by call, that takes `given(call)`, and what it leaves."""
    torch.manual_seed(0)
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    log = []

    def f(pairs):
        for x, y in pairs:
            value = loss(model(x), y)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            if change is not None:
                change(y, pairs)
        return value.detach()

    f = calls(f)
    for number in range(4):
        try:
            log.append(f(given(number)).item())
        except (IndexError, RuntimeError) as error:
            log.append(str(error)[:60])
        log.append([held.tolist() for held in model.parameters()])
    return log


class UsesOfChoices(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def check(self, given, **options):
        slotrt.reset()
        self.assertEqual(refused(slotrt.compile, given, **options), refused(lambda f: f, given, **options))

    def test_classes_that_are_not_there_are_refused_where_they_come(self):
        def given(number):
            pairs = batches()
            pairs[1][1][2] = [0, 3, -1, 2][number]
            return pairs

        for loss in (F.cross_entropy, gathered, as_vectors, added, scattered, indexed):
            with self.subTest(loss=loss.__name__):
                self.check(given, loss=loss)

    def test_the_number_that_is_left_out_is_no_index(self):
        self.check(lambda number: padded() if number % 2 else batches(), loss=F.cross_entropy)
        self.check(lambda number: padded() if number % 2 else batches(), loss=gathered)

    def test_classes_that_the_loop_changes(self):
        def raises(y, pairs):
            pairs[-1][1].add_(1)

        self.check(lambda number: batches(), change=raises)
        self.check(lambda number: [(x, y.clone()) for x, y in batches(2)], change=raises)

    def test_classes_in_the_memory_of_others(self):
        def given(number):
            base = torch.tensor([0, 1, 2, 0, 1, 2])
            return [(x, base[at : at + 4]) for at, (x, _) in zip((0, number % 3), batches(2))]

        def raises(y, pairs):
            pairs[0][1].add_(1)

        self.check(given)
        self.check(given, change=raises)


if __name__ == "__main__":
    unittest.main()
