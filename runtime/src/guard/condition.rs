//! Guards as data: a condition on the value at a source, and why the trace relies on it.
use super::names_read::NamesRead;
use super::source::Source;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

/// One condition on the value at a source.
#[derive(Debug)]
pub struct Guard {
    /// Which value.
    pub source: Source,
    /// What must hold.
    pub check: Check,
    /// Why the trace relied on it.
    pub reason: Reason,
}

/// Why a trace relied on something, in words when printed: `the trace dispatched on the type at demo.py:7`.
#[derive(Clone, Debug)]
pub struct Reason {
    /// The reason.
    pub why: &'static str,
    /// The operation that made it necessary, where that is not what stands at the place.
    pub operation: Option<Arc<str>>,
    /// File and line of the instruction.
    pub place: Option<(Arc<str>, u32)>,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.why)?;
        self.operation.as_ref().map_or(Ok(()), |operation| write!(f, ": {operation}"))?;
        self.place.as_ref().map_or(Ok(()), |(file, line)| write!(f, " at {file}:{line}"))
    }
}

/// What must hold of a value.
#[derive(Debug)]
pub enum Check {
    /// `type(value) is T`.
    TypeIs(Py<PyAny>),
    /// `value is object`.
    Is(Py<PyAny>),
    /// `type(value) is type(constant) and value == constant` (int, float by bits, str, bytes, None, bool, tuples of these).
    Equals(Py<PyAny>),
    /// The exact list, tuple, dict or set has this length.
    Length(usize),
    /// `bool(value)` of an exact number or text is this.
    Truth(bool),
    /// There is an object at the source, whichever.
    Exists,
    /// The caller handles no exception; the value does not matter.
    NothingHandled,
    /// The dict at the source has no entry under this key.
    Absent(Py<PyAny>),
    /// The object at the source is the same as at the other source.
    SameAs(Source),
    /// The object at the source is another than at the other source.
    NotSameAs(Source),
    /// The type's method resolution, slots and attributes are as they were (version tag), but for numbers under names that nobody reads.
    TypeUnchanged(Py<PyAny>, NamesRead),
    /// The value is this Python function, and its code, defaults and keyword defaults are the objects that they were when the guard was made.
    FunctionUnchanged(Py<PyAny>),
    /// The value is a Python function like this one, made of the same code, with the same globals and as many defaults; not necessarily the
    /// same one.
    FunctionLike(Py<PyAny>),
    /// The exact dict at the source has exactly the keys of this tuple, in this order.
    Keys(Py<PyAny>),
    /// The cell at the source is empty.
    CellEmpty,
    /// A domain's condition, for example dtype and shape of an array.
    Domain(Box<dyn DomainCheck>),
    /// `bool(callable(value))`, the slow general form.
    Call(Py<PyAny>),
}

impl Guard {
    /// Whether a condition on what is found there holds for ever once it holds: on a constant in a tuple that the compiled code keeps.
    #[must_use]
    pub fn is_settled(source: &Source, check: &Check, py: Python<'_>) -> bool {
        let decided = matches!(
            check,
            Check::Exists | Check::TypeIs(_) | Check::Is(_) | Check::Equals(_) | Check::Length(_) | Check::Truth(_)
        );
        decided && source.in_constant_tuple(py).is_some()
    }
}

/// A condition that a domain brings along.
pub trait DomainCheck: std::any::Any + std::fmt::Debug + Send + Sync {
    /// Whether it holds; must not run Python code of the user.
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool;
    /// The class that every value has exactly for which it holds, where it asks for one: then nothing else need ask.
    fn class(&self) -> Option<&Py<PyType>> {
        None
    }
    /// Whether another condition is the same one: then a call asks for it once, whichever of its guards look at the same value.
    fn same(&self, _other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        false
    }
    /// Two numbers: what it looks at in a value, and which number it asks for there. Conditions of one Rust type that look at the same, and
    /// ask for different numbers, never hold for one value. `None`: no number tells.
    fn wanted(&self) -> Option<(u64, u64)> {
        None
    }
    /// The number of a value; `None`: no condition that looks at the same holds for it. Must not run Python code of the user.
    fn number(&self, _value: &Bound<'_, PyAny>) -> Option<u64> {
        None
    }
    /// For reports: `dtype == float64, shape == (3,)`.
    fn describe(&self) -> String;
    /// What is the case instead, where that is known.
    fn now(&self, _value: &Bound<'_, PyAny>) -> Option<String> {
        None
    }
    /// The dimensions in which an array has another size than it asks for, where nothing else differs.
    fn other_sizes(&self, _value: &Bound<'_, PyAny>) -> Vec<usize> {
        Vec::new()
    }
    /// Its name, and a state of which another process makes the same condition; `None`: it is not written to disk.
    fn state<'py>(&self, _py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        None
    }
    /// Shows objects that it owns and that could hold on to compiled code to the garbage collector.
    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}
}
