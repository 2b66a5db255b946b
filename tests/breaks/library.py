"""Calls into the standard library whose results, exceptions and prints are the same each time: functions to break."""

import importlib

SAMPLE = '''
import os, sys
from collections import abc as c

@decorator(1, key=[2])
class Point(Base, metaclass=Meta):
    """A point."""
    x: int = 0

    def move(self, dx, /, dy=1, *rest, scale: float = 1.0, **options) -> "Point":
        try:
            with open(self.path) as file, lock:
                data = [line.strip() for line in file if line and not line.isspace()]
        except (OSError, ValueError) as error:
            raise RuntimeError(f"bad {error!r:>{dx}} {self.x=}") from error
        else:
            self.x += dx * scale if dx else -dy
        finally:
            del rest
        while self.x > 10:
            self.x //= 2
            if self.x == 3: break
        else:
            return {**options, "a": lambda q, *r: (yield), **{}}
        match self:
            case Point(x=0) | [1, *_]: pass
            case {"k": v, **kw} if v: return v
            case _: assert False, "no"
        return (a := [*data, not self.x, 1 < dx <= 3 != dy])

async def main():
    async with session as s:
        async for item in s: await item
    global G
    G = {n async for n in s}
'''
TEXT = """The quick brown fox jumps over the lazy dog. It was -- as they say -- a well-known fact that
foxes jump;    dogs, however, sleep.

    An indented paragraph, with a very-long-hyphenated-word-that-does-not-fit-anywhere, follows here.
"""
HTML = "<!DOCTYPE html><!-- c --><p class='a' id=b>x &amp; y &#65; <br/><a href='?q=1&amp;r=2'>link</a><script>1<2</script></p>"
INI = "[DEFAULT]\nbase = /tmp\n[a]\npath = %(base)s/x\nflag : yes\nmulti = one\n  two\n# note\n[b]\nnumber=4\nempty=\n"
MAIL = "From: a@b.c\nTo: X <x@y.z>, q@r.s\nSubject: =?utf-8?q?H=C3=A9?=\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: text/plain\n\nhello\n--B\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\naGk=\n--B--\n"


def module(name):
    return importlib.import_module(name)


def texts():
    textwrap = module("textwrap")
    yield textwrap.wrap(TEXT, 30)
    yield textwrap.fill(TEXT, 40, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)
    yield textwrap.shorten(TEXT, 60), textwrap.dedent("   a\n    b\n\n   c\n"), textwrap.indent("a\n\nb\n", "> ")
    yield textwrap.wrap("averyverylongwordindeed short", 8, max_lines=2, placeholder="...")


def differences():
    difflib = module("difflib")
    one, two = TEXT.splitlines(True), TEXT.replace("fox", "cat").replace("sleep", "dream").splitlines(True)
    yield list(difflib.ndiff(one, two))
    yield list(difflib.unified_diff(one, two, "a", "b")), list(difflib.context_diff(one, two))
    difflib.HtmlDiff._default_prefix = 0  # counts up from call to call
    yield difflib.get_close_matches("appel", ["ape", "apple", "peach"]), difflib.SequenceMatcher(None, "abxcd", "abcd").get_opcodes()
    yield difflib.HtmlDiff(wrapcolumn=20).make_table(one[:2], two[:2])


def syntax_trees():
    ast = module("ast")
    tree = ast.parse(SAMPLE)
    yield ast.unparse(tree)
    yield ast.dump(tree, indent=1), ast.literal_eval("{'a': [1, -2.5, (True, None), {3}, b'x', 1+2j]}")
    yield [type(node).__name__ for node in ast.walk(tree)], ast.get_docstring(tree.body[2])
    try:
        ast.literal_eval("f(1)")
    except ValueError as error:
        yield str(error)[:20]


def tokens():
    tokenize, io = module("tokenize"), module("io")
    read = list(tokenize.generate_tokens(io.StringIO(SAMPLE).readline))
    yield read
    yield tokenize.untokenize((token.type, token.string) for token in read)
    yield tokenize.untokenize(read)


