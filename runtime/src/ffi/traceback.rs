//! Tracebacks of exceptions that were raised while a frame ran symbolically.
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict};
use std::ffi::CString;

/// Where an exception passed through a frame.
#[derive(Debug, FromPyObject)]
enum Passed {
    /// The compiled frame itself, at this line.
    Here(i32),
    /// A frame that was inlined: file, name of the code, line.
    Inlined(String, String, i32),
}

/// Gives an exception the traceback that it would have: `passed` lists the frames, innermost first.
///
/// Called by compiled code; its own frame is the current one.
#[pyfunction]
pub fn add_traceback(exception: &Bound<'_, PyAny>, passed: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
    let py = exception.py();
    let class = py.import("types")?.getattr("TracebackType")?;
    for entry in passed {
        let (frame, line) = match entry.extract()? {
            Passed::Here(line) => (current(py), line),
            Passed::Inlined(file, name, line) => (Some(stand_in(py, file, name, line)?), line),
        };
        let Some(frame) = frame else { continue };
        // Without a position in the code, no columns are marked.
        let made = class.call1((exception.getattr("__traceback__")?, frame, -1, line))?;
        exception.setattr("__traceback__", made)?;
    }
    Ok(())
}

fn current(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    // SAFETY: attached; the result is borrowed, or NULL where no Python frame runs.
    unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) }
}

/// A frame that never runs, for a call that was inlined.
pub(super) fn stand_in(py: Python<'_>, file: String, name: String, line: i32) -> PyResult<Bound<'_, PyAny>> {
    let (file, name) = (CString::new(file)?, CString::new(name)?);
    let globals = PyDict::new(py);
    // SAFETY: attached; all arguments are live; both results are new references or NULL with an exception set.
    unsafe {
        let code = Bound::from_owned_ptr_or_err(py, ffi::PyCode_NewEmpty(file.as_ptr(), name.as_ptr(), line).cast())?;
        let code = code.cast_into::<PyCode>()?;
        let state = ffi::PyThreadState_Get();
        let frame = ffi::PyFrame_New(state, code.as_ptr().cast(), globals.as_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, frame.cast())
    }
}
