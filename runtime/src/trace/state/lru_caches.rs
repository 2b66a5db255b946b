//! Caches of functions from outside that the trace has called.
use super::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A cache of which the trace knows something.
#[derive(Debug)]
pub struct CacheUse {
    pub(crate) wrapper: ValueId,
    /// Keys that the trace has added, and the numbers of the values.
    pub(crate) added: Py<PyDict>,
    pub(crate) relied: Py<PyAny>,
}
