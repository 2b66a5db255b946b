//! Why a frame cannot be transferred to a continuation.
use crate::bytecode::{Code, Error, flag};
use pyo3::prelude::*;

/// Why no continuation can serve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The code object itself is damaged.
    #[error(transparent)]
    Damaged(#[from] Error),
    /// Bodies of modules and classes are not compiled, though they can be split.
    #[error("the body of a module or class keeps its variables in a namespace")]
    Namespace,
    /// Generators and coroutines are not compiled, though they can be split.
    #[error("a generator's or coroutine's frame cannot be replaced by another")]
    Generator,
    /// The instruction cannot be reached.
    #[error("instruction {0} is unreachable or does not exist")]
    Unreachable(usize),
}

/// Whether compiled code can transfer frames of this kind of code: that of a generator only where a frame that stays delegates to it.
pub fn supported(py: Python<'_>, code: &Code) -> Result<(), Refusal> {
    if code.flags & flag::OPTIMIZED == 0 {
        return Err(Refusal::Namespace);
    }
    match code.flags & flag::GENERATOR_LIKE {
        0 => Ok(()),
        _ if code.is_continuation(py) => Ok(()),
        _ => Err(Refusal::Generator),
    }
}
