"""Random programs over PyTorch tensors: views, changes in place through aliases, indexing, broadcasting, modules, modes, gradients.

A program is a module that defines `main(a, b, c)`, as those of `generate` are. Arguments may be views of one tensor, hold numbers out of
range, require gradients. Many operations fail; most failures are caught and printed.
"""

import contextlib
import io
import random

import tensor_uses
from writer import Writer

PRELUDE = '''
import torch
from torch import nn
from torch.nn import functional as F

def T(seed, *shape, dtype=torch.float32, grad=False):
    made = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    made = (made * 3).to(dtype) if dtype != torch.float32 else made
    return made.requires_grad_() if grad else made

def I(*items):
    return torch.tensor(items)

def views(seed, kind):
    x = T(seed, 4, 4)
    return [(x, x), (x, x[1:]), (x[:2], x[1:3]), (x.t(), x), (x, x.view(-1)), (x[0], x[:, 0]), (x, x.detach()), (x[::2], x[1::2])][kind]

class Holder:
    def __init__(self, value):
        self.value = value
        self.items = [value]
        self.count = 0

    def add(self, other):
        self.count += 1
        self.value = self.value + other
        return self.value

    def change(self, other):
        self.value.mul_(0.5)
        self.items.append(other)
        return self

class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        ctx.save_for_backward(x)
        return x * scale

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.scale, None

class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = [nn.Dropout(0.5), nn.BatchNorm1d(4), nn.LayerNorm(4), nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True)), nn.Identity(), nn.GELU()][kind]
        self.register_buffer("steps", torch.zeros(()))
        self.last = None

    def forward(self, x):
        self.steps.add_(1)
        y = self.second(self.first(x))
        self.last = y
        return y + x if x.shape == y.shape else y

SHARED = []
TABLE = {"k": T(1, 4)}
TOTAL = 1
torch.manual_seed(3)
NET = Net(%d)
TABLES = nn.Embedding(5, 4)
STATE = T(7, 4, 4)

def mean_of(x, dim=0):
    return x.mean(dim)

def changed(x, y=1):
    x += y
    return x

def pairs(x):
    for part in x:
        yield part * 2
'''

LITERALS = ["(2)", "(0)", "(-1)", "1.5", "True", "None"]
TENSORS = [
    "T({0}, 4)", "T({0}, 4)", "T({0}, 4, 4)", "T({0}, 4, 4)", "T({0}, 3, 4)", "T({0}, 2, 3, 4)", "T({0})", "T({0}, 1, 4)", "T({0}, 4, 1)", "T({0}, 0, 4)",
    "T({0}, 4, grad=True)", "T({0}, 4, 4, grad=True)", "T({0}, 3, 4, grad=True)", "T({0}, 4, grad=True) * 2", "T({0}, 4, dtype=torch.int64)",
    "T({0}, 4, 4, dtype=torch.int64)", "T({0}, 4, dtype=torch.bool)", "T({0}, 4, dtype=torch.float64)", "T({0}, 4, 4).t()", "T({0}, 4, 8)[:, ::2]",
    "T({0}, 1, 4).expand(4, 4)", "I(0, 2, 1, 3)", "I(1, 2)", "I(0, 3, 9)", "I(3, 1, 2, -7)",
]
OTHERS = ["Holder(T({0}, 4))", "[T({0}, 4), T({0}, 4, 4)]", "{{'k': T({0}, 4), 'l': T({0}, 3, 4)}}", "NET", "2", "1.5", "0", "None", "(T({0}, 4), 3)", "TABLE['k']", "STATE", "NET.first.weight"]
ALIASED = ["*views({0}, {1})"]