def regular_expressions():
    re, parser, compiler = module("re"), module("re._parser"), module("re._compiler")
    for pattern in (r"(?P<y>\d{4})-(?P<m>[01]\d)|x*?y+", r"(?i:a|b)(?=c)(?<!d)[^\W_]\b.$", r"((a+)b)?(?(1)c|d)\2*", r"(?x) a # c\n b{2,}"):
        tree = parser.parse(pattern)
        yield repr(tree), tree.getwidth(), compiler._code(tree, 0)
    for bad in ("(", "[z-a]", "a**", r"(?P<1>x)", r"\g"):
        try:
            parser.parse(bad)
        except re.error as error:
            yield str(error), error.pos
    yield re.sub(r"(\w)(\w*)", r"\2\1\g<1>", TEXT), re.split(r"[,;]\s", TEXT), re.escape("a.b*c")
    yield [match.span() for match in re.finditer("o", TEXT)], re.Scanner([(r"\d+", lambda s, t: int(t)), (r"\s", None)]).scan("1 22")


def documents():
    json, encoder, decoder = module("json"), module("json.encoder"), module("json.decoder")
    value = {"a": [1, 2.5, None, True, "é\n\"", {"b": []}], "c": {}, 1: float("inf")}
    yield json.dumps(value, indent=2, sort_keys=False), json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    yield "".join(encoder._make_iterencode({}, lambda o: repr(o), encoder.py_encode_basestring_ascii, " ", float.__repr__, ": ", ", ", False, False, False)(value, 0))
    scan = decoder.JSONDecoder(parse_float=str)
    scan.parse_string, scan.parse_object, scan.parse_array = decoder.py_scanstring, decoder.JSONObject, decoder.JSONArray
    scan.scan_once = module("json.scanner").py_make_scanner(scan)
    yield scan.decode('{"a": [1, -2.5e3, "x\\u00e9\\ud834\\udd1e\\n"], "b": {"c": null, "d": [true, false, NaN]}, "e": ""}')
    for bad in ('{"a" 1}', "[1,]", '"\\x"', "nul", "{1:2}", '"abc'):
        try:
            scan.decode(bad)
        except ValueError as error:
            yield str(error)


def configuration():
    configparser, io = module("configparser"), module("io")
    parser = configparser.ConfigParser(allow_no_value=True)
    parser.read_string(INI)
    yield {name: dict(section) for name, section in parser.items()}, parser.getboolean("a", "flag"), parser["b"].getint("number")
    parser.set("b", "new", "%%x"), parser.remove_option("a", "multi"), parser.add_section("z")
    out = io.StringIO()
    parser.write(out)
    yield out.getvalue()
    extended = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
    extended.read_dict({"s": {"k": "${t:v}/1"}, "t": {"v": "2"}})
    yield extended["s"]["k"]
    for bad in ("x=1", "[a]\n[a]", "[a]\nk=1\nk=2", "[a]\nv=%(none)s"):
        try:
            yield configparser.ConfigParser().read_string(bad)
        except configparser.Error as error:
            yield str(error)


def numbers():
    fractions, statistics, decimal = module("fractions"), module("statistics"), module("_pydecimal")
    F, D = fractions.Fraction, decimal.Decimal
    yield F("3/4") + F(1, 3) * 2 - F(0.5) ** 3, F("-1.5e2") // F(7, 2), F(22, 7).limit_denominator(5), round(F(7, 3), 2), f"{F(1, 3):.3f}"
    yield F(3, 4) < 1, F(3, 4) == 0.75, hash(F(5, 2)), divmod(F(7, 2), F(2, 3)), F(2) ** F(1, 2), abs(F(-1, 2)), int(F(7, 2))
    data = [2.5, 3, 4, 4, 5, 7, 9.25]
    yield statistics.mean(data), statistics.median(data), statistics.mode(data), statistics.stdev(data), statistics.quantiles(data)
    yield statistics.linear_regression(data, data[::-1]), statistics.correlation(data, data[::-1]), statistics.harmonic_mean(data), statistics.multimode("aabb")
    yield statistics.NormalDist(3, 2).inv_cdf(0.3), statistics.NormalDist(1, 2) + statistics.NormalDist(2, 1), statistics.fmean(data, range(7))
    yield D("1.10") + D(3) / D(7), D(2).sqrt(), D("1e5").normalize(), D("-7").__divmod__(D(2)), D("1.005").quantize(D("0.01")), D(3).ln(), D("2.5").exp(), f"{D('1234.5'):,.2f}"
    yield D("NaN").is_nan(), D("Infinity") > 1, D("1.5").as_integer_ratio(), D(10).log10(), D("0.1") ** 3, D("123").to_eng_string(), D("5").compare(D("5.0"))
    for bad in (lambda: D(1) / 0, lambda: D("x"), lambda: F(1, 0), lambda: statistics.mean([]), lambda: D("sNaN") + 1):
        try:
            yield bad()
        except Exception as error:
            yield type(error).__name__, str(error)


