//! Pauses of the garbage collector: it must not run finalisers in the middle of a trace.
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    /// Whether a trace of this thread has switched it off.
    static PAUSED: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, nothing is collected; what is due is collected afterwards.
#[derive(Debug)]
pub struct Pause<'py> {
    first: bool,
    attached: PhantomData<Python<'py>>,
}

impl<'py> Pause<'py> {
    /// Pauses the collector, unless the program or another trace did.
    pub fn new(py: Python<'py>) -> Self {
        Self { first: pause(py), attached: PhantomData }
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        if self.first && PAUSED.replace(false) {
            // SAFETY: still attached, as the lifetime says.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}

/// Whether it was on.
fn pause(_py: Python<'_>) -> bool {
    // SAFETY: attached.
    let was_on = unsafe { ffi::PyGC_Disable() } != 0;
    if was_on {
        PAUSED.set(true);
    }
    was_on
}

/// Runs C code without the pause, so that it sees the collector as the program has set it.
pub fn unpaused<T>(py: Python<'_>, run: impl FnOnce() -> T) -> T {
    if !PAUSED.replace(false) {
        return run();
    }
    // SAFETY: attached.
    unsafe { ffi::PyGC_Enable() };
    let result = run();
    pause(py);
    result
}
