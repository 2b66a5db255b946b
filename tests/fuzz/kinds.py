"""The kinds of objects that programs over objects from outside hold: how one is made, what is asked of it, how it changes."""

PRELUDE = '''
import abc, array, bisect, collections, contextlib, contextvars, copy, dataclasses, datetime, decimal, enum, fractions, functools, heapq, io, itertools, json, logging, math, operator, os, queue, random, re, string, struct, sys, threading, types, typing, weakref
os.environ.pop('FUZZ', None)
sys.modules.pop('fuzz_module', None)
decimal.setcontext(decimal.Context(prec=28))
logging.getLogger('fuzz').__init__('fuzz')
OUT = []
TOTAL = 0
SHARED = [1]
TABLE = {'k': 1}
class OwnError(Exception):
    pass
class Mixin:
    value = 7
    def twice(self): return (self, self)
def pair(x, y=2): return (x, y)
def every(x, /, *rest, y=1, k=None, **more): return (x, rest, y, k, more)
def outer(n):
    def inner(x=n):
        nonlocal n
        n = (n, x) if not isinstance(n, tuple) else x
        return n
    return inner
class D(dict):
    def __missing__(self, key): return ('missing', key)
class L(list):
    def __len__(self): return list.__len__(self) + 1
class Plain:
    x = 'class'
    def __init__(self, x=0):
        self.x = x
        self.items = [x]
    def m(self, y=0): return (self.x, y)
    def __repr__(self): return f'P({self.x!r})'
class Child(Plain):
    @property
    def half(self): return [self.x, 'half']
    @functools.cached_property
    def once(self):
        TRAIL.append('once')
        return len(TRAIL)
    @classmethod
    def made(cls, x): return cls(x)
    @staticmethod
    def plain(x): return [x]
    def m(self, y=0): return ('child', super().m(y))
class Slots:
    __slots__ = ('x', 'y', '__weakref__')
    def __init__(self, x=0): self.x = x
    def __eq__(self, other): return isinstance(other, Slots) and self.x == other.x
    __hash__ = None
class Fallback:
    def __init__(self, x): self.__dict__['inner'] = x
    def __getattr__(self, name):
        if name.startswith('__'): raise AttributeError(name)
        return (name, self.inner)
    def __setattr__(self, name, value): self.__dict__['inner'] = (name, value)
class Describes:
    def __set_name__(self, owner, name): self.name = '_' + name
    def __get__(self, obj, cls=None): return self if obj is None else obj.__dict__.get(self.name, 'none')
    def __set__(self, obj, value): obj.__dict__[self.name] = value
class Described:
    x = Describes()
    def __call__(self, y): return ('called', self.x, y)
    def __iter__(self): return iter((1, self.x))
    def __len__(self): return 2
    def __getitem__(self, key): return (key, self.x)
    def __contains__(self, key): return key == self.x
    def __add__(self, other): return ('sum', self.x, other)
    def __bool__(self): return self.x != 1
@dataclasses.dataclass
class Data:
    x: int = 1
    y: list = dataclasses.field(default_factory=list)
@dataclasses.dataclass(frozen=True, order=True)
class Frozen:
    x: object = 1
    y: object = (2,)
class Color(enum.Enum):
    RED = 1
    BLUE = 'x'
    def dark(self): return self.name.lower()
class Level(enum.IntFlag):
    LOW = 1
    HIGH = 2
P = collections.namedtuple('P', 'x y', defaults=[2])
class Meta(type):
    extra = 3
    def __contains__(cls, item): return item in cls.__dict__
    def __len__(cls): return 4
class Made(metaclass=Meta):
    x = [1]
    count = 0
    def __init__(self): type(self).count += 1
class Base(abc.ABC):
    @abc.abstractmethod
    def m(self): ...
class Concrete(Base):
    def m(self): return 'm'
TRAIL = []
VAR = contextvars.ContextVar('VAR', default=0)
LOCAL = threading.local()
@functools.singledispatch
def told(x): return 'object'
@told.register
def _(x: int): return 'int'
@told.register
def _(x: list): return ['list', *map(told, x)]
@functools.lru_cache(maxsize=2)
def kept(x):
    TRAIL.append(x)
    return [x]
def counting(n=3):
    got = None
    try:
        for i in range(n):
            got = yield (i, got)
    finally:
        TRAIL.append('closed')
'''