def dates():
    datetime, calendar = module("_pydatetime"), module("calendar")
    moment = datetime.datetime(2024, 2, 29, 13, 5, 9, 1234, datetime.timezone(datetime.timedelta(hours=-3, minutes=-30)))
    yield moment.isoformat(), moment.strftime("%Y-%j %H:%M:%S.%f %z"), moment + datetime.timedelta(days=1.5), moment.utctimetuple(), moment.isocalendar()
    yield datetime.datetime.fromisoformat("2024-02-29T13:05:09.001234+05:30"), datetime.date.fromisocalendar(2024, 9, 4), datetime.time(1, 2).replace(hour=4), moment.astimezone(datetime.timezone.utc)
    yield datetime.timedelta(days=-1, seconds=3, milliseconds=5) * 2 // 3, str(datetime.timedelta(1, 2, 3)), datetime.timedelta(5) / datetime.timedelta(2), moment < moment.replace(year=2028), moment - moment.replace(month=1, day=3)
    yield calendar.TextCalendar(6).formatmonth(2024, 2), calendar.HTMLCalendar().formatmonth(2023, 12), calendar.monthrange(1900, 2), calendar.timegm((1970, 1, 2, 0, 0, 0))
    for bad in (lambda: datetime.date(2023, 2, 29), lambda: datetime.datetime.fromisoformat("2024-13"), lambda: datetime.timedelta(10**10), lambda: calendar.monthrange(2024, 13)):
        try:
            yield bad()
        except Exception as error:
            yield type(error).__name__, str(error)


def data_classes():
    dataclasses, typing = module("dataclasses"), module("typing")

    @dataclasses.dataclass(order=True)
    class Item:
        name: str
        tags: list = dataclasses.field(default_factory=list, compare=False)
        price: float = 1.0
        count: typing.ClassVar[int] = 0

    @dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
    class Sub:
        items: tuple = ()
        extra: dataclasses.InitVar[int] = 3

        def __post_init__(self, extra):
            object.__setattr__(self, "items", self.items + (extra,))

    item, sub = Item("a"), Sub(items=(Item("b"),))
    yield item, sub, dataclasses.asdict(sub), dataclasses.astuple(item), dataclasses.replace(item, price=2.0) > item, [f.name for f in dataclasses.fields(Item)]
    yield dataclasses.make_dataclass("Made", ["x", ("y", int, 5)])(1)
    for bad in (lambda: setattr(sub, "items", 1), lambda: dataclasses.asdict(3), lambda: dataclasses.make_dataclass("Bad", [("x", int, 1), "y"])):
        try:
            yield bad()
        except Exception as error:
            yield type(error).__name__, str(error)


def types_in_words():
    typing, abc = module("typing"), module("collections.abc")
    T, P = typing.TypeVar("T"), typing.ParamSpec("P")

    class Box(typing.Generic[T]):
        def get(self: "Box[T]", other: typing.Optional[int] = None) -> T: ...

    class Named(typing.Protocol):
        name: str

    Movie = typing.TypedDict("Movie", {"title": str, "year": typing.NotRequired[int]})
    Pair = typing.NamedTuple("Pair", [("a", int), ("b", str)])
    yield Box[int], Box[T][str], typing.Union[int, str, None], typing.Callable[P, T][[int], str], typing.Literal[1, "a", 1], typing.get_type_hints(Box.get, localns={'Box': Box, 'T': T})
    yield typing.get_args(dict[str, list[T]][int]), typing.get_origin(typing.Annotated[int, "x"]), Movie.__required_keys__, Pair(1, "x")._asdict(), typing.get_protocol_members(Named)
    yield isinstance([], abc.Sequence), issubclass(dict, abc.Mapping), typing.cast(int, "x"), typing.is_typeddict(Movie), abc.Callable[[int], str]
    for bad in (lambda: typing.Union[()], lambda: typing.Generic[int], lambda: typing.Optional[1, 2], lambda: Named(), lambda: Box[int, str], lambda: isinstance(1, Named)):
        try:
            yield bad()
        except Exception as error:
            yield type(error).__name__, str(error)


