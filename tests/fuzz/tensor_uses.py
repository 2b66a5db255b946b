"""What programs do with tensors beyond single operations: modules of many kinds, optimisers, own classes of tensors, modes, caches, numpy, files.

A program that has them gets `PRELUDE` as well; `{0}` is a new name in `BLOCKS`, an operand elsewhere.
"""

PRELUDE = '''
import collections, contextlib, copy, dataclasses, functools, io, itertools, math, random, typing, weakref
import numpy as np

class Scaled(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        CALLED.append(getattr(function, "__name__", "?"))
        return super().__torch_function__(function, types, args, kwargs or {})

class Noting(torch.overrides.TorchFunctionMode):
    def __init__(self):
        self.seen = []
    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen.append(function.__name__ if hasattr(function, "__name__") else "?")
        return function(*args, **(kwargs or {}))

class Counting(torch.utils._python_dispatch.TorchDispatchMode):
    count = 0
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += 1
        return function(*args, **(kwargs or {}))

@dataclasses.dataclass
class Output:
    loss: torch.Tensor
    logits: object = None
    rest: list = dataclasses.field(default_factory=list)

class Step(typing.NamedTuple):
    value: object
    index: int = 0

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x, mask):
        return x ** 3, mask
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.mark_non_differentiable(output[1])
    @staticmethod
    def backward(ctx, grad, _):
        x, mask = ctx.saved_tensors
        return 3 * x ** 2 * grad, None

class InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    @staticmethod
    def backward(ctx, grad):
        return grad * 2

class Attention(nn.Module):
    def __init__(self, heads=2):
        super().__init__()
        self.heads, self.cache = heads, None
        self.qkv, self.out = nn.Linear(4, 12, bias=False), nn.Linear(4, 4)
    def forward(self, x, mask=None, keep=False):
        x = x if x.dim() == 3 else x.reshape(1, -1, 4)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        if keep:
            if self.cache is not None:
                k, v = torch.cat([self.cache[0], k], 2), torch.cat([self.cache[1], v], 2)
            self.cache = k, v
        return self.out(F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2))

class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4), Attention(), nn.LSTM(4, 4, batch_first=True)])
        self.norms = nn.ModuleDict({"a": nn.LayerNorm(4), "b": nn.RMSNorm(4)})
        self.scale = nn.Parameter(torch.ones(4))
        self.seen, self.names = 0, []
    def forward(self, x, **options):
        self.seen += 1
        for index, block in enumerate(self.blocks):
            x = block(x)
            x = x[0] if isinstance(x, tuple) else x
            x = self.norms["ab"[index % 2]](x) * self.scale
        return Output(x.mean(), x, [self.seen]) if options.get("whole") else x

class Lazy:
    def __init__(self, make):
        self.make = make
    def __get__(self, holder, owner=None):
        if holder is None:
            return self
        value = holder.__dict__["table"] = self.make(holder)
        return value

class Box:
    table = Lazy(lambda holder: holder.base * 2)
    def __init__(self, base):
        self.base = base
    def __getattr__(self, name):
        if name.startswith("row"):
            return self.base[int(name[3:])]
        raise AttributeError(name)
    @property
    def half(self):
        return self.base.view(-1)[:2]
    @half.setter
    def half(self, value):
        self.base.view(-1)[:2] = value
    @functools.cached_property
    def total(self):
        return self.base.sum()
    def __len__(self):
        return self.base.shape[0]
    def __iter__(self):
        return iter(self.base)
    def __matmul__(self, other):
        return Box(self.base @ other)

@contextlib.contextmanager
def eval_mode(module):
    before = module.training
    module.eval()
    try:
        with torch.no_grad():
            yield module
    finally:
        module.train(before)

@functools.lru_cache(maxsize=2)
def mask_of(size, kind=torch.float32):
    return torch.ones(size, size, dtype=kind).tril()

def walk(x):
    if isinstance(x, torch.Tensor):
        yield x
    elif isinstance(x, dict):
        for value in x.values():
            yield from walk(value)
    elif isinstance(x, (list, tuple)):
        for value in x:
            yield from walk(value)

def running():
    total, count = torch.zeros(()), 0
    while True:
        value = yield total / max(count, 1)
        total = total + value
        count += 1

def retry(function, *arguments):
    for attempt in range(2):
        try:
            return function(*arguments)
        except (RuntimeError, TypeError, IndexError) as error:
            CALLED.append(type(error).__name__)
        finally:
            CALLED.append(attempt)

CALLED, CACHE, LOSSES = [], {}, []
torch.manual_seed(4)
DEEP = Stack()
SOLVER = getattr(torch.optim, "%s")(DEEP.parameters(), lr=0.1)
PLAN = torch.optim.lr_scheduler.StepLR(SOLVER, 1, 0.5)
GENERATOR = torch.Generator().manual_seed(6)
LEAF = T(11, 4, 4, grad=True)
'''

SOLVERS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "Adadelta", "Adamax"]

