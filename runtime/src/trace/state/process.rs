//! What a trace keeps of the process: decimal contexts, locks, settings, modes, error handlers of codecs.
use super::value::ValueId;
use crate::guard::source::Source;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

/// A context from outside.
#[derive(Debug)]
pub(crate) struct DecimalContext {
    pub(crate) value: ValueId,
    /// What the value was.
    pub(crate) original: Py<PyAny>,
    pub(crate) source: Option<Source>,
    pub(crate) copy: Py<PyAny>,
    pub(crate) before: Py<PyAny>,
}

/// The context in force.
#[derive(Debug)]
pub(crate) struct CurrentContext {
    pub(crate) module: Py<PyAny>,
    pub(crate) get: Py<PyAny>,
    pub(crate) set: Py<PyAny>,
    /// In the thread, while the tracer runs.
    pub(crate) outside: Py<PyAny>,
    /// For the trace, when it began to ask.
    pub(crate) first: Py<PyAny>,
    /// For the trace.
    pub(crate) now: Py<PyAny>,
}

/// Contexts that a trace has to do with.
#[derive(Debug, Default)]
pub struct Decimals {
    pub(crate) adopted: Vec<DecimalContext>,
    /// By copy of the module.
    pub(crate) in_force: Vec<CurrentContext>,
}

/// A handler that the trace has registered.
#[derive(Debug)]
pub(crate) struct Handler {
    pub(crate) name: String,
    pub(crate) value: ValueId,
    /// What C gets for it.
    pub(crate) native: Py<PyAny>,
}

/// A lock from outside that the trace has met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lock {
    /// For the lock of imports stands the function that says whether it is held.
    pub(crate) lock: ValueId,
    /// How often it was acquired when the trace began: by this thread, if it is one that can be acquired again.
    pub(crate) start: u32,
    /// The same now.
    pub(crate) count: u32,
    /// Whether compiled code acquires it first of all.
    pub(crate) acquired_first: bool,
    /// Whether the thread that holds it may acquire it again.
    pub(crate) is_reentrant: bool,
}

/// A function that sets something.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) module: &'static str,
    pub(crate) name: &'static str,
    /// With these arguments it raises nothing.
    pub(crate) takes: &'static [Takes],
    /// Modules whose functions see what was set.
    pub(crate) seen_by: &'static [&'static str],
    /// What it does with the module's own lock.
    pub(crate) lock: ModuleLock,
}

/// What a setting does with a lock that its module keeps to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModuleLock {
    /// Nothing.
    None,
    /// Takes it.
    Takes,
    /// Raises where this thread does not hold it.
    Needs,
    /// Gives it back; raises where this thread does not hold it.
    Gives,
}

/// An argument that a setting cannot refuse.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Takes {
    /// Any `str` that UTF-8 can spell.
    Text,
    /// What the environment calls something: `bytes`, not empty, without NUL and `=`.
    Variable,
    /// `bytes` without NUL.
    Bytes,
    /// `None`.
    Nothing,
    /// A positive number of seconds, less than an hour.
    Interval,
}

/// A callable, and what it is called with.
pub(crate) type BoundCall = (Py<PyAny>, Py<PyTuple>);

/// Modes that take over calls of a library's functions, outermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct TakingModes {
    /// Those that the program has made active around the call.
    pub(crate) outer: Vec<ValueId>,
    /// Those that are active now.
    pub(crate) active: Vec<ValueId>,
}

/// A call whose operations the library's code hands to the trace.
#[derive(Debug, Default)]
pub(crate) struct Dispatched {
    /// The class of what stands for values.
    pub(crate) class: Option<Py<PyType>>,
    /// What stands for the arguments.
    pub(crate) given: Vec<(ValueId, Py<PyAny>)>,
    /// How deep C and the trace were nested when it began.
    pub(crate) nesting: u32,
    /// Whether the library's code has handed an operation to the trace.
    pub(crate) has_operations: bool,
    /// Whether the next operation takes wrappers: it only asks one what it tells by itself, or the graph makes the call as it is.
    pub(crate) takes_wrappers: bool,
    /// Whether the graph makes the call as it is, for it shows neither what gradients follow nor who shares memory.
    pub(crate) is_native: bool,
}

impl Dispatched {
    /// Whether the library's code runs, nested so deep, and not what it hands to the trace.
    pub(crate) fn runs(&self, nesting: u32) -> bool {
        self.class.is_some() && self.nesting == nesting
    }
}

/// A mode that the trace has set.
#[derive(Debug)]
pub(crate) struct ModeInForce {
    pub(crate) undo: Option<BoundCall>,
    pub(crate) questions: Vec<BoundCall>,
}