def enumerations():
    enum = module("enum")

    class Colour(enum.Enum):
        RED = 1
        GREEN = enum.auto()
        CRIMSON = 1

        @classmethod
        def _missing_(cls, value):
            return cls.RED if value == "r" else None

    class Right(enum.Flag):
        R, W, X = 4, 2, 1
        RW = R | W

    Made = enum.IntEnum("Made", "ONE TWO", start=5)
    yield list(Colour), Colour("r"), Colour["GREEN"], Colour.CRIMSON.name, Right.R | Right.X, ~Right.RW, list(Right(7)), Made.TWO + 1, Right.R in Right.RW, Colour.__members__
    for bad in (lambda: Colour(9), lambda: setattr(Colour, "RED", 2), lambda: Right(64), lambda: enum.unique(Colour), lambda: enum.Enum("E", "a a")):
        try:
            yield bad()
        except Exception as error:
            yield type(error).__name__, str(error)


def containers():
    collections, heapq, bisect, reprlib, pprint = map(module, ("collections", "heapq", "bisect", "reprlib", "pprint"))
    counter = collections.Counter("abracadabra")
    yield counter.most_common(2), counter - collections.Counter("abc"), (counter & collections.Counter("aab")).total(), +collections.Counter(a=-1), list(collections.Counter(b=2).elements())
    chain = collections.ChainMap({"a": 1}, {"a": 2, "b": 3})
    yield chain["b"], dict(chain), chain.new_child({"c": 4}).parents, len(chain), chain.maps
    Point = collections.namedtuple("Point", "x y", defaults=[3])
    yield Point(1), Point(1)._replace(y=5), Point._make([1, 2])._asdict(), collections.UserString("Abc").swapcase() * 2, collections.UserList([3, 1]) + [2], collections.UserDict(a=1) | {"b": 2}
    rows = [[5, "e"], [1, "a"], [4, "d"], [2, "b"]]
    yield heapq.nsmallest(2, rows), heapq.nlargest(2, rows, key=lambda row: row[1]), list(heapq.merge([1, 4], [2, 3], reverse=False)), list(heapq.merge("da", "cb", key=ord, reverse=True))
    yield pprint.pformat({"key": list(range(30)), "text": "word " * 30, "nested": {"a": ({1, 2}, [])}}, width=40), reprlib.repr([list(range(20)), "x" * 50, {1: {2: {3: {4: 5}}}}])
    linked = module("collections").OrderedDict(a=1, b=2)
    linked.move_to_end("a")
    yield linked, list(reversed(linked)), linked == {"b": 2, "a": 1}


def copies():
    copy, pickle, io = module("copy"), module("pickle"), module("io")
    value = {"a": [1, (2, 3)], "s": {4, 5}, "f": frozenset([6]), "x": 1.5, "b": bytearray(b"q"), "n": 10**30, "t": (True, None)}
    value["self"] = value["a"]
    deep = copy.deepcopy(value)
    yield deep, deep["self"] is deep["a"], copy.copy(value)["a"] is value["a"]
    for protocol in range(6):
        out = io.BytesIO()
        pickle._Pickler(out, protocol).dump([value, len, ValueError("x"), range(3), b"z" * 300, "é" * 300, -5, 2**40])
        yield out.getvalue(), pickle._Unpickler(io.BytesIO(out.getvalue())).load()
    for bad in (b"", b"}q", b"\x80\x09.", b"cnone\nnone\n."):
        try:
            yield pickle._Unpickler(io.BytesIO(bad)).load()
        except Exception as error:
            yield type(error).__name__, str(error)
    yield module("pickletools").optimize(pickle.dumps(value, 4))


