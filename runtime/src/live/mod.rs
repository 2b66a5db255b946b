//! The world of real objects: generated functions run on what the interpreter has, to prove that they are right.
mod call;
mod format;
pub(crate) mod globals;
mod inline;
mod members;
mod memory;
mod places;
pub mod protocol;
mod raised;
mod route;
mod slots;
mod vocabulary;

use crate::semantics as release;
use generated::capi::FunctionId;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A C function pointer found in a slot.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its address; 0 for a function that only its identity names.
    pub(crate) pointer: usize,
    /// Its identity, if the tables know the pointer.
    pub(crate) id: Option<FunctionId>,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        match (self.id, other.id) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.pointer != 0 && self.pointer == other.pointer,
        }
    }
}

impl Function {
    /// The function at an address.
    pub(crate) fn at(pointer: usize) -> Option<Self> {
        (pointer != 0).then(|| Self { pointer, id: slots::hidden(pointer) })
    }

    /// The address of a function or of none; nothing for one that only its identity names.
    pub(crate) fn pointer(function: Option<&Self>) -> Option<usize> {
        match function {
            Some(function) if function.pointer == 0 => None,
            function => Some(function.map_or(0, |function| function.pointer)),
        }
    }
}

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
    py: Python<'py>,
    /// What begins, and what the interpreter is asked for, if anybody wants to know.
    log: Option<Bound<'py, PyList>>,
    /// The translated function that was called from outside: the interpreter's own is not asked for it.
    root: Option<FunctionId>,
    /// `Py_EnterRecursiveCall` without its `Py_LeaveRecursiveCall` yet.
    depth: usize,
    /// Arrays that translated functions point into.
    arrays: Vec<Box<[usize]>>,
    /// What was allocated: kept, so that nothing half made is ever freed.
    made: Vec<Bound<'py, PyAny>>,
}

impl<'py> Live<'py> {
    /// The world of the attached interpreter.
    #[must_use]
    pub fn new(py: Python<'py>) -> Self {
        Self { py, log: None, root: None, depth: 0, arrays: Vec::new(), made: Vec::new() }
    }

    /// The same, which tells what begins and what the interpreter is asked for.
    pub(super) fn logging(py: Python<'py>, log: Bound<'py, PyList>) -> Self {
        Self { log: Some(log), ..Self::new(py) }
    }

    /// Notes that a translated function begins (`enter`), or that the interpreter runs a C function (`native`).
    fn note(&self, what: &str, name: &str) {
        if let Some(log) = &self.log {
            // A list takes any pair; without memory for it, the log is short, and no more.
            let _ = log.append((what, name));
        }
    }
}
