//! The one copy of the library that serves an interpreter.
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::PyModule;

/// Under which name `sys` tells which copy of the library serves the interpreter.
const OWNER: &str = "_slotrt_library";

/// Tells copies of the library apart.
static THIS: u8 = 0;

/// This copy.
pub(crate) fn this() -> usize {
    &raw const THIS as usize
}

/// The copy that serves the interpreter, if there is one.
pub(crate) fn owner(py: Python<'_>) -> PyResult<Option<usize>> {
    crate::ffi::modules::import(py, "sys")?.getattr_opt(OWNER)?.map(|owner| owner.extract()).transpose()
}

/// The module belongs to this copy of the library; another copy in the process is refused.
pub(crate) fn claim(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    if owner(py)?.is_some_and(|owner| owner != this()) {
        return Err(PyImportError::new_err(
            "another copy of slotrt's library serves this interpreter already: import slotrt before a host opens its own, or let the host's be the only one",
        ));
    }
    crate::ffi::modules::import(py, "sys")?.setattr(OWNER, this())
}
