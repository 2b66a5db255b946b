"""The vocabulary of random programs: literals, templates of expressions and statements, imports."""

BINARY = ["+", "-", "*", "//", "%", "&", "|", "^", ">>", "/", "@", "<<"]
COMPARE = ["<", "<=", "==", "!=", ">", ">=", "in", "not in", "is", "is not"]
UNARY = ["-", "+", "~", "not "]
LITERALS = [
    "0", "1", "-1", "2", "3", "7", "True", "False", "None", "1.5", "-0.0", "2j", "'ab'", "''", "b'x'", "()", "(1, 2)",
    "[]", "[3, 1, 2]", "{}", "{'k': 1}", "{1: 2, 'k': 3}", "{1, 2}", "frozenset((1, 3))", "range(4)", "...", "10**20",
    "'Hello, World'", "'a,b,,c'", "[[1], [2, 3]]", "{'k': [1]}", "bytearray(b'ab')", "slice(1, 3)", "float('nan')", "int",
]
CALLS = [
    "len({0})", "abs({0})", "bool({0})", "str({0})", "repr({0})", "int({0})", "float({0})", "list({0})", "tuple({0})",
    "sorted({0})", "sum({0})", "min({0}, {1})", "max({0}, {1})", "isinstance({0}, {1})", "hash({0})", "type({0})",
    "divmod({0}, {1})", "pow({0}, 2)", "round({0})", "iter({0})", "next(iter({0}))", "list(zip({0}, {1}))",
    "list(enumerate({0}))", "list(map(str, {0}))", "any({0})", "all({0})", "dict({0})", "set({0})", "callable({0})",
    "list(reversed({0}))", "getattr({0}, 'value', {1})", "hasattr({0}, 'value')", "issubclass(type({0}), int)",
    "format({0})", "(lambda one, other: id(one) == id(other))({0}, {1})", "[*{0}, {1}]", "{{**{0}}}", "f'{{ {0} }}-{{ {1} !r}}'",
]
MORE_CALLS = [
    "sorted({0}, key=lambda x: repr(x), reverse=True)", "max({0}, default={1})", "min({0}, key=repr)", "sum({0}, start={1})",
    "list(zip({0}, {1}, strict=True))", "list(filter(None, {0}))", "list(map(lambda x, y: (y, x), {0}, {1}))",
    "functools.reduce(lambda x, y: (x, y), {0})", "functools.partial(pair, {0})({1})", "list(itertools.chain({0}, {1}))",
    "list(itertools.islice({0}, 2))", "list(itertools.accumulate({0}))", "operator.add({0}, {1})", "operator.itemgetter(0)({0})",
    "operator.attrgetter('value')({0})", "operator.methodcaller('twice')({0})", "collections.deque({0}, 2)", "collections.Counter({0})",
    "dict.fromkeys({0}, {1})", "list(iter(iter({0}).__next__, {1}))", "bytes({0})", "bytearray({0})", "complex({0})", "vars({0})",
    "str.join('-', map(str, {0}))", "list.__len__({0})", "dict(zip({0}, {1}))", "object.__repr__({0})[:4]", "type({0}).__name__",
    "type({0})({1})", "type({0}).__mro__", "issubclass(type({0}), type({1}))", "isinstance({0}, (int, str, list))", "ascii({0})", "hex({0})",
    "ord({0})", "chr({0})", "setattr({0}, 'value', {1})", "delattr({0}, 'value')", "({0}).__class__", "({0}).__doc__ is None",
    "int.__add__({0}, {1})", "super(type({0}), {0}).__repr__()[:3]", "list({0} for _ in (1, 2))", "sum(x == {1} for x in {0})",
    "pair(*{0})", "pair(*{0}, {1})", "pair({0}, **{1})", "every({0}, *{1}, k={0})", "every(*{0}, **{{'z': {1}}})", "every(x={0}, y={1})",
    "(lambda *a, **k: (a, k))({0}, z={1})", "collections.namedtuple('P', 'x y')({0}, {1})", "print({0}, {1}, sep='|', end=';')",
]
METHODS = [
    "{0}.append({1})", "{0}.extend({1})", "{0}.pop()", "{0}.get({1})", "{0}.update({1})", "{0}.keys()", "{0}.items()",
    "{0}.add({1})", "{0}.join(['x', 'y'])", "{0}.split()", "{0}.upper()", "{0}.count({1})", "{0}.index({1})",
    "{0}.copy()", "{0}.setdefault({1}, 5)", "{0}.union({1})", "{0}.insert(0, {1})", "{0}.value", "{0}.twice()",
    "{0}.bit_length()", "{0}.strip()", "{0}.startswith('a')", "{0}.clear()", "{0}.sort()",
    "{0}.remove({1})", "{0}.reverse()", "{0}.discard({1})", "{0}.popitem()", "{0}.values()", "{0}.pop({1}, None)", "{0}.sort(key=repr)",
    "{0}.difference({1})", "{0}.symmetric_difference_update({1})", "{0}.isdisjoint({1})", "{0}.real", "{0}.conjugate()", "{0}.hex()",
    "{0}.as_integer_ratio()", "{0}.__len__()", "{0}.__add__({1})", "{0}.__eq__({1})", "{0}.__class__.__name__", "{0}.__dict__",
    "{0}.__contains__({1})", "{0}.__getitem__({1})", "{0}.missing", "{0}.__iter__().__next__()", "{0}.indices(5)",
]
STRINGS = [
    "({0}).replace('a', {1})", "({0}).partition(',')", "({0}).encode()", "({0}).title()", "({0}).split(',', 1)", "({0}).zfill(6)",
    "({0}).center(9, '*')", "({0}).find({1})", "({0}).isalpha()", "({0}).swapcase()[::-1]", "({0}).rsplit(None, 1)", "'%s %r' % ({0}, {1})",
    "'%d' % {0}", "'%(k)s' % {0}", "'{{}}|{{k!r:>8}}'.format({0}, k={1})", "f'{{ {0} !s:>7}}{{ {1} !r:.3}}'", "f'{{ {0} :{{ {1} }}}}'",
    "''.join(str(x) for x in {0})", "({0}).translate({{97: 'Z'}})", "({0}).expandtabs()", "({0}).casefold() == {1}", "({0}).endswith(({1}, 'd'))",
    "({0}).removeprefix('a')", "({0}).splitlines()", "({0}).lower().count('l')", "str({0}, 'ascii')", "({0})[1:3] + ({0})[::-1]", "f'{{ {0} =}}'",
]
COMPREHENSIONS = [
    "[x for x in {0} if x != {1}]", "{{x: {1} for x in {0}}}", "{{(x, y) for x in (1, 2) for y in {0}}}", "[f() for f in [lambda: x for x in {0}]]",
    "[(x, [y for y in {1}]) for x in {0}]", "[z for x in {0} if (z := x)]", "list((x, {1}) for x in {0})", "[x for [x, *_] in {0}]",
    "dict((k, v) for k, v in enumerate({0}))", "[[x, y] for x in {0} for y in (x, {1}) if x is y]", "any(x == {1} for x in {0})",
    "[g for g in (y for y in {0})][-1]", "(lambda: [p for p in {0} if {1}])()", "{{k: [k for k in {1}] for k in {0}}}",
]
DUNDERS = ["add", "sub", "mul", "or", "and", "xor", "lshift", "floordiv", "mod", "matmul", "truediv", "pow"]
ERRORS = ["ValueError", "TypeError", "KeyError", "IndexError", "ZeroDivisionError", "AttributeError", "Exception", "OwnError"]

PRELUDE = '''import collections, contextlib, dataclasses, enum, functools, itertools, operator
class Manager:
    def __init__(self, swallow): self.swallow = swallow
    def __enter__(self): return self
    def __exit__(self, kind, error, tb):
        print('exit', kind and kind.__name__)
        return self.swallow
class OwnError(Exception):
    def __init__(self, *args, code=3):
        super().__init__(*args)
        self.code = code
    def __str__(self): return f'own {self.args} {self.code}'
@contextlib.contextmanager
def managed(value):
    print('in', value)
    try:
        yield value
    except KeyError as error:
        print('caught', error)
    finally:
        print('out')
def self_index(i): return 1 if i else 0
def pair(x, y=2): return (x, y)
def every(x, /, *rest, y=1, k=None, **more): return (x, rest, y, k, more)
TOTAL = 0
SHARED = [1]
TABLE = {'k': 1}
'''
