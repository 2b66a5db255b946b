//! Imported modules, read without importing anything.
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// What `sys.modules` has under this name.
#[must_use]
pub fn imported<'py>(name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: attached; the dict belongs to the interpreter, the reference is borrowed.
    let modules = unsafe { Bound::from_borrowed_ptr_or_opt(name.py(), ffi::PyImport_GetModuleDict()) };
    modules?.cast_into::<PyDict>().ok()?.get_item(name).ok()?
}