BINARY = ["+", "+", "-", "*", "*", "/", "//", "%", "@", "<", ">", "==", "!=", "&", "|", "**"]
NEW = [
    "torch.relu({0})", "{0}.sigmoid()", "torch.tanh({0})", "{0}.exp()", "{0}.abs()", "(-{0})", "{0}.clamp(-1, 1)", "torch.where({0} > 0, {0}, {1})", "torch.cat([{0}, {1}])",
    "torch.cat(({0}, {1}), dim=-1)", "torch.stack([{0}, {1}])", "{0}.sum()", "{0}.sum(-1)", "{0}.mean(0, keepdim=True)", "{0}.max()", "{0}.max(-1)[0]", "{0}.argmax(-1)", "{0}.sort(-1).values", "{0}.cumsum(0)",
    "F.softmax({0}, dim=-1)", "F.layer_norm({0}, (4,))", "F.linear({0}, {1})", "torch.outer({0}, {1})", "torch.matmul({0}, {1})", "{0}.norm()", "{0}.std()", "{0}.prod(0)", "{0}.topk(2)[1]", "{0}.tril()",
    "{0}.roll(1, 0)", "{0}.flip(0)", "{0}.gather(0, {1})", "{0}.index_select(0, {1})", "F.embedding({1}, {0})", "F.one_hot({0})", "F.cross_entropy({0}, {1})", "F.mse_loss({0}, {1})", "{0}.masked_fill({0} > 0, 0.0)",
    "{0}.float()", "{0}.to(torch.float64)", "{0}.long()", "{0}.clone()", "torch.zeros_like({0})", "torch.ones_like({0}) * {1}", "torch.rand_like({0})", "F.dropout({0}, 0.5)", "torch.randn(4)", "torch.arange(4)", "torch.zeros(4, 4)",
    "torch.full((4,), 2.0)", "torch.einsum('i,i->', {0}, {1})", "torch.einsum('ij,jk->ik', {0}, {1})", "torch.lerp({0}, {1}, 0.5)", "torch.addmm({0}, {1}, {0})", "F.gelu({0})", "{0}.type_as({1})", "{0}.new_zeros(2)", "torch.tensor([1.0, 2.0])",
    "torch.isnan({0})", "{0}.any()", "{0}.all()", "{0}.repeat(2, 1)", "{0}.repeat_interleave(2)", "torch.meshgrid({0}, {1}, indexing='ij')[0]", "torch.linalg.inv({0})", "torch.linalg.norm({0})", "{0}.diff()", "torch.bincount({0})",
    "torch.bernoulli({0}.sigmoid())", "torch.randperm(4)", "torch.rand(4, generator=torch.Generator().manual_seed(1))", "F.binary_cross_entropy({0}, {1})", "torch.as_tensor({0})", "torch.tensor({0}.tolist())", "Own.apply({0}, 2)", "TABLES({0})",
    "NET({0})", "NET.first({0})", "NET.second({0})", "nn.functional.relu({0})", "torch.broadcast_to({0}, (4, 4))", "mean_of({0})", "mean_of({0}, dim=-1)", "changed({0})", "changed({0}, {1})", "sum(pairs({0}))",
    "torch.nn.utils.parameters_to_vector(NET.parameters())", "torch.func.vmap(lambda x: x * 2)({0})", "torch.func.grad(lambda x: (x ** 2).sum())({0})", "torch.utils.checkpoint.checkpoint(torch.sin, {0}, use_reentrant=False)",
]
VIEWS = [
    "{0}[0]", "{0}[-1]", "{0}[..., 1]", "{0}[1:]", "{0}[::2]", "{0}[None]", "{0}.T", "{0}.t()", "{0}.view(-1)", "{0}.reshape(-1)", "{0}.transpose(0, -1)", "{0}.unsqueeze(0)", "{0}.squeeze()", "{0}.flatten()", "{0}.expand(2, *{0}.shape)",
    "{0}.permute(1, 0)", "{0}.chunk(2)[0]", "{0}.split(2)[-1]", "{0}.unbind(0)[0]", "{0}.narrow(0, 0, 1)", "{0}.diagonal()", "{0}.detach()", "{0}.data", "{0}.as_strided((2,), (1,))", "{0}.contiguous()", "{0}.movedim(0, -1)", "{0}.select(0, 1)",
    "{0}.swapaxes(0, 1)", "{0}[{0} > 0]", "{0}[{1}]", "{0}[[0, 1]]", "{0}[:, 1]", "{0}[{1}, 0]", "{0}[1:3, None, ::2]", "{0}.view(2, -1)", "{0}.view_as({1})", "{0}.expand_as({1})", "{0}.reshape(4, 1)", "{0}.unfold(0, 2, 1)", "{0}.to(torch.float32)",
    "{0}.view(torch.int32)", "{0}.hsplit(2)[0]", "{0}.ravel()", "{0}.unflatten(0, (2, 2))", "{0}[True]", "{0}[()]", "next(iter({0}))", "{0}.cpu()", "{0}.numpy()", "torch.from_numpy({0}.numpy())", "{0}.untyped_storage().nbytes()",
]
INPLACE = [
    "{0}.add_({1})", "{0}.mul_(2)", "{0}.sub_({1}, alpha=2)", "{0} += {1}", "{0} -= 1", "{0} *= {1}", "{0}[0] = {1}", "{0}[{0} > 0] = 0", "{0}[1:] += {1}", "{0}[0] *= 2", "{0}.copy_({1})", "{0}.zero_()", "{0}.fill_(3)", "{0}.clamp_(0, 1)",
    "{0}.relu_()", "{0}.t_()", "{0}.unsqueeze_(0)", "{0}.squeeze_()", "{0}.detach_()", "{0}.requires_grad_()", "{0}.index_add_(0, I(0, 1), {1})", "{0}.scatter_(0, {1}, 1.0)", "{0}.masked_fill_({0} < 0, 1)", "{0}.data.add_(1)",
    "torch.add({0}, {1}, out={0})", "{0}.resize_(2)", "{0}.data = {1}", "{0}.grad = None", "F.relu({0}, inplace=True)", "{0}[{1}] = 1", "{0}[..., 0] = {1}", "{0}.t().mul_(3)", "{0}.view(-1)[0] = 9", "{0}.uniform_()", "{0}.bernoulli_(0.5)",
    "{0}.exp_()", "{0}.transpose_(0, 1)", "{0}.set_({1})", "{0}.index_fill_(0, {1}, 2.0)", "{0}.div_({1}, rounding_mode='floor')", "{0}.lerp_({1}, 0.5)", "{0}.addcmul_({1}, {1})", "torch._foreach_add_([{0}, {1}], 1)", "nn.init.constant_({0}, 2)",
    "{0}.detach().mul_(2)", "{0}.grad.zero_()", "{0}[{1}, {1}] += 1", "{0}[:, 0], {0}[:, 1] = {1}, 2", "{0}.note = 3", "del {0}.note", "STATE.add_({0})", "STATE[0] = {0}", "{0}.put_({1}, {0})", "{0}.index_put_((I(0, 0),), {1}, accumulate=True)", "{0}.fill_diagonal_(0)",
]
PLAIN = [
    "{0}.shape", "{0}.size(0)", "{0}.dim()", "{0}.numel()", "{0}.dtype", "{0}.stride()", "{0}.is_contiguous()", "{0}.requires_grad", "{0}.is_leaf", "{0}.grad_fn is None", "{0} is {1}", "{0}._version", "{0}.data_ptr() == {1}.data_ptr()", "len({0})",
    "{0}.storage_offset()", "{0}._base is None", "isinstance({0}, torch.Tensor)", "{0}.sum().item()", "bool({0}.sum() > 0)", "int({0}.argmax())", "float({0}.mean())", "{0}.tolist()", "torch.equal({0}, {1})", "torch.allclose({0}, {1})",
    "{0}.nonzero().shape", "{0}.grad", "torch.is_grad_enabled()", "torch.is_inference_mode_enabled()", "{0}.is_inference()", "type({0}.grad_fn).__name__", "{0}.shape == {1}.shape", "{0}.unique()", "str({0})", "f'{{{0}.shape}} {{{0}.dim()}}'", "{0} in [{1}]",
    "torch.get_default_dtype()", "torch.result_type({0}, {1})", "[p.shape for p in {0}]", "hash({0}) == hash({1})", "{0} == {1}", "NET.training", "list(NET.state_dict())", "NET.last", "{0}.names", "{0}.device", "sorted([3, {0}.dim()])", "max({0}.shape, default=0)",
]
GRADS = [
    "{0}.sum().backward()", "({0} * {1}).sum().backward()", "torch.autograd.grad({0}.sum(), {1})", "torch.autograd.grad({0}.sum(), [{1}], allow_unused=True)", "{0}.retain_grad()", "{0}.register_hook(lambda g: g * 2)", "{0}.requires_grad_(False)",
    "NET({0}).sum().backward()", "NET.zero_grad()", "torch.autograd.backward([{0}.sum()], inputs=[{1}])", "torch.set_grad_enabled(True)", "NET.train()", "NET.eval()", "NET.requires_grad_(False)", "{0}.register_post_accumulate_grad_hook(lambda p: TABLE.update(post=p.grad.sum()))",
    "torch.optim.SGD(NET.parameters(), 0.1).step()", "torch.nn.utils.clip_grad_norm_(NET.parameters(), 1.0)", "{0}.mean().backward(retain_graph=True)", "NET.register_forward_hook(lambda m, i, o: o * 2)", "NET.first.register_full_backward_hook(lambda m, i, o: None)",
    "torch.autograd.grad(({0} ** 2).sum(), {0}, create_graph=True)[0].sum().backward()",
]
CONTEXTS = [
    "torch.no_grad()", "torch.no_grad()", "torch.enable_grad()", "torch.inference_mode()", "torch.set_grad_enabled(False)", "torch.autocast('cpu', torch.bfloat16)", "torch.random.fork_rng(devices=[])", "torch.autograd.set_detect_anomaly(False)",
    "torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x)", "torch.inference_mode(False)", "torch.device('cpu')", "torch.autograd.graph.save_on_cpu()", "torch.autograd.profiler.record_function('part')",
]
STORES = [
    "SHARED.append({0})", "TABLE['k'] = {0}", "TABLE.update(l={0})", "SHARED[:] = [{0}]", "globals()['STATE'] = {0}", "NET.last = {0}", "NET.steps = {0}", "NET.steps.fill_(2)", "NET.first.weight.data.mul_(0.5)",
    "NET.extra = {0}", "TABLE.pop('k', None)", "SHARED.clear()", "NET.register_buffer('more', {0})", "NET.first.bias = None", "print({0})", "print({0}.shape)", "torch.manual_seed(5)",
]
CHANGES = [
    "TOTAL += 1", "SHARED.append(T(9, 4))", "TABLE['k'] = T(8, 3, 4)", "NET.eval()", "NET = Net(2)", "NET.first = nn.Linear(4, 2)", "STATE = T(2, 4, 4, grad=True)", "torch.manual_seed(9)", "NET.first.weight.requires_grad_(False)",
    "STATE = STATE.t()", "NET.double()", "mean_of = lambda x, dim=0: x.sum(dim)", "NET.register_forward_hook(lambda m, i, o: o + 1)", "NET.zero_grad()", "STATE.resize_(2, 4)", "NET.first.weight = nn.Parameter(torch.ones(4, 4))", "TABLE = {'k': 3}", "SHARED = (1,)",
]


