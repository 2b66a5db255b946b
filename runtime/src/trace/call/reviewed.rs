//! C functions that may run during a trace although their effects do not show it, or may not although nothing else forbids it.
//!
//! A row says why. It goes when the effects show what it claims: [`super::effects`] asks them first.

/// Owner (module or type), names, reason.
pub(super) type Row = (&'static str, &'static [&'static str], &'static str);

/// Functions that depend on state of the process, whatever a row below says.
pub(super) const STATEFUL: &[Row] = &[
    ("datetime.datetime", &["timestamp", "astimezone"], "the local time zone, which TZ and tzset() change"),
    ("datetime.datetime", &["now", "utcnow", "today"], "the clock"),
    ("datetime.datetime", &["fromtimestamp"], "the local time zone, which TZ and tzset() change"),
    ("datetime.date", &["today"], "the clock"),
    ("datetime.date", &["fromtimestamp"], "the local time zone, which TZ and tzset() change"),
    ("datetime.date", &["strftime"], "the locale, and the local time zone"),
    ("datetime.time", &["strftime"], "the locale, and the local time zone"),
    ("_codecs", &["register", "unregister"], "the search path of codecs"),
    ("_codecs", &["register_error"], "the table of error handlers"),
    ("type", &["__subclasses__"], "the classes that are alive"),
];

/// Modules and types whose sources the effects do not read, all of whose functions may run.
pub(super) const UNREAD: &[(&str, &str)] = &[
    ("_io.TextIOWrapper", "a file that only the trace has, opened to read it, or text over bytes in memory"),
    ("_io.BufferedReader", "a file that only the trace has, opened to read it"),
    ("_io._IOBase", "a file that only the trace has"),
    ("_io._BufferedIOBase", "a file that only the trace has"),
    ("_io._TextIOBase", "a file that only the trace has"),
    ("_io.IncrementalNewlineDecoder", "text, and what was left of it before"),
    ("_codecs", "bytes and text; codecs are looked up by name"),
    ("_suggestions", "texts in, a text out"),
];

/// Modules and types whose functions ask their arguments by slots alone, so that tokens may stand for them: those run that their effects
/// confine to their arguments. Owner, reason.
pub(super) const TOKENS: &[(&str, &str)] = &[
    ("builtins", "functions with a model never come here; the others convert, compare and iterate their arguments"),
    ("math", "__index__, __float__, __ceil__… of the arguments"),
    ("cmath", "__complex__ and __float__ of the arguments"),
    ("_operator", "the protocol functions"),
    ("operator", "the protocol functions"),
    ("itertools", "iterators over their arguments"),
    ("_functools", "reduce, cmp_to_key, partial: they call their arguments"),
    ("functools", "partial and caches: they call their arguments"),
    ("_collections", "containers of their arguments"),
    ("collections", "containers of their arguments"),
    ("_heapq", "compare the items of a list"),
    ("_struct", "bytes of numbers"),
    ("binascii", "bytes in, bytes out"),
    ("_statistics", "numbers in, numbers out"),
    ("_json", "text and containers"),
    ("_io.StringIO", "text in memory"),
    ("_io.BytesIO", "bytes in memory"),
    ("re.Pattern", "matching"),
    ("re.Match", "slices of the text that matched"),
    ("datetime.date", "fields of a date"),
    ("datetime.time", "fields of a time"),
    ("datetime.datetime", "fields of a date and a time"),
    ("datetime.timedelta", "days, seconds, microseconds"),
    ("datetime.timezone", "a fixed offset"),
    ("types.GenericAlias", "an origin and its arguments"),
    ("types.SimpleNamespace", "a dictionary of attributes"),
];

/// Functions and classes that work on their arguments alone, as far as a trace can tell, although the effects find more.
pub(super) const REVIEWED: &[Row] = &[
    ("builtins", &["bin", "oct", "hex"], "the module that the library imports is for text in base ten"),
    (
        "builtins",
        &["format", "repr"],
        "the slot of the argument; addresses are for types without one, and no type that is ready is",
    ),
    ("builtins", &["ascii"], "__repr__ of the argument, and the codec of ASCII, which is C"),
    (
        "math",
        &["comb", "factorial", "isqrt", "lcm", "perm", "prod", "sumprod"],
        "int and float operators on what they computed",
    ),
    ("math", &["log"], "numbers in, numbers out"),
    ("math", &["ceil", "floor", "trunc", "nextafter"], "__ceil__, __floor__, __trunc__, __index__ of the argument"),
    (
        "cmath",
        &["acos", "acosh", "asin", "asinh", "atan", "cos", "cosh", "exp", "log", "log10"],
        "what is written is errno, or a table of special values that is always the same",
    ),
    ("cmath", &["rect", "sin", "sinh", "sqrt", "tan", "tanh"], "the same"),
    ("operator.attrgetter", &["__new__", "__reduce__"], "holds its arguments, interned"),
    ("operator.methodcaller", &["__new__", "__reduce__"], "holds its arguments, interned; partial for keywords"),
    ("itertools.cycle", &["__setstate__"], "sets its own fields"),
    ("itertools.permutations", &["__setstate__"], "sets its own fields"),
    ("itertools._tee", &["__setstate__"], "sets its own fields"),
    ("itertools", &["tee"], "__copy__ of the argument"),
    ("functools._lru_cache_wrapper", &["cache_clear"], "empties its own cache"),
    ("functools.partial", &["__new__", "__setstate__"], "holds its arguments"),
    ("_collections", &["_count_elements"], "hashes and counts the items in the mapping that it is given"),
    ("_collections._deque_iterator", &["__new__"], "an iterator over a deque"),
    ("_collections._deque_reverse_iterator", &["__new__"], "an iterator over a deque"),
    ("collections.defaultdict", &["__new__"], "a dictionary"),
    ("collections._deque_iterator", &["__new__"], "an iterator over a deque"),
    ("collections._deque_reverse_iterator", &["__new__"], "an iterator over a deque"),
    (
        "collections.OrderedDict",
        &["__new__", "clear", "copy", "fromkeys", "setdefault"],
        "changes itself; copies with its class",
    ),
    ("_bisect", &["bisect_left", "bisect_right", "insort_left", "insort_right"], "compare the items of a list"),
    ("_struct.Struct", &["__new__"], "compiles a format"),
    ("_struct.Struct", &["pack", "pack_into", "unpack", "unpack_from"], "the table of formats is always the same"),
    ("_struct", &["pack", "pack_into", "unpack", "unpack_from"], "compiled formats are cached; no program sees it"),
    ("unicodedata", &["bidirectional", "category", "combining", "decimal", "decomposition"], "tables of characters"),
    ("unicodedata", &["east_asian_width", "is_normalized", "lookup", "mirrored", "name"], "tables of characters"),
    ("unicodedata", &["digit", "normalize", "numeric"], "tables of characters"),
    ("_json", &["scanstring"], "text; errors are made by json.decoder, whose class is always the same"),
    (
        "_io.StringIO",
        &["getvalue", "read", "readline", "truncate", "write"],
        "text in memory; how it is kept is not seen",
    ),
    ("_io.StringIO", &["__getstate__", "__setstate__"], "text in memory, and the attributes of the instance"),
    (
        "_io.BytesIO",
        &["__getstate__", "__setstate__", "__sizeof__"],
        "bytes in memory, and the attributes of the instance",
    ),
    (
        "_thread.RLock",
        &["__enter__", "__exit__", "__new__", "_acquire_restore", "_is_owned", "_recursion_count", "_release_save"],
        "a lock that only the trace has",
    ),
    ("_thread.RLock", &["acquire", "release"], "a lock that only the trace has"),
    (
        "_thread.lock",
        &["__enter__", "__exit__", "__new__", "acquire", "acquire_lock"],
        "a lock that only the trace has",
    ),
    ("_thread.lock", &["locked", "locked_lock", "release", "release_lock"], "a lock that only the trace has"),
    ("re.Pattern", &["sub", "subn"], "calls its argument, or fills in a template, which re compiles once"),
    ("re.Match", &["expand", "groupdict"], "slices of the text that matched; a template, which re compiles once"),
    ("datetime.date", &["__new__", "isocalendar", "replace", "timetuple"], "makes a value of the fields"),
    ("datetime.time", &["__new__", "__replace__", "replace"], "makes a value of the fields"),
    (
        "datetime.time",
        &["fromisoformat", "isoformat", "tzname"],
        "the fields, and what the time zone that it holds says",
    ),
    ("datetime.datetime", &["__new__", "__replace__", "combine", "replace"], "makes a value of the fields"),
    ("datetime.datetime", &["fromisoformat", "strptime", "utcfromtimestamp"], "makes a value of its arguments alone"),
    (
        "datetime.datetime",
        &["isoformat", "timetuple", "tzname", "utctimetuple"],
        "the fields, and what the time zone says",
    ),
    ("datetime.timedelta", &["__new__", "total_seconds"], "int and float arithmetic"),
    ("datetime.timezone", &["__new__", "fromutc", "tzname"], "a fixed offset and a name"),
    ("types.GenericAlias", &["__dir__", "__reduce__"], "what the origin has"),
    ("types.SimpleNamespace", &["__replace__"], "a copy with other attributes"),
    ("posix", &["fspath"], "a path, or what its __fspath__ gives"),
    ("method", &["__new__"], "a function and its first argument"),
    ("mappingproxy", &["__new__"], "a view of a mapping"),
];
