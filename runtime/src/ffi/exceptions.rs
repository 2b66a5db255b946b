//! What is left of an exception group after the clauses of `except*`.
use super::originals;
use super::release;
use super::traceback::stand_in;
use crate::names::name;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyList};

/// `_PyExc_PrepReraiseStar` for exceptions that have no traceback, as those of a trace.
///
/// The function tells what was raised anew from what was raised again by context, cause, notes and traceback, and wants the original to
/// have a traceback: all get the same one while it runs.
pub fn prep_reraise_star<'py>(original: &Bound<'py, PyAny>, raised: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = original.py();
    let code =
        originals::original(py, "builtins", "compile")?.call1(("0", "<except*>", "eval"))?.cast_into::<PyCode>()?;
    let frame = stand_in(&code, &PyDict::new(py), None, 0)?;
    let traceback = originals::original(py, "types", "TracebackType")?.call1((py.None(), frame, -1, 1))?;
    let mut marked = vec![original.clone()];
    marked.extend(raised.cast::<PyList>()?.iter().filter(|exception| !exception.is_none()));
    for exception in &marked {
        exception.setattr(name!("__traceback__"), &traceback)?;
    }
    let left = release::prep_reraise_star(original, raised);
    for exception in &marked {
        exception.setattr(name!("__traceback__"), py.None())?;
    }
    let left = left?;
    unmark(&left)?;
    Ok(left)
}

/// Groups that were made of marked ones are marked too.
fn unmark(exception: &Bound<'_, PyAny>) -> PyResult<()> {
    if !exception.is_instance_of::<PyBaseException>() {
        return Ok(());
    }
    exception.setattr(name!("__traceback__"), exception.py().None())?;
    for part in exception.getattr(name!("exceptions")).and_then(|parts| parts.try_iter()).into_iter().flatten() {
        unmark(&part?)?;
    }
    Ok(())
}
