//! Observers: what the interpreter tells of each frame, by `sys.settrace`, `sys.setprofile` and `sys.monitoring`.
use crate::ffi::raw;
use crate::ffi::release::{self, PyThreadState};
use crate::names::name;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;
use std::mem::offset_of;

/// How many tools programs can use; the interpreter's own two serve the functions that each thread has.
const TOOLS: u8 = 6;

thread_local! {
    /// The version of the events when this thread looked last, and whether a tool had set any then.
    static SEEN: Cell<(usize, bool)> = const { Cell::new((0, false)) };
}

/// Whether frames of this thread are told to somebody: to a trace or profile function of the thread, or to a tool of `sys.monitoring` that
/// has set events for all code.
///
/// # Errors
/// Those of `sys.monitoring.get_events`.
pub fn are_active(py: Python<'_>) -> PyResult<bool> {
    // SAFETY: attached, so that the thread is live; both fields lie inside its state.
    let functions: [*mut u8; 2] = unsafe {
        let thread = ffi::PyThreadState_Get().cast::<u8>();
        [offset_of!(PyThreadState, c_tracefunc), offset_of!(PyThreadState, c_profilefunc)]
            .map(|offset| raw::read(thread, offset))
    };
    if functions.iter().any(|function| !function.is_null()) {
        return Ok(true);
    }
    let version = release::monitoring_version(py);
    let (seen, mut observed) = SEEN.get();
    if version != seen {
        observed = have_events(py)?;
        SEEN.set((version, observed));
    }
    Ok(observed)
}

/// Whether a tool has set events for all code.
fn have_events(py: Python<'_>) -> PyResult<bool> {
    let get = crate::ffi::modules::import(py, "sys")?.getattr(name!("monitoring"))?.getattr(name!("get_events"))?;
    for tool in 0..TOOLS {
        if get.call1((tool,))?.extract::<i64>()? != 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