def arguments():
    argparse, getopt, optparse, shlex = map(module, ("argparse", "getopt", "optparse", "shlex"))
    parser = argparse.ArgumentParser("prog", description=TEXT, exit_on_error=False)
    group = parser.add_argument_group("group").add_mutually_exclusive_group()
    group.add_argument("-v", "--verbose", action="count", default=0, help="more (default: %(default)s)")
    group.add_argument("-q", action="store_true")
    parser.add_argument("--level", type=int, choices=[1, 2], metavar="N")
    commands = parser.add_subparsers(dest="command")
    run = commands.add_parser("run", aliases=["r"])
    run.add_argument("files", nargs="+"), run.add_argument("--opt", nargs="?", const="c")
    yield parser.parse_args(["-vv", "--level=2", "run", "a", "b", "--opt"]), parser.parse_known_args(["r", "x", "--none"]), parser.format_help(), run.format_usage()
    for bad in (["--level", "3", "run", "a"], ["--level", "x"]):
        try:
            yield parser.parse_args(bad)
        except argparse.ArgumentError as error:
            yield str(error)
    yield getopt.gnu_getopt(["-a", "x", "-bval", "--long=3"], "ab:", ["long="]), shlex.split("a 'b c' \"d\\\"e\" f#g"), shlex.join(["a b", "c'd"])
    options = optparse.OptionParser(prog="p")
    options.add_option("-n", type="int", default=3, help="number %default"), options.add_option("--flag", action="store_true")
    yield options.parse_args(["-n", "5", "rest"]), options.format_help(), list(shlex.shlex("a=1;b", punctuation_chars=True))


def markup():
    parser, html, sax, tree, minidom = map(module, ("html.parser", "html", "xml.sax.saxutils", "xml.etree.ElementTree", "xml.dom.minidom"))

    class Parser(parser.HTMLParser):
        def handle_starttag(self, tag, attrs): print("start", tag, attrs)
        def handle_endtag(self, tag): print("end", tag)
        def handle_data(self, data): print("data", repr(data))
        def handle_comment(self, data): print("comment", data)

    Parser().feed(HTML)
    yield html.escape(HTML), html.unescape("&lt;&eacute;&#x41;&nosuch;"), sax.quoteattr("a'b\"c")
    root = tree.fromstring("<a x='1'><b>t</b>tail<c><b k='v'/></c></a>")
    tree.indent(root)
    yield tree.tostring(root), [e.tag for e in root.iter()], root.findall(".//b[@k='v']"), root.findtext("b"), tree.canonicalize("<a b='1' a='2'/>")
    yield minidom.parseString("<r><x y='1'>t</x><!--c--></r>").toprettyxml(indent=" ")


def mail():
    email, policy, message, utils, mime = map(module, ("email", "email.policy", "email.message", "email.utils", "email.mime.text"))
    parsed = email.message_from_string(MAIL)
    yield parsed.as_string(), [part.get_content_type() for part in parsed.walk()], parsed.get_payload(1).get_payload(decode=True), utils.getaddresses([parsed["To"]])
    modern = email.message_from_string(MAIL, policy=policy.default)
    yield modern["subject"], modern["to"].addresses, modern.get_body().get_content()
    made = message.EmailMessage()
    made["Subject"], made["To"] = "Ünï", "é <a@b.c>"
    made.set_content("text ü\n" * 3)
    yield made.as_string(), utils.parsedate_to_datetime("Mon, 20 Nov 1995 19:12:08 -0500"), mime.MIMEText("x", "html", "utf-8").as_string()