class Tensors(Writer):
    """Statements over tensors; a name holds any object, and most operations take a tensor. With `uses`, what programs do beyond operations, too."""

    uses = False

    def one_of(self, kind):
        """An entry of the list of this name."""
        return self.pick(getattr(tensor_uses, kind) if self.uses and self.chance(0.5) else globals()[kind])

    def atom(self):
        kind = self.random.random()
        if kind < 0.88:
            return self.pick(self.names[-6:] + self.names[:3])
        return self.pick(["STATE", "TABLE['k']", "T(5, 4)", "T(6, 4, 4)", "T(4, 4, 4, grad=True)", "T(2, 4)", "T(3, 4, 4)", "I(0, 1)", self.pick(LITERALS)])

    def tensor(self, depth=1):
        """An expression that gives a tensor, most times."""
        if depth == 0 or self.chance(0.35):
            return self.atom()
        one, two = self.tensor(depth - 1), self.tensor(depth - 1)
        kind = self.random.random()
        if kind < 0.3:
            return f"({one} {self.pick(BINARY)} {two})"
        return (self.pick(VIEWS) if kind < 0.6 else self.one_of("NEW")).format(one, two)

    def statement(self):
        weighted = [
            (30, self.assign), (14, self.in_place), (10, self.show), (9, self.gradient), (7, self.context), (6, self.branch), (5, self.loop), (6, self.container),
            (5, self.store), (3, self.held), (3, self.inner), (2, self.generator), (2, self.raising),
        ]
        if self.uses:
            weighted.append((20, self.use))
        weights, writers = zip(*(weighted[:4] if self.depth > 4 else weighted))
        self.random.choices(writers, weights)[0]()

    def statements(self, count):
        for _ in range(count):
            self.statement()

    def assign(self):
        value = self.tensor(self.random.randint(1, 2))
        self.line(f"{self.pick(self.names) if self.chance(0.25) else self.known(self.name())} = {value}")

    def in_place(self):
        self.line(self.one_of("INPLACE").format(self.pick(self.names[-5:] + self.names[:3]), self.tensor()))

    def show(self):
        text = self.one_of("PLAIN").format(self.atom(), self.atom())
        self.line(f"print({text})" if self.chance(0.4) else f"{self.known(self.name('p'))} = {text}")

    def gradient(self):
        text = self.one_of("GRADS").format(self.tensor(), self.pick(self.names))
        self.line(f"{self.name('g')} = {text}" if "grad(" in text and self.chance(0.5) else text)

    def context(self):
        text = self.one_of("CONTEXTS")
        self.line(f"with {text.format(self.known(self.name()) if ' as ' in text else self.atom())}:")
        self.block_keeping(self.statements, self.random.randint(1, 3))

    def block_keeping(self, write, *arguments):
        """A block whose names are known after it: it is always entered."""
        self.depth += 1
        write(*arguments)
        self.depth -= 1

    def branch(self):
        condition = self.pick(["{0}.sum() > 0", "{0}.requires_grad", "{0}.dim() > 1", "{0}.mean() < 1", "{0} is not None", "{0}.shape[0] == 4", "torch.is_grad_enabled()", "{0}.any()", "NET.training", "isinstance({0}, torch.Tensor)"])
        self.line(f"if {condition.format(self.atom())}:")
        self.block(self.statements, self.random.randint(1, 2))
        if self.chance(0.5):
            self.line("else:")
            self.block(self.statements, 1)

    def loop(self):
        if self.loops:
            return self.assign()
        self.loops += 1
        name = self.known(self.name("i"))
        self.line(f"for {name} in {self.pick(['range(3)', '{0}', '{0}.unbind(0)', '[{0}, {1}]', 'zip({0}, {1})', 'SHARED[:3]', 'NET.parameters()', 'enumerate({0})']).format(self.atom(), self.atom())}:")
        self.block(self.statements, self.random.randint(1, 2))
        self.loops -= 1

    def container(self):
        form = self.pick([
            "[{0}, {1}]", "({0}, [{1}])", "{{'x': {0}, 'y': {1}}}", "[x * 2 for x in ({0}, {1})]", "dict(k={0})['k']", "[*{0}, {1}]", "sorted([{0}, {1}], key=lambda x: x.sum().item())", "Holder({0})", "Holder({0}).add({1})",
            "(lambda x, y=1: x * y)({0})", "list(map(torch.abs, [{0}, {1}]))", "max({0}, {1})", "sum([{0}, {1}])", "list(pairs({0}))[0]", "{0} if {1} is None else {1}", "{0} and {1}", "tuple({0})[0]", "[{0}][0]", "nn.ParameterList([{0}])", "nn.Parameter({0})",
        ])
        self.line(f"{self.known(self.name())} = {form.format(self.atom(), self.atom())}")

    def store(self):
        self.line(self.one_of("STORES").format(self.atom()))

    def use(self):
        """Lines that belong together."""
        name = self.name()
        self.line(self.pick(tensor_uses.BLOCKS).format(name, self.pick(self.names), self.pick(self.names)))
        self.known(name)

    def held(self):
        name = self.pick(self.names)
        self.line(self.pick(["{0}.value.add_({1})", "{0}.change({1})", "{0}.items[0].mul_(2)", "{0}['k'] = {1}", "{0}.append({1})", "{0}[0].add_(1)", "{0}.count += 1", "a, b = b, a", "{0} = {0}.value", "{0} = {0}[0]", "{0}.value = {0}.value * 2"]).format(name, self.atom()))

    def inner(self):
        """A function within, perhaps under a mode."""
        name = self.name("f")
        if self.chance(0.4):
            self.line(f"@{self.pick(['torch.no_grad()', 'torch.inference_mode()', 'torch.enable_grad()', 'torch.set_grad_enabled(False)'])}")
        self.line(f"def {name}(p, q=2):")
        names = [name for name in self.names[:3]]
        self.scope(["p", "q", *names], self.body_of_inner)
        self.line(f"{self.known(self.name())} = {name}({self.atom()}{self.pick(['', ', ' + self.atom()])})")

    def body_of_inner(self):
        # An assignment to a variable of the outer function would make it one of this.
        self.names = self.names[:2]
        self.statements(self.random.randint(1, 2))
        self.line(f"return {self.tensor()}")

    def generator(self):
        self.line(f"{self.known(self.name())} = {self.pick(['[x.sum() for x in {0}]', 'torch.stack([x for x in {0}])', '[x + y for x, y in zip({0}, {1})]', '{{i: x for i, x in enumerate({0})}}', 'sum(x.mean() for x in {0})']).format(self.atom(), self.atom())}")

    def raising(self):
        self.line(self.pick(["raise ValueError({0})", "assert {0}.sum() > 0, 'sum'", "if {0}.sum() > 0: raise KeyError('k')", "{0}.missing", "T(1, 3) + T(1, 4)", "del {0}", "torch._check({0}.dim() == 1)", "{0}[I(9)]"]).format(self.pick(self.names)))

    def guarded(self, count):
        """Statements, of which most go on after an exception."""
        for _ in range(count):
            if self.chance(0.2):
                self.statement()
                continue
            self.line("try:")
            known = list(self.names)
            self.block_keeping(self.statements, self.random.randint(1, 3))
            self.names = known
            error = self.name("e")
            self.line(f"except Exception as {error}:")
            self.line(f"    print(type({error}).__name__, {error})")


