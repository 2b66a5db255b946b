//! C functions that may run during a trace although their effects do not show it, or may not although nothing else forbids it.
//!
//! A row says why. It goes when the effects show what it claims: [`super::effects`] asks them first.

/// Owner (module or type), name (`*`: all), reason.
pub(super) type Row = (&'static str, &'static str, &'static str);

/// Functions that depend on state of the process, whatever a wider row below says.
pub(super) const STATEFUL: &[Row] = &[
    ("datetime.datetime", "timestamp", "the local time zone, which TZ and tzset() change"),
    ("datetime.datetime", "astimezone", "the local time zone, which TZ and tzset() change"),
    ("datetime.datetime", "now", "the clock"),
    ("datetime.datetime", "utcnow", "the clock"),
    ("datetime.datetime", "today", "the clock"),
    ("datetime.datetime", "fromtimestamp", "the local time zone, which TZ and tzset() change"),
    ("datetime.date", "today", "the clock"),
    ("datetime.date", "fromtimestamp", "the local time zone, which TZ and tzset() change"),
    ("datetime.date", "strftime", "the locale, and the local time zone"),
    ("datetime.time", "strftime", "the locale, and the local time zone"),
    ("_codecs", "register", "the search path of codecs"),
    ("_codecs", "unregister", "the search path of codecs"),
    ("_codecs", "register_error", "the table of error handlers"),
    ("type", "__subclasses__", "the classes that are alive"),
];

/// Functions and classes that work on their arguments alone, as far as a trace can tell.
pub(super) const REVIEWED: &[Row] = &[
    (
        "builtins",
        "*",
        "functions with a model never come here; the others convert, compare and iterate their arguments",
    ),
    ("math", "*", "numbers in, numbers out; __index__, __float__, __ceil__… of the arguments"),
    ("cmath", "*", "numbers in, numbers out"),
    ("_operator", "*", "the protocol functions"),
    ("operator", "*", "the protocol functions"),
    ("itertools", "*", "iterators over their arguments"),
    ("_functools", "*", "reduce, cmp_to_key, partial: they call their arguments"),
    ("functools", "*", "partial and caches: they call their arguments"),
    ("_collections", "*", "containers of their arguments"),
    ("collections", "*", "containers of their arguments"),
    ("_bisect", "*", "compare the items of a list"),
    ("_heapq", "*", "compare the items of a list"),
    ("_struct", "*", "bytes of numbers; compiled formats are cached"),
    ("binascii", "*", "bytes in, bytes out"),
    ("unicodedata", "*", "tables of characters"),
    ("_statistics", "*", "numbers in, numbers out"),
    ("_json", "*", "text and containers; errors are made by json.decoder"),
    ("_io.StringIO", "*", "text in memory"),
    ("_io.BytesIO", "*", "bytes in memory"),
    ("_io.TextIOWrapper", "*", "a file that only the trace has, opened to read it, or text over bytes in memory"),
    ("_io.BufferedReader", "*", "a file that only the trace has, opened to read it"),
    ("_io._IOBase", "*", "a file that only the trace has"),
    ("_io._BufferedIOBase", "*", "a file that only the trace has"),
    ("_io._TextIOBase", "*", "a file that only the trace has"),
    ("_io.IncrementalNewlineDecoder", "*", "text, and what was left of it before"),
    ("_codecs", "*", "bytes and text; codecs are looked up by name"),
    ("_suggestions", "*", "texts in, a text out"),
    ("posix", "fspath", "a path, or what its __fspath__ gives"),
    ("_thread.RLock", "*", "a lock that only the trace has"),
    ("_thread.lock", "*", "a lock that only the trace has"),
    ("re.Pattern", "*", "matching; templates are compiled once by re"),
    ("re.Match", "*", "slices of the text that matched"),
    ("datetime.date", "*", "fields of a date"),
    ("datetime.time", "*", "fields of a time"),
    ("datetime.datetime", "*", "fields of a date and a time"),
    ("datetime.timedelta", "*", "days, seconds, microseconds"),
    ("datetime.timezone", "*", "a fixed offset"),
    ("types.GenericAlias", "*", "an origin and its arguments"),
    ("types.SimpleNamespace", "*", "a dictionary of attributes"),
    ("method", "__new__", "a function and its first argument"),
    ("mappingproxy", "__new__", "a view of a mapping"),
];
