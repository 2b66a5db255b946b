"""What programs make of texts of numbers that contents of tensors decide: lines for logs, tables, names.

A row is a use and how many graph breaks its calls have at most. Later calls have numbers that are no numbers, or no finite ones."""

import collections
import functools
import io
import json
import operator
import unittest

import slotrt
import torch
import torch_programs


def vector(number):
    return torch.tensor([[1.5, 2.5, -1.0], [1.0, float("nan"), 1.0], [float("inf"), 1.0, 1.0]][number])


def of(function, *makers, state=()):
    return lambda: (function, lambda number: [make(number) for make in makers or (vector,)], state)


def text(x):
    return f"{x.sum().item():.2f}"


def in_a_list(x):
    lines = []
    for epoch in range(3):
        lines.append(f"epoch {epoch}: loss={(x * epoch).sum().item():.4f}")
    return lines


def in_containers(x):
    a, *b = (text(x), text(x), "c")
    made = {"loss": text(x), "more": [text(x), (text(x), 1)]}
    made.setdefault("last", text(x))
    queue = collections.deque([text(x)], maxlen=2)
    queue.append(text(x))
    return a, b, made, queue, [text(x)] + ["b"], dict(made), [*queue]


def in_objects(x):
    class Record:
        pass

    record = Record()
    record.loss, record.lines = text(x), [text(x)]
    return record.loss, record.lines, x * 2


def passed_on(x):
    def gather(*args, **kwargs):
        return args, kwargs

    return gather(text(x), *[text(x)], a=text(x), **{"b": text(x)})


def summed(x):
    line = "loss: "
    for number in range(3):
        line += text(x * number) + ", "
    return line, "a" + text(x), text(x) + "b" + text(x)


def joined(x):
    lines = [text(x), "b"]
    return ", ".join(lines), "-".join((text(x), "c")), " ".join([f"{x.sum().item():.1f}", "b"]), str.join(",", lines)


def by_percent(x):
    loss = x.sum().item()
    return "%.2f" % loss, "%s: %.3f after %d, %5s" % ("loss", loss, 3, text(x)), "%s %%" % text(x), "%r" % (loss,)


def by_format(x):
    loss = x.sum().item()
    return "{:.3f} {}".format(loss, 1), "{0}{0:>9}".format(text(x)), "{!r} {:e} {:,}".format(text(x), loss, loss)


def of_integers(x):
    count = (x > 1).sum().item()
    return "%d of %d" % (count, len(x)), "{:d}/{:3d}".format(count, 5), "%x %s" % (count, count > 1)


def may_raise(x):
    try:
        return "%d" % x.sum().item(), "{:d}".format(x.sum().long().item())
    except (ValueError, OverflowError) as error:
        return str(error)


def wrong(x):
    found = []
    for make in (
        lambda: text(x) + 1,
        lambda: "%s" % (text(x), 1),
        lambda: ",".join([text(x), 1]),
        lambda: "{} {}".format(text(x)),
        lambda: "%d" % text(x),
    ):
        try:
            found.append(make())
        except (TypeError, IndexError) as error:
            found.append(str(error))
    return found


class Name(str):
    def __add__(self, other):
        return "+" + other

    def __radd__(self, other):
        return other + "r"

    def __mod__(self, other):
        return "%"

    def join(self, parts):
        return "joined"

    def format(self, *parts):
        return "formatted"


class Formatted:
    def __format__(self, spec):
        return "<" + spec + ">"

    def __str__(self):
        return "shown"

    def __radd__(self, other):
        return 7


def of_other_classes(x):
    name, other = Name("q"), Formatted()
    return name + text(x), text(x) + name, name % text(x), name.join([text(x)]), name.format(text(x)), text(x) + other


def with_other_classes(x):
    return "{:a} {}".format(Formatted(), text(x)), "%s %s" % (Formatted(), text(x)), f"{Formatted():b}{text(x)}"


def formats(x):
    """A format is another thing than the method that fills texts."""
    return format("abc", f">{x.shape[0] + 5}"), format("abc", f">{(x > 1).sum().item() + 5}"), format(x.sum().item(), ".1f")


def looked_at_by_c(x):
    lines = [text(x), "a"]
    file = io.StringIO()
    print(*lines, file=file)
    file.writelines(lines)
    return json.dumps(lines), json.dumps({"k": lines}), file.getvalue(), "4.50".startswith(tuple(lines)), list(map(",".join, [lines]))