class Tried(Tensors):
    """Statements that are tried while they are written: most work, so that programs get far."""

    uses = True
    attempts = 20
    ending = False

    def begin(self, arguments):
        """Runs the module so far, with arguments of its function."""
        self.live = {"__name__": "tried"}
        exec("\n".join(self.lines), self.live)
        with contextlib.suppress(Exception):
            self.live.update(zip("abc", eval(f"({', '.join(arguments)},)", self.live)))

    def works(self, lines):
        """Whether the lines raise nothing after those before them, and make nothing large."""
        text = "\n".join(line[4:] for line in lines)
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                exec(text, self.live)
                return not any(self.large(value) for value in self.live.values())
            except Exception:
                return False

    def large(self, value):
        """Whether a value is a tensor of so many elements that a few operations more would fill the memory."""
        return isinstance(value, self.live["torch"].Tensor) and value.numel() > 1 << 10

    def guarded(self, count):
        for _ in range(2 * count):
            self.tried(lambda: self.statements(self.random.randint(1, 2)))

    def tried(self, write):
        """Writes lines that work, if some do; now and then others."""
        for _ in range(self.attempts):
            before, names = len(self.lines), list(self.names)
            write()
            if self.works(self.lines[before:]) or self.chance(0.01):
                return
            del self.lines[before:]
            self.names = names

    def tensor(self, depth=1):
        """An expression that gives one, where it is asked for at the end."""
        for _ in range(self.attempts):
            text = super().tensor(depth)
            if not self.ending or self.works([f"    ({text}).sum()"]):
                break
        return text


