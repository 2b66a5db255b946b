"""Values to call C functions with: makers of new objects, so that one call cannot spoil the next."""

import array
import collections
import contextvars
import datetime
import decimal
import fractions
import functools
import io
import itertools
import operator
import random
import re
import struct
import types
import weakref

#: Special methods that ran since it was cleared.
CALLS = []


def _noted(name, result):
    def method(self, *args):
        CALLS.append(name)
        return result(self, *args)

    method.__name__ = name
    return method


def _attribute(self, name):
    if not name.startswith("_sample"):
        CALLS.append("__getattribute__")
    return object.__getattribute__(self, name)


#: Results of the special methods of `Watched`.
ANSWERS = {
    "__hash__": lambda self: 7,
    "__eq__": lambda self, other: self is other,
    "__lt__": lambda self, other: False,
    "__le__": lambda self, other: True,
    "__index__": lambda self: 1,
    "__int__": lambda self: 1,
    "__float__": lambda self: 1.0,
    "__complex__": lambda self: 1j,
    "__bool__": lambda self: True,
    "__repr__": lambda self: "Watched()",
    "__str__": lambda self: "watched",
    "__bytes__": lambda self: b"watched",
    "__format__": lambda self, spec: "watched",
    "__iter__": lambda self: iter((1, 2)),
    "__next__": lambda self: 3,
    "__len__": lambda self: 2,
    "__length_hint__": lambda self: 2,
    "__contains__": lambda self, item: False,
    "__getitem__": lambda self, index: "item",
    "__add__": lambda self, other: 5,
    "__radd__": lambda self, other: 6,
    "__or__": lambda self, other: 5,
    "__ror__": lambda self, other: 6,
    "__mod__": lambda self, other: 5,
    "__neg__": lambda self: -1,
    "__abs__": lambda self: 1,
    "__round__": lambda self, *digits: 1,
    "__trunc__": lambda self: 1,
    "__floor__": lambda self: 1,
    "__ceil__": lambda self: 2,
    "__call__": lambda self, *args: 4,
    "__get__": lambda self, instance, owner=None: 8,
    "__fspath__": lambda self: "path",
    "__reversed__": lambda self: iter((2, 1)),
    "__instancecheck__": lambda self, instance: False,
    "__del__": lambda self: None,
}


#: An object that records which of its special methods run, and one that has few of them.
Watched = type("Watched", (), {name: _noted(name, answer) for name, answer in ANSWERS.items()} | {"__getattribute__": _attribute})
Plain = type("Plain", (), {"__getattribute__": _attribute, "__del__": _noted("__del__", lambda self: None)})


class Held:
    """An instance with attributes, of a class that Python code wrote."""

    attribute = 1

    def __init__(self):
        self.x = [1]


def watched(kind=Watched):
    made = kind()
    CALLS.clear()
    return made


def generator():
    yield 1
    yield 2


async def coroutine():
    return 1


async def asynchronous():
    yield 1


def new_class():
    return type("New", (Held,), {"y": 2})


#: Values that any function is called with.
VALUES = [
    lambda: 0, lambda: 3, lambda: -5, lambda: True, lambda: 2.5, lambda: float("nan"), lambda: 1e300, lambda: 1 + 2j,
    lambda: "", lambda: "a b", lambda: "é€", lambda: "x", lambda: b"", lambda: b"ab", lambda: None, lambda: ...,
    lambda: (), lambda: (1, "x"), lambda: [], lambda: [3, 1, 2], lambda: {}, lambda: {"a": 1}, lambda: set(),
    lambda: {1, 2}, lambda: frozenset((1, 2)), lambda: bytearray(b"xy"), lambda: range(5), lambda: slice(1, 3),
    lambda: iter([1, 2, 3]), lambda: len, lambda: int, lambda: [watched()], lambda: (watched(),), lambda: {"k": watched()},
    watched, lambda: watched(Plain), Held, lambda: "n", lambda: "utf-8", lambda: "replace", lambda: "%d %s",
]

