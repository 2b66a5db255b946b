"""Classes of random programs: operators, descriptors, slots, metaclasses, data classes, enumerations."""

from errors import Errors
from vocabulary import DUNDERS

MEMBERS = [
    "def __len__(self): return 2", "def __bool__(self): return False", "def __eq__(self, other): return other == 1",
    "def __hash__(self): return 7", "def __getitem__(self, key): return key if key != 4 else [][0]", "def __iter__(self): return iter((1, 2))",
    "def __contains__(self, x): return x == 1", "def __getattr__(self, name): return name",
    "def __call__(self, *args): return args", "def __lt__(self, other): return NotImplemented",
    "def __neg__(self): return 'neg'", "def __index__(self): return 1", "def __repr__(self): return 'R'",
    "value = 5", "__slots__ = ()", "__radd__ = None", "__hash__ = None", "def __float__(self): return 0.5",
    "@property\ndef twice2(self): return 2", "@staticmethod\ndef make(): return 3", "@classmethod\ndef build(cls): return cls",
    "def __setattr__(self, n, v): object.__setattr__(self, n, (v,))", "__slots__ = ('value', 'other')", "other = Plain()", "other = Data()",
    "@property\ndef value(self): return self.__dict__.get('_v', 9)\n@value.setter\ndef value(self, v): self.__dict__['_v'] = [v]",
    "def __getattribute__(self, name): return object.__getattribute__(self, name)", "def __delattr__(self, name): print('del', name)",
    "def __setitem__(self, key, v): print('set', key, v)", "def __delitem__(self, key): print('del', key)", "def __next__(self): raise StopIteration(3)",
    "@functools.cached_property\ndef other(self): return [self.value]", "def __format__(self, spec): return f'<{spec}>'", "def __str__(self): return 'S'",
    "def __enter__(self): return 5\ndef __exit__(self, *info): return True", "def __reversed__(self): return [3]", "def __missing__(self, key): return key",
    "def __init__(self, *args):\n    super().__init__()\n    self.value = args", "def __new__(cls, *args):\n    self = super().__new__(cls)\n    return self",
    "def __gt__(self, other): return 'gt'", "def __le__(self, other): raise TypeError('le')", "def __round__(self, n=None): return ('r', n)", "def __abs__(self): return self",
    "def __int__(self): return 3", "def __complex__(self): return 1j", "def __bytes__(self): return b'B'", "def __length_hint__(self): return 3",
    "def __divmod__(self, other): return 'dm'", "def __getattr__(self, name):\n    if name.startswith('__'): raise AttributeError(name)\n    return [name]",
    "def __class_getitem__(cls, item): return (cls, item)", "def __init_subclass__(cls, **more): cls.value = 'sub'", "__match_args__ = ('value',)", "__class__ = int",
    "def __dir__(self): return ['d']", "def __ne__(self, other): return None", "def __invert__(self): return super().__repr__()[:2]",
]
BASES = ["", "", "", "(int)", "(list)", "(dict)", "(str)", "(Exception)", "(tuple)", "(set)", "(float)", "(Mixin)", "(metaclass=Meta)", "(Mixin, metaclass=Meta)", "(bytes)"]

CLASSES = '''class Plain:
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, obj, cls=None): return (self.name, obj is None)
class Data(Plain):
    def __set__(self, obj, value): print('store', value)
    def __delete__(self, obj): raise AttributeError('kept')
class Bare: pass
class Mixin:
    value = 6
    def twice(self): return ('mixin', self.value)
    def __or__(self, other): return ('mixin', other)
    def __eq__(self, other): return NotImplemented
    __hash__ = object.__hash__
class Meta(type):
    def __or__(cls, other): return ('meta', other)
    def __len__(cls): return 3
    def __iter__(cls): return iter((cls.__name__,))
    def __instancecheck__(cls, obj): return obj == 1
    def __call__(cls, *args): return super().__call__(*args)
    def __getattr__(cls, name): return ('meta', name)
    @property
    def twice3(cls): return 3
'''

LIBRARY = '''@dataclasses.dataclass
class Point:
    x: int = 1
    y: list = dataclasses.field(default_factory=list)
    def add(self, v):
        self.y.append(v)
        return self
@dataclasses.dataclass(frozen=True, order=True)
class Frozen:
    value: int = 1
@dataclasses.dataclass(slots=True)
class Slotted:
    value: object = None
    other: object = 2
class Color(enum.Enum):
    RED = 1
    BLUE = 2
    @property
    def next(self): return Color.BLUE
class Bit(enum.IntFlag):
    A = 1
    B = 2
@functools.total_ordering
class Ordered:
    def __init__(self, value=1): self.value = value
    def __eq__(self, other): return isinstance(other, Ordered) and self.value == other.value
    def __lt__(self, other): return self.value < other.value
    __hash__ = None
class Node:
    def __init__(self, value=None, rest=None):
        self.value = value
        self.rest = rest
    def __iter__(self):
        while self is not None:
            yield self.value
            self = self.rest
    def __len__(self): return sum(1 for _ in self)
@functools.singledispatch
def shown(x): return 'any'
@shown.register
def _(x: int): return ('int', x)
@shown.register(list)
def _(x): return [shown(y) for y in x]
'''

