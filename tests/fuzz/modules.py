"""Random programs with the standard library, with objects that record every call of their methods and their end, and with deeper classes."""

from classes import Classes
from writer import filled

MODULES = '''import abc, bisect, copy, datetime, decimal, fractions, heapq, io, json, math, pickle, random, re, statistics, string, struct, sys, textwrap, traceback, types, typing, weakref
class Noisy:
    def __init__(self, inner): self.inner = inner
    def __repr__(self): return f'N({self.inner!r})'
class Ending:
    def __init__(self, name): self.name = name
    def __del__(self): print('end', self.name)
def loud(name):
    def method(self, *args):
        print(name, *map(repr, args))
        return getattr(self.inner, name)(*args)
    method.__name__ = name
    return method
for name in ('__len__', '__iter__', '__getitem__', '__contains__', '__eq__', '__hash__', '__lt__', '__gt__', '__bool__', '__index__', '__int__', '__float__', '__add__', '__radd__',
             '__mul__', '__or__', '__call__', '__str__', '__format__', '__reversed__', '__setitem__', '__neg__', '__abs__', '__round__', '__ge__', '__ne__', '__and__', '__sub__'):
    setattr(Noisy, name, loud(name))
del name
class Tree(abc.ABC):
    kinds = {}
    def __init_subclass__(cls, key=None, **more):
        super().__init_subclass__(**more)
        Tree.kinds[key or cls.__name__] = cls
    def __init__(self, **more): self.__dict__.update(more)
    @abc.abstractmethod
    def size(self): ...
    @property
    def name(self): return self._name
    @name.setter
    def name(self, value): self._name = ('tree', value)
    def walk(self): yield self
class Leaf(Tree, key='leaf'):
    def size(self): return 1
    @property
    def name(self): return super().name
    @name.setter
    def name(self, value): Tree.name.__set__(self, [value])
class Branch(Leaf):
    def __init__(self, *parts, **more):
        super().__init__(**more)
        self.parts = parts
    def size(self): return 1 + sum(part.size() for part in self.parts)
    def walk(self):
        yield from super().walk()
        for part in self.parts: yield from part.walk()
T = typing.TypeVar('T')
class Box(typing.Generic[T]):
    def __init__(self, item: T): self.item = item
    def map(self, f) -> 'Box': return type(self)(f(self.item))
class Pair(typing.NamedTuple):
    left: object
    right: object = 2
    def turned(self): return Pair(self.right, self.left)
class Shape(enum.Enum):
    def __new__(cls, sides, name):
        self = object.__new__(cls)
        self._value_ = sides
        self.title = name
        return self
    TRI = 3, 'tri'
    QUAD = 4, 'quad'
    @classmethod
    def _missing_(cls, value): return cls.TRI if value == 0 else None
class Ordering(dict):
    def __missing__(self, key): return ('missing', key)
    def __setitem__(self, key, value): super().__setitem__(key, value if key == '__module__' or key == '__qualname__' else value)
class Preparing(type):
    @classmethod
    def __prepare__(meta, name, bases, **more): return {'prepared': name}
    def __new__(meta, name, bases, space, **more):
        cls = super().__new__(meta, name, bases, dict(space))
        cls.order = [key for key in space if not key.startswith('__')]
        return cls
    def __init__(cls, name, bases, space, **more): cls.more = more
@dataclasses.dataclass
class Base:
    x: int = 1
    rest: list = dataclasses.field(default_factory=list, repr=False)
    def __post_init__(self): self.rest.append(self.x)
@dataclasses.dataclass(order=True)
class Derived(Base):
    y: object = dataclasses.field(default=3, compare=False)
    z: dataclasses.InitVar[int] = 0
    def __post_init__(self, z):
        super().__post_init__()
        self.y = (self.y, z)
class Left(Mixin):
    def twice(self): return ['left', *super().twice()]
class Right(Mixin):
    def twice(self): return ['right', *super().twice()]
class Both(Left, Right):
    __slots__ = ('kept',)
    def twice(self): return ['both', *super().twice()]
'''

