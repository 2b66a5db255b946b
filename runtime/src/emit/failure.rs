//! Why there is no compiled code.
use crate::internal_error::InternalError;
use crate::split::Refusal;
use pyo3::prelude::*;

/// Why there is no compiled code.
#[derive(Debug)]
pub enum Failure {
    /// The frame runs as it is, for this reason.
    Refused(String),
    /// Python raised, in the backend or because of a fault of ours.
    Python(PyErr),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<crate::bytecode::Error> for Failure {
    fn from(error: crate::bytecode::Error) -> Self {
        Self::Python(error.into())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.to_string())
    }
}

/// A fault of ours.
pub(super) fn fault(text: String) -> Failure {
    Failure::Python(InternalError::new_err(text))
}