TENSORS = [
    "T({0}, 4).as_subclass(Scaled)", "T({0}, 4, dtype=torch.complex64)", "T({0}, 4, 4, dtype=torch.bfloat16)", "T({0}, 4, dtype=torch.float16)", "T({0}, 4, 4, dtype=torch.uint8)", "nn.Parameter(T({0}, 4))",
    "T({0}, 2, 4, 4).transpose(1, 2)", "T({0}, 4, 4)[:, 1]", "T({0}, 4, 4, grad=True)[1:]", "torch.randn(2, 4, generator=torch.Generator().manual_seed({0}))", "T({0}, 4, 4).to_sparse()", "T({0}, 4, dtype=torch.complex64).conj()",
    "T({0}, 1, 1)", "T({0}, 2, 3, 4, grad=True)", "T({0}, 8)", "torch.empty(4, 4, device='meta')", "torch.tensor(3)", "torch.tensor([float('nan'), 1.0, float('inf'), -0.0])", "T({0}, 3, 4, 4).to(memory_format=torch.contiguous_format)",
]
OTHERS = ["Box(T({0}, 4, 4))", "Output(T({0}))", "Step(T({0}, 4), 1)", "np.arange(4.0, dtype='f4')", "DEEP", "DEEP.scale", "collections.OrderedDict(a=T({0}, 4))", "torch.Size([4, 4])", "LEAF", "torch.float64", "DEEP.blocks", "functools.partial(torch.sub, T({0}, 4))", "'ab'", "range(4)"]

