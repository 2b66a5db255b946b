//! What is left of an exception group after the clauses of `except*`.
use super::release;
use pyo3::prelude::*;

/// `_PyExc_PrepReraiseStar`: tells what was raised anew from what was raised again by context, cause, notes and traceback.
pub fn prep_reraise_star<'py>(original: &Bound<'py, PyAny>, raised: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    release::prep_reraise_star(original, raised)
}