def module(writer, given=None):
    """The whole module; `given`: arguments to try it with."""
    writer.line((PRELUDE % writer.random.randrange(6)).strip("\n"))
    if writer.uses:
        writer.line(tensor_uses.PRELUDE.replace("%s", writer.pick(tensor_uses.SOLVERS)).rstrip("\n"))
    if given is not None:
        writer.begin(given)
    writer.line("def main(a, b, c):")
    writer.depth = 1
    writer.names = ["a", "b", "c"]
    writer.guarded(writer.random.randint(3, 9))
    writer.ending = True
    if writer.chance(0.4):
        writer.line(f"({writer.tensor()}).sum().backward()")
    writer.line(f"return {', '.join(writer.tensor(1) for _ in range(writer.random.randint(1, 3)))}")
    return "\n".join(writer.lines) + "\n"


def arguments(writer):
    """Three arguments: tensors most times, two of which may be views of one."""
    draw = lambda: writer.one_of("TENSORS" if writer.chance(0.85) else "OTHERS").format(writer.random.randrange(9))
    if writer.chance(0.25):
        return [ALIASED[0].format(writer.random.randrange(9), writer.random.randrange(8)), draw()]
    return [draw() for _ in range(3)]


def program(seed):
    """The program of a seed: its text, and its calls: what is done to the module before, and the arguments of `main`."""
    kind = random.Random(f"uses {seed}").random()
    writer = (Tried if kind < 0.4 else Tensors)(f"tensors {seed}")
    writer.uses = kind < 0.7
    first, other = arguments(writer), arguments(writer)
    text = module(writer, first if kind < 0.4 else None)
    change = writer.one_of("CHANGES")
    return text, [("", first), ("", first), ("", other), (change, first), ("", first)]


if __name__ == "__main__":
    import sys

    print(program(int(sys.argv[1]))[0])
