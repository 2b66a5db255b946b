"""Syntax and instructions that came with 3.13 and 3.14. The programs stand in strings, for older releases cannot read them all."""

import sys
import unittest

import slotrt

ANNOTATIONS = '''
def function(n):
    def inner(a: int, *rest: Missing, key: "text" = 1) -> list[int]:
        return a + n
    return inner(n), inner.__annotate__ is not None, inner

def asked(n):
    def inner(a: int, b: tuple) -> str: ...
    return inner.__annotations__, inner.__annotations__ is inner.__annotations__

def classes(n):
    class Made:
        x: int
        y: list[Later] = n
        def method(self, other: Later): ...
    return Made.y, Made.__name__, hasattr(Made, "__annotate__")

def of_a_class(n):
    class Made:
        x: int
        if n:
            y: str = "y"
    return Made.__annotations__

def unknown(n):
    def inner(a: NoSuchName): ...
    try:
        inner.__annotations__
    except NameError as error:
        return str(error)
'''

TEMPLATES = '''
def template(n):
    made = t"a {n} b {n + 1!r:>{n}} c"
    return made.strings, made.values, [(part.expression, part.conversion, part.format_spec) for part in made.interpolations]

def nothing(n):
    return t"".strings, t"{n=}".strings
'''

HANDLERS = '''
def handlers(n):
    try:
        return [1, 2][n]
    except IndexError, KeyError:
        return "caught"

def nested(n):
    try:
        try:
            raise KeyError(n)
        except ValueError, TypeError:
            return 1
        finally:
            n += 1
    except* KeyError, OSError:
        n += 2
    return n
'''

DEFAULTS = '''
def default_beside_an_alias(n):
    class Made[T = int]:
        def method(self, value: T) -> T:
            return value
    type Alias[X] = list[X]
    return Made().method(n), str(Alias[int]), Made.__type_params__[0].__default__

def default_after_a_break(n):
    class Made[T = n]: ...
    print("broken")
    return Made.__type_params__[0].__default__

def defaults(n):
    def inner[T = list[int], *U = *tuple[int], **V = [str]](a: T): return a
    type Alias = dict[int, n]
    return inner(n), [str(p.__default__) for p in inner.__type_params__], Alias.__value__

def no_default(n):
    class Made[T]: ...
    type Alias = Made
    return Made.__type_params__[0].has_default(), Alias.__value__ is Made
'''

COMMON = '''
def asserts(n):
    try:
        assert n < 2, n
    except AssertionError as error:
        return str(error)
    return "smaller"

def folded(n):
    return all(x < n for x in (1, 2)), any(x > n for x in (1, 2)), tuple(x + n for x in (1, 2))

def unpacked(n):
    def received(*args, **kwargs):
        return args, kwargs
    return received(*range(n)), received(*(1, 2), **{"a": n}), received(n, *[n], b=n)

def too_many(values):
    try:
        a, b = values
    except ValueError as error:
        return str(error)

def every_number_of_values(n):
    return [too_many(values) for values in ((1, 2, 3), [1] * 4, {1: 2, 3: 4, 5: 6}, {1, 2, 3}, iter("abc"), (1,))]

class Managed:
    def __enter__(self):
        return self
    def __exit__(self, *info):
        return info[0] is KeyError

class Asynchronous:
    async def __aenter__(self): ...
    async def __aexit__(self, *info): ...

def managed(n):
    with Managed() as entered:
        if n:
            raise KeyError(n)
    return type(entered).__name__

def raised_through(n):
    try:
        with Managed():
            raise IndexError(n)
    except IndexError as error:
        return error.__traceback__.tb_lineno, error.__traceback__.tb_frame.f_lineno, error.__context__

def refused(manager):
    try:
        with manager:
            pass
    except TypeError as error:
        return str(error)

def refusals(n):
    return [refused(manager) for manager in (n, Asynchronous(), object())]

def broken_in_handlers(n):
    seen = []
    for i in range(3):
        try:
            try:
                raise KeyError(i)
            finally:
                print("finally", i)
                seen.append(i + n)
        except KeyError as error:
            print("caught", error)
            seen.append(error.__traceback__.tb_lineno - raised_through.__code__.co_firstlineno)
    with Managed():
        print("within")
        raise KeyError(n)
    return seen
'''


def functions(source):
    namespace = {"__name__": "program"}
    exec(compile(source, "program.py", "exec"), namespace)
    return [made for name, made in namespace.items() if type(made) is type(functions) and name not in ("too_many", "refused")]


def described(value):
    """A value, or what can be said of a function that it holds."""
    if isinstance(value, tuple):
        return tuple(described(part) for part in value)
    return (value.__name__, value.__code__.co_varnames) if type(value) is type(functions) else value


class NewerSyntax(unittest.TestCase):
    def agree(self, source):
        for function in functions(source):
            compiled = slotrt.compile(function)
            for argument in (1, 2, 3, 1):
                with self.subTest(function.__name__, argument=argument):
                    self.assertEqual(described(compiled(argument)), described(function(argument)))

    def test_what_every_release_has(self):
        self.agree(COMMON)

    @unittest.skipIf(sys.version_info < (3, 14), "annotations are made at once")
    def test_deferred_annotations(self):
        self.agree(ANNOTATIONS)

    @unittest.skipIf(sys.version_info < (3, 14), "there are no template strings")
    def test_template_strings(self):
        self.agree(TEMPLATES)

    @unittest.skipIf(sys.version_info < (3, 13), "type parameters have no defaults")
    def test_defaults_of_type_parameters(self):
        self.agree(DEFAULTS)

    @unittest.skipIf(sys.version_info < (3, 14), "handlers need parentheses")
    def test_handlers(self):
        self.agree(HANDLERS)

    @unittest.skipIf(sys.version_info < (3, 14), "there is no __annotate__")
    def test_annotations_are_made_when_asked_for(self):
        made = slotrt.compile(functions(ANNOTATIONS)[0])(2)[2]
        with self.assertRaisesRegex(NameError, "Missing"):
            made.__annotations__
        made.__globals__["Missing"] = "known now"
        self.assertEqual(made.__annotations__, {"a": int, "rest": "known now", "key": "text", "return": list[int]})

    @unittest.skipIf(sys.version_info < (3, 14), "there is no __annotate__")
    def test_what_makes_the_annotations_of_classes(self):
        class Annotated:
            x: int

        class Given:
            pass

        def asked(n):
            missing = [hasattr(owner, name) for owner in (int, dict) for name in ("__annotate__", "__annotations__")]
            return Annotated.__annotate__(1), Given.__annotate__, getattr(int, "__annotate__", n), missing

        Given.__annotate__ = None
        compiled = slotrt.compile(asked, fullgraph=True)
        for n in (1, 2, 1):
            self.assertEqual(compiled(n), asked(n))
        Annotated.__annotate__ = lambda format: {"y": format}
        Given.__annotate__ = Annotated.__annotate__
        for n in (1, 2, 1):
            self.assertEqual(compiled(n), asked(n))

    def test_free_threaded_builds_are_refused(self):
        import subprocess

        program = "import sys; sys.abiflags = 't'; import slotrt"
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertIn("does not work on a free-threaded CPython", ended.stderr)


if __name__ == "__main__":
    unittest.main()
