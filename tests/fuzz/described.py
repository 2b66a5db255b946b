"""Describes objects as plain data that is equal for equal states: contents, attributes, links, and which parts are one object."""

import collections
import re
import sys
import types

ADDRESS = re.compile(r"0x[0-9a-f]+")
NATIVE_STACK = re.compile(r"(frame #\d+: [^\n]*|<omitting python frames>)(\\n|\n)*")
# 3.15 words it in either way, as often as it has run the instruction before.
TOO_LARGE = re.compile("Python int too large to convert to C ssize_t" if sys.version_info >= (3, 15) else "$^")
DEPTH = 7
PLAIN = (int, float, complex, str, bytes, bool, type(None), type(...), type(NotImplemented), range, slice)
ITERATORS = tuple(
    {type(iter(made)) for made in ([], (), {}, {}.keys(), {}.values(), {}.items(), set(), "", "é", b"", range(0), range(10**30), reversed([]))}
    | {enumerate, zip, map, filter, reversed, types.GeneratorType}
)


def settled(text):
    """The text without addresses, and without the stack of C++ that some errors of PyTorch tell: it is another one in compiled code."""
    return TOO_LARGE.sub("cannot fit 'int' into an index-sized integer", ADDRESS.sub("0x", NATIVE_STACK.sub("", text)))


def scrubbed(text):
    """The text without addresses, cut."""
    return settled(text)[:1500]


class Describer:
    """Descriptions of several objects that may share parts."""

    tensors = None  # the module that describes tensors, where programs have some

    def __init__(self):
        self.seen = {}
        self.held = []

    def of(self, value, depth=0):
        """Plain data for the object."""
        kind = type(value)
        if kind in PLAIN:
            return scrubbed(f"{kind.__name__}: {value!r}")
        if depth > DEPTH:
            return kind.__qualname__
        if kind is not tuple and kind is not frozenset:
            if id(value) in self.seen:
                return f"one and the same {self.seen[id(value)]}"
            self.seen[id(value)] = len(self.seen)
            self.held.append(value)
        return [kind.__qualname__, *self.parts(value, kind, depth + 1)]

    def parts(self, value, kind, depth):
        if issubclass(kind, type):
            return self.class_parts(value, depth)
        if kind in (list, tuple, collections.deque):
            return [self.of(item, depth) for item in list(value)[:50]]
        if kind in (set, frozenset):
            return [self.of(item, depth) for item in list(value)[:50]]
        if issubclass(kind, dict):
            pairs = list(dict.items(value))[:50]
            return [[self.of(key, depth), self.of(item, depth)] for key, item in pairs] + self.attributes(value, depth)
        if self.tensors and self.tensors.is_tensor(value):
            return self.tensors.parts(self, value, depth)
        if kind is types.FunctionType:
            return self.function_parts(value, depth)
        if kind is types.MethodType:
            return [self.of(value.__func__, depth), self.of(value.__self__, depth)]
        if kind is types.CellType:
            try:
                return [self.of(value.cell_contents, depth)]
            except ValueError:
                return ["empty"]
        if issubclass(kind, BaseException):
            return self.exception_parts(value, depth)
        if kind in ITERATORS:
            return self.iterator_parts(value, depth)
        if kind.__name__ == "ndarray":
            return [str(value.dtype), list(value.shape), list(value.strides), value.flags.writeable, value.base is None, self.text(value)]
        return [self.text(value), *self.attributes(value, depth)]

    def text(self, value):
        try:
            return scrubbed(repr(value))
        except Exception as error:
            return f"repr raises {type(error).__name__}: {scrubbed(str(error))}"

    def class_parts(self, value, depth):
        """Name, and what the program's own class holds, functions by name."""
        if value.__module__ != "program" or depth > 3:
            return [value.__qualname__]
        held = {name: item for name, item in vars(value).items() if not name.startswith("_") or callable(item)}
        return [value.__qualname__, [[name, self.of(item, depth + 3)] for name, item in held.items()]]

    def attributes(self, value, depth):
        """`__dict__` and `__slots__`, whatever the class says of attributes."""
        found = []
        try:
            found = [[name, self.of(item, depth)] for name, item in object.__getattribute__(value, "__dict__").items()]
        except (AttributeError, TypeError, ReferenceError):
            pass
        for base in type(value).__mro__:
            for name, member in vars(base).items():
                if type(member) is types.MemberDescriptorType and base.__module__ == "program":
                    try:
                        found.append([name, self.of(member.__get__(value), depth)])
                    except AttributeError:
                        found.append([name, "unset"])
        return found

    def function_parts(self, value, depth):
        parts = [value.__name__, value.__qualname__, value.__module__, value.__code__.co_name, value.__code__.co_firstlineno]
        held = [value.__defaults__, value.__kwdefaults__, value.__dict__, value.__closure__]
        return parts + [self.of(part, depth) for part in held]

    def exception_parts(self, value, depth):
        links = [value.args, value.__cause__, value.__context__, value.__suppress_context__, getattr(value, "exceptions", None)]
        return [self.text(value), *(self.of(link, depth) for link in links), *self.attributes(value, depth)]

    def iterator_parts(self, value, depth):
        """What is left in it, a few items of it."""
        items = []
        try:
            for _ in range(4):
                items.append(self.of(next(value), depth))
        except Exception as error:
            items.append(f"{type(error).__name__}: {scrubbed(str(error))}")
        return items


def namespace(held):
    """A module's globals after its calls."""
    describer = Describer()
    names = sorted(name for name, item in held.items() if not name.startswith("__") and type(item) is not types.ModuleType)
    return {name: describer.of(held[name]) for name in names}
