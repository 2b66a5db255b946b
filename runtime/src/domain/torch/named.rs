//! What a function of Python is called by.
use crate::ffi::inspect;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The name of the module whose globals the function has.
pub(in crate::domain::torch) fn module_of<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyString>> {
    let globals = inspect::globals(function)?.cast_into::<PyDict>().ok()?;
    globals.get_item(name!("__name__")).ok()??.cast_into().ok()
}

/// Whether a module is a package or within it.
pub(in crate::domain::torch) fn is_within(module: &str, package: &str) -> bool {
    module.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