USES = [
    # functools, operator
    "functools.reduce(operator.add, {0}, {1})", "sorted({0}, key=functools.cmp_to_key(lambda x, y: (repr(x) > repr(y)) - (repr(x) < repr(y))))",
    "functools.partial(every, {0}, k={1})(2, y=3)", "functools.lru_cache(maxsize=2)(pair)({0}, {1})", "operator.contains({0}, {1})", "operator.itemgetter(0, -1)({0})",
    "operator.concat({0}, {1})", "operator.countOf({0}, {1})", "operator.index({0})", "operator.truth({0})", "functools.partial(print, {0}, sep='-')({1})",
    # itertools
    "[(k, list(g)) for k, g in itertools.groupby({0}, key=type)]", "list(itertools.starmap(pair, [({0}, {1})]))", "list(itertools.takewhile(lambda x: x != {1}, {0}))",
    "list(itertools.product({0}, {1}))[:9]", "list(itertools.permutations({0}, 2))[:9]", "list(itertools.zip_longest({0}, {1}, fillvalue=0))",
    "list(itertools.accumulate({0}, lambda x, y: (x, y)))", "[list(t) for t in itertools.tee({0}, 2)]", "list(itertools.pairwise({0}))", "list(itertools.compress({0}, {1}))",
    "list(itertools.dropwhile(bool, {0}))", "list(itertools.filterfalse(None, {0}))", "list(itertools.combinations({0}, 2))[:9]", "list(itertools.islice(itertools.cycle({0}), 5))",
    "list(itertools.islice(itertools.count({0}), 3))", "list(itertools.chain.from_iterable({0}))", "list(map(pair, {0}, itertools.repeat({1})))",
    # collections
    "collections.Counter({0}).most_common(2)", "collections.Counter({0}) + collections.Counter({1})", "collections.ChainMap({{'a': {0}}}, {{'k': {1}}})['k']",
    "collections.OrderedDict(zip({0}, {1})).popitem(last=False)", "collections.defaultdict(list, k={0})[{1}]", "collections.deque({0}, maxlen=2)", "collections.UserList({0})",
    "collections.UserDict(k={0}).get('k', {1})", "Pair({0}, {1}).turned()", "Pair({0})._replace(left={1})", "Pair._make(({0}, {1}))._asdict()", "Pair({0}, {1}) == ({0}, {1})",
    # numbers
    "math.floor({0})", "math.gcd({0}, 6)", "math.prod({0})", "math.isclose({0}, {1})", "math.hypot(3, {0})", "math.fsum({0})", "math.comb(5, {0})", "math.sqrt({0})", "math.trunc({0})",
    "decimal.Decimal(repr({0}))", "decimal.Decimal('1.10') + {0}", "fractions.Fraction({0}, 3)", "fractions.Fraction(1, 3) * {0}", "statistics.mean([1, 2, {0}])", "statistics.median({0})",
    "random.Random(3).choice({0})", "random.Random({0} and 1).randint(1, 9)", "int('12', {0})", "({0}).to_bytes(2, 'big')", "round(2.675, {0})", "struct.pack('<h', {0})",
    # text
    "re.sub('[a-c]', lambda m: m.group().upper(), {0})", "re.findall('.', {0})", "re.match('(?P<x>.)', {0})", "re.split(',', {0})", "string.Template('$k-$x').safe_substitute(k={0})",
    "textwrap.fill({0}, 4)", "textwrap.dedent({0})", "json.dumps({0})", "json.loads(json.dumps({0}))", "json.dumps({{'k': {0}}}, sort_keys=True, default=repr)", "string.capwords({0})",
    "'{{0!r:>{{1}}}}'.format({0}, 9)", "'{{.value}}'.format({0})", "'{{[0]}}'.format({0})", "f'{{ {0} !r:{{ {1} }}}}'", "'%s|%5.1f' % ({0}, {1})", "str.maketrans({0}, {1})", "format({0}, '>8')",
    "io.StringIO({0}).readlines()", "ascii({0}).encode().hex()", "memoryview({0}).tolist()", "bytes({0}).decode('utf-8', 'replace')", "bytearray({0}).find({1})",
    # objects
    "copy.copy({0})", "copy.deepcopy({0})", "copy.deepcopy([{0}, {0}])", "pickle.loads(pickle.dumps({0}))", "types.SimpleNamespace(k={0}, x={1})", "weakref.ref({0})() is {0}",
    "types.MappingProxyType({{'k': {0}}})['k']", "typing.Optional[{0}]", "typing.get_type_hints(Pair)", "Box[int]({0}).map(repr).item", "Box({0}).map(lambda x: (x, {1})).item", "typing.cast(int, {0})",
    "Branch(Leaf(), Leaf(name={0})).size()", "[type(t).__name__ for t in Branch(Leaf(), Branch(Leaf())).walk()]", "Tree()", "Tree.kinds.get({0})", "Shape({0})", "Shape.TRI.title", "Shape(3) is Shape.TRI",
    "list(Shape)", "Derived({0}, z={1})", "Derived() < Derived({0})", "dataclasses.astuple(Base({0}))", "[f.name for f in dataclasses.fields(Derived)]", "Both().twice()", "super(Left, Both()).twice()",
    "Preparing('Made', (), {{'one': {0}}}, k={1}).order", "isinstance({0}, typing.Iterable)", "isinstance({0}, collections.abc.Hashable)", "issubclass(type({0}), collections.abc.Sized)",
    "datetime.date(2024, 2, 28) + datetime.timedelta(days={0})", "datetime.timedelta(hours={0}).total_seconds()", "datetime.date.fromordinal({0})", "(datetime.date(2024, 1, 3) - datetime.date(2023, 1, 1)).days",
    # callbacks from C
    "sorted({0}, key=lambda x: print('key', x) or repr(x))", "max({0}, key=lambda x: -len(repr(x)))", "heapq.nsmallest(2, {0}, key=repr)", "heapq.merge([1, 3], [2])", "list(heapq.merge({0}, {1}, key=repr))",
    "bisect.bisect([1, 2, 4], {0})", "bisect.bisect_left([1, 2, 4], 2, key=lambda x: x)", "sum(map(len, {0}), 1)", "dict(sorted({0}.items()))", "set(map(type, {0}))", "''.join(map(chr, {0}))",
    "list(iter(lambda: next(iter({0})), {1}))", "eval('p + q', {{'p': {0}, 'q': {1}}})", "[*map(lambda *a: a, {0}, {1}, (1, 2))]", "any(map({0}.__eq__, {1}))", "sorted(zip({0}, {1}), reverse=True)",
    # objects that record their calls
    "Noisy({0}) in [{1}, 2]", "{{Noisy({0}): {1}}}", "{{Noisy({0}), Noisy({0})}}", "[Noisy({0}), Noisy({1})].index({1})", "sorted([Noisy({0}), Noisy({1})])", "max(Noisy({0}), Noisy({1}))", "sum(Noisy({0}))",
    "list(Noisy({0}))", "tuple(reversed(Noisy({0})))", "Noisy({0}) + {1}", "{1} + Noisy({0})", "Noisy({0}) == Noisy({1})", "Noisy({0})[{1}]", "{1} in Noisy({0})", "bool(Noisy({0}))", "not Noisy({0})",
    "f'{{ Noisy({0}) :>5}}'", "'%s' % Noisy({0})", "str(Noisy({0}))", "[1, 2, 3][Noisy({0})]", "range(Noisy({0}))", "dict.fromkeys(Noisy({0}))", "[*Noisy({0}), {1}]", "' '.join(Noisy({0}))", "int(Noisy({0}))",
    "min(Noisy({0}), default={1})", "(Noisy({0}) or {1}) if {1} else 3", "abs(-Noisy({0}))", "Noisy({0})({1})", "dict(Noisy({0}))", "set(Noisy({0}))", "any(Noisy({0}))", "zip(Noisy({0}), {1})", "1 < Noisy({0}) < 3",
    "[Noisy({0})].count({1})", "[Noisy({0})] == [{1}]", "(Noisy({0}),) < ({1},)", "{{1: Noisy({0})}} == {{1: {1}}}", "round(Noisy({0}))", "hash(Noisy({0})) == hash({0})", "collections.Counter([Noisy({0}), {1}])",
    "print(Noisy({0}), end=' ')", "sorted([3, 1], key=Noisy({0}))", "list(filter(Noisy({0}), {1}))", "isinstance(Noisy({0}), Noisy)", "functools.reduce(Noisy({0}), {1})", "bytes(Noisy({0}))", "len(Noisy({0}))",
]

