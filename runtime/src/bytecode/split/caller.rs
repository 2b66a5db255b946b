//! Calls by subscription: `caller[function, *arguments]`, after which the interpreter handles no signals.
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Among the constants of code that hands over.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct Caller;

#[pymethods]
impl Caller {
    fn __getitem__<'py>(&self, call: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        call.get_item(0)?.call1(call.get_slice(1, call.len()))
    }
}
