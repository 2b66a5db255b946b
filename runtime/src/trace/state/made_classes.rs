//! Classes that a trace has made: compiled code makes its own, so these end with the trace.
use crate::ffi::weak_references;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Nobody finds them among the subclasses of their bases when the trace is over, though the collector has not come yet.
#[derive(Debug, Default)]
pub(crate) struct MadeClasses(Vec<Py<PyType>>);

impl MadeClasses {
    pub(crate) fn add(&mut self, class: &Bound<'_, PyType>) {
        self.0.push(class.clone().unbind());
    }
}

impl Drop for MadeClasses {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            Python::attach(|py| self.0.iter().for_each(|class| weak_references::leave_bases(class.bind(py))));
        }
    }
}