def addresses():
    parse, ipaddress, cookies, uuid = map(module, ("urllib.parse", "ipaddress", "http.cookies", "uuid"))
    yield parse.urlsplit("http://u:p@h.x:80/p;q?a=1&b=%20#f"), parse.urljoin("http://a/b/c/d", "../g?y"), parse.parse_qs("a=1&a=2&b="), parse.urlencode({"a": [1, 2], "é": "x y"}, doseq=True), parse.quote("/é ?"), parse.unquote("%C3%A9+")
    network = ipaddress.ip_network("10.0.0.0/29")
    yield list(network.hosts()), ipaddress.ip_address("::ffff:1.2.3.4").ipv4_mapped, list(ipaddress.collapse_addresses(network.subnets(new_prefix=31))), ipaddress.IPv6Address("2001:db8::1").exploded, network.supernet(), list(ipaddress.summarize_address_range(ipaddress.IPv4Address(1), ipaddress.IPv4Address(6)))
    cookie = cookies.SimpleCookie('a="x\\073y"; b=2; Path=/')
    yield cookie.output(), uuid.UUID("12345678123456781234567812345678").urn, uuid.uuid5(uuid.NAMESPACE_DNS, "x")
    for bad in (lambda: ipaddress.ip_address("1.2.3.256"), lambda: ipaddress.ip_network("10.0.0.1/8"), lambda: parse.urlsplit("http://[::1"), lambda: uuid.UUID("12")):
        try:
            yield bad()
        except Exception as error:
            yield type(error).__name__, str(error)


def inspection():
    inspect, dis, io, traceback, linecache = map(module, ("inspect", "dis", "io", "traceback", "linecache"))

    def function(a, /, b: int = 2, *c, d, e="x", **f) -> str:
        return a

    signature = inspect.signature(function)
    yield str(signature), signature.bind(1, 2, 3, d=4, g=5).arguments, inspect.getfullargspec(function), inspect.cleandoc("  a\n    b\n"), inspect.getsource(texts), signature.replace(return_annotation=int)
    yield [row[:2] for row in inspect.getmembers(complex, inspect.ismethoddescriptor)], inspect.classify_class_attrs(bool)[0].kind, inspect.getmro(bool), inspect.unwrap(function) is function
    out = io.StringIO()
    dis.dis("for i in x:\n  try: f(i)\n  except E: pass\n", file=out)
    yield out.getvalue(), dis.code_info("a + 1").splitlines()[0], list(dis.findlinestarts(compile("a\nb", "x", "exec")))
    linecache.cache["<made>"] = (9, None, ["def f(n):\n", "    return 1 / n + (n\n", "        .x)\n", "f(0)\n"], "<made>")
    try:
        exec(compile("".join(linecache.cache["<made>"][2]), "<made>", "exec"), {})
    except ZeroDivisionError as error:
        yield "".join(traceback.format_exception(error)).split("<made>", 1)[1]
    try:
        raise ExceptionGroup("g", [ValueError(1), ExceptionGroup("h", [KeyError(2)])])
    except ExceptionGroup as group:
        yield "".join(traceback.format_exception_only(group)), str(group.split(KeyError))


def contexts():
    contextlib, functools, asyncio, operator = map(module, ("contextlib", "functools", "asyncio", "operator"))
    log = []

    @contextlib.contextmanager
    def managed(name):
        log.append(("enter", name))
        try:
            yield name
        except ValueError as error:
            log.append(repr(error))
        finally:
            log.append(("exit", name))

    with contextlib.ExitStack() as stack:
        stack.enter_context(managed("a")), stack.callback(log.append, "called"), stack.push(lambda *info: log.append(info[0]))
        with contextlib.suppress(KeyError), managed("b"):
            raise ValueError("b")
    yield list(log)

    @functools.singledispatch
    def kind(value):
        return "other"

    kind.register(int, lambda value: "int"), kind.register(list, lambda value: "list")
    yield kind(1), kind([]), kind(""), functools.reduce(operator.add, [[1], [2]]), functools.cmp_to_key(lambda a, b: b - a)(3) < functools.cmp_to_key(lambda a, b: b - a)(2)

    @functools.total_ordering
    class Ordered:
        def __init__(self, n): self.n = n
        def __eq__(self, other): return self.n == other.n
        def __lt__(self, other): return self.n < other.n
        @functools.cached_property
        def double(self): return self.n * 2

    yield Ordered(1) >= Ordered(0), Ordered(2).double, functools.partialmethod(Ordered.__lt__, Ordered(3)).__get__(Ordered(2))()

    @contextlib.asynccontextmanager
    async def manager():
        yield 5

    async def work(n, queue):
        async with manager() as five:
            await asyncio.sleep(0)
            await queue.put(n * five)
            return n

    async def main():
        queue = asyncio.Queue()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work(n, queue)) for n in range(3)]
        gathered = await asyncio.gather(work(7, queue), asyncio.wait_for(work(8, queue), 5), return_exceptions=True)
        return [task.result() for task in tasks], gathered, queue.qsize(), [await queue.get() for _ in range(3)]

    yield asyncio.run(main())