#: Changes of classes and functions, whatever the objects are.
CLASS_CHANGES = [
    "Plain.m = lambda self, y=0: 'new m'", "Child.x = 'child'", "del Child.m", "Plain.__repr__ = lambda self: 'other'", "Child.half = 3", "Plain.__eq__ = lambda self, other: True", "Plain.__len__ = lambda self: 2",
    "Plain.__getattr__ = lambda self, name: 'got ' + name", "Described.__call__ = lambda self, y: 'recalled'", "Described.x = 'plain now'", "D.__missing__ = lambda self, key: 'changed'", "del D.__missing__",
    "L.__len__ = list.__len__", "L.__getitem__ = lambda self, i: ('own', i)", "D.__getitem__ = lambda self, k: ('own', k)", "D.__contains__ = lambda self, k: True", "Data.x = 9", "Data.__eq__ = object.__eq__", "Made.x = [2]",
    "Made.count += 1", "Meta.extra = 4", "Base.register(list)", "told.register(str, lambda x: 'text')", "pair.__defaults__ = (5,)", "every.__kwdefaults__ = {'y': 8}", "pair.__code__ = (lambda x, y: [y, x]).__code__", "Slots.__eq__ = object.__eq__",
    "Fallback.__getattr__ = lambda self, name: name * 2", "Child.__bases__ = (Slots2,)" , "Describes.__get__ = lambda self, obj, cls=None: 'got'", "del Describes.__set__", "len = lambda x: 77", "del len", "TOTAL += 1", "SHARED.append(1)",
    "Plain.__bool__ = lambda self: False", "Plain.__hash__ = lambda self: 1", "Plain.__getattribute__ = lambda self, name: object.__getattribute__(self, name)", "Color.BLUE.extra = 1", "Child.once = 'once'", "P.total = 3", "kept.cache_clear()",
    "VAR.set('var')", "LOCAL.x = 3", "Mixin.value += 1", "OwnError.__str__ = lambda self: 'own'", "Described.__iter__ = None", "Described.__contains__ = None", "Child.__slots__ = 3", "Plain.x = Describes()", "isinstance = lambda *args: True",
]

_ATTRIBUTES = ["{0}.x = {1}", "{0}.x = [1]", "del {0}.x", "{0}.fresh = {1}", "{0}.__dict__['x'] = 4", "{0}.__dict__.clear()", "{0}.m = lambda *args: 'own m'", "{0} = Plain({1})", "{0}.__class__ = Child", "{0}.__class__ = Plain", "{0}.once = 5", "{0}.__dict__ = {{'x': 'swapped'}}"]
_PLAIN = ["{0}.x", "{0}.m({1})", "{0}.items", "{0}.items.append(1)", "{0}.half", "{0}.once", "{0}.made({1})", "{0}.plain({1})", "vars({0}).get('x')", "'x' in {0}.__dict__", "{0}.fresh", "hasattr({0}, 'once')", "getattr({0}, 'm')", "[{0}.x, {0}.x]", "{0}.m is {0}.m", "{0}.__dict__.pop('once', 0)", "list(vars({0}))"]
_DICT = ["{0}['a']", "{0}.get({1})", "{0}.get('a', 5)", "{1} in {0}", "list({0})", "list({0}.items())", "len({0})", "{0}.pop('a', None)", "{0}.setdefault({1}, 3)", "{{**{0}, 'z': 1}}", "{0} | {{'n': 1}}", "{0}.copy()", "'a' in {0}.keys()", "next(iter({0}.values()))", "sum(1 for _ in {0})", "[k for k in {0}]",
         "{0} == {{'a': 1}}", "bool({0})", "'%(a)s' % {0}", "every(1, **{0})", "list(reversed({0}))", "dict({0})", "{0}.update(n=1)", "max({0}.values(), key=repr)", "[{0}[k] for k in {0}]", "{0}.keys() & {{'a', 3}}", "{0}.popitem()", "{0}.__getitem__('a')", "{0}.fromkeys('ab')", "json.dumps({0}, default=str)"]
_DICT_CHANGES = ["{0}['a'] = {1}", "{0}['n'] = {1}", "{0}.pop('a', None)", "{0}.clear()", "{0}.update(a={1}, q=2)", "{0} = {{'a': {1}, 3: 'c'}}", "del {0}['a']", "{0}['a'], {0}['b'] = 1, 2", "{0}.setdefault('a', [9])", "{0}.popitem()"]
_LIST = ["{0}[0]", "{0}[-1]", "len({0})", "{0}.append({1})", "{0}[1:]", "{0}.index({1})", "{0}.count({1})", "list({0})", "{0} + [1]", "{0} * 2", "sum({0})", "sorted({0}, key=repr)", "{0}.pop()", "[x for x in {0}]", "[*{0}, {1}]", "{1} in {0}", "{0}.copy()", "{0} == [1, 2]", "max({0}, key=repr)", "list(reversed({0}))", "{0}.extend({1})",
         "first_of({0})", "list(enumerate({0}))", "list(zip({0}, {0}))", "bool({0})", "{0}.insert(0, {1})", "{0}.sort(key=repr)", "{0}.reverse()", "every(*{0})", "' '.join(map(str, {0}))", "bisect.bisect([1, 5], len({0}))", "any(x is {1} for x in {0})", "{0}[{1}]"]
