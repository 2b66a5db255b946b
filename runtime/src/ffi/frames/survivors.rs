//! Frame objects that outlive the transfer of their frame.
use pyo3::ffi;
use pyo3::prelude::*;

/// The frame objects that get a frame's variables.
#[derive(Debug, Default)]
pub(super) struct Survivors {
    /// Of the frames that it continues.
    pub(super) frames: Vec<Py<PyAny>>,
    /// Whether they hold its variables for the length of one instruction.
    pub(super) shared: bool,
}

/// How many references to the object there are.
pub(super) fn references(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a live object's count.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

/// The frame objects that others than this list hold.
pub(super) fn alive(py: Python<'_>, frames: Vec<Py<PyAny>>) -> Vec<Py<PyAny>> {
    let (alive, dead): (Vec<_>, Vec<_>) = frames.into_iter().partition(|frame| references(frame.bind(py)) > 1);
    drop(dead);
    alive
}