def called_in_c(x):
    lines = [text(x), "a"]
    return operator.methodcaller("join", lines)(","), functools.reduce(operator.add, lines), operator.mod("%s-%s", tuple(lines))


def compared(x):
    lines = [text(x), "b"]
    return sorted(lines), max(lines), "b" in lines, lines == [text(x), "b"], lines.index("b"), lines.count(text(x)), {lines[0]: 1}


def ordered(x):
    return sorted([(text(x), 1), (text(x), 0)]), (text(x), 1) < (text(x), 2), hash((text(x), 1)) == hash((text(x), 1))


def changed_lists(x):
    lines = [text(x)]
    lines.extend([text(x)])
    lines.insert(0, text(x))
    lines[1] += "!"
    last = lines.pop()
    lines.reverse()
    return lines, last, len(lines), lines[0]


KEPT = []


def kept():
    KEPT.clear()

    def f(x):
        KEPT.append([text(x)])
        KEPT.append({"loss": text(x)})
        KEPT.append("loss " + text(x))
        return x * 2

    return f, lambda number: [vector(number)], [lambda: list(KEPT)]


ROWS = [
    (of(in_a_list), 0),
    (of(in_containers), 0),
    (of(in_objects), 0),
    (of(passed_on), 0),
    (of(summed), 0),
    (of(joined), 0),
    (of(by_percent), 0),
    (of(by_format), 0),
    (of(of_integers), 0),
    (of(changed_lists), None),
    (kept, 0),
    *(
        (of(function), None)
        for function in (may_raise, wrong, of_other_classes, with_other_classes, formats, looked_at_by_c, called_in_c, compared, ordered)
    ),
]


class TextsOfNumbers(torch_programs.ThreeWays, unittest.TestCase):
    rows = ROWS

    def test_numbers_of_epochs_make_no_traces(self):
        """Lines that are told of each epoch are made by one trace, whichever epoch it is."""
        for told in (
            lambda epoch, loss: f"epoch {epoch} loss {loss.item():.4f}",
            lambda epoch, loss: f"{loss.item():.4f} {epoch + 1:03d}/{epoch * 0.5}",
            lambda epoch, loss: "epoch %d loss %.4f" % (epoch, loss.item()),
            lambda epoch, loss: "epoch {} loss {:.4f}".format(epoch, loss.item()),
        ):

            def trained(x, file, told=told):
                lines, weight = [], torch.ones(3, requires_grad=True)
                for epoch in range(15):
                    loss = (x * weight).pow(2).sum()
                    (gradient,) = torch.autograd.grad(loss, weight)
                    weight = (weight - 0.01 * gradient).detach().requires_grad_()
                    line = told(epoch, loss)
                    print(line, file=file)
                    lines.append(line)
                return lines, weight

            files = io.StringIO(), io.StringIO()
            want = trained(torch.arange(3.0), files[0])
            slotrt.reset()
            compiled = slotrt.compile(trained)
            got = compiled(torch.arange(3.0), files[1])
            self.assertEqual(torch_programs.shown(got), torch_programs.shown(want))
            self.assertEqual(files[0].getvalue(), files[1].getvalue())
            self.assertLessEqual(slotrt.stats()["frames_compiled"], 6)

    def test_texts_that_name_something(self):
        class Names:
            a_2_3, a_3_4, a_4_5 = 1.0, 2.0, 3.0

        def named(x, number, table):
            one, other = getattr(Names, f"a_{number}_{number + 1}"), table[f"{number}:{number * 2}"]
            return x * one + other, f"{number}/{number + 1}", [f"{number} {x.sum().item():.1f}"], {f"{number}-{number}"}

        table = {"2:4": 1, "3:6": 2, "4:8": 3}
        for dynamic in (None, True):
            slotrt.reset()
            compiled = slotrt.compile(named, dynamic=dynamic)
            for number in (2, 3, 4, 2):
                for x in (vector(0), vector(2)):
                    want = named(x, number, table)
                    self.assertEqual(torch_programs.shown(compiled(x, number, table)), torch_programs.shown(want))
            self.assertEqual(slotrt.stats()["graph_breaks"], 0)

    def test_no_contents_make_another_trace(self):
        compiled = slotrt.compile(in_a_list, fullgraph=True)
        slotrt.reset()
        for number in range(3):
            self.assertEqual(compiled(vector(number)), in_a_list(vector(number)))
        self.assertEqual(slotrt.stats()["graphs"], 1)


if __name__ == "__main__":
    unittest.main()
