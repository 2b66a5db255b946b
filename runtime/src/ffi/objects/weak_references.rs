//! Weak references of C: what they refer to.
use pyo3::exceptions::PyReferenceError;
use pyo3::prelude::*;
use pyo3::types::{PyWeakref, PyWeakrefMethods, PyWeakrefReference};

/// What a weak reference refers to; no method of a derived class is asked. `None`: to nothing any more, or it is none.
#[must_use]
pub fn referent<'py>(reference: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    reference.cast::<PyWeakref>().ok()?.upgrade()
}

/// The same. Called by compiled code.
///
/// # Errors
/// Where it refers to nothing any more.
#[pyfunction]
pub fn follow<'py>(reference: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    referent(reference).ok_or_else(|| PyReferenceError::new_err("weakly-referenced object no longer exists"))
}

/// The plain weak reference to an object, which all share that ask for one. Called by compiled code.
///
/// # Errors
/// Where the object has none.
#[pyfunction]
pub fn refer<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    PyWeakrefReference::new(object).map(Bound::into_any)
}
