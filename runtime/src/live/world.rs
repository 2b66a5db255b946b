//! `Live`: the world of real objects, and why it stops.
use generated::capi::FunctionId;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Why a generated function stopped.
#[derive(Debug)]
pub enum Stop {
    /// A Python exception.
    Exception(PyErr),
    /// A C function that this world does not have.
    Unsupported(&'static str),
}

impl From<PyErr> for Stop {
    fn from(error: PyErr) -> Self {
        Self::Exception(error)
    }
}

/// The world of real objects.
pub struct Live<'py> {
    pub(super) py: Python<'py>,
    /// What begins, and what the interpreter is asked for, if anybody wants to know.
    pub(super) log: Option<Bound<'py, PyList>>,
    /// The translated function that was called from outside: the interpreter's own is not asked for it.
    pub(super) root: Option<FunctionId>,
    /// `Py_EnterRecursiveCall` without its `Py_LeaveRecursiveCall` yet.
    pub(super) depth: usize,
    /// Arrays that translated functions point into.
    pub(super) arrays: Vec<Box<[usize]>>,
    /// What was allocated: kept, so that nothing half made is ever freed.
    pub(super) made: Vec<Bound<'py, PyAny>>,
    /// Functions that were entered whose bodies do not stand in for this release's.
    pub(super) stood_in: crate::semantics::StoodIn,
}

impl<'py> Live<'py> {
    /// The world of the attached interpreter.
    #[must_use]
    pub fn new(py: Python<'py>) -> Self {
        let stood_in = crate::semantics::StoodIn::default();
        Self { py, log: None, root: None, depth: 0, arrays: Vec::new(), made: Vec::new(), stood_in }
    }

    /// The same, which tells what begins and what the interpreter is asked for.
    pub(super) fn logging(py: Python<'py>, log: Bound<'py, PyList>) -> Self {
        Self { log: Some(log), ..Self::new(py) }
    }

    /// Notes that a translated function begins (`enter`), or that the interpreter runs a C function (`native`).
    pub(super) fn note(&self, what: &str, name: &str) {
        if let Some(log) = &self.log {
            // A list takes any pair; without memory for it, the log is short, and no more.
            let _ = log.append((what, name));
        }
    }
}