def files_in_memory():
    io, csv, zipfile, tarfile, gzip, base64, pyio = map(module, ("io", "csv", "zipfile", "tarfile", "gzip", "base64", "_pyio"))
    out = io.StringIO()
    writer = csv.DictWriter(out, ["a", "b"], quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader(), writer.writerow({"a": 1, "b": 'x"y'})
    yield out.getvalue(), list(csv.DictReader(io.StringIO("a,b\n1,2\n3\n"))), csv.Sniffer().sniff("a;b\n1;2\n").delimiter
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("d/a.txt", (1999, 1, 2, 3, 4, 6)), "hello" * 50)
    with zipfile.ZipFile(data) as archive:
        yield archive.namelist(), archive.read("d/a.txt"), archive.testzip(), repr(archive.getinfo("d/a.txt")), (zipfile.Path(archive) / "d" / "a.txt").read_text()
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        info = tarfile.TarInfo("f" * 120)
        info.size = 3
        archive.addfile(info, io.BytesIO(b"abc"))
    data.seek(0)
    with tarfile.open(fileobj=data) as archive:
        yield archive.getnames(), archive.extractfile(archive.getmembers()[0]).read()
    yield gzip.decompress(gzip.compress(b"xy" * 9, mtime=0)), base64.b85encode(b"hello"), base64.b32decode("NBSWY3DP"), base64.a85decode(base64.a85encode(b"\0\0\0\0abc"))
    text = pyio.TextIOWrapper(pyio.BytesIO(), "utf-8", newline="\n")
    text.write("é\r\nb\nc"), text.seek(0)
    yield text.read(2), text.readline(), text.tell() > 0, text.readlines(), pyio.BufferedReader(pyio.BytesIO(b"abcdef"), 2).read(4)
    for bad in (b"not a zip", b""):
        try:
            zipfile.ZipFile(io.BytesIO(bad))
        except zipfile.BadZipFile as error:
            yield str(error)


def strings():
    string, locale, fnmatch, glob, posixpath, pathlib, codecs, gettext = map(module, ("string", "locale", "fnmatch", "glob", "posixpath", "pathlib", "codecs", "gettext"))
    yield string.Template("$a ${b} $$ $c").safe_substitute(a=1, b=2), string.Formatter().format("{0!r:>{1}} {x[k]} {y.real}", "v", 6, x={"k": 1}, y=2), string.capwords("a b-c")
    yield fnmatch.translate("*.[!a]?"), fnmatch.filter(["a.py", "b.c"], "*.py"), glob.translate("**/*.py", recursive=True), posixpath.normpath("/a/../b/./c//"), posixpath.relpath("/a/b", "/a/c"), posixpath.commonpath(["/a/b", "/a/c"]), posixpath.expandvars("$NONE/x")
    path = pathlib.PurePosixPath("/a/b/c.tar.gz")
    yield path.suffixes, path.with_suffix(".x"), path.relative_to("/a"), path.match("*.gz"), list(path.parents), pathlib.PureWindowsPath("c:\\x\\Y") / "z", path.with_name("q").as_uri(), pathlib.PureWindowsPath("C:/A") == pathlib.PureWindowsPath("c:/a")
    yield "é".encode("punycode"), "bücher.example".encode("idna"), codecs.encode("abc", "rot13"), list(codecs.iterdecode([b"\xc3", b"\xa9"], "utf-8")), gettext.c2py("n%10==1 && n%100!=11 ? 0 : 2")(21)
    for bad in (lambda: string.Template("$").substitute(), lambda: path.relative_to("/z"), lambda: path.with_suffix("x"), lambda: string.Formatter().format("{}{0}", 1), lambda: gettext.c2py("n+"), lambda: "xn--\xff".encode("idna")):
        try:
            yield bad()
        except Exception as error:
            yield type(error).__name__, str(error)