#: Expressions that make instances of the classes above or use them.
INSTANCES = [
    "Point({0})", "Point({0}).add({1})", "Frozen({0})", "Slotted({0})", "Color.RED", "Color({0})", "Bit.A | Bit.B", "Ordered({0}) < Ordered({1})",
    "Node({0}, Node({1}))", "list(Node({0}))", "shown({0})", "dataclasses.replace(Frozen(1), value={0})", "dataclasses.asdict(Point({0}))",
    "Point({0}) == Point({0})", "sorted([Frozen(2), Frozen(1)])", "Color.RED.next.name", "Bit(3) & {0}", "Color['BLUE'].value", "Color.RED in (Color.RED, {0})",
    "type('Made', (), {{'value': {0}}})()", "Frozen(1).__eq__({0})", "[c.name for c in Color]", "len(Node({0}, Node()))", "Meta.__len__(Mixin)", "repr(Slotted({0}))",
]

#: Expressions in which C code meets instances: of a class, with arguments; what one is made with, and the other.
GATHERED = [
    "[{0}({1})] == [{0}({1})]", "({0}({1}), 1) < ({0}({2}), 2)", "{{1: {0}({1})}} == {{1: {0}({2})}}", "{0}({1}) in [{2}, {0}({2})]",
    "sorted([{0}({1}), {0}({2})], key=lambda x: x)[0].value", "len({{{0}({1}), {0}({2})}})", "max({0}({1}), {0}({2})) is None",
    "list(map(operator.add, [{0}({1})], [{2}]))", "list(map(operator.or_, [{2}], [{0}({1})]))", "sum([{0}({1}), {2}], {2})",
    "list(map(len, [{0}({1})]))", "list(map(bool, [{0}({1})]))", "list(map(list, [{0}({1})]))", "list(map(operator.getitem, [{0}({1})], [{2}]))",
    "list(map(operator.invert, [{0}({1})]))", "list(map(operator.contains, [{0}({1})], [{2}]))", "list(map(callable, [{0}({1})]))",
]


class Classes(Errors):
    """Statements and expressions with classes, and classes of the module."""

    library = True

    def __init__(self, seed):
        super().__init__(seed)
        #: Those with several bases.
        self.mixed = []

    def kinds(self):
        return super().kinds() + [
            (4 if self.library else 0, self.instance), (2, self.late_class), (2, self.class_attribute), (1, self.patched), (1, self.type_test),
            (3, self.gathered),
        ]

    def instance(self):
        value = self.pick(INSTANCES).format(self.atom(), self.atom())
        self.line(f"{self.known(self.name())} = {value}")

    def gathered(self):
        if self.classes:
            kind = self.pick(self.mixed or self.classes)
            for template in self.random.sample(GATHERED, 3):
                value = template.format(kind, self.atom(), self.atom())
                self.line(f"try: {self.known(self.name())} = {value}\nexcept TypeError as e: print(e)")

    def late_class(self):
        name = self.name("L")
        self.line(f"class {name}({self.pick(self.classes or ['object'])}):")
        self.line(f"    value = {self.atom()}\n    def twice(self): return {self.pick(['(self.value, self.value)', '(__class__.__name__, self)', 'super().twice()'])}")
        if self.chance(0.3):
            self.line(f"    {name.lower()} = [x for x in (value,)]")
        self.line(f"{self.known(self.name())} = {name}({self.pick(['', '1'])})")

    def class_attribute(self):
        if self.classes:
            change = self.pick(["{0}.value = {1}", "del {0}.value", "{0}.other = {1}", "{0}.twice = lambda self: {1}", "{0}.count = getattr({0}, 'count', 0) + 1"])
            self.line(change.format(self.pick(self.classes), self.atom()))

    def patched(self):
        if self.names:
            name = self.pick(self.names)
            self.line(f"{name}.{self.pick(['twice', '__len__', '__call__', 'value'])} = lambda *args: ('patched', args)")
            self.line(f"print({name}.twice(), {name}.value)")

    def type_test(self):
        if self.classes:
            one, two = self.pick(self.classes), self.pick([*self.classes, "Mixin", "int"])
            self.line(f"print(isinstance({self.atom()}, {one}), issubclass({one}, {two}), {one}.__mro__, {one}.__dict__.get('value'), type({one}))")

    def user_class(self, index):
        """A class of the module."""
        name = f"C{index}"
        base = self.pick(BASES + [f"({c})" for c in self.classes] * 2)
        if self.classes and self.chance(0.2):
            base = f"({self.pick(['Mixin', 'Bare'])}, {self.pick(self.classes)})"
            self.mixed.append(name)
        self.line(f"try:\n    class {name}{base}:")
        self.depth += 2
        if base == "":
            self.line("def __init__(self, value=0):\n    self.value = value")
        for dunder in self.random.sample(DUNDERS, 3):
            for prefix in self.random.sample(["", "r", "i"], self.random.randint(1, 2)):
                result = self.pick(["NotImplemented", f"('{dunder}', other)", "self", "type(self)", "other", "super().twice()"])
                self.line(f"def __{prefix}{dunder}__(self, other): return {result}")
        for member in self.random.sample(MEMBERS, self.random.randint(3, 6)):
            self.line(member)
        self.line("def twice(self): return (self, self)")
        self.depth -= 2
        self.line(f"except (TypeError, ValueError):\n    class {name}: value = 1")
        self.classes.append(name)