HANDLED = [
    "print(traceback.format_exc().count('line'), [f.lineno for f in traceback.extract_tb({0}.__traceback__)])", "print(''.join(traceback.format_exception_only({0})))",
    "print({0}.with_traceback(None) is {0})", "print([f.name for f in traceback.extract_tb({0}.__traceback__)])", "print(sys.exc_info()[1] is {0}, sys.exception() is {0} if hasattr(sys, 'exception') else 0)",
]

ENDINGS = [
    "{0} = Ending({1})\ndel {0}", "{0} = [Ending(1), Ending(2)]\n{0}.pop(0)\nprint('popped')", "{0} = Ending('old')\n{0} = {1}", "{0} = {{'k': Ending(3)}}\n{0}['k'] = {1}\nprint('replaced')",
    "(lambda x: None)(Ending({1}))\nprint('called')", "for {0} in map(Ending, 'ab'): print({0}.name)\n{0} = None", "{0} = Ending(1)\n{0}.me = {0}\n{0} = {1}",
    "try:\n    {0} = Ending('t')\n    raise KeyError({1})\nexcept KeyError:\n    print('handler')\n    {0} = {1}\nprint('after')", "{0} = weakref.ref(Ending(4), lambda r: print('gone'))\nprint({0}() is None)",
    "{0} = Ending('w')\nfor _ in (1, 2): {0} = Ending(_)\nprint('looped')", "with Manager(True):\n    {0} = Ending('m')\n    {0} = {1}", "{0} = (Ending(x) for x in (1, 2))\nnext({0})\nprint('next')\n{0}.close()",
]

