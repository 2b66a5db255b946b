//! Why something is not written, or does not fit the process that reads it.
use super::bytes::Damaged;
use pyo3::prelude::*;
use std::sync::Arc;

/// Why a trace is left out, in words that complete "… is left out: ".
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Misfit(pub String);

impl Misfit {
    /// With this reason.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// The same, where it was come upon.
    #[must_use]
    pub fn at(self, place: Option<&(Arc<str>, u32)>) -> Self {
        match place {
            Some((file, line)) => Self(format!("{self}, which the trace relies on at {file}:{line}")),
            None => self,
        }
    }
}

impl From<Damaged> for Misfit {
    fn from(damaged: Damaged) -> Self {
        Self(damaged.to_string())
    }
}

impl From<PyErr> for Misfit {
    fn from(error: PyErr) -> Self {
        Self(error.to_string())
    }
}
