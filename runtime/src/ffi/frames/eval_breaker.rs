//! `eval_breaker`: what the evaluator handles between the instructions of a program.
use crate::ffi::release;
use pyo3::prelude::*;

/// Whether a signal, a pending call or an exception from another thread is pending for this thread. The interpreter looks in `RESUME`,
/// after calls, and on jumping backward.
#[must_use]
pub fn is_set(py: Python<'_>) -> bool {
    release::is_pending(py)
}
