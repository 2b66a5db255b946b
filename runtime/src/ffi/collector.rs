//! The collector of cycles: what it ends in the middle of a trace, and the finalisers that it calls there, are none of the trace's.
use pyo3::ffi;
use pyo3::prelude::*;
use std::marker::PhantomData;

/// While it lives, nothing is collected; what is due is collected afterwards.
#[derive(Debug)]
pub struct Paused<'py> {
    was_on: bool,
    attached: PhantomData<Python<'py>>,
}

impl<'py> Paused<'py> {
    /// Pauses the collector, unless the program did.
    pub fn new(_py: Python<'py>) -> Self {
        // SAFETY: attached.
        Self { was_on: unsafe { ffi::PyGC_Disable() } != 0, attached: PhantomData }
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        if self.was_on {
            // SAFETY: still attached, as the lifetime says.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}