BLOCKS = [
    "{0} = []\nfor x in {1}: heapq.heappush({0}, x)\nprint([heapq.heappop({0}) for _ in range(len({0}))])",
    "{0} = collections.defaultdict(list)\nfor x in {1}: {0}[type(x).__name__].append(x)\nprint(dict({0}))",
    "{0} = collections.OrderedDict(a=1, b={1})\n{0}.move_to_end('a')\nprint({0}, list(reversed({0})))",
    "class {0}C(metaclass=Preparing, k={1}):\n    one = {1}\n    two = one\n    def m(self): return (__class__.more, self.prepared)\n{0} = {0}C()\nprint({0}C.order, {0}.m())",
    "class {0}C(Box[int]):\n    def map(self, f): return super().map(lambda x: f(f(x)))\n{0} = {0}C({1}).map(lambda x: [x]).item",
    "{0} = Leaf()\n{0}.name = {1}\nprint({0}.name, vars({0}))",
    "class {0}C(Leaf, key='new'):\n    def size(self): return super().size() + 1\n    def __repr__(self): return 'new'\n{0} = Tree.kinds.pop('new')()\nprint({0}.size(), {0})",
    "def {0}_g():\n    try:\n        got = yield {1}\n        print('got', got)\n        yield got\n    except ValueError as error:\n        yield ('error', error.args)\n    else:\n        yield 'else'\n    finally:\n        print('closed')\n"
    "{0} = {0}_g()\nnext({0})\nprint({0}.throw(ValueError(2)) if {1} else {0}.send({1}))",
    "async def {0}_g():\n    try:\n        for x in (1, 2):\n            got = yield x\n            print('got', got)\n    finally:\n        print('closing')\n"
    "async def {0}_main():\n    g = {0}_g()\n    seen = [await g.asend(None), await g.asend({1})]\n    await g.aclose()\n    return seen, [x async for x in {0}_g() if x != {1}]\n{0} = run({0}_main())",
    "async def {0}_main():\n    async with contextlib.AsyncExitStack() as stack:\n        stack.push_async_callback(Ready, 1)\n        stack.callback(print, 'last')\n        return [await Ready(x) for x in (1, {1})]\n{0} = run({0}_main())",
    "{0} = io.StringIO()\nwith contextlib.redirect_stdout({0}):\n    print('inner', {1})\n{0} = {0}.getvalue()",
    "@contextlib.contextmanager\ndef {0}_m(p):\n    try: yield p\n    except Exception as error:\n        print('in', type(error).__name__)\n        raise RuntimeError(p) from error\ntry:\n    with {0}_m({1}) as {0}: {0}.nothing.more\n"
    "except RuntimeError as error:\n    print(repr(error), repr(error.__cause__))",
    "class {0}C:\n    def __get__(self, obj, cls): return (obj is None, cls.__name__)\n    def __set__(self, obj, value): obj.__dict__['v'] = value\nclass {0}D:\n    v = {0}C()\n{0} = {0}D()\n{0}.v = {1}\nprint({0}.v, {0}D.v, vars({0}))",
    "class {0}C:\n    __slots__ = ('x', '__dict__')\n    def __init__(self, x): self.x = x\nclass {0}D({0}C):\n    __slots__ = ('y',)\n{0} = {0}D({1})\n{0}.y = {0}.z = {1}\nprint({0}.x, {0}.y, vars({0}), copy.copy({0}).y)",
    "class {0}C(dict):\n    def __getitem__(self, key): return ('own', super().__getitem__(key))\n    def __missing__(self, key): return key\n{0} = {0}C(k={1})\nprint({0}['k'], {0}['z'], {0}.get('z'), '%(k)s' % {0}, {{**{0}}})",
    "class {0}C(list):\n    def append(self, x): super().append((x, len(self)))\n    def __iter__(self): return reversed(self[:])\n{0} = {0}C({1})\n{0}.append(1)\nprint(list({0}), {0}[:], [*{0}], sorted({0}, key=repr))",
    "class {0}C(int):\n    def __new__(cls, x): return super().__new__(cls, x or 4)\n    def __add__(self, other): return type(self)(int(self) + other)\n    __radd__ = __add__\n{0} = {0}C(0) + 2\nprint(type({0}).__name__, sum([{0}, 1]), {0} * 2, -{0})",
    "class {0}C(str):\n    def __eq__(self, other): return str.__eq__(self.lower(), str(other).lower())\n    def __hash__(self): return hash(self.lower())\n{0} = {{{0}C('Ab'): {1}}}\nprint({0}.get('ab'), {0}C('AB') in {0}, 'aB' == {0}C('Ab'))",
    "def {0}_d(cls):\n    cls.made = sorted(k for k in vars(cls) if not k.startswith('__'))\n    return cls\n@{0}_d\nclass {0}C(Mixin):\n    a = b = {1}\n    def m(self): return [self.a for _ in (1, 2)]\n{0} = {0}C.made, {0}C().m()",
    "def {0}_o(x: int, *args: str, k: 'note' = {1}) -> None:\n    def inner():\n        nonlocal x\n        x = (x, args, k)\n        return locals()\n    return inner(), x\n{0} = {0}_o(1, 2)\nprint({0}_o.__annotations__, {0}_o.__kwdefaults__)",
    "def {0}_f(n):\n    try:\n        if n: return {0}_f(n - 1)\n        raise LookupError({1})\n    except LookupError as error:\n        error.args += (n,)\n        raise\n    finally:\n        print('left', n)\ntry: {0}_f(2)\n"
    "except LookupError as error: print(error.args, [t.lineno - error.__traceback__.tb_lineno for t in traceback.extract_tb(error.__traceback__)])",
    "{0} = [3, 1, 2]\ntry: {0}.sort(key=lambda x: {0}.append(x) or x)\nexcept ValueError as error: print(error)\nprint({0})",
    "class {0}C:\n    def __init__(self, x): self.x = x\n    def __lt__(self, other):\n        print('lt', self.x, other.x)\n        return self.x < other.x\n{0} = [c.x for c in sorted(map({0}C, [3, 1, 2]), reverse=bool({1}))]\nprint({0}, min({0}C(2), {0}C(1)).x)",
    "{0} = {{}}\nfor k in ('a', 'b', 'a', 'c'): {0}[k] = {0}.get(k, 0) + 1\nprint(sorted({0}.items(), key=lambda kv: (-kv[1], kv[0])), {0} | {{'a': {1}}})",
    "{0} = {{1, 2, 3}}\n{0} ^= {{3, 4}}\n{0} |= set({1})\nprint(len({0}), {0} >= {{1}}, {0} & {{1, 2}})",
    "{0} = bytearray(b'abc')\n{0}[1:2] = b'xyz'\n{0} += bytes([{1}])\nprint({0}, {0}[::-1], {0}.find(b'z'))",
    "exec('y = x + 1', {{'x': {1}}}, {0} := {{}})\nprint({0})",
    "{0} = 0\nwhile True:\n    {0} += 1\n    try:\n        if {0} == 1: continue\n        if {0} == 3: break\n        print('body', {0})\n    finally:\n        print('finally', {0})\nelse: print('never')",
    "def {0}_f():\n    for x in range(3):\n        try: yield x\n        except KeyError: print('caught', x)\n        finally: print('out', x)\n    return {1}\ndef {0}_g():\n    {0} = yield from {0}_f()\n    print('result', {0})\n{0} = {0}_g()\n"
    "print(next({0}), {0}.throw(KeyError()), list({0}))",
    "{0} = Both()\n{0}.kept = {1}\nprint({0}.twice(), {0}.kept, [c.__name__ for c in type({0}).__mro__], hasattr({0}, '__dict__'))",
    "match {1}:\n    case Pair(left=x, right=y): print('pair', x, y)\n    case Derived(x=x) | Base(x=x): print('base', x)\n    case Shape.TRI: print('tri')\n    case [Noisy(inner=x), *_]: print('noisy', x)\n    case dict() as {0} if {0}: print('full')\n    case _: {0} = 1",
]