NEW = [
    "DEEP({0})", "DEEP({0}, whole=True).loss", "DEEP({0}, whole=True).logits", "DEEP.blocks[1]({0}, keep=True)", "DEEP.norms['a']({0})", "Cube.apply({0}, {1})[0]", "InPlace.apply({0} * 1)", "Box({0}).half", "Box({0}).table", "Box({0}).row1", "Box({0}).total",
    "(Box({0}) @ {1}).base", "mask_of(4) * {0}", "mask_of({0}.shape[-1], kind=torch.float64)", "retry(torch.matmul, {0}, {1})", "retry(lambda x, y: x.add_(y).view(5), {0}, {1})", "torch.stack(list(walk([{0}, {{'k': {1}}}])))",
    "functools.reduce(torch.add, [{0}, {1}, {0}])", "torch.complex({0}, {1})", "torch.view_as_real({0})", "{0}.real", "{0}.imag", "{0}.conj()", "torch.polar({0}, {1})", "torch.fft.rfft({0})", "{0}.half()", "{0}.bfloat16() + {1}", "{0}.double().float()", "{0}.bool()",
    "torch.tensor([{0}.sum().item(), 1.0])", "torch.tensor([x.item() for x in {0}.flatten()[:2]])", "torch.as_tensor({0}.numpy() * 2)", "torch.from_numpy(np.sin({0}.detach().numpy()))", "torch.tensor(np.float32(2.5)) * {0}", "torch.asarray([1, 2]) + {0}",
    "torch.where({0} > 0)[0]", "{0}.nonzero(as_tuple=True)[0]", "torch.unique({0}, return_inverse=True)[1]", "{0}.masked_select({0} > 0)", "torch.histc({0}, 4)", "torch.searchsorted({0}.sort()[0], {1})", "torch.bucketize({0}, {1})", "torch.cdist({0}, {1})",
    "F.conv1d({0}, T(3, 2, 4, 3))", "F.conv2d({0}, torch.ones(1, 1, 2, 2))", "F.max_pool1d({0}, 2)", "F.avg_pool1d({0}, 2)", "F.adaptive_avg_pool1d({0}, 1)", "F.interpolate({0}[None, None], scale_factor=2.0)", "F.pad({0}, (1, 2))", "F.pad({0}, (1, 1), mode='reflect')", "F.unfold({0}, 2)",
    "F.normalize({0}, dim=-1)", "F.cosine_similarity({0}, {1}, dim=-1)", "F.kl_div({0}, {1}, reduction='batchmean')", "F.nll_loss({0}, {1})", "F.smooth_l1_loss({0}, {1})", "F.huber_loss({0}, {1}, reduction='none')", "F.triplet_margin_loss({0}, {1}, {0})", "F.hardswish({0})", "F.silu({0})", "F.glu({0})",
    "F.softplus({0})", "F.log_softmax({0}, -1).exp()", "F.gumbel_softmax({0})", "F.batch_norm({0}, torch.zeros(4), torch.ones(4), training=True)", "F.group_norm({0}, 2)", "F.scaled_dot_product_attention({0}, {1}, {1})", "F.rms_norm({0}, (4,))", "F.embedding_bag({1}, {0})",
    "{0}.scatter_add(0, {1}, {0})", "{0}.scatter_reduce(0, {1}, {0}, 'amax')", "{0}.index_add(0, {1}, {0})", "{0}.index_copy(0, {1}, {0})", "{0}.take({1})", "torch.take_along_dim({0}, {1}, -1)", "{0}.cummax(-1)[1]", "{0}.logcumsumexp(0)", "{0}.kthvalue(1)[0]", "{0}.median(-1).values", "{0}.mode()[0]", "{0}.quantile(0.5)", "{0}.nanmean()",
    "{0}.var(0, correction=0)", "torch.std_mean({0})[1]", "torch.aminmax({0}).max", "{0}.logsumexp(-1)", "{0}.renorm(2, 0, 1.0)", "{0}.amax((0, -1))", "{0}.count_nonzero()", "{0}.trace()", "torch.linalg.svd({0})[1]", "torch.linalg.solve({0}, {1})", "torch.linalg.qr({0})[1]", "torch.linalg.det({0})", "torch.linalg.eigvalsh({0})", "{0}.pinverse()", "torch.linalg.matrix_power({0}, 2)",
    "torch.kron({0}, {1})", "torch.tensordot({0}, {1}, dims=1)", "torch.baddbmm({0}, {1}, {1})", "torch.bmm({0}, {1})", "torch.dot({0}, {1})", "torch.cross({0}, {1}, dim=-1)", "torch.cartesian_prod({0}, {1})", "torch.combinations({0})", "torch.block_diag({0}, {1})", "torch.hstack([{0}, {1}])", "torch.dstack([{0}, {1}])", "torch.atleast_2d({0})", "torch.nan_to_num({0}, 1.0)",
    "torch.tril_indices(3, 3)", "torch.linspace(0, 1, 4)", "torch.logspace(0, 1, 4)", "torch.arange(0, 1, 0.25)", "torch.eye(4)[{0}]", "torch.empty_like({0}).fill_(1)", "torch.randint(0, 4, (4,))", "torch.randint_like({0}, 5)", "torch.normal({0}, 1.0)", "torch.normal(0.0, 1.0, (4,), generator=GENERATOR)", "torch.rand(4, generator=GENERATOR)", "torch.multinomial({0}.abs(), 2)", "torch.full_like({0}, 2)",
    "torch.func.vmap(torch.dot)({0}, {1})", "torch.func.jacrev(lambda x: x ** 2)({0})", "torch.func.grad_and_value(lambda x: (x * {1}).sum())({0})[1]", "torch.func.functional_call(NET.first, {{'weight': {0}}}, ({1},))", "torch.vmap(lambda x: x.sum())({0})", "torch.func.jvp(torch.sin, ({0},), ({0},))[1]", "torch.autograd.functional.jacobian(torch.exp, {0})", "torch.func.vjp(torch.mul, {0}, {1})[0]",
    "torch.cond({0}.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), ({0},))", "torch.utils._pytree.tree_map(lambda x: x * 2, {{'k': [{0}, {1}]}})['k'][0]", "torch.ops.aten.add.Tensor({0}, {1})", "torch.ops.aten.mul({0}, 2)", "torch._foreach_mul([{0}, {1}], 2)[0]", "torch._foreach_norm([{0}, {1}])[1]", "nn.utils.rnn.pad_sequence([{0}, {1}], batch_first=True)",
    "copy.copy({0})", "copy.deepcopy({0})", "{0}.as_subclass(Scaled) + {1}", "{0}.as_subclass(Scaled).as_subclass(torch.Tensor)", "{0}.to('cpu', copy=True)", "{0}.to({1})", "{0}.type(torch.float64)", "{0}.to_dense()", "{0}.apply_(abs)", "{0}.pow(2).mean().sqrt()", "{0}.T.contiguous()", "{0}.mT", "{0}.__getitem__(0)", "torch.Tensor.add({0}, {1})", "getattr({0}, 'sum')()", "{0} @ {0}.mT",
    "(lambda *x, **k: torch.cat(x, **k))({0}, {1}, dim=0)", "min([{0}, {1}], key=lambda x: x.numel())", "[{0}, {1}][{0}.dim() % 2]", "{{0: {0}, 1: {1}}}.get({0}.dim(), {1})", "torch.tensor([[1.0, 2.0], [3.0, 4.0]])[{1}]", "{0}[None, ..., None]", "{0}[{0}.argsort()]", "{0}[torch.tensor([True, False, True, False])]", "{0}[torch.tensor(1)]", "{0}[-2:, [0, 1]]", "{0}[range(2)]", "{0}[np.array([0, 1])]",
    "sum({0})", "sum({0}.unbind())", "math.prod({0}.shape) * {0}", "abs({0})", "~({0} > 0)", "({0} > 0) ^ ({1} > 0)", "({0} > 0) << 1", "divmod({0}, 2)[1]", "round({0})", "{0}.__rpow__(2)", "2 ** {0}", "1 / {0}", "7 // {0}", "7 % {0}", "3 - {0}", "float('inf') * {0}", "-{0} + True", "{0} * np.float64(1.5)", "np.float32(2) * {0}", "{0} + 2j",
]
# PyTorch's `stack` writes past the end of an `out` of another type.
INPLACE = [
    "DEEP.scale.data.copy_({0})", "DEEP.scale.grad = {0}", "Box({0}).half = {1}", "Box({0}).half += 1", "{0}.addmm_({1}, {1})", "{0}.addmv_({0}, {1})", "{0}.add_({1}).mul_({1})", "{0}.view(-1).add_(1)[0].mul_(3)", "torch.mul({0}, 2, out={1})", "torch.sum({0}, 0, out={1})", "torch.sort({0}, out=({0}, I(0)))", "torch.stack([{0}, {0}], out={1}.to({0}.dtype))", "{0}.pow_(2)",
    "{0}.scatter_add_(0, {1}, {0})", "{0}.index_copy_(0, {1}, {0})", "{0}.masked_scatter_({0} > 0, {1})", "{0}.renorm_(2, 0, 1)", "{0}.triu_()", "{0}.cumsum_(0)", "{0}.sigmoid_()", "{0}.random_(5)", "{0}.normal_(0, 1, generator=GENERATOR)", "{0}.swapdims_(0, 1)", "{0}.as_strided_((2,), (1,))", "{0}.neg_().abs_()", "{0}.logical_not_()", "{0}.bitwise_and_(1)", "{0}.floor_divide_(2)", "{0}.clamp_min_({1})",
    "nn.init.xavier_uniform_({0})", "nn.init.normal_({0}, generator=GENERATOR)", "F.dropout({0}, 0.5, inplace=True)", "F.leaky_relu_({0})", "F.threshold({0}, 0, 1, inplace=True)", "torch._foreach_mul_([{0}, {1}], [2, 3])", "torch._foreach_copy_([{0}], [{1}])", "torch._foreach_zero_([{0}, {1}])", "{0}.real.mul_(2)", "{0}.imag[0] = 1", "{0}.numpy()[0] = 5", "np.add({0}.numpy(), 1, out={0}.numpy())",
    "{0}.__setitem__((0, slice(None)), {1})", "{0}[I(0, 0)] += {1}", "{0}[[0, 1]] = {1}", "{0}[{0} != {0}] = 0.0", "{0}.T[0] = {1}", "{0}.unbind()[0].zero_()", "{0}.chunk(2)[0].fill_(1)", "{0}.expand(4, 4).add_(1)", "{0}[1:] = {0}[:-1].clone()", "{0}[1:] = {0}[:-1]", "{0}.diagonal().add_(1)", "{0}.set_()", "{0}.is_leaf and {0}.requires_grad_()", "{0}.detach_().requires_grad_()", "{0}.grad = torch.ones_like({0})",
    "LEAF.grad = None", "LEAF.data -= 0.1 * LEAF", "LEAF.requires_grad_(False)", "LEAF.add_(1)", "LEAF[0] = {0}", "LEAF.detach()[0] = {0}", "setattr({0}, 'tag', {1})", "{0}.tag.add_(1)", "({0} * 1).add_({1}).sum().backward()",
]
PLAIN = [
    "CALLED", "len(CACHE)", "LOSSES[-1:]", "Box({0})", "len(Box({0}))", "[x.shape for x in Box({0})]", "Box({0}).missing", "DEEP.seen", "DEEP.scale.grad", "[n for n, p in DEEP.named_parameters() if p.grad is not None]", "SOLVER.state_dict()['param_groups'][0]['lr']", "len(SOLVER.state)", "PLAN.get_last_lr()", "mask_of.cache_info()",
    "{0}.is_complex(), {0}.is_floating_point()", "{0}.is_conj()", "{0}.layout", "{0}.element_size() * {0}.nelement()", "torch.is_tensor({0})", "{0}.shape[-1] % 2 == 0", "tuple({0}.shape)", "list({0}.size())", "{0}.ndim", "{0}.nbytes", "{0}.is_sparse", "type({0}) is torch.Tensor", "type({0}).__name__", "isinstance({0}, nn.Parameter)", "torch.promote_types({0}.dtype, {1}.dtype)", "torch.can_cast({0}.dtype, torch.int32)",
    "torch.finfo({0}.dtype).eps", "torch.iinfo({0}.dtype).max", "{0}.shape.numel()", "{0}.shape + {1}.shape", "{0}.shape[:-1] == {1}.shape[:-1]", "torch.broadcast_shapes({0}.shape, {1}.shape)", "{0}.min().item(), {0}.max().item()", "round({0}.float().mean().item(), 3)", "f'{{{0}.sum().item():.3f}}'", "'%d' % {0}.argmax()", "'{{:.2f}} {{}}'.format({0}.float().norm().item(), {0}.dtype)", "repr({0}.shape)", "{0}.sum() == {1}.sum()",
    "any(x > 1 for x in {0}.flatten())", "all((x == x).all() for x in [{0}, {1}])", "[int(x) for x in {0}.argsort()]", "{{int(k): float(v) for k, v in zip({0}.long(), {1})}}", "sorted({0}.tolist())", "max({0}.flatten().tolist(), default=0)", "collections.Counter({0}.long().flatten().tolist()).most_common(1)", "next((i for i, x in enumerate({0}) if x.sum() > 0), -1)", "len({{{0}, {1}, {0}}})", "{{{0}: 1}}.get({1})", "weakref.ref({0})() is {0}",
    "(lambda one, other: id(one) == id(other))({0}, {1})", "{0}.data_ptr() == {0}.view(-1).data_ptr()", "{0}._base is {1}", "{0}._is_view()", "{0}.grad_fn is not None and {0}.grad_fn.next_functions[0][0] is None", "{0}.retains_grad", "{0}.output_nr", "Step({0}).index", "Step({0})._replace(index=2).index", "Output({0}) == Output({0})", "dataclasses.asdict(Output({0}))['rest']", "dataclasses.replace(Output({0}), logits=3).logits", "vars(Output({0})).keys()",
    "{0}.sum().is_nonzero()", "bool({0}.any()) and bool({1}.all())", "not {0}.numel()", "{0}.sum() and 1", "int({0}.sum()) // 2", "float({0}.sum()) > float({1}.sum())", "math.floor({0}.float().mean())", "math.isnan({0}.float().sum())", "complex({0}.sum())", "[*range({0}.argmax())]", "'x' * {0}.dim()", "[0, 1, 2, 3][{0}.argmax()]", "{0}.__index__()", "{0}.__bool__()", "torch.typename({0})", "hasattr({0}, 'tag')",
    "GENERATOR.initial_seed()", "torch.initial_seed()", "random.Random(3).random() < 0.5", "torch.is_inference({0})", "torch.is_autocast_enabled('cpu')", "torch.get_autocast_dtype('cpu')", "torch.overrides.is_tensor_like({0})", "np.asarray({0}.detach()).dtype", "np.array_equal({0}.numpy(), {1}.numpy())", "{0}.__array__().shape", "{0}.numpy().strides", "np.mean({0}.numpy())", "{0}.numpy().tolist() == {0}.tolist()", "list({0}.named_parameters())[:1]", "dir({0})[:1]",
]
GRADS = [
    "DEEP({0}).sum().backward()", "DEEP({0}, whole=True).loss.backward()", "SOLVER.step()", "SOLVER.zero_grad()", "SOLVER.zero_grad(set_to_none=False)", "PLAN.step()", "nn.utils.clip_grad_norm_(DEEP.parameters(), 0.5)", "nn.utils.clip_grad_value_(DEEP.parameters(), 0.5)", "(LEAF @ {0}).sum().backward()", "LOSSES.append((LEAF * {0}).mean().item())", "torch.autograd.grad((LEAF ** 3).sum(), LEAF, create_graph=True)[0].sum().backward()",
    "Cube.apply({0}, {1})[0].sum().backward()", "torch.autograd.grad(Cube.apply({0}, {1})[0].sum(), {0}, create_graph=True)[0]", "LEAF.register_hook(lambda g: CALLED.append('hook'))", "LEAF.register_hook(torch.neg)", "DEEP.register_forward_pre_hook(lambda m, a: (a[0] * 2,))", "DEEP.blocks[0].register_forward_hook(lambda m, a, o: CALLED.append(tuple(o.shape)))", "DEEP.norms['a'].register_full_backward_pre_hook(lambda m, g: None)", "DEEP.blocks[0].weight.requires_grad_(False)",
    "[h.remove() for h in [LEAF.register_hook(torch.neg)]]", "{0}.sum().backward(inputs=[LEAF])", "{0}.backward(torch.ones_like({0}))", "{0}.sum().backward(create_graph=False, retain_graph=True)", "torch.utils.checkpoint.checkpoint(DEEP, {0}, use_reentrant=False).sum().backward()", "torch.utils.checkpoint.checkpoint(lambda x: x.sin() * LEAF, {0}, use_reentrant=True).sum().backward()", "SOLVER.param_groups[0].update(lr=0.01)", "SOLVER.load_state_dict(SOLVER.state_dict())",
    "DEEP.load_state_dict({{k: v * 0.5 for k, v in DEEP.state_dict().items()}})", "DEEP.load_state_dict(DEEP.state_dict(), strict=False, assign=True)", "DEEP.blocks[1].requires_grad_(not DEEP.blocks[1].out.weight.requires_grad)", "[p.data.add_(p.grad, alpha=-0.1) for p in DEEP.parameters() if p.grad is not None]", "DEEP.apply(lambda m: m.reset_parameters() if hasattr(m, 'reset_parameters') else None)", "DEEP.train(not DEEP.training)", "DEEP.blocks[1].cache and DEEP.blocks[1].cache[0].mul_(2)",
]
CONTEXTS = [
    "Noting() as {0}", "Counting() as {0}", "eval_mode(DEEP)", "eval_mode(NET)", "torch.autocast('cpu', torch.bfloat16, enabled=False)", "torch.autograd.graph.allow_mutation_on_saved_tensors()", "torch.autograd.graph.disable_saved_tensors_hooks('off')", "contextlib.nullcontext({0})", "contextlib.suppress(RuntimeError)", "torch.nn.utils.parametrize.cached()", "torch.random.fork_rng()", "torch.overrides.DisableTorchFunctionSubclass()",
    "contextlib.ExitStack() as {0}", "torch.autograd.detect_anomaly(check_nan=False)", "torch.autograd.set_multithreading_enabled(False)", "torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)", "torch.autograd.set_grad_enabled(not torch.is_grad_enabled())", "torch.autograd.forward_ad.dual_level()", "torch.device('meta')", "contextlib.redirect_stdout(io.StringIO())", "torch.profiler.record_function('x')", "torch.no_grad(), torch.autocast('cpu')",
]
STORES = [
    "CACHE[{0}.shape] = {0}", "CACHE.setdefault('x', []).append({0})", "CACHE['n'] = CACHE.get('n', 0) + {0}.dim()", "LOSSES.append({0}.sum())", "LOSSES[:] = LOSSES[-2:]", "DEEP.names.append(type({0}).__name__)", "DEEP.note = {0}", "DEEP.blocks.append(nn.Identity())", "DEEP.norms['a'].bias = None", "DEEP.register_parameter('extra', nn.Parameter({0}.detach().clone()))", "DEEP.scale.tag = {0}", "del DEEP.note", "setattr(DEEP, f'at{{DEEP.seen}}', {0})",
    "CACHE.clear()", "globals().update(LEAF=T(2, 4, 4, grad=True))", "Output.extra = {0}", "Box.table = {0}", "NET.second = nn.Tanh()", "DEEP.blocks[0] = nn.Linear(4, 4)", "GENERATOR.manual_seed(3)", "mask_of.cache_clear()", "Scaled.factor = {0}", "torch.set_default_dtype(torch.float64)", "torch.set_default_dtype(torch.float32)", "random.seed(2)", "np.random.seed(2)", "CALLED.clear()",
]
CHANGES = [
    "DEEP = Stack()", "DEEP.eval()", "SOLVER = torch.optim.SGD(DEEP.parameters(), 0.1, momentum=0.9)", "CACHE['x'] = [T(1, 4)]", "LEAF = T(3, 4, grad=True)", "GENERATOR = torch.Generator().manual_seed(8)", "DEEP.blocks[1].cache = None", "DEEP.half()", "DEEP.to(torch.float64)", "retry = lambda f, *a: f(*a)", "Box.half = 3", "Output.__eq__ = object.__eq__", "DEEP.blocks[0].register_forward_hook(lambda m, a, o: o * 2)",
    "SOLVER.param_groups[0]['lr'] = 0.5", "mask_of = functools.lru_cache(lambda size, kind=None: torch.ones(size))", "Scaled.__torch_function__ = torch._C._disabled_torch_function_impl", "Cube.backward = staticmethod(lambda ctx, g, _: (g, None))", "walk = list", "DEEP.load_state_dict(Stack().state_dict())", "nn.utils.parametrizations.weight_norm(DEEP.blocks[0])",
]
BLOCKS = [
    "{0} = torch.zeros(())\nfor step in range(3):\n    SOLVER.zero_grad()\n    loss = (DEEP({1}) - {2}).pow(2).mean()\n    loss.backward()\n    SOLVER.step()\n    {0} = {0} + loss.detach()\nLOSSES.append({0}.item())",
    "{0} = torch.optim.SGD([LEAF], lr=0.1, momentum=0.9)\nfor _ in range(2):\n    {0}.zero_grad()\n    ({1} * LEAF).sum().backward()\n    {0}.step()\nPLAN.step()",
    "{0} = []\nfor row in {1}:\n    if row.sum() > 0:\n        {0}.append(row * 2)\n    else:\n        {0}.append(row - {2})\n{0} = torch.stack({0})",
    "{0}, best = None, -1e9\nfor index, row in enumerate({1}):\n    score = row.float().mean().item()\n    if score > best:\n        best, {0} = score, row\nprint(best)",
    "tokens = [0]\nfor _ in range(4):\n    logits = TABLES(torch.tensor(tokens[-1:]))[-1]\n    token = int(logits.argmax())\n    tokens.append(token)\n    if token == 3: break\n{0} = torch.tensor(tokens)",
    "{0} = {1}.clone()\nsteps = 0\nwhile {0}.float().norm() > 1 and steps < 9:\n    {0} = {0} / 2\n    steps += 1\nprint({0}.shape, steps)",
    "{0} = copy.deepcopy(DEEP)\n{0}.load_state_dict(DEEP.state_dict())\nwith torch.no_grad():\n    for mine, other in zip({0}.parameters(), DEEP.parameters()):\n        mine.lerp_(other, 0.1)\n{0} = {0}({1})",
    "{0} = running()\nnext({0})\nfor row in ({1}, {2}):\n    {0}.send(row.sum())\n{0} = {0}.send(torch.ones(()))",
    "{0} = {{}}\nfor name, parameter in DEEP.named_parameters():\n    {0}[name] = parameter.detach().abs().max()\n{0} = torch.stack([*{0}.values()]).max()",
    "with Noting() as noting:\n    {0} = {1} + {2}\n    {0} = torch.relu({0})\nprint(noting.seen)",
    "with Counting() as counting:\n    {0} = ({1} * {2}).sum()\nprint(counting.count)",
    "try:\n    LEAF.data.mul_(2)\n    {0} = {1} @ {2}\nexcept RuntimeError as error:\n    {0} = LEAF * 2\n    print(str(error)[:40])\nelse:\n    {0} = {0} + 1\nfinally:\n    LEAF.data.div_(2)",
    "def {0}_f(x, depth=2):\n    return x if depth == 0 else {0}_f(torch.tanh(x * {2}), depth - 1)\n{0} = {0}_f({1})",
    "def {0}_f():\n    total = torch.zeros(())\n    def add(x):\n        nonlocal total\n        total = total + x.sum()\n        return total\n    return add\n{0} = {0}_f()\n{0}({1})\n{0} = {0}({2})",
    "class {0}C(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n        self.weight = nn.Parameter(torch.ones(size))\n        self.register_buffer('mean', torch.zeros(size), persistent=False)\n    def forward(self, x):\n        if self.training:\n            self.mean.lerp_(x.detach().reshape(-1, x.shape[-1]).mean(0), 0.1)\n        return (x - self.mean) * self.weight\n{0} = {0}C(4)\n{0} = {0}({1})",
    "class {0}C(nn.Linear):\n    def forward(self, x):\n        return super().forward(x).relu()\ntorch.manual_seed(1)\n{0} = {0}C(4, 4)\n{0} = nn.Sequential({0}, nn.Dropout(0.5), {0})({1})",
    "{0} = {1}.detach().clone().requires_grad_()\nloss = ({0} * {2}).sum()\nloss.backward()\nwith torch.no_grad():\n    {0} -= 0.1 * {0}.grad\n    {0}.grad = None",
    "{0} = [part.clone() for part in {1}.unbind()]\n{0}[0].add_(1)\n{0}.reverse()\n{0} = torch.cat([x.reshape(-1) for x in {0}])",
    "{0} = {1}\nif {0} is not LEAF and not {0}.requires_grad:\n    {0}[..., 0] += 1\n    {0}.t_()\nprint({0}.stride())",
    "{0} = io.BytesIO()\ntorch.save({{'k': {1}, 'n': 3}}, {0})\n{0}.seek(0)\n{0} = torch.load({0})['k']",
    "{0} = nn.utils.parametrizations.weight_norm(nn.Linear(4, 2))\n{0} = {0}({1})",
    "{0} = DEEP.blocks[1]\nfor part in {1}.float().split(1):\n    out = {0}(part, keep=True)\nprint({0}.cache[0].shape)\n{0}.cache = None\n{0} = out",
    "torch.manual_seed(7)\n{0} = F.dropout({1}, 0.5) + torch.rand(4)\ntorch.manual_seed(7)\n{0} = {0} - F.dropout({1}, 0.5)",
    "state = torch.get_rng_state()\n{0} = torch.randn(4)\ntorch.set_rng_state(state)\n{0} = {0} - torch.randn(4)",
    "{0} = {1}.numpy() if not {1}.requires_grad else {1}.detach().numpy()\n{0} = torch.from_numpy({0}.reshape(-1)[:4] * 2) + {2}",
    "{0} = np.zeros(4, 'f4')\nfor i, x in enumerate({1}.flatten()[:4].tolist()):\n    {0}[i] = x\n{0} = torch.as_tensor({0})\n{0}.add_(1)",
    "match {1}.dim():\n    case 0 | 1: {0} = {1}.unsqueeze(0)\n    case 2 if {1}.shape[0] == 4: {0} = {1} @ {1}.T\n    case _: {0} = {1}.flatten(1)",
    "match Output({1}):\n    case Output(loss=torch.Tensor() as x, logits=None): {0} = x * 2\n    case _: {0} = {2}",
    "{0} = collections.deque(maxlen=2)\nfor x in ({1}, {2}, {1}):\n    {0}.append(x.sum())\n{0} = torch.stack(tuple({0}))",
    "{0} = list(itertools.accumulate([{1}, {2}, {1}], torch.add))[-1]\nprint([x.shape for x in itertools.chain([{0}], {1})][:2])",
    "first, *rest = {1}\n{0} = first\nfor x in rest:\n    {0} = torch.maximum({0}, x)",
    "{0} = max(({1}, {2}), key=lambda x: float(x.float().sum()))\nprint({0} is {1})",
    "{0} = {1}.clone()\n{0}[{0} > 1], {0}[{0} < -1] = 1, -1\n{0} = ({0} == {1}).float().mean()",
    "{0} = torch.zeros(3, 3)\nfor guess, truth in zip({1}.long().flatten() % 3, {2}.long().flatten() % 3):\n    {0}[truth, guess] += 1",
    "{0} = {1}\nfor index in range({0}.shape[0] - 1):\n    {0}[index + 1] = {0}[index] * 0.5 + {0}[index + 1]",
    "{0} = Box({1})\n{0}.half = 5\n{0} = {0}.base + {0}.total\nprint({1}.flatten()[:2])",
    "{0} = Output({1}.sum(), {1})\n{0}.rest.extend(walk([{2}, [{1}]]))\n{0}.loss = {0}.loss * len({0}.rest)\n{0} = {0}.loss",
    "weak = weakref.ref({1})\n{0} = weak() + 1 if weak() is not None else {2}",
    "{0} = torch.jit.annotate(torch.Tensor, {1})\ntorch._assert({0}.dim() >= 0, 'dim')\ntorch._check({0}.numel() >= 0)",
    "with torch.no_grad():\n    {0} = DEEP({1})\n    with torch.enable_grad():\n        {0} = {0} * LEAF\n{0}.sum().backward()",
    "with torch.autograd.graph.saved_tensors_hooks(lambda x: CALLED.append('pack') or x * 2, lambda x: x):\n    {0} = LEAF ** 2 * {1}\n{0}.sum().backward()",
    "{0} = torch.autograd.grad((LEAF * {1}).sum(), LEAF, create_graph=True)[0]\n({0} ** 2).sum().backward()\nprint(LEAF.grad is None)",
    "handle = NET.first.register_forward_hook(lambda m, a, o: CALLED.append(o.shape) or o + 1)\n{0} = NET({1})\nhandle.remove()\n{0} = {0} - NET({1})",
    "{0} = functools.partial(F.softmax, dim=-1)\n{0} = {0}({1}) * {0}({2})",
    "{0} = [torch.sin, torch.cos, lambda x: x * 2]\nfor f in {0}:\n    {1} = f({1})\n{0} = {1}",
    "{0} = {1}.to(torch.complex64)\n{0} = torch.fft.ifft(torch.fft.fft({0}).conj()).real",
    "{0} = {1}.float()\n{0}.register_hook(lambda g: g * 2) if {0}.requires_grad else None\n({0} * LEAF.sum()).sum().backward()",
    "try:\n    with torch.no_grad():\n        {1}.add_(1)\n        raise KeyError({2}.dim())\nexcept KeyError as error:\n    {0} = torch.tensor(error.args)\nprint(torch.is_grad_enabled())",
    "def {0}_g(x):\n    try:\n        for row in x:\n            yield row.mul_(2) if not row.requires_grad else row * 2\n    finally:\n        CALLED.append('closed')\nfor {0} in {0}_g({1}):\n    break",
    "values, indices = {1}.flatten().float().sort(descending=True)\n{0} = values[(values.softmax(0).cumsum(0) < 0.9)]\nprint(len({0}), indices[:1].tolist())",
    "{0} = nn.GRU(4, 3, batch_first=True)\nwith torch.random.fork_rng():\n    out, hidden = {0}({1})\n{0} = out.sum() + hidden.sum()",
    "packed = nn.utils.rnn.pack_padded_sequence(T(1, 2, 3, 4) * {1}.float().mean(), [3, 2], batch_first=True)\n{0}, lengths = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)\nprint(lengths)",
    "globals()['TOTAL'] = TOTAL + 1\n{0} = {1} * TOTAL\nif TOTAL > 3:\n    globals()['TOTAL'] = 0\n    {0} = {0} + {2}",
    "{0} = {1}\nfor scale in (0.5, 2, torch.tensor(3.0)):\n    {0} = {0} * scale if scale != 2 else {0} + scale",
    "scores = {{}}\nfor name, x in (('a', {1}), ('b', {2})):\n    scores[name] = scores.get(name, 0.0) + x.float().abs().sum().item()\n{0} = torch.tensor(sorted(scores.values()))",
    "{0} = torch.utils.data.TensorDataset(T(1, 4, 4), torch.arange(4))\nfor x, y in torch.utils.data.DataLoader({0}, batch_size=2):\n    {0} = NET(x)[0] * y.sum() + {1}",
    "{0} = (lambda x: (x := x + 1, x * 2))({1})[1]\nprint([y := {0}.sum() > 0, not y])",
    "del {1}\n{0} = {2}",
    "async def {0}_f(x):\n    return x * 2\ntry: {0}_f({1}).send(None)\nexcept StopIteration as stop: {0} = stop.value",
    "{0} = {1}\n{0} += {0}\n{0} = {0} if {0} is {1} else {2}\n{0} *= 0.5",
    "a, b = ({1} + {2}), ({1} - {2})\n{0} = torch.where(a > b, a, b)\na.zero_(); b.fill_(1)",
    "{0} = {1}.view(-1)[:2]\n{0}.fill_(7)\n{0} = {1}.clone() if {1}.is_contiguous() else {0}",
]
