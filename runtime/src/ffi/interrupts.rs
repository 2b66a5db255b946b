//! What the interpreter handles between the instructions of a program.
use super::release;
use pyo3::prelude::*;

/// Whether a signal, a pending call or an exception from another thread waits for this thread to look: it does so in `RESUME`,
/// after calls, and on jumping backward.
#[must_use]
pub fn wait(py: Python<'_>) -> bool {
    release::waits(py)
}
