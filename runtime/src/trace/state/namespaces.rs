//! Dicts from outside that hold names.
use super::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Whose names a dict holds.
#[derive(Debug)]
pub enum Namespace {
    /// A module's, or those of code that runs in a dict from outside.
    Globals(Py<PyDict>),
    /// An instance's.
    Instance(ValueId),
}

/// A name in a namespace, by the addresses of both: interned names are one object each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Global {
    pub(crate) globals: usize,
    pub(crate) name: usize,
}

impl Global {
    pub(crate) fn of(globals: &Bound<'_, PyDict>, name: &Bound<'_, PyString>) -> Self {
        Self { globals: globals.as_ptr() as usize, name: name.as_ptr() as usize }
    }
}
