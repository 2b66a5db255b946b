//! Functions of Python in whose place a trace goes through others: modules of ours have tables of them.
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What a module's table of functions has in the place of one.
pub(super) fn in_table<'py>(function: &Bound<'py, PyAny>, module: &str) -> Option<Bound<'py, PyAny>> {
    let functions = crate::ffi::modules::import(function.py(), module).ok()?;
    let table = functions.getattr(name!("IN_PLACE_OF")).ok()?.cast_into::<PyDict>().ok()?;
    table.get_item(function).ok()?
}