_LIST_CHANGES = ["{0}.append({1})", "{0}[0] = {1}", "{0}.clear()", "{0}.pop()", "{0}.insert(0, {1})", "{0}[:] = [7, 8]", "{0} = [{1}]", "{0}.reverse()", "{0} *= 2", "del {0}[0]", "{0}.extend([{0}[0]])"]
_SET = ["{1} in {0}", "len({0})", "{0} | {{9}}", "{0} & {{1, 2}}", "{0} - {{1}}", "sorted({0}, key=repr)", "{0} == {{1, 2}}", "{0}.issubset({{1, 2, 3, 'a'}})", "bool({0})", "{0}.isdisjoint([1])", "{0}.add({1})", "{0}.discard({1})", "{0}.copy()", "{0} <= {0}", "frozenset({0})", "[x for x in {0} if x == 1]", "{0}.union('ab')", "{0} ^ {{1}}", "{0}.pop()"]
_SET_CHANGES = ["{0}.add({1})", "{0}.discard(1)", "{0}.clear()", "{0} = {{{1}, 4}}", "{0} |= {{'q'}}", "{0}.remove(2)"]
_ITERATOR = ["next({0}, 'end')", "next({0})", "[next({0}, 0), next({0}, 0)]", "list(itertools.islice({0}, 2))", "iter({0}) is {0}", "list(zip((1, 2), {0}))", "[x for x, _ in zip({0}, 'ab')]", "{0}.__next__()", "{1} in itertools.islice({0}, 3)", "operator.length_hint({0})", "tuple(itertools.islice({0}, 1))"]
_ITERATOR_CHANGES = ["next({0}, None)", "{0} = iter([5, 6, 7])", "list(itertools.islice({0}, 2))", "{0} = itertools.count({0} is None)"]
_CALLED = ["{0}({1})", "{0}({1}, 4)", "{0}()", "{0}(x={1})", "[{0}(i) for i in (1, 2)]", "list(map({0}, [1, 2]))", "{0}.__name__", "{0}.__doc__", "callable({0})", "functools.partial({0}, 1)()", "{0}.tag", "{0}(*[{1}])", "{0}.__wrapped__", "{0}.__call__({1})"]

