"""Programs that `against_dynamo.py` measures: `PROGRAMS` has name, kind and a function that makes `(callable, arguments)`."""

import contextlib
import dataclasses

import torch
from torch import nn


def tiny_add(x, y):
    return x + y


def loop(count):
    def body(x):
        for _ in range(count):
            x = x + 1
        return x

    return body


def containers(x, y):
    parts = [x, y, x * y]
    table = {"a": parts[0], "b": parts[1:]}
    total = table["a"]
    for part in table["b"]:
        total = total + part
    first, *rest = parts
    table["c"] = (first, len(rest))
    return total, table["c"][0] - 1


def closures(x, y):
    def scale(factor):
        def apply(value):
            return value * factor + offset

        return apply

    offset = 1.5
    return scale(2)(x) + scale(3)(y)


@dataclasses.dataclass
class Pair:
    left: torch.Tensor
    right: torch.Tensor
    weight: float = 0.5

    def mixed(self):
        return self.left * self.weight + self.right * (1 - self.weight)


def dataclass(x, y):
    pair = Pair(x, y)
    swapped = Pair(left=pair.right, right=pair.left, weight=0.25)
    return pair.mixed() + swapped.mixed()


def comprehensions(x, y):
    scaled = [x * i for i in range(4) if i != 2]
    named = {f"n{i}": value + y for i, value in enumerate(scaled)}
    return sum(value for value in named.values())


def countdown(x, count):
    while count:
        count -= 1
        yield x * count


def generators(x, y):
    total = y
    for value in countdown(x, 4):
        total = total + value
    return total


def exceptions(x, y):
    try:
        try:
            raise ValueError("no")
        except ValueError as error:
            raise KeyError("found") from error
    except KeyError:
        x = x + 1
    finally:
        y = y * 2
    return x + y


@contextlib.contextmanager
def noted(notes, name):
    notes.append(name)
    try:
        yield name
    finally:
        notes.append("end")


def context_managers(x, y):
    notes = []
    with noted(notes, "outer"), torch.no_grad(), noted(notes, "inner"):
        x = x + y
    return x * len(notes)


class Vector:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Vector(self.x + other.x)

    def __mul__(self, factor):
        return Vector(self.x * factor)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x)


def operators(x, y):
    return (2 * Vector(x) + -Vector(y) * 3).x


class Shape:
    factor = 1

    def area(self, x):
        return x * self.factor

    @property
    def doubled(self):
        return self.factor * 2


class Round(Shape):
    factor = 3

    def area(self, x):
        return super().area(x) + self.doubled


class Disc(Round):
    def area(self, x):
        return super().area(x) - 1


def hierarchy(x, y):
    total = y
    for kind in (Shape, Round, Disc):
        total = total + kind().area(x)
    return total


class Counter:
    def __init__(self):
        self.last, self.seen = None, []


def side_effects():
    counter = Counter()

    def body(x, y):
        counter.last = x + y
        counter.seen.append(1)
        if len(counter.seen) > 2:
            counter.seen.clear()
        return counter.last * 2

    counter.seen.append(1)

    def call(x, y):
        counter.seen[:] = [1]
        return body(x, y)

    return call


def sequential(count, width):
    return nn.Sequential(*(nn.Linear(width, width) for _ in range(count))).eval()


def transformers_model(config, model, **sizes):
    import transformers

    transformers.logging.set_verbosity_error()
    common = {"vocab_size": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    made = getattr(transformers, config)(**common, **sizes)
    return getattr(transformers, model)(made).eval()


HIDDEN = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}


def tokens():
    return torch.arange(16).view(1, 16) % 60 + 3


def gpt2():
    model = transformers_model("GPT2Config", "GPT2LMHeadModel", n_embd=32, n_layer=2, n_head=4, n_positions=64)
    return model, (tokens(),)


def llama():
    return transformers_model("LlamaConfig", "LlamaForCausalLM", num_key_value_heads=2, **HIDDEN), (tokens(),)


def bert():
    return transformers_model("BertConfig", "BertModel", **HIDDEN), (tokens(),)


def t5():
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
    model = transformers_model("T5Config", "T5ForConditionalGeneration", **sizes)
    return (lambda ids: model(input_ids=ids, decoder_input_ids=ids)), (tokens(),)


def resnet18():
    import torchvision

    return torchvision.models.resnet18().eval(), (torch.ones(1, 3, 32, 32),)


def vit_tiny():
    import timm

    return timm.create_model("vit_tiny_patch16_224", img_size=32).eval(), (torch.ones(1, 3, 32, 32),)


def pair():
    return torch.ones(4), torch.full((4,), 2.0)


def of_two(function):
    return lambda: (function, pair())


PROGRAMS = [
    ("tiny add", "program", of_two(tiny_add)),
    ("loop of 10 operations", "program", lambda: (loop(10), pair()[:1])),
    ("loop of 100 operations", "program", lambda: (loop(100), pair()[:1])),
    ("containers", "program", of_two(containers)),
    ("closures", "program", of_two(closures)),
    ("dataclasses", "program", of_two(dataclass)),
    ("comprehensions", "program", of_two(comprehensions)),
    ("generators", "program", of_two(generators)),
    ("try, except", "program", of_two(exceptions)),
    ("context managers", "program", of_two(context_managers)),
    ("operator overloading", "program", of_two(operators)),
    ("class hierarchies", "program", of_two(hierarchy)),
    ("side effects", "program", lambda: (side_effects(), pair())),
    ("20 Linear", "model", lambda: (sequential(20, 4), (torch.ones(2, 4),))),
    ("MLP", "model", lambda: (nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).eval(), (torch.ones(2, 8),))),
    ("TransformerEncoderLayer", "model", lambda: (nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).train(False), (torch.ones(2, 8, 16),))),
    ("ResNet-18", "model", resnet18),
    ("ViT-tiny", "model", vit_tiny),
    ("BERT", "model", bert),
    ("GPT-2", "model", gpt2),
    ("Llama", "model", llama),
    ("T5", "model", t5),
]
