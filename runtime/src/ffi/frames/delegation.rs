//! A generator's frame stays where it was made, and delegates to a generator that continues it. What that one runs has the caller of the first
//! before it: there is one frame for the program, and one call for its limit of recursion.
use super::program_frames::restored;
use super::suspended::{hide, show};
use crate::ffi::{layout, raw, release};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::mem::offset_of;

/// What came of sending.
#[derive(Debug)]
pub enum Sent<'py> {
    /// It yielded.
    Given(Bound<'py, PyAny>),
    /// It returned.
    Returned(Bound<'py, PyAny>),
}

/// The frame that delegates, left out for as long as this lives.
struct LeftOut {
    state: *mut u8,
    frame: *mut u8,
}

impl LeftOut {
    /// Of the running frame; `None` where no frame runs.
    fn new(py: Python<'_>) -> Option<Self> {
        // SAFETY: attached, so that the thread's state is live; the running frame is live, and so is the one that it leads to.
        unsafe {
            let state = ffi::PyThreadState_Get().cast::<u8>();
            let frame = release::current_frame(state);
            if frame.is_null() {
                return None;
            }
            let mut before = previous(frame);
            // C takes for granted that no two of those without code follow each other.
            while !before.is_null() && raw::read::<u8>(before, layout::frame::OWNER) >= layout::frame::OWNED_BY_C {
                before = previous(before);
            }
            hide(py, frame);
            release::set_current_frame(state, before);
            count(state, 1);
            Some(Self { state, frame })
        }
    }
}

impl Drop for LeftOut {
    fn drop(&mut self) {
        // SAFETY: the frame runs still; who made others run meanwhile has put back what it found.
        unsafe {
            count(self.state, -1);
            release::set_current_frame(self.state, self.frame);
        }
    }
}

/// The frame before another one; NULL where there is none.
///
/// # Safety
/// `frame` must be a live frame.
unsafe fn previous(frame: *mut u8) -> *mut u8 {
    // SAFETY: as the caller promises.
    unsafe { raw::read(frame, offset_of!(release::_PyInterpreterFrame, previous)) }
}

/// So many more calls may be made.
///
/// # Safety
/// `state` must be the running thread's.
unsafe fn count(state: *mut u8, more: i32) {
    // SAFETY: as the caller promises.
    unsafe {
        let left: i32 = raw::read(state, release::CALLS_LEFT);
        raw::write(state, release::CALLS_LEFT, left + more);
    }
}

/// Makes what continues the running generator: that is no call of the program's.
pub fn uncounted<T>(_py: Python<'_>, make: impl FnOnce() -> T) -> T {
    struct Counted(*mut u8);
    impl Drop for Counted {
        fn drop(&mut self) {
            // SAFETY: the thread's state is live for as long as it runs.
            unsafe { count(self.0, -1) };
        }
    }
    // SAFETY: attached, so that the thread's state is live.
    let _counted = unsafe {
        let state = ffi::PyThreadState_Get().cast::<u8>();
        count(state, 1);
        Counted(state)
    };
    make()
}

/// Sends a value to what continues the running generator.
///
/// # Errors
/// What it raises.
pub fn send<'py>(rest: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<Sent<'py>> {
    let py = rest.py();
    let mut result = std::ptr::null_mut();
    let status = {
        let _left_out = LeftOut::new(py);
        // SAFETY: both are live; the result is an owned reference, or NULL with an exception set.
        unsafe { ffi::PyIter_Send(rest.as_ptr(), value.as_ptr(), &raw mut result) }
    };
    // SAFETY: as above.
    let result = unsafe { Bound::from_owned_ptr_or_err(py, result) }.map_err(|error| restored(py, error))?;
    if status != ffi::PySendResult::PYGEN_NEXT {
        return Ok(Sent::Returned(result));
    }
    show(rest);
    Ok(Sent::Given(result))
}

/// Throws an exception into what continues the running generator; gives what that yields.
///
/// # Errors
/// What it raises; `StopIteration` with what it returns.
pub fn throw<'py>(
    rest: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
    raised: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let result = {
        let _left_out = LeftOut::new(rest.py());
        rest.call_method1(name, (raised,))
    };
    let result = result.map_err(|error| restored(rest.py(), error))?;
    show(rest);
    Ok(result)
}
