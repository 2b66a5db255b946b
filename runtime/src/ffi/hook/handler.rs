//! Frame handlers: they decide what the hook does with a frame.
use crate::ffi::frame::{Frame, ReplaceRefusal};
use pyo3::prelude::*;

/// What to do with a frame.
#[derive(Debug)]
pub enum Action {
    /// Run it as it is.
    Run,
    /// Run this code object in it: same arguments, same function.
    Replace(Py<PyAny>),
    /// Run it as it is, and whatever it calls.
    Natively,
    /// Do not run it: call this function with the frame's parameters, all positional, and run the continuations that follow.
    Call(Py<PyAny>),
    /// The same for a frame that is compiled in its own right: what it calls may be compiled.
    Enter(Py<PyAny>),
    /// Do not run it: this is its result.
    Done(Py<PyAny>),
}

/// Decides about frames.
pub trait FrameHandler: Send + Sync {
    /// Whether [`FrameHandler::enter`] is to be called; called for every frame, must be fast and touch no Python object.
    fn observe(&self, frame: Frame<'_>) -> bool;

    /// Decides about a fresh frame. Frames that run meanwhile on this thread are left alone.
    fn enter(&self, py: Python<'_>, frame: Frame<'_>) -> PyResult<Action>;

    /// Learns that a replacement could not be done; the frame runs as it is.
    fn declined(&self, reason: ReplaceRefusal);
}