#: An `int` whose text is longer than a limit that programs set; never an exponent or a length.
LONG = lambda: 10**700  # noqa: E731

#: Names of attributes: C takes for granted that they are `str`.
NAMES = [lambda: "x", lambda: "real", lambda: "__class__", lambda: "__doc__", lambda: "missing", lambda: "append"]

#: Instances whose methods are called, besides the values above; by expression, since older releases lack some.
INSTANCES = """
10**700; 7 .real; 1.5; 0.1+2j; 'text %s é'; '123'; b'text 12'; bytearray(b'text'); [1, 2, 3]; [watched(), 2]; (watched(), 2); {watched(): 1, 'b': [2]}
{1, 'two', 3.0}; {watched(), 1}; frozenset({watched(), 1}); range(1, 9, 2); slice(1, [2], None); memoryview(b'abcd'); memoryview(bytearray(b'ab')); object(); new_class()
iter([1, 2]); iter((1, 2)); iter('ab'); iter('é€'); iter(b'ab'); iter(bytearray(b'ab')); iter(range(3)); iter(range(10**30)); iter({1: 2}); iter({1: 2}.items())
iter({1: 2}.values()); iter({1, 2}); iter(len, 1); reversed([1, 2]); reversed((1, 2)); reversed({1: 2}); reversed({1: 2}.values()); reversed({1: 2}.items())
{1: 2, 'a': 3}.keys(); {1: 2}.values(); {1: 2}.items(); enumerate([1]); zip([1], (2,)); map(len, ['a']); filter(None, [1, 0]); iter(Held().x.__iter__, 3); iter(memoryview(b'ab'))
generator(); coroutine(); asynchronous(); asynchronous().__anext__(); asynchronous().asend(None); coroutine().__await__(); generator; Held.__init__; Held().__init__; len; [].append; list.append; list.__add__; [].__add__
dict.fromkeys; dict.__dict__['fromkeys']; int.real; int.__dict__['real']; property(len); staticmethod(len); classmethod(len); super(Held, Held()); types.SimpleNamespace(a=1)
types.MappingProxyType({'a': 1}); types.ModuleType('made'); types.CellType(1); types.MethodType(len, []); list[int]; int | str; typing_variable('T'); NotImplemented
Exception('a'); ValueError('a', 1); KeyError('k'); OSError(2, 'text', 'file'); UnicodeDecodeError('ascii', b'x', 0, 1, 'why'); UnicodeEncodeError('ascii', 'x', 0, 1, 'why'); UnicodeTranslateError('x', 0, 1, 'why')
StopIteration(1); SystemExit(1); ImportError('a', name='n'); SyntaxError('a', ('f', 1, 2, 't')); AttributeError('a', name='n', obj=1); NameError('a', name='n'); ExceptionGroup('g', [ValueError(1)]); BaseExceptionGroup('g', [KeyboardInterrupt()])
raised().__traceback__; raised().__traceback__.tb_frame; generator.__code__; generator.__code__.co_lines(); generator.__code__.co_positions(); weakref.ref(Held); weakref.proxy(Held); weakref.proxy(len)
collections.deque([1, watched()], 5); iter(collections.deque([1])); reversed(collections.deque([1])); collections.defaultdict(list, {'a': 1}); collections.OrderedDict(a=1, b=2); iter(collections.OrderedDict(a=1)); collections.OrderedDict(a=1).keys()
collections.OrderedDict(a=1).values(); collections.OrderedDict(a=1).items(); Named(1, 2); Named.x
itertools.accumulate([1, 2]); itertools.batched([1, 2, 3], 2); itertools.chain([1], [2]); itertools.combinations([1, 2, 3], 2); itertools.combinations_with_replacement([1, 2], 2); itertools.compress([1, 2], [1, 0]); itertools.count(3); itertools.cycle([1, 2])
itertools.dropwhile(len, ['', 'a']); itertools.filterfalse(None, [0, 1]); itertools.groupby([1, 1, 2]); next(itertools.groupby([1, 1, 2]))[1]; itertools.islice([1, 2, 3], 2); itertools.pairwise([1, 2, 3]); itertools.permutations([1, 2, 3]); itertools.product([1, 2], [3])
itertools.repeat(1, 3); itertools.starmap(pow, [(2, 3)]); itertools.takewhile(len, ['a']); itertools.tee([1, 2])[0]; itertools.zip_longest([1], [2, 3]); itertools._tee_dataobject(iter([1]), [], None)
functools.partial(len, [1]); functools.partial(int, base=2); functools.cmp_to_key(operator.sub)(1); functools.lru_cache(len); operator.itemgetter(1, 0); operator.attrgetter('real', 'x.y'); operator.methodcaller('count', 1)
datetime.date(2020, 2, 29); datetime.time(1, 2, 3, 4); datetime.time(1, tzinfo=datetime.timezone.utc); datetime.datetime(2020, 2, 29, 1, 2, 3); datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc); datetime.timedelta(1, 2, 3); datetime.timezone(datetime.timedelta(hours=1), 'n'); datetime.tzinfo(); datetime.date(2020, 2, 29).isocalendar()
decimal.Decimal('1.25'); decimal.Decimal('NaN'); decimal.Context(prec=7); decimal.localcontext(); random.Random(5); array.array('i', [1, 2]); array.array('d', [1.5]); iter(array.array('i', [1])); struct.Struct('<ih'); struct.iter_unpack('<h', b'abcd')
re.compile('(a)(?P<n>b)?'); re.compile(b'a'); re.match('(a)(?P<n>b)?', 'ab'); re.compile('a').scanner('aab'); re._compiler.compile('a') if hasattr(re, '_compiler') else None; io.StringIO('text\\nmore'); io.BytesIO(b'text\\nmore'); io.BytesIO(b'ab').getbuffer(); io.IncrementalNewlineDecoder(None, True)
contextvars.ContextVar('v'); contextvars.copy_context(); contextvars.copy_context().keys(); iter(contextvars.copy_context()); fractions.Fraction(1, 3); __import__('csv').reader(['a,b']); __import__('csv').writer(io.StringIO()); __import__('csv').get_dialect('excel'); __import__('json').decoder.c_make_scanner(__import__('json').JSONDecoder()); __import__('json').encoder.c_make_encoder(None, len, len, None, ':', ',', True, False, True)
__import__('string').Formatter(); 'a{b}'._formatter_parser(); __import__('_string').formatter_parser('a{b}'); __import__('_string').formatter_field_name_split('a.b')[1]; __import__('sys').flags; __import__('time').gmtime(0); types.GenericAlias(list, (int,)); iter(list[int]); __import__('unicodedata').ucd_3_2_0; __import__('picklebuffer') if False else __import__('pickle').PickleBuffer(b'ab')
"""

SPACE = {
    **{module.__name__: module for module in (array, collections, contextvars, datetime, decimal, fractions, functools, io, itertools,
                                              operator, random, re, struct, types, weakref)},
    "watched": watched, "Held": Held, "new_class": new_class, "generator": generator, "coroutine": coroutine,
    "asynchronous": asynchronous,
}


def raised():
    try:
        1 // 0
    except ZeroDivisionError as error:
        return error


def typing_variable(name):
    return __import__("typing").TypeVar(name)


Named = collections.namedtuple("Named", "x y")
SPACE |= {"Named": Named, "raised": raised, "typing_variable": typing_variable}


def _maker(text):
    code = compile(text, "samples", "eval")
    return lambda: eval(code, SPACE)


def makers():
    """Makers by the exact type of what they make."""
    by_type = {}
    expressions = [text.strip() for line in INSTANCES.splitlines() for text in line.split(";") if text.strip()]
    for maker in [*map(_maker, expressions), *VALUES]:
        try:
            made = maker()
        except Exception:  # not in this release
            continue
        by_type.setdefault(type(made), []).append(maker)
        if type(made) is type(coroutine()):
            made.close()
    return by_type
