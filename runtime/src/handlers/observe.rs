//! A frame handler that counts frames and leaves them alone.
use super::counters::Counters;
use crate::ffi::frame::{Frame, ReplaceRefusal};
use crate::ffi::hook::{Action, FrameHandler};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Counts frames, leaves all alone.
#[derive(Debug)]
pub struct Observe(pub Arc<Counters>);

impl FrameHandler for Observe {
    fn observe(&self, _frame: Frame<'_>) -> bool {
        self.0.frames.store(self.0.frames.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        false
    }

    fn enter(&self, _py: Python<'_>, _frame: Frame<'_>) -> PyResult<Action> {
        Ok(Action::Run)
    }

    fn declined(&self, _reason: ReplaceRefusal) {}
}
