//! Results of frames that the hook does not run itself.
use crate::ffi::{program_frames, release};
use pyo3::ffi;
use pyo3::prelude::*;

/// Ends a fresh frame, with this result.
///
/// # Safety
/// As for an evaluator, which returns next.
pub(super) unsafe fn stand_in(
    py: Python<'_>,
    state: *mut ffi::PyThreadState,
    raw: *mut u8,
    result: PyResult<Py<PyAny>>,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises; what the frame's end sets off finds no exception set.
    unsafe { release::finish(state, raw) };
    given(py, result)
}

/// A result as an evaluator gives it.
pub(super) fn given(py: Python<'_>, result: PyResult<Py<PyAny>>) -> *mut ffi::PyObject {
    result.map_or_else(
        |error| {
            program_frames::restored(py, error).restore(py);
            std::ptr::null_mut()
        },
        Py::into_ptr,
    )
}