class Modules(Classes):
    """Statements and expressions with the standard library; a program that has them imports more."""

    modules = False

    def kinds(self):
        kinds = super().kinds()
        if self.modules:
            kinds = [(12, self.use), (6, self.block_of_library), *kinds, (4, self.ending), (3, self.traced)]
        return kinds

    def atom(self):
        if self.modules and self.chance(0.04):
            return self.pick(["Noisy({0})", "Pair(1, {0})", "Base({0})", "Ending({0})", "Shape.TRI", "Box({0})", "Leaf()", "Both()"]).format(self.pick(["1", "2", "'ab'", "[1, 2]", "()"]))
        return super().atom()

    def use(self):
        text = filled(self.pick(USES), self.expression(1), self.atom())
        if self.chance(0.2):
            text = filled(self.pick(USES), f"({text})", self.atom())
        self.line(f"print({text})" if self.chance(0.3) else f"{self.known(self.name())} = {text}")

    def block_of_library(self):
        name = self.name()
        self.line(self.pick(BLOCKS).format(name, self.atom()))
        if self.chance(0.5):
            self.known(name)

    def ending(self):
        self.line(self.pick(ENDINGS).format(self.name(), self.atom()))

    def traced(self):
        error = self.name("e")
        self.line("try:")
        self.block(self.use)
        self.line(f"except Exception as {error}:")
        self.line("    " + self.pick(HANDLED).format(error))