def scheduling():
    sched, queue, graphlib, random, contextvars, weakref = map(module, ("sched", "queue", "graphlib", "random", "contextvars", "weakref"))
    now, log = [0], []
    scheduler = sched.scheduler(lambda: now[0], lambda delay: now.__setitem__(0, now[0] + delay))
    scheduler.enter(5, 1, log.append, ("late",)), scheduler.enter(1, 2, log.append, ("early",))
    scheduler.run()
    waiting = queue.PriorityQueue(3)
    for n in (3, 1, 2):
        waiting.put_nowait(n)
    yield log, [waiting.get() for _ in range(3)], waiting.empty(), list(graphlib.TopologicalSorter({"d": "bc", "b": "a", "c": "a"}).static_order())
    chance = random.Random(5)
    yield chance.sample(range(50), 5), chance.choices("abc", [1, 2, 3], k=4), chance.gauss(0, 1), chance.randrange(3, 30, 4), chance.shuffle([1, 2]), chance.triangular(), chance.betavariate(2, 3), chance.vonmisesvariate(1, 2), chance.expovariate(2), chance.binomialvariate(9, 0.4)

    class Thing: pass

    things = [Thing(), Thing()]
    table, seen = weakref.WeakKeyDictionary(zip(things, "ab")), weakref.WeakSet(things)
    values = weakref.WeakValueDictionary(x=things[0])
    yield sorted(table.values()), len(seen), "x" in values, len(table | {}), values.setdefault("y", things[1]) is things[1]
    things.pop()
    yield len(table), len(seen), sorted(values)
    for bad in (lambda: waiting.get_nowait(), lambda: list(graphlib.TopologicalSorter({1: [2], 2: [1]}).static_order()), lambda: chance.choices([], k=1), lambda: chance.randrange(0)):
        try:
            yield bad()
        except Exception as error:
            yield type(error).__name__, str(error)


def testing():
    unittest, doctest, io, mock, logging, warnings = map(module, ("unittest", "doctest", "io", "unittest.mock", "logging", "warnings"))

    class Case(unittest.TestCase):
        def test_pass(self): self.assertEqual(1, 1)
        def test_fail(self): self.assertEqual([1, 2], [1, 3], "message")
        def test_error(self): self.assertRaises(ValueError, int, "1")
        def test_skip(self): self.skipTest("why")
        def test_sub(self):
            for i in range(2):
                with self.subTest(i=i): self.assertFalse(i)

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    yield result.testsRun, [str(test) for test, _ in result.failures], [text.splitlines()[-1] for _, text in result.failures + result.errors], result.skipped[0][1]
    made = mock.Mock(side_effect=[1, KeyError("k")], name="made")
    yield made(2, x=3), made.call_args_list, made.method_calls, repr(mock.call.a(1)), mock.MagicMock().__len__(), mock.create_autospec(len)([1]).__class__.__name__ != ""
    found = doctest.DocTestParser().get_examples(">>> 1 + 1\n2\n>>> print('a')\na\n")
    runner = doctest.DocTestRunner(verbose=False)
    yield len(found), runner.run(doctest.DocTest(found, {}, "n", "f", 0, None)), runner.summarize(False)
    out = io.StringIO()
    logger, handler = logging.Logger("l"), logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("{levelname}:{message}:{funcName}:{lineno}", style="{"))
    logger.addHandler(handler)
    logger.warning("x %d", 3), logger.debug("%(a)s", {"a": 1})
    try:
        made()
    except KeyError:
        logger.error("failed", stack_info=False)
    yield out.getvalue()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("careful", stacklevel=1)
    yield [(str(warning.message), warning.lineno) for warning in caught]


SCENARIOS = {
    function.__name__: function
    for function in (
        texts, differences, syntax_trees, tokens, regular_expressions, documents, configuration, numbers, dates, data_classes,
        types_in_words, enumerations, containers, copies, arguments, markup, mail, addresses, inspection, contexts,
        files_in_memory, strings, scheduling, testing,
    )
}
