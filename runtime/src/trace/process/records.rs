//! Functions that write down, or show, what a program does, each as a whole: they look at who called them, at the clock, at the thread, and wait
//! for locks. Traced, they would break at each of these, with no graph work between.
use crate::ffi::callee;
use crate::graph_break::{Break, KEEPS_RECORDS};
use pyo3::prelude::*;

/// The package that keeps logs.
const PACKAGE: &str = "logging";

/// Packages all functions of which show how far a program has come.
const PROGRESS: &[&str] = &["tqdm"];

/// Beginnings of the qualified names of functions there that make, filter, format and write records.
const RECORDS: &[&str] = &[
    "BufferingFormatter.",
    "FileHandler.",
    "Filter.",
    "Filterer.",
    "Formatter.",
    "Handler.",
    "LogRecord.",
    "Logger._log",
    "Logger.callHandlers",
    "Logger.findCaller",
    "Logger.handle",
    "Logger.makeRecord",
    "StreamHandler.",
    "basicConfig",
];

/// The classes whose methods programs call; functions of the module have the same names.
const LOGGERS: &[&str] = &["Logger.", "LoggerAdapter."];

/// Those methods. Where nothing listens they do nothing, which is traced.
const LEVELS: &[&str] = &["critical", "debug", "error", "exception", "fatal", "info", "log", "warn", "warning"];

/// Whether a name is that of a module of the package, and of which: the package itself has none.
fn module_within(name: &str) -> Option<&str> {
    let rest = name.strip_prefix(PACKAGE)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
}

/// Whether a program calls the function for a record: a trace does not stop within it, so that it runs natively as a whole where it makes one.
pub(crate) fn asks_for_record(function: &Bound<'_, PyAny>) -> bool {
    let module = callee::module_name(function);
    if module.as_ref().and_then(|module| module.to_str().ok()).and_then(module_within) != Some("") {
        return false;
    }
    let name = callee::qualname_of(function);
    let method = LOGGERS.iter().find_map(|class| name.strip_prefix(class));
    LEVELS.contains(&method.unwrap_or(&name))
}

/// Why a Python function runs natively, if it makes or writes a record.
pub(crate) fn break_at(function: &Bound<'_, PyAny>) -> Option<Box<Break>> {
    let module = callee::module_name(function)?;
    let module = module.to_str().ok()?;
    let shows =
        |package: &&str| module.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    if PROGRESS.iter().any(shows) {
        return Some(as_a_whole(callee::qualname_of(function)));
    }
    let module = module_within(module)?;
    let name = callee::qualname_of(function);
    let writes = module == "handlers" || module.is_empty() && RECORDS.iter().any(|start| name.starts_with(start));
    writes.then(|| as_a_whole(name))
}

/// Why such a function, entered by itself, is left alone.
pub(crate) fn as_a_whole(context: String) -> Box<Break> {
    Box::new(Break {
        kind: KEEPS_RECORDS.into(),
        context,
        explanation: "it writes down what happens, when, and on which thread".to_owned(),
        hints: vec!["the graph before it and the graph after it are kept; nothing needs to be done".into()],
    })
}
