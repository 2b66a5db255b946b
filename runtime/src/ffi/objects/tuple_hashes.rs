//! The hash that a tuple keeps once it was asked for, from 3.14 on.
use pyo3::exceptions::PyTypeError;
#[cfg(Py_3_14)]
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

/// Tuples keep their hash: code of the program that computes an item's runs once.
pub const ARE_KEPT: bool = cfg!(Py_3_14);

/// The hash that the tuple keeps; `None`: nobody has asked for it. CPython: `tuple_hash`.
#[cfg(Py_3_14)]
#[must_use]
pub fn of(tuple: &Bound<'_, PyTuple>) -> Option<isize> {
    // SAFETY: a live tuple.
    let hash = unsafe { (*tuple.as_ptr().cast::<ffi::PyTupleObject>()).ob_hash };
    (hash != -1).then_some(hash)
}

/// The hash that the tuple keeps: none, in this release.
#[cfg(not(Py_3_14))]
#[must_use]
pub fn of(_tuple: &Bound<'_, PyTuple>) -> Option<isize> {
    None
}

/// What compiled code calls as `keep(tuple, hash)`: the tuple keeps this hash, which the trace has computed.
///
/// # Errors
/// Where memory is short.
pub fn keep(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static KEEP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = || Ok::<_, PyErr>(pyo3::wrap_pyfunction!(keep_hash, py)?.into_any().unbind());
    Ok(KEEP.get_or_try_init(py, made)?.bind(py).clone())
}

#[pyfunction]
fn keep_hash(tuple: &Bound<'_, PyAny>, hash: isize) -> PyResult<()> {
    let tuple = tuple.cast::<PyTuple>().map_err(|_| PyTypeError::new_err("no tuple"))?;
    set(tuple, hash);
    Ok(())
}

/// The tuple keeps this hash from now on, which must be the one that it would compute.
#[cfg(Py_3_14)]
pub fn set(tuple: &Bound<'_, PyTuple>, hash: isize) {
    // SAFETY: a live tuple; the interpreter itself sets the field whenever somebody asks for the hash.
    unsafe { (*tuple.as_ptr().cast::<ffi::PyTupleObject>()).ob_hash = hash };
}

/// The tuple keeps this hash from now on: not in this release.
#[cfg(not(Py_3_14))]
pub fn set(_tuple: &Bound<'_, PyTuple>, _hash: isize) {}
