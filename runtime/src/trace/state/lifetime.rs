//! References of frames, and the objects whose end runs code.
use super::outcome::StackEntry;
use super::value::ValueId;
use pyo3::prelude::*;

/// What a frame holds while one of its instructions runs.
#[derive(Debug, Default)]
pub struct FrameReferences {
    pub(crate) locals: Vec<Option<ValueId>>,
    pub(crate) stack: Vec<StackEntry>,
}

impl FrameReferences {
    /// Fast locals, then what the closure holds.
    pub(crate) fn variables(&self) -> &[Option<ValueId>] {
        &self.locals
    }
}

/// The objects, and how far they were looked for.
#[derive(Debug, Default)]
pub(crate) struct Finalisable {
    pub(crate) objects: Vec<Py<PyAny>>,
    /// Copies of containers from outside whose content was looked at.
    pub(crate) private_copies: usize,
}