#: Kind -> (statements that make one, expressions, changes); `{{0}}` is the object, `{{1}}` another operand.
KINDS = {
    "dict": (["{0} = {{'a': 1, 'b': [2], 3: 'c'}}", "{0} = {{}}", "{0} = dict(a=[1], x=2)", "{0} = {{i: str(i) for i in range(12)}}"], _DICT, _DICT_CHANGES),
    "dict subclass": (["{0} = D(a=1, b=2)", "{0} = D({{3: 4, 'a': [1]}})"], [*_DICT, "{0}['none']", "{0}.x", "dict.get({0}, 'a')", "dict.__getitem__({0}, 'a')"], [*_DICT_CHANGES[:5], "{0}.x = {1}"]),
    "OrderedDict": (["{0} = collections.OrderedDict(a=1, b=2)"], [*_DICT, "{0}.move_to_end('a')", "{0}.popitem(last=False)", "next(reversed({0}))"], [*_DICT_CHANGES[:5], "{0}.move_to_end('a')"]),
    "defaultdict": (["{0} = collections.defaultdict(list, a=[1])", "{0} = collections.defaultdict(int)"], [*_DICT, "{0}['fresh']", "{0}['a'] + {0}['b']", "{0}.default_factory"], [*_DICT_CHANGES[:5], "{0}.default_factory = None", "{0}.default_factory = str"]),
    "Counter": (["{0} = collections.Counter('abca')", "{0} = collections.Counter(a=2)"], [*_DICT, "{0}.most_common(1)", "{0}['zz']", "{0} + {0}", "{0}.total()", "{0}.update('ab')", "list({0}.elements())"], [*_DICT_CHANGES[:5], "{0}['a'] += 1", "{0}.subtract('a')"]),
    "ChainMap": (["{0} = collections.ChainMap({{'a': 1}}, {{'b': 2}}, TABLE)"], [*_DICT[:8], "{0}['k']", "{0}.new_child({{'a': 3}})['a']", "{0}.maps"], ["{0}['a'] = {1}", "{0}.maps.pop()", "{0}.maps[1]['b'] = {1}", "TABLE['k'] = {1}"]),
    "mappingproxy": (["{0}_d = {{'a': 1}}\n{0} = types.MappingProxyType({0}_d)", "{0}_d = D(a=1)\n{0} = types.MappingProxyType({0}_d)"], [*_DICT[:8], "{0} | {{'b': 1}}", "list({0}.items())", "Plain.__dict__['x']", "'m' in Child.__dict__"], ["{0}_d['a'] = {1}", "{0}_d['n'] = 2", "{0}_d.clear()"]),
    "UserDict": (["{0} = collections.UserDict(a=1)"], [*_DICT[:10], "{0}.data"], ["{0}['a'] = {1}", "{0}.data = {{'q': 1}}", "{0}.data.clear()"]),
    "views": (["{0}_d = {{'a': 1, 'b': 2}}\n{0} = {0}_d.keys()", "{0}_d = {{'a': 1}}\n{0} = {0}_d.items()", "{0}_d = {{'a': 1}}\n{0} = {0}_d.values()"], ["list({0})", "len({0})", "{1} in {0}", "sorted({0}, key=repr)", "[x for x in {0}]", "{0} & {{'a'}}", "{0}.mapping['a']", "list(reversed({0}))"], ["{0}_d['z'] = {1}", "{0}_d.pop('a', 0)", "{0}_d['a'] = {1}"]),
    "list": (["{0} = [1, 2]", "{0} = []", "{0} = ['a', [1], None]", "{0} = list(range(20))"], _LIST, _LIST_CHANGES),
    "list subclass": (["{0} = L([1, 2])", "{0} = L()"], [*_LIST, "list.__len__({0})", "{0}.x"], [*_LIST_CHANGES[:6], "{0}.x = {1}"]),
    "deque": (["{0} = collections.deque([1, 2], 3)", "{0} = collections.deque('ab')"], [*_LIST[:4], *_LIST[6:20], "{0}.appendleft({1})", "{0}.popleft()", "{0}.rotate(1)", "{0}.maxlen"], ["{0}.append({1})", "{0}.popleft()", "{0}.rotate(1)", "{0}.clear()", "{0}[0] = {1}"]),
    "UserList": (["{0} = collections.UserList([1, 2])"], _LIST[:14], ["{0}.append({1})", "{0}.data = [{1}]"]),
    "set": (["{0} = {{1, 2}}", "{0} = set()", "{0} = {{'a', 3, (1, 2)}}"], _SET, _SET_CHANGES),
    "frozenset": (["{0} = frozenset((1, 'a'))"], _SET[:10], ["{0} = frozenset([{1}] if {1} != [2] else [])", "{0} |= {{4}}"]),
    "tuple": (["{0} = (1, [2], 'a')", "{0} = ()"], [*_LIST[:3], *_LIST[4:12], "{0}[1].append(3)", "hash({0})"], ["{0} = ({1}, 2)", "{0}[1].append({1})", "{0} += (3,)"]),
    "namedtuple": (["{0} = P(1)", "{0} = P([1], 'a')"], ["{0}.x", "{0}.y", "{0}._replace(x={1})", "{0}._asdict()", "{0} == (1, 2)", "[*{0}]", "{0}.total", "P._make([1, {1}])", "{0}[0]"], ["{0} = P({1})", "{0} = {0}._replace(y={1})"]),
    "instance": (["{0} = Plain(1)", "{0} = Plain()\n{0}.fresh = [1]"], _PLAIN, _ATTRIBUTES),
    "child": (["{0} = Child(1)", "{0} = Child()\n{0}.once = 3"], _PLAIN, _ATTRIBUTES),
    "slots": (["{0} = Slots(1)", "{0} = Slots()\n{0}.y = 2"], ["{0}.x", "{0}.y", "hasattr({0}, 'y')", "{0} == Slots({1})", "getattr({0}, 'y', {1})", "Slots.x.__get__({0})"], ["{0}.x = {1}", "{0}.y = {1}", "del {0}.x", "del {0}.y", "{0} = Slots({1})"]),
    "fallback": (["{0} = Fallback(1)"], ["{0}.x", "{0}.inner", "{0}.anything", "hasattr({0}, 'q')", "getattr({0}, '__len__', 0)"], ["{0}.x = {1}", "{0}.__dict__['x'] = {1}", "{0}.__dict__['inner'] = {1}"]),
    "described": (["{0} = Described()", "{0} = Described()\n{0}.x = 1"], ["{0}.x", "{0}({1})", "list({0})", "len({0})", "{0}[{1}]", "{1} in {0}", "{0} + {1}", "bool({0})", "vars({0})", "Described.x"], ["{0}.x = {1}", "{0}.__dict__['x'] = {1}", "{0}.__dict__['_x'] = {1}", "{0}.__dict__.clear()"]),
    "data": (["{0} = Data()", "{0} = Data(2, [3])"], ["{0}.x", "{0} == Data(1)", "dataclasses.replace({0}, x={1})", "dataclasses.asdict({0})", "{0}.y.append({1})", "repr({0})", "[f.name for f in dataclasses.fields({0})]", "{0}.x + 1"], ["{0}.x = {1}", "{0}.y = [{1}]", "del {0}.x", "{0} = Data({1})"]),
    "frozen": (["{0} = Frozen()", "{0} = Frozen('a', 1)"], ["{0}.x", "hash({0}) == hash(Frozen())", "{0} == Frozen(1)", "{0} < Frozen(2)", "{{{0}: 1}}.get(Frozen(1))", "{0}.y"], ["object.__setattr__({0}, 'x', {1})", "{0} = Frozen({1})"]),
    "enum": (["{0} = Color.RED", "{0} = Color.BLUE", "{0} = Level.LOW", "{0} = Color"], ["{0}.name", "{0}.value", "{0}.dark()", "{0} is Color.RED", "{0} == 1", "Color({1})", "Color['RED']", "{0} | Level.HIGH", "list(Color)", "{{{0}: 1}}", "{0} in Color", "{0}.extra", "repr({0})", "{0}.RED", "Level(3) & {0}", "hash({0}) == hash(Color.RED)"], ["{0} = Color.BLUE", "{0} = Level.HIGH", "{0} = Color({1})"]),
    "class": (["{0} = Made", "{0} = Plain", "{0} = Child", "{0} = type('T', (Plain,), {{'x': 1}})"], ["{0}.x", "{0}()", "{0}.m", "{0}.count", "{0}.extra", "len({0})", "'x' in {0}", "issubclass({0}, Plain)", "{0}.__mro__", "{0}.__name__", "isinstance({1}, {0})", "{0}.__dict__.get('x')", "vars({0}).get('count')", "{0}.made({1})", "getattr({0}, 'fresh', 0)"], ["{0}.x = {1}", "del {0}.x", "{0}.fresh = {1}", "{0}.m = lambda *a: 'cm'", "{0}.__name__ = 'N'", "{0} = Child"]),
    "weakref": (["{0}_o = Plain(1)\n{0} = weakref.ref({0}_o)", "{0}_o = Slots(1)\n{0} = weakref.ref({0}_o, lambda r: TRAIL.append('dead'))"], ["{0}()", "{0}().x", "{0}() is None", "{0} == weakref.ref({0}_o)", "{0}() is {0}_o"], ["{0}_o = Plain(2)", "{0}_o.x = {1}", "del {0}_o", "{0} = weakref.ref({0}_o)"]),
    "weak containers": (["{0}_o = Plain(1)\n{0} = weakref.WeakValueDictionary(a={0}_o)", "{0}_o = Plain(1)\n{0} = weakref.WeakKeyDictionary({{{0}_o: 1}})", "{0}_o = Plain(1)\n{0} = weakref.WeakSet([{0}_o])"], ["len({0})", "list({0})", "{0}_o in {0}", "{0}.get('a')", "{0}.get({0}_o)", "[*{0}]", "bool({0})", "{0}['a'].x"], ["{0}_o = None", "{0}_o.x = {1}", "{0}['b'] = {0}_o", "{0}.clear()", "{0}.add({0}_o)", "{0}[{0}_o] = {1}"]),
    "proxy": (["{0}_o = Plain(1)\n{0} = weakref.proxy({0}_o)"], ["{0}.x", "{0}.m({1})", "{0} == {0}_o", "bool({0})", "{0}.items"], ["{0}_o.x = {1}", "{0}.x = {1}", "{0}_o = None"]),
    "context variable": (["{0} = VAR", "{0} = contextvars.ContextVar('own')\n{0}.set(1)", "{0} = contextvars.ContextVar('own')"], ["{0}.get()", "{0}.get({1})", "{0}.set({1}).old_value", "contextvars.copy_context().run({0}.get, 3)", "contextvars.copy_context().get({0})", "{0}.name", "{0}.reset({0}.set({1}))", "VAR in contextvars.copy_context()"], ["{0}.set({1})", "VAR.set({1})", "{0}.reset({0}.set(3))"]),
    "thread local": (["{0} = LOCAL", "{0} = threading.local()\n{0}.x = 1"], ["{0}.x", "hasattr({0}, 'x')", "vars({0})", "getattr({0}, 'fresh', {1})"], ["{0}.x = {1}", "del {0}.x", "{0}.fresh = {1}"]),
    "iterator": (["{0} = iter([1, 2, 3, 4, 5, 6, 7, 8, 9])", "{0} = iter({{'a': 1, 'b': 2, 'c': 3}})", "{0} = itertools.count(3)", "{0} = itertools.cycle('ab')", "{0} = itertools.chain([1, 2], range(9))", "{0} = enumerate('abcdef')", "{0} = zip('abcdefg', itertools.count())", "{0} = map(str, range(9))", "{0} = iter(range(2, 30, 3))",
                  "{0} = filter(None, [0, 1, 2, '', 3, 4])", "{0} = itertools.islice(range(50), 1, 40, 2)", "{0} = reversed([1, 2, 3, 4, 5])", "{0} = itertools.accumulate(range(9))", "{0} = iter('héllo world')", "{0} = iter((1, 2, 3, 4))", "{0} = itertools.repeat(4, 9)", "{0} = itertools.pairwise(range(9))", "{0} = itertools.groupby('aabbc')", "{0}_l = [1, 2, 3]\n{0} = iter({0}_l)", "{0} = iter(bytes(range(9)))", "{0} = itertools.product('ab', repeat=3)"], _ITERATOR, _ITERATOR_CHANGES),
    "generator": (["{0} = counting(9)", "{0} = counting()", "{0} = (x * 2 for x in range(9))"], [*_ITERATOR, "{0}.send(None)", "{0}.close()", "{0}.gi_running", "{0}.send({1})", "{0}.gi_frame is None", "{0}.throw(KeyError(1))"], ["next({0}, None)", "{0}.close()", "{0} = counting(4)", "{0} = (y for y in [{1}, 2])"]),
    "function": (["{0} = pair", "{0} = every", "{0} = outer(1)", "def {0}(x=1, *rest, **more): return ('own', x, rest, more)", "{0} = lambda x: [x]", "{0} = told", "{0} = kept", "{0} = functools.wraps(pair)(lambda *a: a)"], _CALLED, ["{0}.tag = {1}", "{0}.__defaults__ = (9,)", "{0}.__name__ = 'renamed'", "{0} = outer({1})", "{0} = lambda *args: {1}", "{0}.__code__ = pair.__code__", "{0}.__dict__.clear()", "{0}({1})"]),
    "method": (["{0}_o = Plain(1)\n{0} = {0}_o.m", "{0} = Child(2).m", "{0}_o = [1]\n{0} = {0}_o.append", "{0} = {{'a': 1}}.get", "{0} = 'a,b'.split", "{0} = Child.made", "{0} = Child.plain", "{0} = [3, 1].__getitem__", "{0} = Described().__add__", "{0} = 'ab'.join"], [*_CALLED, "{0}.__self__", "{0}.__self__.x"], ["{0}_o.x = {1}", "{0}.__self__.x = {1}", "{0} = Child(3).m", "{0}_o.append(1)", "{0}.__self__['a'] = {1}"]),
    "partial": (["{0} = functools.partial(pair, 1)", "{0} = functools.partial(every, 1, y=2)", "{0} = functools.partial(int, base=2)", "{0} = functools.partial(Plain, 3)"], [*_CALLED, "{0}.args", "{0}.func", "{0}.keywords", "{0}('101')"], ["{0}.keywords['y'] = {1}", "{0} = functools.partial(pair, {1})", "{0}.tag = {1}", "{0}.keywords.clear()", "{0}.__setstate__((every, (7,), {{}}, None))"]),
    "getter": (["{0} = operator.itemgetter(0)", "{0} = operator.attrgetter('x')", "{0} = operator.methodcaller('m', 1)"], ["{0}([1, 2])", "{0}(Plain(3))", "{0}({1})", "list(map({0}, [Plain(1), Child(2)]))", "sorted([[2], [1]], key={0})"], ["{0} = operator.itemgetter(-1)", "{0} = operator.attrgetter('items')"]),
    "lock": (["{0} = threading.Lock()", "{0} = threading.RLock()", "{0} = threading.Condition()", "{0} = threading.Event()", "{0} = threading.Semaphore(2)"], ["{0}.locked()", "{0}.acquire(blocking=False)", "{0}.release()", "{0}.is_set()", "{0}.set()", "{0}._is_owned()", "{0}.__exit__(None, None, None)", "{0}.acquire(False)"], ["{0}.acquire(False)", "{0}.release()", "{0}.set()", "{0}.clear()"]),
    "text file": (["{0} = io.StringIO('a\\nb\\nc')", "{0} = io.BytesIO(b'abc')", "{0} = io.StringIO()"], ["{0}.read(1)", "{0}.readline()", "{0}.write('x')", "{0}.write(b'x')", "{0}.getvalue()", "{0}.tell()", "{0}.seek(0)", "list({0})", "{0}.closed", "print('to', file={0})", "{0}.truncate(1)"], ["{0}.write('y')", "{0}.seek(0)", "{0}.read()", "{0}.close()", "{0}.seek(0, 2)", "{0} = io.StringIO('new')"]),
    "pattern": (["{0} = re.compile('(a)|b')", "{0} = re.match('(?P<n>a)(b)?', 'abc')", "{0} = string.Template('$a and $b')"], ["{0}.match('a')", "{0}.group()", "{0}.group('n')", "{0}.groups()", "{0}.sub('z', 'abc')", "{0}.findall('abab')", "{0}.span()", "{0}['n']", "{0}.safe_substitute(a={1})", "[m.start() for m in {0}.finditer('aab')]", "{0}.groupdict()", "{0}.pattern", "{0}.split('cacbc')", "{0}.string"], ["{0} = re.compile('c')", "{0} = re.match('b', 'b')"]),
    "buffer": (["{0} = bytearray(b'abc')", "{0} = array.array('i', [1, 2, 3])", "{0}_b = bytearray(b'xyz')\n{0} = memoryview({0}_b)", "{0} = b'abc'", "{0} = memoryview(b'abcd')[1:]", "{0} = array.array('d', [1.5])"], ["{0}[0]", "len({0})", "bytes({0})", "{0}[1:]", "list({0})", "{0}.append(5)", "{0}.tolist()", "{0} + {0}", "{0}.find(b'b')", "{0} == b'abc'", "{0}.hex()", "sum({0})", "{0}.decode()", "{0}.typecode", "{0}.readonly", "struct.unpack('<B', {0}[:1])", "{0}.nbytes"], ["{0}[0] = 7", "{0}.append(9)", "{0}_b[0] = 1", "{0}.pop()", "{0}.release()", "{0} = bytearray(b'q')", "{0}.extend({0}[:1])"]),
    "number": (["{0} = fractions.Fraction(1, 3)", "{0} = decimal.Decimal('1.5')", "{0} = 2.5", "{0} = 10 ** 20", "{0} = 3 + 4j", "{0} = datetime.timedelta(days=1)", "{0} = datetime.date(2020, 2, 29)", "{0} = datetime.datetime(2020, 1, 2, 3)", "{0} = True", "{0} = -7"], ["{0} + 1", "{0} * 2", "{0} == 1.5", "str({0})", "-{0}", "{0} < 3", "hash({0})", "{0}.days", "{0}.year", "{0}.real", "int({0})", "float({0})", "{0} // 2", "abs({0})", "round({0})", "{0}.numerator", "{0} + datetime.timedelta(1)", "{0}.isoformat()", "{0} % 3", "divmod({0}, 2)", "math.sqrt({0})", "'%s' % {0}", "f'{{ {0} :>8}}'"], ["{0} += 1", "{0} = fractions.Fraction(2, 3)", "{0} = 8", "{0} = -{0}", "decimal.getcontext().prec = 4", "{0} = 0.1"]),
    "random": (["{0} = random.Random(3)"], ["{0}.random()", "{0}.randint(1, 9)", "{0}.choice([1, 2, 3])", "{0}.getstate()[0]", "{0}.sample(range(9), 2)", "{0}.shuffle(SHARED)", "{0}.gauss(0, 1)", "{0}.seed(4)", "{0}.getrandbits(5)"], ["{0}.seed(1)", "{0}.random()", "{0}.setstate(random.Random(8).getstate())"]),
    "module": (["{0} = types.ModuleType('m')\n{0}.x = 1", "{0} = types.SimpleNamespace(x=1, y=[2])"], ["{0}.x", "{0}.y", "hasattr({0}, 'x')", "vars({0}).get('x')", "{0}.__name__", "getattr({0}, 'fresh', {1})", "{0} == types.SimpleNamespace(x=1, y=[2])", "{0}.sqrt(4)", "{0}.add(1, 2)"], ["{0}.x = {1}", "{0}.fresh = {1}", "{0}.y = {1}", "{0}.__getattr__ = lambda name: name", "del {0}.x"]),
    "exception": (["{0} = ValueError(1)", "{0} = OwnError('a')\n{0}.__cause__ = KeyError(2)", "{0} = KeyError('k')\n{0}.x = 1", "{0} = OSError(2, 'none')", "{0} = ExceptionGroup('g', [ValueError(1), KeyError(2)])"], ["{0}.args", "str({0})", "{0}.__cause__", "raised({0})", "{0}.x", "{0}.__context__", "{0}.add_note('n')", "{0}.__notes__", "{0}.__traceback__ is None", "isinstance({0}, LookupError)", "{0}.errno", "{0}.exceptions", "{0}.split(KeyError)", "{0}.with_traceback(None) is {0}"], ["{0}.args = ({1},)", "{0}.x = {1}", "{0}.__cause__ = None", "{0} = KeyError({1})", "{0}.__context__ = OwnError({1})"]),
    "stack": (["{0} = contextlib.ExitStack()", "{0} = contextlib.nullcontext(3)", "{0} = contextlib.suppress(KeyError)", "{0} = contextlib.closing(io.StringIO())"], ["{0}.callback(TRAIL.append, {1})", "{0}.close()", "entered({0})", "{0}.enter_result", "{0}.pop_all()"], ["{0}.callback(TRAIL.append, 1)", "{0}.close()", "{0}.enter_result = {1}"]),
    "queue": (["{0} = queue.Queue()\n{0}.put(1)", "{0} = queue.SimpleQueue()\n{0}.put(2)", "{0} = queue.LifoQueue(2)"], ["{0}.get(block=False)", "{0}.put({1}, block=False)", "{0}.qsize()", "{0}.empty()"], ["{0}.put({1}, block=False)", "{0}.get(block=False)"]),
    "heap": (["{0} = [1, 5, 3]"], ["heapq.heappush({0}, 2)", "heapq.heappop({0})", "heapq.nsmallest(2, {0})", "heapq.heapreplace({0}, 4)", "bisect.insort({0}, 3)", "bisect.bisect_left({0}, 3)", "{0}[0]"], ["heapq.heapify({0})", "{0}.append(0)", "{0}[:] = [4]", "heapq.heappush({0}, -1)"]),
    "environment": (["{0} = os.environ\n{0}['FUZZ'] = 'a'", "{0} = os.environ"], ["{0}.get('FUZZ')", "os.getenv('FUZZ', 'none')", "'FUZZ' in {0}", "{0}['FUZZ']", "os.path.expandvars('$FUZZ')", "'fuzz_module' in sys.modules"], ["{0}['FUZZ'] = 'b'", "os.environ.pop('FUZZ', None)", "sys.modules['fuzz_module'] = math", "sys.modules.pop('fuzz_module', None)"]),
    "union": (["{0} = int | str", "{0} = list[int]", "{0} = typing.Optional[int]", "{0} = (int, str)", "{0} = Base", "{0} = collections.abc.Sized", "{0} = typing.TypeVar('T')"], ["isinstance({1}, {0})", "issubclass(list, {0})", "{0}.__args__", "{0} | None", "repr({0})", "{0} == int | str", "{0}([1])", "isinstance([1], {0})", "hash({0}) == hash(int | str)", "{0}.__origin__", "told({1})", "told([1, 'a'])"], ["{0} = str | None", "{0} = dict[str, int]", "Base.register(str)", "{0} = bool"]),
    "property": (["{0} = property(lambda self: 3)", "{0} = staticmethod(pair)", "{0} = classmethod(pair)", "{0} = Plain.__dict__['m']", "{0} = Slots.x", "{0} = functools.cached_property(len)", "{0} = super(Child, Child(4))"], ["{0}.__get__(Plain(1))", "{0}.__get__(Slots(2), Slots)", "{0}.fget", "{0}.__func__({1})", "{0}({1})", "{0}.m({1})", "{0}.x", "{0}.__set__(Plain(), 1)", "{0}.__self__", "{0}.__name__"], ["{0} = property(lambda self: 4)", "{0} = staticmethod(every)", "{0}.__doc__ = 'doc'"]),
    "logger": (["{0} = logging.getLogger('fuzz')"], ["{0}.isEnabledFor(20)", "{0}.level", "{0}.debug('d %s', {1})", "{0}.info('i')", "{0}.handlers", "{0}.getEffectiveLevel()", "{0}.name"], ["{0}.setLevel(10)", "{0}.setLevel(50)", "{0}.disabled = True", "{0}.addHandler(logging.NullHandler())"]),
    "nested": (["{0} = {{'a': {{'b': [1, Plain(2)]}}, 'l': [{{}}, []]}}", "{0} = [Plain([1]), {{'a': Child(2)}}]\n{0}.append({0})", "{0} = Plain(Plain(Plain(1)))", "{0} = [Plain(1) for _ in range(3)]"], ["{0}['a']['b'][1].x", "{0}['l'][0]", "{0}[0].x", "{0}[1]['a'].m()", "{0}[-1] is {0}", "{0}.x.x.x", "{0}['l'][1].append({1})", "copy.deepcopy({0})", "{0}[0].x.append({1})", "[p.x for p in {0}]", "sum(p.x for p in {0})", "[p.m({1}) for p in {0}]"], ["{0}['a']['b'][1].x = {1}", "{0}['l'][0]['n'] = {1}", "{0}[0].x = {1}", "{0}[1]['a'] = Plain({1})", "{0}.x.x = Plain({1})", "{0}.x.x.x = {1}", "{0}['a'] = {{}}", "{0}[0] = {0}[1]", "{0}[1].x += 1", "{0}.sort(key=repr)"]),
    "json": (["{0} = json.JSONEncoder(sort_keys=True)", "{0} = json.JSONDecoder()", "{0} = struct.Struct('<HB')", "{0} = decimal.Context(prec=3)"], ["{0}.encode({{'b': 1, 'a': [None]}})", "{0}.decode('[1, {{}}]')", "{0}.pack(1, 2)", "{0}.unpack(b'abc')", "{0}.size", "{0}.prec", "{0}.divide(decimal.Decimal(1), 3)", "{0}.sort_keys", "{0}.create_decimal('1.23456')"], ["{0}.sort_keys = False", "{0}.prec = 5", "{0}.indent = 1", "{0}.item_separator = ';'"]),
}

PRELUDE += '''
def first_of(items):
    for item in items: return item
def raised(error):
    try: raise error
    except type(error) as caught: return [caught is error, caught.__traceback__ is not None, caught.__context__]
    finally: error.__traceback__ = None
def entered(manager):
    with manager as got:
        TRAIL.append('in')
        raise KeyError(1)
    return got
class Slots2:
    __slots__ = ()
'''
